"""Every question answers every kind of program on this CPU, and its sums add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.analysis.captures import captured

SIZE, RUNS = 64, 5
WORKLOADS = [
    *("scan", "while_loop", "nested_loops", "convolution", "pallas", "collectives", "compiling_steps"),
    *("two_programs", "plain_calls"),
]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return captured(tmp_path_factory)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_busy_time_is_the_sum_of_self_times_within_the_window(workload: str, capture: Any) -> None:
    profile = capture(workload)
    ops = profile.ops()
    begin, end = profile.data.hosts[0].window_ps
    busy = ops.frame.groupby("device")["self_time_ps"].sum()
    assert (busy <= end - begin).all()
    assert busy.sum() == pytest.approx(ops.summary["busy_time_ps"], rel=1e-9)
    overview = profile.overview().summary
    assert overview["device_busy_fraction"] == pytest.approx(busy.sum() / ops.summary["total_time_ps"], rel=1e-9)


@pytest.mark.parametrize("by", ["program", "category", "framework", "source"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_children_add_up_to_their_parent_with_idle_as_a_row(workload: str, by: Any, capture: Any) -> None:
    frame = capture(workload).op_profile(by=by).frame
    timed = frame[frame["kind"] != "fused"]
    assert (timed["kind"] == "idle").sum() == 1
    below = timed[timed["parent"] >= 0].groupby("parent")["self_time_ps"].sum()
    above = timed.set_index("node").loc[below.index, "self_time_ps"]
    assert np.allclose(below, above, rtol=1e-9)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_steps_and_what_they_waited_for(workload: str, capture: Any) -> None:
    profile = capture(workload)
    steps = profile.steps()
    assert steps.summary["step_count"] >= RUNS - 1
    assert (steps.frame["busy_time_ps"] > 0).all()
    split = profile.input_pipeline().frame
    parts = [name for name in split if name.endswith("_ps") and name not in {"start_ps", "step_time_ps"}]
    parts.remove("compute_16bit_ps")
    assert (split[parts].sum(axis=1) == split["step_time_ps"]).all()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_only_what_moves_data_is_a_collective(workload: str, capture: Any) -> None:
    result = capture(workload).collectives()
    assert bool(len(result.frame)) == (workload == "collectives")
    assert len(result.frame) or result.notes[-1].startswith("No collective")


def test_nested_loops_run_their_body_as_often_as_both_say(capture: Any) -> None:
    frame = capture("nested_loops").ops().frame
    matrix = frame[frame["work_kind"] == "matrix"]
    assert matrix["occurrences"].sum() == RUNS * 3 * 4
    assert matrix["flops"].sum() == RUNS * 3 * 4 * 2 * SIZE**3
    loops = frame[frame["category"] == "while"]
    assert sorted(loops["occurrences"]) == [RUNS, 3 * RUNS]


def test_a_convolution_has_its_closed_form(capture: Any) -> None:
    """Each of 2 x 32 x 32 outputs of 16 channels sums 3 x 3 x 8 products; at the border fewer."""
    frame = capture("convolution").ops().frame
    matrix = frame[frame["work_kind"] == "matrix"]
    taps = 3 * 32 - 2
    assert matrix["flops"].sum() == RUNS * 2 * 2 * taps * taps * 8 * 16
