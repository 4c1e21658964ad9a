"""Op tables and op profiles of made-up TPUs, equal to xprof's own: what no recorded profile has."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import xprof_nb as xp
from tests.analysis.tpu_spaces import CMEM, HBM, MS, READ, VMEM, WRITE, Op, core, programs
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder

EXACT = 1e-6
GIB = 2**30
OPS = [
    Op("while.1", "while", flops=3 * 10**9, bytes_accessed=10**6, tf_op="jit(f)/while:"),
    Op("fusion.1", "convolution fusion", flops=10**9, model_flops=2 * 10**9, bytes_accessed=10**6,
       breakdown=((HBM, READ, 9 * 10**5), (VMEM, WRITE, 10**5)), tf_op="jit(f)/while/body/layer/dot_general:"),
    Op("fusion.2", "loop fusion", flops=10**5, bytes_accessed=10**7, tf_op="jit(f)/add:",
       breakdown=((HBM, READ, 5 * 10**6), (HBM, WRITE, 5 * 10**6)), stats={"deduplicated_name": "fusion.2"}),
    Op("fusion.3", "loop fusion", flops=10**5, bytes_accessed=10**7, tf_op="jit(f)/add:",
       breakdown=((HBM, READ, 10**7),), stats={"deduplicated_name": "fusion.2"}),
    Op("fusion.1", "loop fusion", program=8, flops=10**4, bytes_accessed=10**4, tf_op="jit(g)/mul:"),
    Op("fusion.9", "megacore fusion", flops=10**8, bytes_accessed=10**5, breakdown=((CMEM, READ, 10**5),)),
    Op("copy-start.1", "copy-start", bytes_accessed=10**8),
    Op("copy-done.1", "copy-done", bytes_accessed=10**8),
    Op("kernel.1", "custom-call", flops=10**7, bytes_accessed=10**5, tf_op="jit(f)/pallas_call:"),
    Op("infeed.1", "infeed", bytes_accessed=10**4),
    Op("region_0.1", "loop fusion", flops=10**6, bytes_accessed=10**4, tf_op="jit(f)/sum:"),
]  # fmt: skip
EVENTS = [(0, 3, 37), (1, 4, 10), (1, 15, 10), (2, 41, 3), (3, 45, 3), (4, 50, 2), (5, 54, 4), (6, 59, 1), (7, 70, 6),
          (10, 77, 1), (8, 80, 5), (9, 90, 2)]  # fmt: skip
MODULES = [("jit_f(7)", 0, 49), ("jit_g(8)", 49.5, 3), ("jit_f(7)", 53, 40)]


def made_up(folder: Path, steps: bool) -> Path:
    space = SpaceBuilder()
    for ordinal in range(2):
        plane = core(space, ordinal, OPS, EVENTS[: len(EVENTS) - ordinal], MODULES,
                     core_details=bytes([16, ordinal, 32, 0]))  # fmt: skip
        if steps:
            line = plane.line("Steps")
            for number, (start, length) in enumerate([(0, 49), (53, 42)]):
                line.event(str(number), start * MS, length * MS, group_id=number, step_idle_time_ps=MS)
        names = [entry.name for entry in plane.message.event_metadata.values()]
        line = next(line for line in plane.message.lines if line.name == "XLA Ops")
        more = line.events.add(metadata_id=names.index(next(n for n in names if "fusion.2" in n)) + 1)
        more.num_occurrences, more.duration_ps = 5, 2 * MS
    programs(space, {7: "jit_f", 8: "jit_g"})
    space.task_environment(0, 100 * 10**6)
    return space.write(folder)


@pytest.fixture(scope="module", params=[False, True], ids=["no-steps", "steps"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up(tmp_path_factory.mktemp("parity"), request.param)


HLO_STATS = {
    "occurrences": ("occurrences", 1), "total_time": ("time_ps", 1e6), "total_self_time": ("self_time_ps", 1e6),
    "total_self_time_percent": ("time_fraction", 1e-2), "normalized_flop_rate": ("flops_per_s", 1e9),
    "measured_memory_bw": ("bytes_per_s", GIB), "hbm_bw": ("hbm_bytes_per_s", GIB),
    "operational_intensity": ("arithmetic_intensity", 1),
}  # fmt: skip


def assert_hlo_stats(file: Path) -> int:
    expected = {(int(row["program_id"]), row["hlo_op_name"]): row for row in rows_of(ask_xprof(file, "hlo_stats"))}
    found = xp.open(file).ops(compat="xprof").frame.set_index(["program_id", "op"])
    assert {(int(program), op) for program, op in found.index} == set(expected)
    for key, row in expected.items():
        ours = found.loc[key]
        for theirs, (name, unit) in HLO_STATS.items():
            value = 0.0 if pd.isna(ours[name]) else ours[name]
            assert value == pytest.approx(row[theirs] * unit, rel=EXACT), (key, theirs)
        assert (ours["category"], ours["bound_by"]) == (row["category"], row["bound_by"]), key
    return len(expected)


def overlapping(seed: int, folder: Path) -> Path:
    """A core whose ops begin and end at random; of those inside another none overlap, so that its own time is left."""
    dice, space, events, at = random.Random(seed), SpaceBuilder(), [], 0.0
    for _ in range(20):
        at, length = at + dice.randint(2, 9), dice.randint(2, 14)
        events.append((dice.randrange(len(OPS)), at, length))
        inside = at
        while (inside := inside + dice.randint(1, 4)) + 1 < at + length and dice.random() < 0.6:
            events.append((dice.randrange(len(OPS)), inside, 1))
        at = max(at, events[-1][1])
    core(space, 0, OPS, events, MODULES)
    programs(space, {7: "jit_f", 8: "jit_g"})
    return space.write(folder)


@pytest.mark.parametrize("seed", range(8))
def test_ops_that_overlap(seed: int, tmp_path: Path) -> None:
    file = overlapping(seed, tmp_path)
    assert assert_hlo_stats(file) > 8
    assert assert_op_profile(file, "program", "program", "byProgram") > 5
    ours = xp.open(file).ops()
    assert ours.frame["self_time_ps"].sum() <= ours.summary["total_time_ps"]


def test_the_op_table(file: Path) -> None:
    assert assert_hlo_stats(file) == len(OPS)


def walk(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    yield path, node["metrics"]
    for child in node.get("children", []):
        yield from walk(child, (*path, child["name"]))


def our_nodes(frame: pd.DataFrame) -> dict[tuple[str, ...], Any]:
    paths: dict[int, tuple[str, ...]] = {}
    for row in frame.itertuples():
        name = "IDLE" if row.kind == "idle" else str(row.name).partition("  ")[0]
        paths[row.node] = () if row.parent < 0 else (*paths[row.parent], name)
    return {path: frame.iloc[node] for node, path in paths.items()}


def zero(value: float) -> float:
    return 0.0 if pd.isna(value) else float(value)


def assert_op_profile(file: Path, by: str, group_by: str, tree: str) -> int:
    """Compare every number of every node of xprof's trees, that with idle time and that without."""
    profile = ask_xprof(file, "op_profile", group_by=group_by)
    result = xp.open(file).op_profile(by=by, compat="xprof")  # type: ignore[arg-type]
    ours = our_nodes(result.frame)
    trees = {True: list(walk(profile[tree])), False: list(walk(profile[f"{tree}ExcludeIdle"]))}
    assert {path for path, _ in trees[True]} == {path for path, row in ours.items() if row["kind"] != "fused"}
    assert zero(result.summary["time_scale"]) == pytest.approx(profile["aggDvfsTimeScaleMultiplier"], rel=EXACT)
    for with_idle, nodes in trees.items():
        for path, metrics in nodes:
            row = ours[path]
            is_root = row["kind"] == "root"
            if not is_root or with_idle:
                assert row["self_time_ps"] == pytest.approx(metrics["rawTime"], rel=EXACT), path
                assert zero(row["hbm_utilization"]) == pytest.approx(metrics["bandwidthUtils"][0], rel=EXACT) or (
                    metrics["bandwidthUtils"][0] == 1 < row["hbm_utilization"]
                ), path
                for n, way in ((1, "read"), (2, "write")):
                    used = min(zero(row[f"on_chip_{way}_utilization"]), 1)
                    assert used == pytest.approx(metrics["bandwidthUtils"][n], rel=EXACT), path
            assert zero(row["model_flops"]) == pytest.approx(metrics["rawFlops"], rel=EXACT), path
            assert zero(row["flops"]) == pytest.approx(metrics["bf16Flops"], rel=EXACT), path
            assert zero(row["normalized_time_ps"]) == pytest.approx(metrics["normalizedTimePs"], rel=EXACT), path
            share = zero(row["time_fraction"]) if with_idle else (1.0 if is_root else zero(row["busy_fraction"]))
            uncapped = zero(row["flops_utilization"]) * share
            assert uncapped == pytest.approx(metrics["uncappedFlops"], rel=EXACT, abs=1e-15) or is_root, path
            for n, name in enumerate(("hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes")):
                assert zero(row[name]) == pytest.approx(float(metrics["rawBytesAccessedArray"][n]), rel=EXACT), path
            if row["kind"] in {"category", "group", "op"}:
                assert zero(row["occurrences"]) == metrics["occurrences"], path
                assert zero(row["mean_time_ps"]) == pytest.approx(metrics["avgTimePs"], rel=EXACT), path
    return len(trees[True])


@pytest.mark.parametrize(
    ("by", "group_by", "tree"),
    [("program", "program", "byProgram"), ("category", "category", "byCategory"),
     ("framework", "provenance", "byProvenance")],
)  # fmt: skip
def test_the_op_profile(file: Path, by: str, group_by: str, tree: str) -> None:
    assert assert_op_profile(file, by, group_by, tree) > 10
