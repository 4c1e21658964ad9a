"""A made-up TPU profile for what the recorded one lacks: loops, custom calls, a program without its HLO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.formats.xspace_messages import MESSAGES

PROGRAM = 2**63 + 11
EXACT = 1e-9
MS = 10**9
# op, category, flops, bytes
OPS = [
    ("while.1", "while", 0, 0),
    ("fusion.1", "convolution fusion", 3_000_000, 7_000),
    ("fusion.2", "loop fusion", 500, 90_000_000),
    ("kernel.1", "custom-call", 5_000_000, 2_000),
]
# op, start, duration (ms)
EVENTS = [
    ("while.1", 0, 100),
    ("fusion.1", 5, 20),
    ("fusion.2", 30, 10),
    ("fusion.1", 50, 25),
    ("kernel.1", 80, 10),
    ("fusion.2", 110, 5),
    ("kernel.1", 120, 15),
]


def plane(space: Any) -> Any:
    plane = space.planes.add(id=2, name="/device:TPU:0")
    ids: dict[str, int] = {}

    def stat(owner: Any, name: str, **value: Any) -> None:
        number = ids.setdefault(name, len(ids) + 1)
        plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, name
        owner.stats.add(metadata_id=number, **value)

    stat(plane, "device_type_string", str_value="TPU v5 lite")
    stat(plane, "peak_teraflops_per_second", double_value=197.0)
    stat(plane, "peak_hbm_bw_gigabytes_per_second", double_value=819.0)
    for number, (op, category, flops, size) in enumerate(OPS, 1):
        entry = plane.event_metadata[number]
        entry.id, entry.name, entry.display_name = number, f"%{op} = f32[] {category}()", op
        stat(entry, "hlo_category", str_value=category)
        stat(entry, "program_id", uint64_value=PROGRAM)
        stat(entry, "symbol_id", int64_value=number)
        stat(entry, "flops", uint64_value=flops)
        stat(entry, "model_flops", uint64_value=flops)
        stat(entry, "bytes_accessed", uint64_value=size)
    line = plane.lines.add(id=3, name="XLA Ops")
    number_of = {op: number for number, (op, *_) in enumerate(OPS, 1)}
    for op, start, duration in EVENTS:
        line.events.add(metadata_id=number_of[op], offset_ps=start * MS, duration_ps=duration * MS)
    return plane


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    space = MESSAGES["Space"](hostnames=["worker"])
    plane(space)
    path = tmp_path_factory.mktemp("synthetic") / "worker.xplane.pb"
    path.write_bytes(space.SerializeToString())
    return path


@pytest.fixture(scope="module")
def profile(file: Path) -> xp.Profile:
    return xp.open(file)


def test_ops_equal_xprofs(profile: xp.Profile, file: Path) -> None:
    converter = pytest.importorskip("xprof.convert.raw_to_tool_data")
    table = json.loads(converter.xspace_to_tool_data([str(file)], "hlo_stats", {"use_saved_result": False})[0])
    ids = [column["id"] for column in table["cols"]]
    rows = [dict(zip(ids, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]]
    found = profile.ops(compat="xprof").frame.set_index("op")
    assert set(found.index) == {row["hlo_op_name"] for row in rows} == {op for op, *_ in OPS}
    for row in rows:
        ours = found.loc[row["hlo_op_name"]]
        assert ours["occurrences"] == row["occurrences"]
        assert ours["time_ps"] == pytest.approx(row["total_time"] * 1e6, rel=EXACT)
        assert ours["self_time_ps"] == pytest.approx(row["total_self_time"] * 1e6, rel=EXACT)
        assert np.nan_to_num(ours["flops_per_s"]) / 1e9 == pytest.approx(row["normalized_flop_rate"], rel=EXACT)
        assert np.nan_to_num(ours["bytes_per_s"]) / 2**30 == pytest.approx(row["measured_memory_bw"], rel=EXACT)


def test_a_loop_keeps_what_its_body_does_not_use(profile: xp.Profile) -> None:
    frame = profile.ops().frame.set_index("op")
    assert frame.loc["while.1", "time_ps"] == 100 * MS
    assert frame.loc["while.1", "self_time_ps"] == (100 - 20 - 10 - 25 - 10) * MS
    assert np.isnan(frame.loc["while.1", "flops"])
    assert frame["self_time_ps"].sum() == (100 + 5 + 15) * MS


def test_a_custom_call_costs_what_the_runtime_states(profile: xp.Profile) -> None:
    kernel = profile.ops().frame.set_index("op").loc["kernel.1"]
    assert kernel["flops"] == 10_000_000
    assert kernel["bytes_accessed"] == 4_000
    assert kernel["flops_per_s"] == pytest.approx(10_000_000 / 25e-3)
    assert kernel["flops_utilization"] == pytest.approx(10_000_000 / 25e-3 / 197e12)


def test_program_ids_keep_all_their_digits(profile: xp.Profile) -> None:
    assert {int(number) for number in profile.ops().frame["program_id"]} == {PROGRAM}
    assert str(PROGRAM) in profile.op_profile().frame["name"].iloc[1]
    assert any("lacks the HLO" in note for note in profile.ops().notes)
    details = profile.ask("op_details", program_id=str(PROGRAM), op="fusion.1")
    assert details.summary["program_id"] == str(PROGRAM)


def test_ops_that_overlap_share_each_moment(tmp_path: Path) -> None:
    space = MESSAGES["Space"](hostnames=["worker"])
    made = plane(space)
    del made.lines[0].events[:]
    made.lines[0].events.add(metadata_id=2, offset_ps=0, duration_ps=1000)
    made.lines[0].events.add(metadata_id=3, offset_ps=500, duration_ps=1000)
    (tmp_path / "worker.xplane.pb").write_bytes(space.SerializeToString())
    frame = xp.open(tmp_path).ops().frame.set_index("op")
    assert frame["self_time_ps"].to_dict() == {"fusion.1": 750, "fusion.2": 750}
    assert frame["time_ps"].to_dict() == {"fusion.1": 1000, "fusion.2": 1000}


def test_times_need_no_hlo(tmp_path: Path) -> None:
    space = MESSAGES["Space"](hostnames=["worker"])
    plane(space)
    metadata = space.planes.add(name="/host:metadata")
    metadata.stat_metadata[1].id, metadata.stat_metadata[1].name = 1, "Hlo Proto"
    entry = metadata.event_metadata[1]
    entry.id, entry.name = 1, f"jit_f({PROGRAM})"
    entry.stats.add(metadata_id=1, bytes_value=b"\x0a\xff\xff\xff\x7fdamaged")
    (tmp_path / "worker.xplane.pb").write_bytes(space.SerializeToString())
    profile = xp.open(tmp_path)
    assert profile.ops().frame["self_time_ps"].sum() == 120 * MS
    assert any("damaged HLO" in note for note in profile.op_profile().notes)
    assert profile.ask("op_details", program_id=str(PROGRAM), op="fusion.1").summary["opcode"] is None
