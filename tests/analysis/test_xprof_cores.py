"""xprof's steps of TPU cores, what bounds them, and steps of several hosts: every column, every property."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from tests.analysis import step_spaces
from tests.analysis.test_xprof_steps import COLUMNS as DEVICE_COLUMNS
from tests.formats.xspace_messages import parse
from tests.tpu_builder import Core
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import PS_PER_MS as MS
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.xprof.step_alignment import first_steps

CLOSE = 1e-9
OVERFLOWN = 1e13
"""Microseconds from which on xprof took a longer time from a shorter one, of nested events that end too late."""
COLUMNS = {
    "tcComputeTimeMs": "compute_ps",
    "tcInfeedTimeMs": "infeed_ps",
    "tcOutfeedTimeMs": "outfeed_ps",
    "tcIdleTimeMs": "idle_ps",
    "hostTransferTimeMs": "host_transfer_ps",
}
FRACTIONS = {f"infeedPercent{theirs}": f"infeed_{ours}_fraction"
             for theirs, ours in (("Average", "mean"), ("Min", "min"), ("Max", "max"))}  # fmt: skip
MEANS = {"tc_compute": "compute", "tc_infeed": "infeed", "tc_outfeed": "outfeed", "tc_idle": "idle",
         "host_transfer": "host_transfer", "tc_active": "active", "active_steptime": "active"}  # fmt: skip
DEVICE_MEANS = {"device_compute": "compute", "device_to_device": "device_copy", "device_collectives": "collective",
                "host_compute": "host_compute", "kernel_launch": "launch", "infeed": "infeed", "outfeed": "outfeed",
                "compile": "compile", "other": "other"}  # fmt: skip
STATISTICS = {"average": "mean", "standard_deviation": "sd", "minimum": "min", "maximum": "max"}
CLASSES = {"HIGHLY": "host", "MODERATELY": "both", "POTENTIALLY": "both", "NOT": "device", "": "unknown"}
INPUT_TIMES = {"enqueue": "Enqueue", "demanded_file_read": "Demanded file read", "preprocessing": "Preprocessing",
               "advanced_file_read": "Advanced file read", "unclassified_nonequeue": "Unclassified"}  # fmt: skip
OPS = {"fusion.1": "loop fusion", "all-reduce.2": "all-reduce", "infeed.3": "infeed", "outfeed.4": "outfeed",
       "send.5": "host send", "recv.6": "host recv-done", "mega.7": "megacore fusion"}  # fmt: skip


def assert_as_xprof(files: Path | list[Path], opened: Path) -> int:
    """Hold the step table, its properties and the page of what bounds it against xprof's; returns its length."""
    infeed_cores, table, input_ops, *_ = ask_xprof(files, "input_pipeline_analyzer")
    expected, properties = rows_of(table), table["p"]
    profile = xp.open(opened)
    result = profile.input_pipeline(compat="xprof")
    frame, summary = result.frame, result.summary
    of_cores = properties["hardware_type"] == "TPU"
    columns = COLUMNS if of_cores else DEVICE_COLUMNS
    assert [row["stepnum"] for row in expected] == frame["name"].tolist()
    for row, theirs in zip(frame.to_dict("records"), expected, strict=True):
        for column, ours in columns.items():
            assert row[ours] / 1e9 == pytest.approx(theirs[column], rel=CLOSE, abs=1e-9), column
        for column, ours in (FRACTIONS if of_cores else {}).items():
            assert row[ours] * 100 == pytest.approx(theirs[column], rel=CLOSE, abs=1e-9), column
        assert all(theirs.get(name, 0) == 0 for name in ("scv0ComputeTimeMs", "scv0InfeedTimeMs"))
    for theirs, ours in STATISTICS.items():
        shown = properties[f"steptime_ms_{theirs}"]
        assert_shown(shown, (summary[f"step_time_{ours}_ps"] or 0.0) / 1e9)
        if of_cores:
            name = {"minimum": "minimum", "maximum": "maximum"}.get(theirs, theirs)
            assert_shown(properties[f"infeed_percent_{name}"], (summary["infeed_fraction"][ours] or 0.0) * 100)
    for theirs, ours in (MEANS if of_cores else {}).items():
        assert_shown(properties[f"{theirs}_ms_average"], summary["mean_ps"].get(ours, 0.0) / 1e9)
    for theirs, ours in ({} if of_cores else DEVICE_MEANS).items():
        assert_shown(properties[f"{theirs}_time_ms_avg"], summary["mean_ps"].get(ours, 0.0) / 1e9)
        if "nan" not in properties[f"{theirs}_time_ms_sdv"]:  # of equal values, by rounding
            assert_shown(properties[f"{theirs}_time_ms_sdv"], summary["sd_ps"].get(ours, 0.0) / 1e9)
    assert_conclusion(properties["input_conclusion"], summary)
    for theirs, ours in INPUT_TIMES.items():
        shown = float(input_ops["p"][f"{theirs}_us"])
        if shown < OVERFLOWN:
            assert summary["input_time_ps"][ours] / 1e6 == pytest.approx(shown, abs=6e-4)
    if of_cores and expected:
        named = dict(zip((cell["v"] for cell in infeed_cores["rows"][0]["c"]),
                         (cell["v"] for cell in infeed_cores["rows"][1]["c"]), strict=True))  # fmt: skip
        for step, core in zip(frame["name"], frame["infeed_core"], strict=True):
            assert (named[step] == "unknown") == (core is None)
    assert_overview(files, profile, of_cores)
    return len(expected)


def assert_shown(shown: str, value: float) -> None:
    """Compare with a number as it is printed."""
    digits = len(shown.partition(".")[2])
    assert float(shown) == pytest.approx(value, abs=0.51 * 10**-digits)


def assert_conclusion(text: str, summary: dict[str, Any]) -> None:
    found = re.search(r"is (\w+) input-bound because (?:only )?([\d.]+)%", text)
    assert summary["input_classification"] == CLASSES[found[1] if found else ""]
    if found:
        share = summary["other_fraction" if found[1] == "POTENTIALLY" else "input_fraction"]
        assert float(found[2]) == pytest.approx(share * 100, abs=0.051)


def assert_overview(files: Path | list[Path], profile: xp.Profile, of_cores: bool) -> None:
    analysis, steps, run, advice, *_ = ask_xprof(files, "overview_page")
    summary = profile.overview(compat="xprof").summary
    assert (summary["is_training"], str(summary["host_count"])) == (run["p"]["is_training"] == "true",
                                                                   run["p"]["host_count"])  # fmt: skip
    if run["p"]["device_core_count"] != "0":
        assert summary["device_core_count"] == int(run["p"]["device_core_count"])
    for theirs, ours in (("bottleneck", "bottleneck"), ("device_collectives_bottleneck", "collective_bottleneck"),
                         ("kernel_launch_bottleneck", "launch_bottleneck"),
                         ("all_other_bottleneck", "other_bottleneck")):  # fmt: skip
        assert (summary[ours] or "") == advice["p"][theirs], theirs
    assert summary["advises_16bit"] == bool(advice["p"]["precision_statement"])
    for theirs, ours in (("mxu", "matrix_unit"), ("hbm", "hbm")):
        assert_shown(analysis["p"][f"{theirs}_utilization_percent"].rstrip("%"),
                     summary[f"stated_{ours}_utilization"] * 100)  # fmt: skip
    if of_cores:
        idle_ps = float(analysis["p"].get("idle_time_high_confidence_ps", 0))
        assert summary["device_off_duty_ps"] == pytest.approx(idle_ps, rel=1e-5)
    assert_shown(steps["p"]["steptime_ms_average"], (summary["step_time_mean_ps"] or 0.0) / 1e9)


def cores(folder: Path, seed: int, host: str = "worker", late: int = 0) -> Path:
    """Two cores, now and then a sparse one: ops at random, steps that some cores lack, launches, marks and input."""
    dice = random.Random(seed)
    space = SpaceBuilder(host)
    steps = dice.randint(1, 7)
    stats = {"hbm_utilization_percent": 12.5, "matrix_unit_utilization_percent": 7.25} if dice.random() < 0.5 else {}
    python = space.plane("/host:CPU", stats).line("python") if dice.random() < 0.8 else None
    marks, launches, feeds = (dice.random() < chance for chance in (0.7, 0.7, 0.5))
    for n in range(steps if python is not None else 0):
        at = late + 100 * n
        if marks:
            python.event("train", at * MS, 60 * MS, step_num=40 + n, _r=1)
        for ordinal in range(2 if launches else 0):
            python.event("DoEnqueueProgram", (at + 2 + 3 * ordinal) * MS, 2 * MS, run_id=n + 1, queue_id=0,
                         device_ordinal=ordinal)  # fmt: skip
        if dice.random() < 0.7:
            python.event(dice.choice(["IteratorGetNext", "MemcpyHToD", "Compute"]), (at + 10) * MS,
                         dice.randint(1, 20) * MS)  # fmt: skip
    for ordinal in range(2):
        core = Core(space, f"/device:TPU:{ordinal}", core_details=bytes([16, ordinal, 32, 0]))
        for op, category in OPS.items():
            core.op(op, category, bytes_accessed=1000)
        modules = core.plane.line("XLA Modules")
        line = core.plane.line("XLA Ops")
        for n in range(steps):
            modules.event("jit_f(7)", (late + 100 * n + 1) * MS, 90 * MS, run_id=n + 1, queue_id=0)
            at = late + 100 * n + dice.randint(0, 6)
            while at < late + 100 * n + 90:
                op = dice.choice([name for name in OPS if feeds or "infeed" not in name])
                length = min(dice.randint(1, 20), late + 100 * n + 100 - at)
                numbered = {"all_reduce_unique_id": 100 + n} if "all-reduce" in op and dice.random() < 0.8 else {}
                line.event(op, at * MS, length * MS, **numbered)
                at += length + dice.randint(0, 8)
        recorded = core.plane.line("Steps")
        for n in range(steps if dice.random() < 0.8 else steps - 1):
            recorded.event(str(n), (late + 100 * n) * MS, dice.choice([95, 98]) * MS)
    return space.write(folder)


@pytest.mark.parametrize("seed", range(10))
def test_made_up_cores(tmp_path: Path, seed: int) -> None:
    file = cores(tmp_path, seed)
    assert_as_xprof(file, file)


@pytest.mark.parametrize("seed", [0, 2, 6])
def test_made_up_cores_of_two_hosts(tmp_path: Path, seed: int) -> None:
    files = [cores(tmp_path / "run", seed + n, host, 30 * n) for n, host in enumerate(("alpha", "beta"))]
    assert_as_xprof(files, tmp_path / "run")


@pytest.mark.parametrize("make", [step_spaces.host, step_spaces.grouped_gpus])
def test_made_up_hosts_and_gpus(tmp_path: Path, make: Any) -> None:
    assert sum(assert_as_xprof(file := make(seed, tmp_path / str(seed)), file) for seed in range(8)) > 5


@pytest.mark.parametrize("make", [step_spaces.host, step_spaces.grouped_gpus])
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_made_up_hosts_and_gpus_of_two_hosts(tmp_path: Path, make: Any, seed: int) -> None:
    (tmp_path / "run").mkdir()
    files = []
    for n, name in enumerate(("alpha", "beta")):
        space = parse(make(seed + n, tmp_path / name).read_bytes())
        space.hostnames[:] = [name]
        files.append(tmp_path / "run" / f"{name}.xplane.pb")
        files[-1].write_bytes(space.SerializeToString())
    assert_as_xprof(files, tmp_path / "run")


@pytest.mark.parametrize("folder", ["v100-tf", "mi350-te-attention", "tpu-v6e-psum"])
def test_recorded_profiles(folder: str, corpus: Path) -> None:
    (file,) = corpus.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    assert_as_xprof(file, file)
    assert xp.open(file).overview(compat="xprof").summary["is_training"] == (folder == "mi350-te-attention")


def test_an_all_reduce_waits_for_the_slower_core(tmp_path: Path) -> None:
    """One core spends 20 on it, the other 15: 15 are work and 5 waiting, on top of a step of 50."""
    space = SpaceBuilder()
    for ordinal, length in enumerate((20, 15)):
        core = Core(space, f"/device:TPU:{ordinal}")
        core.op("all-reduce.2", "all-reduce")
        core.plane.line("XLA Ops").event("all-reduce.2", 0, length * MS, all_reduce_unique_id=1)
        core.plane.line("Steps").event("0", 0, 50 * MS)
    file = space.write(tmp_path)
    assert assert_as_xprof(file, file) == 1
    result = xp.open(file).input_pipeline(compat="xprof")
    assert result.frame[["all_reduce_compute_ps", "all_reduce_sync_ps"]].iloc[0].tolist() == [15 * MS, 5 * MS]
    assert result.summary["all_reduce_sync_fraction"] == pytest.approx(5 / 70)
    assert (result.summary["all_reduce_classification"], result.summary["idle_classification"]) == ("yes", "yes")


def test_hosts_are_aligned_by_the_time_their_steps_share() -> None:
    steps = [(100 * n, 100 * n + 90) for n in range(6)]
    assert first_steps([steps, steps]) == ([0, 0], 6)
    assert first_steps([steps, steps[2:]]) == ([2, 0], 4)
    later = [(begin + 10, end + 10) for begin, end in steps[1:4]]
    assert first_steps([steps[:3], later]) == ([1, 0], 2)
    assert first_steps([steps, []])[1] == 0
