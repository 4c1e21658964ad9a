"""Collectives: closed forms on made-up cores, a capture of four virtual devices, and a recorded TPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.captures import captured
from tests.analysis.gpu_spaces import GpuSpace
from tests.tpu_builder import US, Core
from tests.xspace_builder import SpaceBuilder

RUNS, SIZE = 5, 64
ALL_REDUCE = (
    "%all-reduce.1 = bf16[1000,1000]{1,0} all-reduce(bf16[1000,1000]{1,0:T(8,128)} %fusion.1), channel_id=1, "
    "replica_groups={{0,1,2,3}}, to_apply=%add"
)
GATHER_START = (
    "%ag-start.9 = (f32[250]{0}, f32[1000]{0}) all-gather-start(f32[250]{0} %fusion.1), channel_id=2, "
    "replica_groups=[2,4]<=[8], dimensions={0}"
)
GATHER_DONE = "%ag-finish.3 = f32[1000]{0} all-gather-done((f32[250]{0}, f32[1000]{0}) %ag-start.9)"


def core_with_collectives(space: SpaceBuilder, number: int = 0, late_us: int = 0) -> Core:
    """A step of 100 us: compute 0-40, an all-gather 30-70 of which 10 + 10 are covered, an all-reduce 80-90."""
    core = Core(space, f"/device:TPU:{number}")
    core.op("fusion.1", "loop fusion")
    core.op("fusion.2", "loop fusion")
    core.op("ag-start.9", "all-gather-start", GATHER_START, tf_op="jit(step)/layer_3/all_gather:")
    core.op("ag-finish.3", "all-gather-done", GATHER_DONE)
    core.op("all-reduce.1", "all-reduce", ALL_REDUCE)
    core.op("while.1", "while")
    core.runs([("jit_f(7)", 100 * n, 95) for n in range(3)])
    spans = [
        ("while.1", 0, 95),
        ("fusion.1", 0, 30),
        ("ag-start.9", 30, 1),
        ("fusion.1", 31, 9),
        ("fusion.2", 50, 10),
        ("ag-finish.3", 60, 10),
        ("all-reduce.1", 80 - late_us, 10 + late_us),
    ]
    core.ops([(op, 100 * n + start, duration) for n in range(3) for op, start, duration in spans])
    return core


@pytest.fixture
def made(tmp_path: Path) -> xp.Profile:
    space = SpaceBuilder()
    core_with_collectives(space)
    core_with_collectives(space, 1, late_us=4)
    return xp.open(space.write(tmp_path))


def test_exposed_time_is_what_no_compute_covers(made: xp.Profile) -> None:
    """The gather runs from 30 to 70; ops compute from 31 to 40 and from 50 to 60. A loop is no compute."""
    frame = made.collectives(device=0).frame.set_index("op")
    gather = frame.loc["ag-start.9"]
    assert gather["kind"] == "all-gather"
    assert gather["occurrences"] == 3
    assert gather["time_ps"] == 3 * 40 * US
    assert gather["exposed_time_ps"] == 3 * 21 * US
    assert gather["overlapped_time_ps"] == 3 * 19 * US
    assert gather["exposed_per_step_ps"] == 21 * US
    assert gather["exposed_fraction"] == pytest.approx(21 / 40)
    assert frame.loc["all-reduce.1", "exposed_time_ps"] == 3 * 10 * US
    assert gather["scope"] == "jit(step)/layer_3"


def test_bandwidths_are_those_of_nccl_tests(made: xp.Profile) -> None:
    frame = made.collectives(device=0).frame.set_index("op")
    reduce, gather = frame.loc["all-reduce.1"], frame.loc["ag-start.9"]
    assert (reduce["dtype"], reduce["payload_bytes"], reduce["group_size"]) == ("bf16", 2_000_000, 4)
    assert reduce["replica_groups"] == "{{0,1,2,3}}"
    assert reduce["algorithm_bytes_per_s"] == pytest.approx(2e6 / 10e-6)
    assert reduce["bus_bytes_per_s"] == pytest.approx(2e6 / 10e-6 * 2 * 3 / 4)
    assert (gather["dtype"], gather["payload_bytes"], gather["group_size"]) == ("f32", 4000, 4)
    assert gather["bus_bytes_per_s"] == pytest.approx(4000 / 40e-6 * 3 / 4)


def test_who_came_first_waited(made: xp.Profile) -> None:
    frame = made.collectives().frame.set_index(["op", "device"])
    assert frame.loc[("all-reduce.1", "TPU:0"), "wait_time_ps"] == 0
    assert frame.loc[("all-reduce.1", "TPU:1"), "wait_time_ps"] == 3 * 4 * US


def test_the_summary_counts_a_step_once(made: xp.Profile) -> None:
    summary = made.collectives(device=0).summary
    assert summary["exposed_per_step_ps"] == 31 * US
    # Steps of 100, 100 and, the last to its own end, 95 us.
    assert summary["exposed_step_fraction"] == pytest.approx(31 * 3 / 295)
    assert summary["sentence"].startswith(
        "Collectives are exposed 31.0 µs of a 98.3 µs step (31.5 %), most of it in all-gathers"
    )
    by_kind = {each["kind"]: each for each in summary["by_kind"]}
    assert by_kind["all-reduce"]["exposed_per_step_ps"] == 10 * US


def test_filters(made: xp.Profile) -> None:
    assert (made.collectives(step=1).frame["occurrences"] == 1).all()
    assert set(made.collectives(device="TPU:1").frame["device"]) == {"TPU:1"}
    assert (made.collectives(window_ps=(0, 150 * US)).frame["occurrences"] <= 2).all()
    nothing = made.collectives(window_ps=(0, 1))
    assert not len(nothing.frame)
    assert nothing.notes[-1].startswith("No collective")


def test_what_the_profile_records_as_a_whole_is_taken_where_halves_are_missing(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    core.op("ag-start.9", "all-gather-start", GATHER_START)
    core.runs([("jit_f(7)", 0, 100)])
    core.ops([("fusion.1", 0, 20), ("ag-start.9", 20, 1)])
    core.asynchronous([("ag-start.9", 20, 30)])
    frame = xp.open(space.write(tmp_path)).collectives().frame
    assert frame["time_ps"].tolist() == [30 * US]


def test_every_kind_on_four_virtual_devices(tmp_path_factory: pytest.TempPathFactory) -> None:
    profile = captured(tmp_path_factory)("collectives")
    result = profile.collectives()
    matrix = SIZE * SIZE * 4
    expected = {
        "all-reduce": matrix,
        "all-gather": 4 * matrix,
        "reduce-scatter": matrix,
        "all-to-all": matrix,
        "collective-permute": matrix,
    }
    for kind, payload in expected.items():
        rows = result.frame[result.frame["kind"] == kind]
        assert set(rows["device"]) == {f"CPU:{n}" for n in range(4)}, kind
        assert (rows["occurrences"] == RUNS).all()
        assert (rows["payload_bytes"] == payload).all()
        assert (rows["exposed_time_ps"] + rows["overlapped_time_ps"] <= rows["time_ps"]).all()
        assert rows["wait_time_ps"].min() == pytest.approx(rows["wait_time_ps"].min())
        assert (rows["wait_time_ps"] <= rows["time_ps"]).all()
    assert 0 < result.summary["exposed_step_fraction"] <= 1
    ops = profile.ops().frame
    spent = ops[ops["work_kind"] == "collective"]["time_ps"].sum()
    assert result.frame["time_ps"].sum() == spent


KERNEL = "ncclDevKernel_{}(ncclDevKernelArgsStorage<4096ul>)"
REDUCING = """HloModule m, num_partitions=4
add {
 a = bf16[] parameter(0)
 b = bf16[] parameter(1)
 ROOT s = bf16[] add(a, b)
}
ENTRY e {
 p = bf16[1000]{0} parameter(0)
 all-reduce-start.1 = bf16[1000]{0} all-reduce-start(p), replica_groups={{0,1},{2,3}}, channel_id=1, to_apply=add
 fusion.1 = bf16[1000]{0} add(p, p)
 all-reduce-done.1 = bf16[1000]{0} all-reduce-done(all-reduce-start.1)
 ROOT last.1 = bf16[1000]{0} add(fusion.1, all-reduce-done.1)
}"""


def gpu_steps(folder: Path, **programs: str) -> xp.Profile:
    """Steps of 100 us: computing 0-40 and 70-80, all-reduce 20-60, send 75-85, gather 84-90, copy 95-99."""
    space = GpuSpace(**programs)
    gpu = space.gpu()
    compute, other, copies = (gpu.line(name) for name in ("Stream #1(Compute)", "Stream #2", "Stream #3(MemcpyH2D)"))
    of = "m/{}" if programs else ""
    for at in (0, 100, 200):
        space.kernel(compute, "fusion", at, 40, of.format("fusion.1"))
        space.kernel(other, KERNEL.format("AllReduce_Sum_bf16_RING_LL"), at + 20, 40, of.format("all-reduce-start.1"))
        space.kernel(compute, "add", at + 70, 10, of.format("last.1"))
        space.kernel(other, KERNEL.format("SendRecv"), at + 75, 10)
        space.kernel(compute, "rccl_AllGather_RING", at + 84, 6)
        space.kernel(
            copies, "MemcpyH2D", at + 95, 4, memcpy_details=f"kind_src:pageable size:{1000 + at} dest:0 async:1"
        )
    return space.open(folder)


@pytest.mark.parametrize("programs", [{}, {"m": REDUCING}])
def test_collectives_of_a_gpu_are_known_by_their_kernels(programs: dict[str, str], tmp_path: Path) -> None:
    result = gpu_steps(tmp_path, **programs).collectives()
    frame = result.frame.set_index("kind")
    exposed = {"all-reduce": 20, "send/recv": 5, "all-gather": 6, "host-to-device copy": 4}
    assert {kind: row["exposed_time_ps"] / 3 / US for kind, row in frame.iterrows()} == exposed
    assert {kind: row["time_ps"] / 3 / US for kind, row in frame.iterrows()} == exposed | {
        "all-reduce": 40,
        "send/recv": 10,
    }
    assert (frame["occurrences"] == 3).all()
    assert (frame.loc["all-reduce", "dtype"], frame.loc["host-to-device copy", "payload_bytes"]) == ("bf16", 1100)
    assert frame.loc["host-to-device copy", "algorithm_bytes_per_s"] == pytest.approx(1100 / 4e-6)
    by_kind = {each["kind"]: each["exposed_time_ps"] for each in result.summary["by_kind"]}
    assert by_kind == {kind: 3 * length * US for kind, length in exposed.items()}


def test_hlo_says_what_a_gpus_collective_moves_and_whose_step_it_is(tmp_path: Path) -> None:
    """The send and the gather overlap by 1 us: 20 + 5 + 6 - 1 exposed; the last step ends before either is."""
    result = gpu_steps(tmp_path, m=REDUCING).collectives()
    row = result.frame.set_index("op").loc["all-reduce-start.1"]
    assert (row["payload_bytes"], row["replica_groups"], row["group_size"]) == (2000, "{{0,1},{2,3}}", 2)
    assert row["is_async"]
    assert row["algorithm_bytes_per_s"] == row["bus_bytes_per_s"] == pytest.approx(2000 / 40e-6)
    assert row["exposed_per_step_ps"] == 20 * US
    steps = {each["step"]: (each["length_ps"] / US, each["exposed_ps"] / US) for each in result.summary["steps"]}
    assert steps == {0: (100, 30), 1: (100, 30), 2: (80, 20)}
    assert result.summary["exposed_step_fraction"] == pytest.approx(80 / 280)
    assert result.summary["copy_exposed_per_step_ps"] == pytest.approx(8 / 3 * US)
    assert any("SendRecv" in note and "states the shapes" in note for note in result.notes)


def test_steps_of_a_gpu_wait_for_collectives_and_copies_by_kernel(tmp_path: Path) -> None:
    frame = gpu_steps(tmp_path, m=REDUCING).input_pipeline().frame
    first = frame.iloc[0]
    parts = {"compute_ps": 50, "collective_ps": 30, "infeed_ps": 4, "idle_ps": 16}
    assert {name: first[name] / US for name in parts} == parts


def test_a_gpu_without_collectives_says_so(tmp_path: Path) -> None:
    space = GpuSpace()
    space.kernel(space.gpu().line("Stream #1"), "gemm", 0, 10)
    result = space.open(tmp_path).collectives()
    assert not len(result.frame)
    assert "the profile has one device" in result.notes[-1]
    assert "command" not in result.notes[-1]


@pytest.fixture(scope="module")
def tpu(corpus: Path) -> Path:
    (file,) = corpus.glob("tpu-v6e-psum/plugins/profile/*/*.xplane.pb")
    return file


def test_overlap_equals_xprofs(tpu: Path) -> None:
    tools = pytest.importorskip("xprof.cli.internal.oss.xplane_tools")
    from xprof.cli.internal import async_overlap

    expected = async_overlap.analyze(tools.iter_timeline_events(str(tpu)))
    result = xp.open(tpu).collectives(compat="xprof")
    assert_equal_overlap(result, expected)


def assert_equal_overlap(result: Any, expected: dict[str, Any]) -> None:
    names = {"count": "occurrences", "span_ps": "time_ps", "exposed_ps": "exposed_time_ps"}
    names |= {name: name for name in ("hidden", "partial", "exposed", "unpaired_ops", "overlap_ratio")}
    for theirs, ours in names.items():
        assert result.summary[ours] == pytest.approx(expected["summary"][theirs], rel=1e-9), theirs
    by_plane = result.frame.groupby("device")
    for plane, row in expected["by_plane"].items():
        mine = by_plane.get_group(plane.removeprefix("/device:"))
        for theirs in ("count", "span_ps", "exposed_ps", "hidden", "partial", "exposed"):
            assert mine[names[theirs]].sum() == pytest.approx(row[theirs], rel=1e-9), (plane, theirs)
        assert set(mine["window_source"]) == {row["window_source"]}


def test_overlap_equals_xprofs_on_collectives(tmp_path: Path) -> None:
    tools = pytest.importorskip("xprof.cli.internal.oss.xplane_tools")
    from xprof.cli.internal import async_overlap

    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    for name in ("all-gather-start.2", "all-gather-done.2", "copy-start", "copy-done", "send.4", "send-done.4"):
        core.op(name, name.rstrip(".0123456789"))
    core.ops(
        [
            *(("copy-start", 0, 1), ("all-gather-start.2", 1, 1), ("fusion.1", 2, 20), ("all-gather-done.2", 22, 3)),
            *(("send.4", 25, 1), ("fusion.1", 30, 5), ("send-done.4", 40, 2), ("copy-done", 45, 1)),
            ("copy-start", 50, 1),
        ]
    )
    path = space.write(tmp_path)
    expected = async_overlap.analyze(tools.iter_timeline_events(str(path)))
    assert (expected["summary"]["count"], expected["summary"]["unpaired_ops"]) == (3, 1)
    assert_equal_overlap(xp.open(path).collectives(compat="xprof"), expected)


def test_recorded_offload_and_all_reduce(tpu: Path) -> None:
    result = xp.open(tpu).collectives()
    offload = result.frame[result.frame["kind"] == "host offload"]
    assert len(offload) == 4 * 6
    assert (offload["occurrences"] == 100).all()
    assert (offload["payload_bytes"] == 5_368_709_120).all()
    # A copy ends before the next step begins: xprof, pairing by name alone, gets up to 1.17 s.
    longest = offload["time_ps"].max() / 100
    assert longest < result.summary["step_time_mean_ps"]
    reduce = result.frame[result.frame["kind"] == "all-reduce"]
    assert (reduce["group_size"] == 2).all()
    assert np.allclose(reduce["bus_bytes_per_s"], reduce["algorithm_bytes_per_s"])


def test_bandwidths_are_against_the_link_of_the_datasheet_where_a_profile_states_none(tpu: Path) -> None:
    result = xp.open(tpu).collectives()
    assert result.summary["link_peak_bytes_per_s"] == 400e9
    assert result.summary["link_peak_label"] == "datasheet"
    [reduce] = [kind for kind in result.summary["by_kind"] if kind["kind"] == "all-reduce"]
    assert reduce["link_utilization"] == pytest.approx(reduce["bus_bytes_per_s"] / 400e9)
    moving = result.frame[result.frame["kind"] == "all-reduce"]
    np.testing.assert_allclose(moving["link_utilization"], moving["bus_bytes_per_s"] / 400e9)


def test_ones_own_word_about_a_peak_counts_in_every_question(tpu: Path) -> None:
    profile = xp.open(tpu)
    xp.hardware("TPU v6e", link_bytes_per_s=1e11, bf16_flops=1e15)
    try:
        assert profile.collectives().summary["link_peak_bytes_per_s"] == 1e11
        assert profile.sql("SELECT max(peak_flops_per_s) AS peak FROM devices").frame["peak"].item() == 1e15
    finally:
        xp.hardware("TPU v6e", link_bytes_per_s=None, bf16_flops=None)
    assert profile.collectives().summary["link_peak_bytes_per_s"] == 400e9
