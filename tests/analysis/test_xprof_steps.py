"""xprof's steps of CPUs and GPUs, every column of every step: recorded, captured and made-up profiles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis import step_spaces
from tests.analysis.captures import captured
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder

US = 10**6
COLUMNS = {
    "stepTimeMs": "step_time_ps",
    "deviceComputeTimeMs": "compute_ps",
    "deviceToDeviceTimeMs": "device_copy_ps",
    "deviceCollectivesTimeMs": "collective_ps",
    "hostComputeTimeMs": "host_compute_ps",
    "kernelLaunchTimeMs": "launch_ps",
    "infeedTimeMs": "infeed_ps",
    "outfeedTimeMs": "outfeed_ps",
    "compileTimeMs": "compile_ps",
    "otherTimeMs": "other_ps",
}


def assert_as_xprof(file: Path) -> int:
    """Hold the step table against xprof's; returns its length."""
    table = ask_xprof(file, "input_pipeline_analyzer")[1]
    expected, properties = rows_of(table), table["p"]
    profile = xp.open(file)
    result = profile.input_pipeline(compat="xprof")
    assert result.frame["name"].tolist() == [row["stepnum"] for row in expected]
    for theirs, ours in COLUMNS.items():
        got = (result.frame[ours] / 1e9).to_numpy(np.float64)
        assert got == pytest.approx(np.array([row[theirs] for row in expected]), rel=1e-9, abs=1e-12), theirs
    steps = profile.steps(compat="xprof")
    assert steps.frame["step_time_ps"].tolist() == result.frame["step_time_ps"].tolist()
    assert steps.frame["name"].tolist() == result.frame["name"].tolist()
    for theirs, ours in (("average", "mean"), ("standard_deviation", "sd"), ("minimum", "min"), ("maximum", "max")):
        assert f"{(steps.summary[f'step_time_{ours}_ps'] or 0.0) / 1e9:.1f}" == properties[f"steptime_ms_{theirs}"]
    return len(expected)


def assert_input_ops_as_xprof(file: Path) -> int:
    expected = rows_of(ask_xprof(file, "input_pipeline_analyzer")[2])
    ops = {each["op"]: each for each in xp.open(file).input_pipeline(compat="xprof").summary["input_ops"]}
    assert set(ops) == {row["opName"] for row in expected}
    for row in expected:
        ours = ops[row["opName"]]
        assert (ours["occurrences"], ours["kind"]) == (row["count"], row["category"])
        assert ours["time_ps"] / 1e9 == pytest.approx(row["timeInMs"], rel=1e-9)
        assert ours["self_time_ps"] / 1e9 == pytest.approx(row["selfTimeInMs"], rel=1e-9)
        assert ours["time_fraction"] == pytest.approx(row["timeInPercent"], rel=1e-9)
        assert ours["self_time_fraction"] == pytest.approx(row["selfTimeInPercent"], rel=1e-9)
    return len(expected)


def test_the_recorded_gpus_of_tensorflow(corpus: Path) -> None:
    (file,) = corpus.glob("v100-tf/plugins/profile/*/*.xplane.pb")
    assert assert_as_xprof(file) == 1
    assert assert_input_ops_as_xprof(file) == 2


@pytest.mark.parametrize("folder", ["mi300x-jax-gemm", "mi300x-jax-conv", "mi350-te-attention"])
def test_xprof_has_no_steps_of_gpus_without_marks(folder: str, corpus: Path) -> None:
    (file,) = corpus.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    assert assert_as_xprof(file) == 0
    steps = xp.open(file).steps(compat="xprof")
    assert "xprof infers none" in steps.notes[0]
    assert len(xp.open(file).steps().frame)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return captured(tmp_path_factory)


@pytest.mark.parametrize("workload", ["annotated_calls", "asynchronous", "collectives", "compiling_steps", "scan"])
def test_captures_of_this_cpu(workload: str, capture: Any) -> None:
    count = assert_as_xprof(Path(capture(workload).data.hosts[0].file))
    assert (count > 0) == (workload != "scan")


MAKERS = [step_spaces.host, step_spaces.launching_host, step_spaces.grouped_gpus, step_spaces.executing_host]


@pytest.mark.parametrize("make", MAKERS)
def test_made_up_profiles(make: Callable[[int, Path], Path], tmp_path: Path) -> None:
    assert sum(assert_as_xprof(make(seed, tmp_path / str(seed))) for seed in range(25)) > 5


def marked_gpu(folder: Path, steps: int) -> Path:
    """A step of 100 us: launches of a copy, a matrix multiplication, and an all-reduce that follows unlaunched."""
    space = SpaceBuilder()
    host, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0", step_spaces.V100)
    python, stream, other = host.line("python"), gpu.line("Stream #1(Compute)"), gpu.line("Stream #2(Memcpy)")
    for n in range(steps):
        at = 100 * n * US
        python.event("train", at, 20 * US, step_num=40 + n, _r=1)
        python.event("cuMemcpyAsync", at + US, US, correlation_id=10 * n + 1)
        python.event("cuLaunchKernel", at + 3 * US, US, correlation_id=10 * n + 2)
        other.event("MemcpyHToD", at + 5 * US, 10 * US, correlation_id=10 * n + 1)
        stream.event("gemm", at + 10 * US, 40 * US, correlation_id=10 * n + 2)
        stream.event("ncclDevKernel_AllReduce_Sum_f32", at + 45 * US, 15 * US, correlation_id=10 * n + 3)
    return space.write(folder)


def test_a_marked_gpu_step_is_what_it_launched(tmp_path: Path) -> None:
    """Copy 5-15, multiplication 10-50, all-reduce 45-60: 5 of input, 40 of computing, 10 of the collective."""
    file = marked_gpu(tmp_path, 4)
    assert assert_as_xprof(file) == 4
    frame = xp.open(file).input_pipeline(compat="xprof").frame
    wanted = {"step_time_ps": 55, "infeed_ps": 5, "compute_ps": 40, "collective_ps": 10, "other_ps": 0, "launch_ps": 0}
    for name, value in wanted.items():
        assert frame[name].tolist() == [value * US] * 4
    ours = xp.open(file).steps()
    assert (ours.summary["kind"], ours.frame["step"].tolist()) == ("marked", [40, 41, 42, 43])
    assert ours.summary["step_time_mean_ps"] == 100 * US


def test_of_more_than_five_steps_xprof_drops_the_outer_ones(tmp_path: Path) -> None:
    assert assert_as_xprof(marked_gpu(tmp_path / "five", 5)) == 5
    assert assert_as_xprof(marked_gpu(tmp_path / "six", 6)) == 4
    assert xp.open(tmp_path / "six").steps().summary["step_count"] == 6


def test_filters_of_xprofs_steps(tmp_path: Path) -> None:
    space = SpaceBuilder()
    for number in (0, 1):
        gpu = space.plane(f"/device:GPU:{number}", step_spaces.V100)
        stream, line = gpu.line("Stream #1(Compute)"), gpu.line("Steps", number=step_spaces.STEPS_LINE)
        for n in range(3):
            stream.event("gemm", 100 * n * US, (20 + 10 * number) * US, correlation_id=n + 1, group_id=n)
            line.event(str(n), 100 * n * US, (40 + 10 * number) * US, group_id=n)
    profile = xp.open(space.write(tmp_path))
    assert profile.input_pipeline(compat="xprof").frame["step_time_ps"].tolist() == [50 * US] * 3
    one = profile.input_pipeline(compat="xprof", device="GPU:0").frame
    assert (one["step_time_ps"].tolist(), one["compute_ps"].tolist()) == ([40 * US] * 3, [20 * US] * 3)
    assert profile.steps(compat="xprof", step=1).frame["start_ps"].tolist() == [100 * US]
    assert "window_ps= is not applied" in profile.steps(compat="xprof", window_ps=(0, US)).notes[0]
    with pytest.raises(xp.ProfileError, match="no step 9"):
        profile.steps(compat="xprof", step=9)
    with pytest.raises(xp.ProfileError, match="no device 'GPU:7'"):
        profile.input_pipeline(compat="xprof", device="GPU:7")


def test_input_ops_by_what_they_read(tmp_path: Path) -> None:
    space = SpaceBuilder()
    python = space.plane("/host:CPU").line("python")
    names = ("Iterator::Root::Map", "Iterator::Root::TFRecord", "Iterator::Root::Prefetch::TFRecord",
             "x/InfeedEnqueueTuple:InfeedEnqueueTuple", "MemcpyHToD", "MatMul:MatMul")  # fmt: skip
    for n, name in enumerate(names):
        python.event(name, 100 * n * US, (10 + n) * US)
    assert assert_input_ops_as_xprof(space.write(tmp_path)) == 5


def test_a_step_is_named_by_the_graph_and_number_of_what_led_to_it(tmp_path: Path) -> None:
    """A mark without a number, asked for by another thread that has one, is a step of that number."""
    space = SpaceBuilder()
    host, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0", step_spaces.V100)
    asking, doing, stream = host.line("asking"), host.line("doing"), gpu.line("Stream #1(Compute)")
    for n in range(3):
        at = 100 * n * US
        asking.event("call", at, 90 * US, graph_type="predict", step_num=70 + n, _pt=2, _p=n + 1)
        doing.event("TraceContext", at + US, 80 * US, _ct=2, _c=n + 1)
        doing.event("cuLaunchKernel", at + 2 * US, US, correlation_id=n + 1)
        stream.event("gemm", at + 10 * US, 40 * US, correlation_id=n + 1)
    file = space.write(tmp_path)
    assert assert_as_xprof(file) == 3


def test_with_loop_ops_xprof_groups_nothing(tmp_path: Path) -> None:
    space = SpaceBuilder()
    python = space.plane("/host:CPU").line("python")
    python.event("train", 0, 50 * US, step_num=1, _r=1)
    python.event("MatMul:MatMul", US, US)
    assert assert_as_xprof(space.write(tmp_path / "plain")) == 1
    python.event("WhileOp-StartBody", 60 * US, US)
    assert assert_as_xprof(space.write(tmp_path / "loop")) == 0


def test_xprofs_inference_latencies_are_of_no_recorded_profile(corpus: Path) -> None:
    """Its table knows requests of TensorFlow's servers alone: of the others it shows an average of no request."""
    for file in sorted(corpus.rglob("*.xplane.pb")):
        if "broken" in str(file):
            continue
        models, latencies = ask_xprof(file, "inference_profile")
        assert [row["model_name"] for row in rows_of(models)] == ["ALL"]
        (average,) = rows_of(latencies)
        assert (average["percentile"], average["request_id"], average["latency_ms"]) == ("Average", "N/A", 0.0)


def test_nothing_recorded_was_run_eagerly(corpus: Path) -> None:
    """Its shares of eager ops are 0 without TensorFlow 2's eager executor, so that we have no column of them."""
    for file in sorted(corpus.rglob("*.xplane.pb")):
        if "broken" in str(file):
            continue
        stated = {name: text for table in ask_xprof(file, "overview_page") for name, text in table.get("p", {}).items()}
        assert (stated["host_op_time_eager_percent"], stated["device_op_time_eager_percent"]) == ("0.0%", "0.0%")
        assert not len(xp.open(file).events(pattern="^EagerExecute").frame)
