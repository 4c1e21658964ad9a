"""Profiles whose numbers cannot be meant: an answer that is right, or an error of ours; never another kind."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from tests.formats.hlo_messages import small_proto
from tests.formats.xspace_messages import Space
from xprof_nb.analysis.costs.fusion import fusion_traffic
from xprof_nb.errors import DamagedFileError, UsageError
from xprof_nb.formats.hlo import read_program
from xprof_nb.formats.tpu.planes import split_program_label
from xprof_nb.model import columns, units

ALL_BITS = b"\xff" * 9 + b"\x01"


def add_stat(plane: Any, owner: Any, name: str, value: Any) -> None:
    number = next((key for key, entry in plane.stat_metadata.items() if entry.name == name), 0)
    if not number:
        number = len(plane.stat_metadata) + 1
        plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, name
    field = {float: "double_value", str: "str_value", bytes: "bytes_value", int: "int64_value"}[type(value)]
    owner.stats.add(metadata_id=number, **{field: value})


def space_of(*ops: tuple[str, int, int], stats: dict[str, Any] | None = None, **plane_stats: Any) -> Any:
    """Return a space of one TensorCore that ran ``(name, offset, duration)``, and its program ``jit_f(7)``."""
    space = Space()
    plane = space.planes.add(name="/device:TPU:0")
    for name, value in plane_stats.items():
        add_stat(plane, plane, name, value)
    line = plane.lines.add(name="XLA Ops")
    for number, (name, offset, duration) in enumerate(ops, 1):
        entry = plane.event_metadata[number]
        entry.id, entry.name, entry.display_name = number, f"%{name} = f32[] add()", name
        for stat, value in {"program_id": 7, "symbol_id": number, "flops": 1000, **(stats or {})}.items():
            add_stat(plane, entry, stat, value)
        line.events.add(metadata_id=number, offset_ps=offset, duration_ps=duration)
    plane.event_metadata[99].id, plane.event_metadata[99].name = 99, "jit_f(7)"
    plane.lines.add(name="XLA Modules").events.add(metadata_id=99, duration_ps=200)
    return space


def opened(space: Any, folder: Path) -> xp.Profile:
    file = folder / "host.xplane.pb"
    file.write_bytes(space.SerializeToString())
    return xp.open(file)


def answer(profile: xp.Profile, query: str = "ops") -> Any:
    """Ask, and send the answer through every codec."""
    result = profile.ask(query)
    json.dumps(result.to_dict(), allow_nan=False)
    columns.encode(result.frame, {"summary": result.summary})
    return result


def test_an_event_that_ends_before_it_begins_counts_as_no_time(tmp_path) -> None:
    result = answer(opened(space_of(("a", 0, -100), ("b", 10, 50)), tmp_path))
    assert dict(zip(result.frame["op"], result.frame["self_time_ps"], strict=True)) == {"a": 0, "b": 50}
    assert any("1 events of plane '/device:TPU:0' end before" in note for note in result.notes)


@pytest.mark.parametrize("op", [("a", 2**63 - 5, 100), ("a", 0, 2**63 - 1), ("a", -(2**63), 1)])
def test_times_beyond_64_bits_are_damage(tmp_path, op) -> None:
    with pytest.raises(DamagedFileError, match="13 days"):
        opened(space_of(op), tmp_path)


def test_lines_too_far_apart_are_damage(tmp_path) -> None:
    space = space_of(("a", 0, 100))
    for line, sign in zip(space.planes[0].lines, (1, -1), strict=True):
        line.timestamp_ns = sign * ((2**63 - 1) // 2000)
    with pytest.raises(DamagedFileError, match="53 days apart"):
        opened(space, tmp_path)


@pytest.mark.parametrize("peak", ["fast", b"fast", float("inf"), float("nan"), -1.0, 0.0, 1e-320])
def test_a_peak_that_is_no_positive_number_is_unknown(tmp_path, peak) -> None:
    profile = opened(space_of(("a", 0, 100), peak_teraflops_per_second=peak), tmp_path)
    assert profile.devices[0].peaks.reference is None
    assert answer(profile).frame["flops_utilization"].isna().all()
    answer(profile, "overview")


@pytest.mark.parametrize("count", [float("inf"), 1e308, -1, -0.5])
def test_a_count_that_cannot_be_is_missing(tmp_path, count) -> None:
    frame = answer(opened(space_of(("a", 0, 100), stats={"flops": count, "bytes_accessed": count}), tmp_path)).frame
    assert frame[["flops", "bytes_accessed", "flops_per_s", "bytes_per_s"]].isna().all(axis=None)
    assert frame["self_time_ps"].tolist() == [100]


@pytest.mark.parametrize("times", [("soon", 5), (float("nan"), 5), (0, 2**63 - 1), (5, 0)])
def test_a_session_without_a_length_leaves_the_window_to_the_events(tmp_path, times) -> None:
    space = space_of(("a", 0, 100))
    session = space.planes.add(name="Task Environment")
    for name, value in zip(("profile_start_time", "profile_stop_time"), times, strict=True):
        add_stat(session, session, name, value)
    assert answer(opened(space, tmp_path)).summary["total_time_ps"] == 200


def test_events_without_metadata_are_left_out(tmp_path) -> None:
    space = space_of(("a", 0, 100), ("b", 100, 50))
    for line in space.planes[0].lines:
        line.events.add(metadata_id=1234, offset_ps=150, duration_ps=50)
    frame = answer(opened(space, tmp_path)).frame
    assert dict(zip(frame["op"], frame["self_time_ps"], strict=True)) == {"a": 100, "b": 50}
    space.planes[0].event_metadata.clear()
    assert len(answer(opened(space, tmp_path)).frame) == 0


def test_traffic_beyond_64_bits_stays_a_number(tmp_path) -> None:
    access = b"\x10\x01\x18" + ALL_BITS
    breakdown = bytes([0x0A, len(access)]) + access
    profile = opened(space_of(("a", 0, 100), stats={"memory_access_breakdown": breakdown}), tmp_path)
    assert answer(profile).frame["hbm_bytes"].tolist() == [2.0**64]
    answer(profile, "overview")


def test_numbers_in_names_are_bounded(tmp_path) -> None:
    space = space_of(("a", 0, 100))
    space.planes[0].name = "/device:TPU:" + "9" * 5000
    answer(opened(space, tmp_path))
    assert split_program_label("jit_f(" + "9" * 5000 + ")")[1] == 0
    assert split_program_label("jit\nf(7)") == ("jit\nf", 7)


def test_what_a_fusion_that_calls_itself_reads_is_unknown() -> None:
    message = small_proto()
    instruction = message.hlo_module.computations[0].instructions[1]
    instruction.opcode = "fusion"
    instruction.called_computation_ids.append(3)
    program = read_program(message.SerializeToString(), program_id=7, name="jit_f", file="a.xplane.pb")
    fusion = program.computations["main"].instructions[1]
    assert math.isnan(fusion_traffic(fusion, program, {}).accessed_bytes)


@pytest.mark.parametrize(
    "params",
    [
        {"step": 2**63},
        {"window_ps": (0, 10**30)},
        {"window_ps": (-(10**30), 0)},
        {"device": 10**30},
        {"program": 2**64},
    ],
)
def test_filters_no_column_could_hold_are_misuse(tmp_path, params) -> None:
    profile = opened(space_of(("a", 0, 100)), tmp_path)
    with pytest.raises(UsageError, match="cannot be"):
        profile.ops(**params)


def test_a_program_id_of_thousands_of_digits_is_misuse(tmp_path) -> None:
    profile = opened(space_of(("a", 0, 100)), tmp_path)
    with pytest.raises(UsageError, match="program_id"):
        profile.ask("op_details", program_id="9" * 5000, op="a")


def test_fusions_in_fusions_are_each_read_once() -> None:
    """Two users at each of 40 levels are 2**40 ways to the innermost parameter."""
    message = small_proto()
    module, depth = message.hlo_module, 40
    outermost = module.computations[0].instructions[1]
    for level in range(depth):
        body = module.computations.add(name=f"fused.{level}", id=10 + level, root_id=1002 + 10 * level)
        for place, name in enumerate(("p", "left", "right")):
            inner = body.instructions.add(name=f"{name}.{level}", id=1000 + 10 * level + place, opcode="add")
            inner.shape.CopyFrom(outermost.shape)
            if place == 0:
                inner.opcode = "parameter"
                continue
            inner.operand_ids.append(1000 + 10 * level)
            if level < depth - 1:
                inner.opcode = "fusion"
                inner.called_computation_ids.append(11 + level)
    outermost.opcode = "fusion"
    outermost.called_computation_ids.append(10)
    del outermost.operand_ids[1:]
    program = read_program(message.SerializeToString(), program_id=7, name="jit_f", file="a.xplane.pb")
    fusion = program.computations["main"].instructions[1]
    # The two adds at the bottom share one read of f32[4,3]; each level above reads it twice; the output is one more.
    expected = 48 * 2 ** (depth - 1) + 48
    assert fusion_traffic(fusion, program, {}).accessed_bytes == expected


def test_a_text_where_a_number_belongs_is_missing(tmp_path: Path) -> None:
    texts = {"flops": "-nan", "model_flops": "nan", "bytes_accessed": "inf"}
    space = space_of(
        ("add.1", 0, 100), stats=texts, peak_teraflops_per_second="-nan", peak_hbm_bw_gigabytes_per_second="0"
    )
    result = answer(opened(space, tmp_path))
    (row,) = result.to_dict()["rows"]
    unknown = ("flops", "model_flops", "bytes_accessed", "flops_per_s", "flops_utilization", "hbm_utilization")
    assert [row[name] for name in unknown] == [None] * len(unknown)
    assert result.summary["peak_flops_per_s"] is None
    assert "nan" not in result.to_csv()
    assert units.percent(row["flops_utilization"]) == "–"


def test_an_event_that_stands_for_impossibly_many_counts_once(tmp_path: Path) -> None:
    space = space_of(("a", 0, 100), ("b", 0, 50))
    (event, other) = space.planes[0].lines[0].events
    event.num_occurrences, other.num_occurrences = 2**62, 7
    profile = opened(space, tmp_path)
    assert answer(profile).frame.set_index("op")["occurrences"].to_dict() == {"a": 1, "b": 7}
    assert any("1 events of plane '/device:TPU:0' say" in note for note in profile.notes)
    assert answer(profile, "roofline").frame["occurrences"].dropna().max() == 7


def test_a_step_number_no_table_can_hold_is_its_position(tmp_path: Path) -> None:
    space = space_of(("a", 0, 100), ("b", 200, 100))
    plane = space.planes[0]
    line = plane.lines.add(name="Steps")
    for key, (name, offset) in enumerate((("7", 0), (str(2**62), 200), ("1e400", 400), ("-nan", 600)), 50):
        plane.event_metadata[key].id, plane.event_metadata[key].name = key, name
        line.events.add(metadata_id=key, offset_ps=offset, duration_ps=100)
    profile = opened(space, tmp_path)
    assert answer(profile, "steps").frame["step"].tolist() == [7, 1, 2, 3]
    answer(profile, "roofline")


def test_two_planes_of_one_device_are_told_apart(tmp_path: Path) -> None:
    space = space_of(("a", 0, 100))
    space.planes.add().CopyFrom(space.planes[0])
    profile = opened(space, tmp_path)
    assert [device.name for device in profile.devices] == ["TPU:0", "TPU:0 (2)"]
    assert any("'TPU:0 (2)'" in note for note in profile.notes)
    assert profile.ops().frame["device"].tolist() == ["TPU:0", "TPU:0 (2)"]
    for query in ("op_profile", "overview", "steps", "roofline", "collectives", "trace"):
        answer(profile, query)
    assert len(profile.sql("SELECT DISTINCT device FROM runs").frame) == 2


def test_peaks_beyond_reason_are_unknown(tmp_path: Path) -> None:
    space = space_of(("a", 0, 100), peak_teraflops_per_second=1e308, peak_hbm_bw_gigabytes_per_second=1e300)
    assert answer(opened(space, tmp_path)).summary["peak_flops_per_s"] is None


@pytest.mark.parametrize("window", [(-(2**62), 0), (0, 2**62), (-(2**63), 2**63 - 1)])
def test_a_window_longer_than_64_bits_is_misuse(tmp_path: Path, window: tuple[int, int]) -> None:
    profile = opened(space_of(("a", 0, 100)), tmp_path)
    for query in ("ops", "trace"):
        with pytest.raises(UsageError, match="window_ps cannot be"):
            profile.ask(query, window_ps=window)


def test_steps_of_a_host_whose_events_have_no_metadata(tmp_path: Path) -> None:
    space = Space()
    plane = space.planes.add(name="/host:CPU")
    line = plane.lines.add(name="python")
    for number in range(3):
        event = line.events.add(metadata_id=9, offset_ps=number * 1000, duration_ps=500)
        add_stat(plane, event, "_r", 1)
        add_stat(plane, event, "step_num", number)
    profile = opened(space, tmp_path)
    for compat in (None, "xprof"):
        for query in ("steps", "input_pipeline"):
            result = profile.ask(query, compat=compat)
            assert len(result.frame) or result.notes
