"""Fresh captures of XLA on this CPU, against closed forms and protobuf's own reading of the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.formats.xspace_messages import parse

SIZE, LOOP_LENGTH, RUNS = 64, 50, 5
MLP_STEPS, BATCH, INPUTS, HIDDEN, OUTPUTS = 10, 512, 128, 256, 64


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Any:
    def run(workload: str) -> Path:
        logdir = tmp_path_factory.mktemp(workload)
        script = Path(__file__).with_name("cpu_workloads.py")
        command = [sys.executable, str(script), str(logdir), workload]
        made = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert made.returncode == 0, made.stderr[-2000:]
        return logdir

    return run


@pytest.fixture(scope="module")
def scan(capture: Any) -> xp.Profile:
    return xp.open(capture("scan"))


@pytest.fixture(scope="module")
def four_devices(capture: Any) -> xp.Profile:
    return xp.open(capture("four_devices"))


@pytest.fixture(scope="module")
def mlp(cpu_profile: Path) -> xp.Profile:
    return xp.open(cpu_profile)


def op_spans(profile: xp.Profile) -> list[tuple[int, str, int, int]]:
    """Return (device, op, start, end) of every op as protobuf reads it, asynchronous ends paired one by one."""
    space = parse(Path(profile.data.hosts[0].file).read_bytes())
    (plane,) = [plane for plane in space.planes if plane.name == "/host:CPU"]
    names = {number: entry.name for number, entry in plane.stat_metadata.items()}
    ends: dict[int, int] = {}
    ops = []
    for line in plane.lines:
        for event in line.events:
            stats = {names[stat.metadata_id]: stat for stat in event.stats}
            start = line.timestamp_ns * 1000 + event.offset_ps
            if plane.event_metadata[event.metadata_id].name.startswith("end: "):
                ends[stats["_c"].int64_value or stats["_c"].uint64_value] = start
            elif "hlo_op" in stats:
                serial = stats["_p"].int64_value or stats["_p"].uint64_value if "_p" in stats else None
                name = names[stats["hlo_op"].ref_value]
                ops.append((stats["device_ordinal"].int64_value, name, start, start + event.duration_ps, serial))
    return [(device, name, start, max(end, ends.get(serial, 0))) for device, name, start, end, serial in ops]


def union(spans: list[tuple[int, int]]) -> int:
    covered, reached = 0, -1
    for start, end in sorted(spans):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


@pytest.mark.parametrize("name", ["mlp", "scan", "four_devices"])
def test_ops_last_from_launch_to_asynchronous_end(name: str, request: pytest.FixtureRequest) -> None:
    profile = request.getfixturevalue(name)
    spans = op_spans(profile)
    frame = profile.ops().frame
    for device in {device for device, *_ in spans}:
        for op in {op for number, op, *_ in spans if number == device}:
            expected = [(start, end) for number, other, start, end in spans if (number, other) == (device, op)]
            row = frame[(frame["device"] == f"CPU:{device}") & (frame["op"] == op)]
            assert row["occurrences"].sum() == len(expected)
            assert row["time_ps"].sum() == sum(end - start for start, end in expected)


@pytest.mark.parametrize("name", ["mlp", "scan", "four_devices"])
def test_self_times_sum_to_the_union_of_the_ops(name: str, request: pytest.FixtureRequest) -> None:
    profile = request.getfixturevalue(name)
    spans = op_spans(profile)
    frame = profile.ops().frame
    for device in {device for device, *_ in spans}:
        busy_ps = union([(start, end) for number, _, start, end in spans if number == device])
        assert frame[frame["device"] == f"CPU:{device}"]["self_time_ps"].sum() == pytest.approx(busy_ps, rel=1e-9)
    summary = profile.ops().summary
    assert summary["busy_time_ps"] + summary["idle_time_ps"] == pytest.approx(summary["total_time_ps"], rel=1e-12)


def test_matrix_work_of_the_mlp_has_its_closed_form(mlp: xp.Profile) -> None:
    """Forward x@w0, h@w1; backward dw0, dh, dw1: 2mnk each; x needs no gradient."""
    first, second = 2 * BATCH * INPUTS * HIDDEN, 2 * BATCH * HIDDEN * OUTPUTS
    frame = mlp.ops().frame
    matrix = frame[frame["work_kind"] == "matrix"]
    assert (matrix["occurrences"] == MLP_STEPS).all()
    assert matrix["flops"].sum() == pytest.approx(MLP_STEPS * (2 * first + 3 * second), rel=0.01)


def test_a_loop_body_counts_as_often_as_it_ran(scan: xp.Profile) -> None:
    frame = scan.ops().frame.set_index("op")
    matrix = frame[frame["work_kind"] == "matrix"]
    assert len(matrix) == 1
    assert matrix["occurrences"].iloc[0] == LOOP_LENGTH * RUNS
    assert matrix["flops"].iloc[0] == 2 * SIZE**3 * LOOP_LENGTH * RUNS
    (loop,) = frame.index[frame["category"] == "while"]
    assert frame.loc[loop, "occurrences"] == RUNS
    assert np.isnan(frame.loc[loop, "flops"])
    assert frame.loc[loop, "self_time_ps"] < 0.7 * frame.loc[loop, "time_ps"]


def test_each_virtual_device_has_its_own_rows(four_devices: xp.Profile) -> None:
    frame = four_devices.ops(program="jit_reduce").frame
    assert set(frame["device"]) == {f"CPU:{n}" for n in range(4)}
    collectives = frame[frame["category"] == "all-reduce"]
    assert (collectives["occurrences"] == RUNS).all()
    assert set(collectives["bound_by"]) == {"link"}
    assert four_devices.ops(device="CPU:2", program="jit_reduce").frame["flops"].sum() >= RUNS * 2 * SIZE**3
    assert four_devices.ops().summary["device_count"] == 4


def test_marked_steps_are_found_and_measured_start_to_start(mlp: xp.Profile) -> None:
    steps = mlp.steps()
    assert steps.summary["kind"] == "marked"
    assert steps.frame["step"].tolist() == list(range(MLP_STEPS))
    starts = steps.frame["start_ps"].to_numpy()
    assert steps.frame["step_time_ps"].iloc[:-1].tolist() == np.diff(starts).tolist()
    assert np.isnan(steps.frame["step_time_ps"].iloc[-1])
    one = mlp.ops(step=4).frame
    assert (one[one["program"] == "jit_train_step"]["occurrences"] == 1).all()


def test_work_belongs_to_the_step_that_launched_it_even_if_it_runs_later(capture: Any) -> None:
    profile = xp.open(capture("asynchronous"))
    for step in range(6):
        frame = profile.ops(step=step, program="jit_multiply").frame
        assert (frame["occurrences"] == 1).all()
        assert len(frame) == len(profile.ops(program="jit_multiply").frame)


def test_ops_carry_their_source_line_and_framework_name(mlp: xp.Profile) -> None:
    frame = mlp.ops().frame
    script = Path(__file__).parents[1] / "train_and_capture.py"
    lines = script.read_text().splitlines()
    matrix = frame[frame["work_kind"] == "matrix"]
    files, numbers = zip(*(source.rsplit(":", 1) for source in matrix["source"]), strict=True)
    assert set(files) == {str(script)}
    assert all("@" in lines[int(number) - 1] for number in numbers)
    assert matrix["framework_op"].str.startswith("jit(train_step)/").all()


@pytest.mark.parametrize("by", ["program", "category", "framework", "source"])
@pytest.mark.parametrize("name", ["mlp", "scan", "four_devices"])
def test_children_add_up_to_their_parent(name: str, by: Any, request: pytest.FixtureRequest) -> None:
    frame = request.getfixturevalue(name).op_profile(by=by).frame
    timed = frame[frame["kind"] != "fused"]
    for row in timed[timed["children_total"] > 0].itertuples():
        below = timed[timed["parent"] == row.node]
        if len(below):
            assert below["self_time_ps"].sum() == pytest.approx(row.self_time_ps, rel=1e-9), row.name


def test_a_pruned_tree_keeps_the_most_expensive_nodes_and_their_parents(mlp: xp.Profile) -> None:
    whole = mlp.op_profile().frame
    part = mlp.ask("op_profile", limit=8).frame
    assert len(part) <= 12
    assert set(part["key"]) <= set(whole["key"])
    assert (part["parent"].iloc[1:] >= 0).all()
    assert part["self_time_ps"].iloc[0] == whole["self_time_ps"].iloc[0]
    total = whole.set_index("key")["children_total"]
    assert (part.set_index("key")["children_total"] == total[part["key"]]).all()


def test_children_of_a_node_and_a_search_can_be_asked_for(mlp: xp.Profile) -> None:
    whole = mlp.op_profile().frame
    category = whole[whole["kind"] == "category"].iloc[0]
    below = mlp.ask("op_profile", under=category["key"]).frame
    assert below["key"].tolist() == whole[whole["parent"] == category["node"]]["key"].tolist()
    hits = mlp.ask("op_profile", search="TANH").frame
    assert len(hits)
    assert hits["kind"].iloc[0] == "root"
    assert any("tanh" in str(name) for name in [*hits["name"], *hits["framework_op"]])


def test_an_empty_answer_says_why(mlp: xp.Profile) -> None:
    begin, _ = mlp.data.hosts[0].window_ps
    nothing = mlp.ops(window_ps=(begin, begin + 1))
    assert not len(nothing.frame)
    assert nothing.notes[-1].startswith("No op ran")


def test_overview_has_its_definitions(mlp: xp.Profile) -> None:
    result = mlp.overview()
    assert result.summary["step_count"] == MLP_STEPS
    values = result.frame.set_index("name")
    busy = values.loc["device_busy_fraction", "value"]
    assert busy + values.loc["device_idle_fraction", "value"] == pytest.approx(1)
    assert "at least one op ran" in values.loc["device_busy_fraction", "definition"]
    assert len(result.summary["top_ops"]) > 3
