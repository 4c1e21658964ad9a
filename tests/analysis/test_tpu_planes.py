"""TPU planes that no recorded profile has: recorded steps, SparseCores, aggregated events, lanes that end early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.test_input_pipeline import cores
from tests.formats.hlo_messages import small_proto
from tests.tpu_builder import US, Core
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder


def assert_ops_equal_xprofs(file: Path) -> None:
    expected = {row["hlo_op_name"]: row for row in rows_of(ask_xprof(file, "hlo_stats"))}
    found = xp.open(file).ops(compat="xprof").frame.set_index("op")
    assert set(found.index) == set(expected)
    for op, row in expected.items():
        assert found.loc[op, "occurrences"] == row["occurrences"], op
        assert found.loc[op, "time_ps"] == pytest.approx(row["total_time"] * 1e6, rel=1e-9), op
        assert found.loc[op, "self_time_ps"] == pytest.approx(row["total_self_time"] * 1e6, rel=1e-9), op
        assert found.loc[op, "category"] == row["category"], op
        share = row["total_self_time_percent"] / 100
        assert found.loc[op, "time_fraction"] == pytest.approx(share, rel=1e-9), op


def test_recorded_steps_are_the_steps(tmp_path: Path) -> None:
    profile = xp.open(cores(tmp_path))
    steps = profile.steps()
    assert steps.summary["kind"] == "recorded"
    assert steps.summary["step_time_mean_ps"] == 100 * US
    assert steps.frame.groupby("device")["step"].apply(list).to_dict() == {"TPU:0": [5, 6, 7, 8], "TPU:1": [5, 6, 7, 8]}
    assert steps.frame["duration_ps"].tolist() == [95 * US] * 8
    assert profile.ops(step=6).summary["total_time_ps"] == 2 * 95 * US
    assert (profile.ops(step=6).frame["occurrences"] == 1).all()


def test_a_sparse_core_is_a_device_of_its_own(tmp_path: Path) -> None:
    file = cores(tmp_path)
    profile = xp.open(file)
    assert [(device.name, device.kind) for device in profile.devices] == [
        ("TPU:0", ""),
        ("TPU:1", ""),
        ("TPU:0 SparseCore 0", "SparseCore"),
    ]
    assert set(profile.ops().frame["device"]) == {"TPU:0", "TPU:1"}
    assert profile.ops().summary["busy_time_ps"] == 4 * (74 + 75) * US
    beside = profile.ops(device="TPU:0 SparseCore 0")
    assert beside.frame[["op", "occurrences", "self_time_ps"]].to_numpy().tolist() == [["lookup.1", 4, 80.0 * US]]
    assert profile.steps(device="TPU:0 SparseCore 0").summary["step_count"] == 4
    assert any("SparseCore" in note and "device=" in note for note in profile.ops().notes)
    assert_ops_equal_xprofs(file)


def test_aggregated_events_stand_for_many(tmp_path: Path) -> None:
    """Five runs in one event without a place in time; xprof puts it at 0, around what is there."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion", flops=1000, bytes_accessed=500)
    core.op("fusion.2", "loop fusion")
    line = core.ops([("fusion.1", 0, 10), ("fusion.2", 20, 30)])
    line.aggregated("fusion.1", 5, 40 * US)
    frame = xp.open(space.write(tmp_path)).ops().frame.set_index("op")
    assert frame.loc["fusion.1", "occurrences"] == 6
    assert frame.loc["fusion.1", "self_time_ps"] == 50 * US
    assert frame.loc["fusion.1", "flops"] == 6000
    assert frame.loc["fusion.2", "self_time_ps"] == 30 * US


def test_aggregated_events_alone_equal_xprofs(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion", flops=1000, bytes_accessed=500)
    core.ops([]).aggregated("fusion.1", 5, 40 * US)
    assert_ops_equal_xprofs(space.write(tmp_path))


def test_overlapping_kernels_share_the_window(tmp_path: Path) -> None:
    """Ops 0-10 and 5-15 in a window of 20: busy 15, idle 25 %."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    core.op("fusion.2", "loop fusion")
    core.ops([("fusion.1", 0, 10), ("fusion.2", 5, 10)])
    space.task_environment(0, 20_000)
    summary = xp.open(space.write(tmp_path)).ops().summary
    assert summary["busy_time_ps"] == 15 * US
    assert summary["idle_fraction"] == 0.25


@pytest.mark.parametrize("by", ["program", "category", "framework", "source"])
def test_nested_loops_leave_nothing_out(by: Any, tmp_path: Path) -> None:
    """An outer loop of 100 holds an inner of 60 holding ops of 25 and 20; the window is 125."""
    space = SpaceBuilder()
    core = Core(space)
    for op, category in (("while.1", "while"), ("while.2", "while"), ("fusion.1", "loop fusion"), ("dot.1", "dot")):
        core.op(op, category, tf_op=f"jit(f)/{op}:", source="model.py:3")
    core.ops([("while.1", 0, 100), ("while.2", 10, 60), ("fusion.1", 15, 25), ("dot.1", 45, 20), ("dot.1", 80, 15)])
    space.task_environment(0, 125_000)
    profile = xp.open(space.write(tmp_path))
    own = profile.ops().frame.set_index("op")["self_time_ps"] / US
    assert own.to_dict() == {"while.1": 25, "while.2": 15, "fusion.1": 25, "dot.1": 35}
    frame = profile.op_profile(by=by).frame
    timed = frame[frame["kind"] != "fused"]
    for row in timed[timed["children_total"] > 0].itertuples():
        below = timed[timed["parent"] == row.node]
        assert below["self_time_ps"].sum() == pytest.approx(row.self_time_ps, rel=1e-12), row.name
    idle = frame[frame["kind"] == "idle"]
    assert idle["self_time_ps"].tolist() == [25 * US]


@pytest.fixture
def two_cores(tmp_path: Path) -> Any:
    def make(first_until: int, second_until: int, stop: int = 1000) -> xp.Profile:
        space = SpaceBuilder()
        for number, until in enumerate((first_until, second_until)):
            core = Core(space, f"/device:TPU:{number}")
            core.op("fusion.1", "loop fusion")
            core.ops([("fusion.1", at, 9) for at in range(0, until, 10)])
        space.task_environment(0, stop * 1000)
        return xp.open(space.write(tmp_path))

    return make


def test_a_lane_that_ends_early_is_named(two_cores: Any) -> None:
    notes = two_cores(400, 1000).ops().notes
    assert any(
        note.startswith("The ops of TPU:0 end at 40% of the capture, while others go on to 100%") for note in notes
    )
    assert not any("TPU:1 end" in note for note in notes)


def test_lanes_that_end_together_are_not(two_cores: Any) -> None:
    assert not any("end at" in note for note in two_cores(800, 810).ops().notes)


def test_programs_that_ran_without_hlo_are_named_with_the_cure(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    core.runs([("jit_f(7)", 0, 10)])
    core.ops([("fusion.1", 0, 10)])
    space.hlo({"jit_on_the_host(9)": small_proto().SerializeToString()})
    notes = xp.open(space.write(tmp_path)).ops().notes
    (note,) = [note for note in notes if note.startswith("The HLO of jit_f(7) is not in the profile")]
    assert "Compilations for the CPU in the same process replace the HLO" in note
    assert "before the capture" in note


def test_halves_are_paired_by_their_operand(tmp_path: Path) -> None:
    """Two copies whose done halves are numbered the other way round."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("copy-start.1", "copy-start", "%copy-start.1 = (f32[8], f32[8]S(5), u32[]) copy-start(f32[8]{0:S(5)} %p.1)")
    core.op("copy-start.2", "copy-start", "%copy-start.2 = (f32[8], f32[8], u32[]) copy-start(f32[8]{0} %p.2)")
    core.op("copy-done.2", "copy-done", "%copy-done.2 = f32[8] copy-done((f32[8], f32[8]S(5), u32[]) %copy-start.1)")
    core.op("copy-done.1", "copy-done", "%copy-done.1 = f32[8] copy-done((f32[8], f32[8], u32[]) %copy-start.2)")
    core.ops([("copy-start.1", 0, 1), ("copy-start.2", 1, 1), ("copy-done.2", 10, 10), ("copy-done.1", 50, 10)])
    profile = xp.open(space.write(tmp_path))
    trace = profile.data.hosts[0]
    took = {trace.keys.op[key]: ps / US for key, ps in zip(trace.ops.key, trace.ops.transfer_ps, strict=True)}
    assert took["copy-done.2"] == 20
    assert took["copy-done.1"] == 59
    assert np.isnan(took["copy-start.1"])
    kinds = profile.collectives().frame.set_index("op")["kind"].to_dict()
    assert kinds == {"copy-start.1": "host offload", "copy-start.2": "async copy"}
    bound = profile.ops().frame.set_index("op")["work_kind"].to_dict()
    assert bound["copy-done.2"] == "host"
    assert bound["copy-done.1"] == "data"


def offloading(folder: Path, times: int) -> Path:
    """An op that hands work to a SparseCore beside it; both numbers a pair is known by are unsigned there."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion", flops=1000, bytes_accessed=500)
    core.op("offload.1", "async-start")
    line = core.ops([])
    beside = Core(space, "/device:TPU:0 SparseCore 0")
    for number, name in enumerate(("gather.1", "while.2", "scatter.3")):
        beside.op(name, name.partition(".")[0], flops=10 * number, bytes_accessed=1000)
    runs, ops = beside.plane.line("Sparse Core Modules"), beside.plane.line("Sparse Core Ops")
    for n in range(times):
        at = 100 * n * US
        line.event("fusion.1", at, 9 * US)
        line.event("offload.1", at + 10 * US, 5 * US, offload_core_id=2**63, tc_offload_start_id=-1 - n)
        runs.event("lookup(3)", at + 12 * US, 60 * US, offload_core_id=2**63, tc_offload_start_id=2**64 - 1 - n)
        ops.event("gather.1", at + 13 * US, 20 * US)
        ops.event("while.2", at + 40 * US, (20 + n) * US).event("scatter.3", at + 41 * US, 7 * US)
    return space.write(folder)


@pytest.mark.parametrize("times", [1, 3])
def test_xprof_shows_sparse_core_ops_of_the_first_offload_alone(tmp_path: Path, times: int) -> None:
    """Below the op that offloaded them; ours are all of them, of the device they ran on."""
    file = offloading(tmp_path, times)
    rows = rows_of(ask_xprof(file, "hlo_stats"))
    expected = {row["hlo_op_name"]: row for row in rows if row["parent_op_name"]}
    assert {row["parent_op_name"] for row in expected.values()} == {"offload.1"}
    sparse: dict[str, Any] = {"device": "TPU:0 SparseCore 0", "compat": "xprof"}
    profile = xp.open(file)
    found = profile.ops(window_ps=(0, 100 * US), **sparse).frame.set_index("op")
    assert set(found.index) == set(expected) == {"gather.1", "while.2", "scatter.3"}
    for op, row in expected.items():
        ours = found.loc[op]
        assert (ours["occurrences"], ours["core_type"], ours["bound_by"]) == (
            row["occurrences"], row["core_type"], row["bound_by"],
        )  # fmt: skip
        for theirs, name, unit in (("total_time", "time_ps", 1e6), ("total_self_time", "self_time_ps", 1e6),
                                   ("measured_memory_bw", "bytes_per_s", 2**30),
                                   ("normalized_flop_rate", "flops_per_s", 1e9)):  # fmt: skip
            assert np.nan_to_num(ours[name]) == pytest.approx(row[theirs] * unit, rel=1e-9), (op, theirs)
    assert profile.ops(**sparse).frame["occurrences"].tolist() == [times] * 3
