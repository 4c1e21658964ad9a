"""What steps waited for: closed forms, captures of this CPU, and xprof's own step table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from tests.analysis.captures import captured
from tests.tpu_builder import US, Core
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.step_breakdown import PARTS

PARTS_PS = [f"{part}_ps" for part in PARTS]


def cores(folder: Path, steps: int = 4) -> Path:
    """Write two cores of one chip: infeed, compute, an all-reduce, outfeed and a pause, in recorded steps."""
    space = SpaceBuilder()
    for number in (0, 1):
        core = Core(space, f"/device:TPU:{number}", has_megacore=1)
        for op, category in (
            ("infeed.1", "infeed"),
            ("fusion.1", "loop fusion"),
            ("all-reduce.1", "all-reduce"),
            ("outfeed.1", "outfeed"),
            ("mega.1", "megacore fusion"),
        ):
            core.op(op, category)
        spans = [
            ("infeed.1", 0, 10 + number),
            ("fusion.1", 20, 40 + 10 * number),
            ("all-reduce.1", 65 + 10 * number, 20 - 10 * number),
            ("outfeed.1", 86, 3),
            ("mega.1", 89, 1),
        ]
        core.runs([("jit_f(7)", 100 * n, 90) for n in range(steps)])
        core.ops([(op, 100 * n + start, duration) for n in range(steps) for op, start, duration in spans])
        core.steps([(str(5 + n), 100 * n, 95) for n in range(steps)])
    beside = Core(space, "/device:TPU:0 SparseCore 0")
    beside.op("lookup.1", "custom-call")
    beside.ops([("lookup.1", 100 * n + 30, 20) for n in range(steps)])
    beside.steps([(str(5 + n), 100 * n, 95) for n in range(steps)])
    return space.write(folder)


def test_each_moment_counts_once(tmp_path: Path) -> None:
    result = xp.open(cores(tmp_path)).input_pipeline(device=0)
    row = result.frame.iloc[0]
    assert row["step_time_ps"] == 100 * US
    assert {part: row[f"{part}_ps"] / US for part in PARTS if row[f"{part}_ps"]} == {
        "infeed": 10,
        "compute": 41,
        "collective": 20,
        "outfeed": 3,
        "idle": 26,
    }
    assert result.summary["bound"] == "moderately input-bound"
    assert result.summary["input_fraction"] == pytest.approx(40 / 395)
    assert set(result.summary["definitions"]) == set(PARTS)


def test_the_host_explains_what_the_device_does_not(tmp_path: Path) -> None:
    """Device: 0-40 and 80-100. Host: waits for input 30-60, sends it 55-70, compiles 65-75."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion", "%fusion.1 = bf16[8]{0} fusion(bf16[8]{0} %p), kind=kLoop")
    core.runs([("jit_f(7)", 100 * n, 100) for n in range(3)])
    core.ops([("fusion.1", 100 * n + start, length) for n in range(3) for start, length in ((0, 40), (80, 20))])
    python = space.plane("/host:CPU").line("python")
    python.event("Iterator::Prefetch", 30 * US, 30 * US).event("Iterator::Prefetch::Map", 35 * US, 10 * US)
    python.event("tpu::System::TransferToDevice", 55 * US, 15 * US).event("backend_compile", 65 * US, 10 * US)
    result = xp.open(space.write(tmp_path)).input_pipeline()
    first = result.frame.iloc[0]
    assert {part: first[f"{part}_ps"] / US for part in PARTS if first[f"{part}_ps"]} == {
        "compute": 60,
        "compile": 10,
        "host_input": 20,
        "host_to_device": 5,
        "idle": 5,
    }
    assert first["input_fraction"] == 0.25
    assert first["compute_16bit_ps"] == 60 * US
    ops = {each["op"]: each for each in result.summary["input_ops"]}
    assert ops["Iterator::Prefetch"]["self_time_ps"] == 20 * US
    assert ops["tpu::System::TransferToDevice"]["kind"] == "to_device"
    # The step that compiled is left out of the means.
    assert result.summary["fractions"]["host_input"] == 0


def test_steps_of_cores_equal_xprofs(tmp_path: Path) -> None:
    file = cores(tmp_path)
    expected = rows_of(ask_xprof(file, "input_pipeline_analyzer")[1])
    frame = xp.open(file).input_pipeline(compat="xprof").frame
    assert len(frame) == len(expected) == 4
    names = {
        "tcComputeTimeMs": "compute_ps",
        "tcInfeedTimeMs": "infeed_ps",
        "tcOutfeedTimeMs": "outfeed_ps",
        "tcIdleTimeMs": "idle_ps",
        "hostTransferTimeMs": "host_transfer_ps",
    }
    percents = {
        "infeedPercentAverage": "infeed_mean_fraction",
        "infeedPercentMin": "infeed_min_fraction",
        "infeedPercentMax": "infeed_max_fraction",
    }
    for row, theirs in zip(frame.to_dict("records"), expected, strict=True):
        assert str(row["step"]) == theirs["stepnum"]
        for column, ours in names.items():
            assert row[ours] / 1e9 == pytest.approx(theirs[column], rel=1e-9), column
        for column, ours in percents.items():
            assert row[ours] * 100 == pytest.approx(theirs[column], rel=1e-9), column


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return captured(tmp_path_factory)


@pytest.mark.parametrize("workload", ["annotated_calls", "collectives", "compiling_steps", "two_programs", "scan"])
def test_columns_of_a_cpu_mean_something(workload: str, capture: Any) -> None:
    result = capture(workload).input_pipeline()
    frame = result.frame
    assert len(frame)
    assert (frame[PARTS_PS] >= 0).all(axis=None)
    assert (frame[PARTS_PS].sum(axis=1) == frame["step_time_ps"]).all()
    assert (frame["compute_ps"] > 0).all()
    assert result.summary["bound"] == "not input-bound"
    compiled = frame["compile_ps"].sum() > 0
    assert compiled == (workload == "compiling_steps")
    collective = frame["collective_ps"].sum() > 0
    assert collective == (workload == "collectives")
    assert result.summary["sentence"].startswith("Not input-bound")


def test_no_step_says_why(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    core.ops([("fusion.1", 0, 10)])
    result = xp.open(space.write(tmp_path)).input_pipeline()
    assert not len(result.frame)
    assert any("StepTraceAnnotation" in note for note in result.notes)


def test_damaged_hlo_leaves_the_precision_unknown(tmp_path: Path) -> None:
    space = SpaceBuilder()
    space.hlo({"jit_f(7)": b"\x0a\xff\xff\xff\x7fdamaged"})
    core = Core(space)
    core.op("fusion.1", "loop fusion", "fusion.1")
    core.ops([("fusion.1", 0, 60), ("fusion.1", 100, 60)])
    core.steps([("1", 0, 95), ("2", 100, 95)])
    frame = xp.open(space.write(tmp_path)).input_pipeline().frame
    assert frame["compute_ps"].tolist() == [60 * US, 60 * US]
    assert frame["compute_16bit_ps"].isna().all()
