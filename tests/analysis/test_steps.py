"""Steps marked, recorded and inferred: closed forms on made-up profiles, and captures of this CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.captures import captured
from tests.tpu_builder import US, Core
from tests.xspace_builder import SpaceBuilder


def profile_of(folder: Path, *runs: list[tuple[str, int, int]], stop_us: int = 0) -> xp.Profile:
    """Return a profile whose cores ran these programs, each with one op as long as the run."""
    space = SpaceBuilder()
    for number, core_runs in enumerate(runs):
        core = Core(space, f"/device:TPU:{number}")
        core.op("fusion.1", "loop fusion")
        core.runs(core_runs)
        core.ops([("fusion.1", start, duration) for _, start, duration in core_runs])
    if stop_us:
        space.task_environment(0, stop_us * 1000)
    return xp.open(space.write(folder))


def test_a_step_lasts_from_start_to_start(tmp_path: Path) -> None:
    steps = profile_of(tmp_path, [("jit_f(7)", start, 8) for start in (0, 10, 20)]).steps()
    assert steps.summary["kind"] == "inferred"
    assert steps.summary["step_count"] == 3
    assert steps.summary["step_time_mean_ps"] == 10 * US
    assert steps.frame["duration_ps"].tolist() == [8 * US] * 3
    assert steps.frame["step_time_ps"].tolist()[:2] == [10 * US] * 2
    assert np.isnan(steps.frame["step_time_ps"].iloc[2])


def test_several_programs_that_alternate_are_one_step(tmp_path: Path) -> None:
    runs = [("jit_init(3)", 0, 30)]
    runs += [(name, 100 * n + at, 40) for n in range(1, 7) for name, at in (("jit_a(7)", 0), ("jit_b(8)", 42))]
    steps = profile_of(tmp_path, runs).steps()
    assert steps.summary["step_count"] == 6
    assert steps.summary["step_time_median_ps"] == 100 * US
    assert set(steps.frame["name"]) == {"jit_a + jit_b"}
    assert steps.frame["duration_ps"].tolist() == [82 * US] * 6
    assert steps.frame["busy_time_ps"].tolist() == [80 * US] * 6


def test_microbatches_and_their_update_are_one_step(tmp_path: Path) -> None:
    runs = [
        (name, 100 * n + at, 25) for n in range(4) for name, at in (("jit_a(7)", 0), ("jit_a(7)", 26), ("jit_b(8)", 52))
    ]
    steps = profile_of(tmp_path, runs).steps()
    assert steps.summary["step_count"] == 4
    assert set(steps.frame["name"]) == {"2 x jit_a + jit_b"}


def test_a_pattern_cut_by_the_edges_is_named_and_left_out(tmp_path: Path) -> None:
    whole = [(name, 100 * n + at, 40) for n in range(1, 5) for name, at in (("jit_a(7)", 0), ("jit_b(8)", 42))]
    steps = profile_of(tmp_path, [("jit_b(8)", 42, 40), *whole, ("jit_a(7)", 500, 40)]).steps()
    assert steps.frame["is_partial"].tolist() == [True, False, False, False, False, True]
    assert steps.summary["step_count"] == 4
    assert steps.summary["partial_count"] == 2
    assert steps.frame["cut"].tolist()[::5] == ["cut at the beginning of the capture", "cut at the end of the capture"]
    assert any(note.startswith("The first step (0) is cut") for note in steps.notes)
    assert any(note.startswith("The last step (5) is cut") for note in steps.notes)


def test_irregular_runs_take_the_longest_program_as_the_step(tmp_path: Path) -> None:
    order = "pdddpddpdddddpd"
    run_of = {"d": ("jit_d(7)", 90), "p": ("jit_p(8)", 50)}
    runs = [(run_of[name][0], 100 * n, run_of[name][1]) for n, name in enumerate(order)]
    steps = profile_of(tmp_path, runs).steps()
    assert set(steps.frame["name"]) == {"jit_d"}
    assert len(steps.frame) == order.count("d")


def test_devices_are_numbered_alike_and_their_spread_is_told(tmp_path: Path) -> None:
    fast = [("jit_f(7)", 100 * n, 60) for n in range(5)]
    slow = [("jit_f(7)", 100 * n + 1, 90) for n in range(1, 5)]
    steps = profile_of(tmp_path, fast, slow).steps()
    by_device = steps.frame.groupby("device")["step"].apply(list).to_dict()
    assert by_device == {"TPU:0": [0, 1, 2, 3, 4], "TPU:1": [1, 2, 3, 4]}
    assert steps.summary["slowest_device"] == "TPU:1"
    assert steps.summary["device_spread_ps"] == 30 * US * 4 / 5
    assert set(xp.open(tmp_path).steps(device=1).frame["device"]) == {"TPU:1"}
    assert set(xp.open(tmp_path).ops(step=0).frame["device"]) == {"TPU:0"}


def test_filters_narrow_the_steps(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, [("jit_f(7)", 100 * n, 80) for n in range(6)])
    assert profile.steps(step=3).frame["start_ps"].tolist() == [300 * US]
    inside = profile.steps(window_ps=(150 * US, 450 * US))
    assert inside.frame["step"].tolist() == [1, 2, 3, 4]
    assert inside.frame["is_partial"].tolist() == [True, False, False, True]
    assert any("cut by the chosen window" in note for note in inside.notes)
    assert len(profile.steps(program="jit_f").frame) == 6
    with pytest.raises(xp.ProfileError, match="no step 9"):
        profile.steps(step=9)


def test_no_step_says_why(tmp_path: Path) -> None:
    steps = profile_of(tmp_path, [("jit_f(7)", 0, 8)]).steps()
    assert not len(steps.frame)
    assert any("StepTraceAnnotation" in note for note in steps.notes)


def test_marks_on_the_host_own_the_work_they_launched(tmp_path: Path) -> None:
    """Three steps are launched in 3 us; the device takes 10 us for each. Links lead over a thread of the runtime."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    line = core.plane.line("XLA Modules")
    for n in range(3):
        line.event("jit_f(7)", (10 * n + 5) * US, 10 * US, _ct=12, _c=100 + n)
    core.ops([("fusion.1", 10 * n + 5, 10) for n in range(3)])
    host = space.plane("/host:CPU")
    python, pool = host.line("python"), host.line("pool")
    for n in range(3):
        python.event("train", n * US, US, step_num=40 + n, _r=1)
        python.event("Execute", n * US + 1000, 1000, _pt=5, _p=7 + n)
        pool.event("Scheduled", (n + 10) * US, 5000, _ct=5, _c=7 + n)
        pool.event("DoEnqueueProgram", (n + 10) * US + 100, 100, _pt=12, _p=100 + n)
    profile = xp.open(space.write(tmp_path))
    steps = profile.steps()
    assert steps.frame["step"].tolist() == [40, 41, 42]
    assert steps.frame["kind"].tolist() == ["marked"] * 3
    assert steps.frame["start_ps"].tolist() == [0, 15 * US, 25 * US]
    assert steps.frame["busy_time_ps"].tolist() == [10 * US] * 3
    assert profile.ops(step=41).frame["occurrences"].tolist() == [1]


def test_a_step_whose_work_runs_beside_that_of_the_one_before_begins_with_it(tmp_path: Path) -> None:
    """Work of the first step ends last, after all of the second: that one did not take no time."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    line = core.plane.line("XLA Modules")
    spans = [(5, 10), (16, 10), (20, 2), (40, 10)]
    for n, (start, length) in enumerate(spans):
        line.event("jit_f(7)", start * US, length * US, _ct=12, _c=100 + n)
    core.ops([("fusion.1", start, length) for start, length in spans])
    host = space.plane("/host:CPU")
    python, pool = host.line("python"), host.line("pool")
    for n, step in enumerate((0, 0, 1, 2)):
        if n != 1:
            python.event("train", (4 * step) * US, 3 * US, step_num=step, _r=1)
        python.event("Execute", (4 * step) * US + 1000 * (n + 1), 500, _pt=5, _p=7 + n)
        pool.event("Scheduled", (n + 50) * US, 5000, _ct=5, _c=7 + n)
        pool.event("DoEnqueueProgram", (n + 50) * US + 100, 100, _pt=12, _p=100 + n)
    frame = xp.open(space.write(tmp_path)).steps().frame
    assert frame["start_ps"].tolist() == [0, 20 * US, 26 * US]
    assert frame["step_time_ps"].tolist()[:2] == [20 * US, 6 * US]


def test_an_annotation_around_steps_is_no_step(tmp_path: Path) -> None:
    space = SpaceBuilder()
    python = space.plane("/host:CPU").line("python")
    python.event("epoch", 0, 100 * US, step_num=0, _r=1)
    for n in range(3):
        python.event("train", (10 + 20 * n) * US, 15 * US, step_num=n, _r=1)
    steps = xp.open(space.write(tmp_path)).steps()
    assert steps.frame["name"].tolist() == ["train"] * 3
    assert steps.summary["step_time_mean_ps"] == 20 * US


def marks_of(folder: Path, *events: tuple[str, int, dict[str, Any]]) -> xp.Profile:
    """Return a profile whose host has these events of 8 us, by name, start in us and stats."""
    space = SpaceBuilder()
    python = space.plane("/host:CPU").line("python")
    for name, start, stats in events:
        python.event(name, start * US, 8 * US, **stats)
    return xp.open(space.write(folder))


def test_marks_without_a_number_count_in_order(tmp_path: Path) -> None:
    steps = marks_of(tmp_path, *(("train", 10 * n, {"_r": 1}) for n in range(4))).steps()
    assert (steps.frame["step"].tolist(), steps.summary["kind"]) == ([0, 1, 2, 3], "marked")
    assert steps.summary["step_time_mean_ps"] == 10 * US


def test_numbered_marks_are_the_steps_where_there_are_any(tmp_path: Path) -> None:
    events = [("train", 20 * n, {"_r": 1, "step_num": 5 + n}) for n in range(3)]
    steps = marks_of(tmp_path, *events, ("serving", 11, {"_r": 1})).steps()
    assert steps.frame["step"].tolist() == [5, 6, 7]


def test_steps_as_tensorflow_marks_them(tmp_path: Path) -> None:
    contexts = [("TraceContext", 10 * n, {"graph_type": "train", "step_num": 7 + n}) for n in range(3)]
    steps = marks_of(tmp_path / "contexts", *contexts).steps()
    assert (steps.frame["name"].tolist(), steps.frame["step"].tolist()) == (["train"] * 3, [7, 8, 9])
    grouped = [("Keras", 10 * n, {"group_id": n, "step_name": f"train {30 + n}"}) for n in range(3)]
    calls = [("FunctionRun", 10 * n + 9, {"_r": 1, "group_id": n}) for n in range(3)]
    assert marks_of(tmp_path / "grouped", *grouped, *calls).steps().frame["step"].tolist() == [30, 31, 32]
    loops = [("loop", 10 * n, {"_r": 1, "iter_num": 4 + n}) for n in range(3)]
    assert marks_of(tmp_path / "loops", *loops).steps().frame["step"].tolist() == [4, 5, 6]


def test_one_recorded_step_is_no_plural(corpus: Path) -> None:
    (file,) = corpus.glob("v100-tf/plugins/profile/*/*.xplane.pb")
    assert xp.open(file).steps().summary["sentence"] == "1 recorded step of 20.6 ms (19.9 ms to 21.3 ms by device)."


def test_a_marked_step_whose_device_work_is_cut_is_partial(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    core.runs([("jit_f(7)", 10 * n, 9) for n in range(5)])
    core.ops([("fusion.1", 10 * n + at, 3) for n in range(5) for at in (1, 5) if (n, at) != (4, 5)])
    python = space.plane("/host:CPU").line("python")
    for n in range(5):
        python.event("train", 10 * n * US, 10 * US, step_num=n, _r=1)
    steps = xp.open(space.write(tmp_path)).steps()
    assert steps.frame["is_partial"].tolist() == [False] * 4 + [True]
    assert steps.summary["step_count"] == 4


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return captured(tmp_path_factory)


def test_ten_plain_calls_are_ten_inferred_steps_and_annotated_ones_marked(capture: Any) -> None:
    plain, marked = capture("plain_calls").steps(), capture("annotated_calls").steps()
    assert (plain.summary["kind"], plain.summary["step_count"]) == ("inferred", 10)
    assert (marked.summary["kind"], marked.summary["step_count"]) == ("marked", 10)
    assert marked.frame["step"].tolist() == list(range(10))


def test_a_compilation_in_the_window_is_noted_and_left_out_of_the_median(capture: Any) -> None:
    steps = capture("compiling_steps").steps()
    first = steps.frame.iloc[0]
    assert first["compile_time_ps"] > 0
    assert (steps.frame["compile_time_ps"].iloc[1:] == 0).all()
    rest = steps.frame["step_time_ps"].iloc[1:].dropna()
    assert steps.summary["step_time_median_ps"] == pytest.approx(rest.median())
    assert first["step_time_ps"] > 3 * rest.median()
    assert any(note.startswith("compilation ") for note in steps.notes)


def test_two_programs_a_step_on_this_cpu(capture: Any) -> None:
    steps = capture("two_programs").steps()
    assert steps.summary["step_count"] == 6
    assert steps.frame["name"].iloc[0] == "jit_multiply + jit_total"
