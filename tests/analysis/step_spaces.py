"""Made-up hosts and GPUs with marks, contexts, launches and thread pools in random order, by seed; times in us."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.analysis.gpu_spaces import V100
from tests.xspace_builder import LineBuilder, PlaneBuilder, SpaceBuilder

US = 10**6
STEPS_LINE = 0xDEADBEEF - 2**32
NAMES = (
    *(
        "train",
        "train",
        "train",
        "test_step",
        "epoch",
        "TraceContext",
        "train/x",
        "dot.3",
        "EagerExecute",
        "IteratorGetNext",
    ),
    *("x:InfeedEnqueueTuple", "MemcpyHToD", "MemcpyHToH", "Iterator::Map", "FunctionRun", "SessionRun"),
    *("cuLaunchKernel",) * 8,
)
KERNELS = (
    *("gemm_half", "k_fp16", "fusion_3", "MemcpyH2D", "MemcpyHToD", "MemcpyDToH", "MemcpyDToD"),
    *("ncclDevKernel_AllReduce", "NCCLx", "CopyDeviceToDevice"),
)
POOL = "ThreadpoolListener::"


def host(seed: int, folder: Path) -> Path:
    """Write a host without devices."""
    dice, space = random.Random(seed), SpaceBuilder()
    _host_lines(dice, space.plane("/host:CPU"))
    return space.write(folder)


def launching_host(seed: int, folder: Path) -> Path:
    """Write a host that marks steps and launches the kernels of its GPUs."""
    dice, space = random.Random(seed), SpaceBuilder()
    _host_lines(dice, space.plane("/host:CPU"))
    for number in range(dice.randint(1, 2)):
        _streams(dice, space.plane(f"/device:GPU:{number}", V100), is_grouped=False)
    return space.write(folder)


def grouped_gpus(seed: int, folder: Path) -> Path:
    """Write GPUs whose events state their groups, with a line of steps."""
    dice, space = random.Random(seed), SpaceBuilder()
    for number in range(dice.randint(1, 2)):
        plane = space.plane(f"/device:GPU:{number}", V100)
        _streams(dice, plane, is_grouped=True)
        line, at = plane.line("Steps", number=STEPS_LINE), 0
        for group in range(9):
            if dice.random() < 0.8:
                line.event(str(group), at * US, dice.randint(5, 40) * US, group_id=group)
            at += dice.randint(0, 30)
    return space.write(folder)


def executing_host(seed: int, folder: Path) -> Path:
    """Write a host on which TensorFlow's executors work on steps, loops and input, some with GPUs they launch on."""
    dice, space = random.Random(seed), SpaceBuilder()
    plane = space.plane("/host:CPU")
    kind = dice.choice(["steps", "steps", "loops", "loop ops"])
    for number in range(dice.randint(2, 4)):
        line, at = plane.line(f"thread {number}"), dice.randint(0, 10)
        for _ in range(dice.randint(2, 8)):
            _executed(dice, line, at, kind)
            at += dice.randint(40, 55)
    if dice.random() < 0.5:
        _streams(dice, space.plane("/device:GPU:0", V100), is_grouped=False)
    return space.write(folder)


def _executed(dice: random.Random, line: LineBuilder, at: int, kind: str) -> None:
    """Write an event and those inside it."""
    step, iteration = dice.randint(1, 4), dice.randint(0, 2) if kind == "loops" else 0
    run = {"id": step, "iter_num": iteration}
    link = {"_pt": 2, "_p": step}
    mark = {"graph_type": "train", "step_num": dice.randint(0, 99)} if dice.random() < 0.5 else {"step_num": step}
    outer: list[tuple[str, dict[str, Any]]] = [
        ("TraceContext", {**mark, **link}), ("FunctionRun", {"id": step, **link}), ("ExecutorState::Process", run),
        ("ExecutorState::Process", {**run, "_ct": 2, "_c": step}), ("InstantiatedCapturedFunction::Run", {"id": step}),
        ("TraceContext", {**mark, "id": step}), ("CompleteCallbacks", launch := _launch(dice)),
        ("RunProgramRequest", queued := {"request_id": step, "queue_addr": 7}), ("TpuExecuteOp", run),
    ]  # fmt: skip
    inner: list[tuple[str, dict[str, Any]]] = [
        ("IteratorGetNextOp::DoCompute", run), ("IteratorGetNextAsOptionalOp::DoCompute", run), ("TpuExecuteOp", run),
        ("a/MatMul:MatMul", {}), ("EnqueueRequestLocked", queued), ("DoEnqueueProgram", launch), ("train", {}),
        ("cuLaunchKernel", {"correlation_id": dice.randint(1, 30)}), ("MemcpyHToD", {}), ("EagerExecute", {}),
    ]  # fmt: skip
    if kind == "loop ops":
        inner.append(("WhileOp-StartBody", {}))
    name, stats = dice.choice(outer)
    line.event(name, at * US, dice.randint(20, 38) * US, **stats)
    for offset in range(1, 18, 6):
        name, stats = dice.choice(inner)
        line.event(name, (at + offset) * US, dice.randint(1, 5) * US, **stats)


def _launch(dice: random.Random) -> dict[str, Any]:
    return {"device_ordinal": 0, "queue_id": 1, "run_id": dice.randint(1, 3) + 2**27 * dice.randint(0, 1)}


def _host_lines(dice: random.Random, plane: PlaneBuilder) -> None:
    for number in range(dice.randint(1, 3)):
        spans: set[tuple[int, int]] = set()
        for begin in range(dice.randint(0, 10), 300, 60):
            _nested(dice, spans, begin, begin + dice.randint(20, 55), 0)
        line = plane.line(f"thread {number}")
        for start, minus_length in sorted((start, -length) for start, length in spans):
            _host_event(dice, line, start, -minus_length)


def _nested(dice: random.Random, spans: set[tuple[int, int]], begin: int, end: int, depth: int) -> None:
    while begin < end and dice.random() < 0.9:
        start = dice.randint(begin, end)
        stop = dice.randint(start, end) if dice.random() < 0.85 else start
        spans.add((start, stop - start))
        if depth < 3:
            _nested(dice, spans, start, stop, depth + 1)
        begin = stop + dice.randint(0, 6)


def _host_event(dice: random.Random, line: LineBuilder, start: int, length: int) -> None:
    name, stats = dice.choice(NAMES), dict[str, Any]()
    if not length and dice.random() < 0.5:
        name = POOL + dice.choice(["StartRegion", "StopRegion", "Record"])
        number = dice.randint(1, 4)
        known = {"StartRegion": {"_ct": 15, "_c": number}, "Record": {"_pt": 15, "_p": number}}
        line.event(name, start * US, 0, **known.get(name.removeprefix(POOL), {}))
        return
    if name in {"train", "test_step", "epoch"} and dice.random() < 0.8:
        stats = {"_r": dice.choice([1, 1, 1, 2]), "step_num": dice.randint(0, 99)}
    if dice.random() < 0.25:
        stats |= {"_pt": dice.choice([0, 5]), "_p": dice.randint(1, 6)}
    if dice.random() < 0.25:
        stats |= {"_ct": dice.choice([0, 5]), "_c": dice.randint(1, 6)}
    if stats.get("_p") == stats.get("_c"):
        stats.pop("_p", None)  # nothing that runs leads to itself
    for stat, chance in (("_a", 0.06), ("_ipl_stage_name", 0.1)):
        if dice.random() < chance:
            stats[stat] = 1 if stat == "_a" else "stage"
    if "Launch" in name:
        stats["correlation_id"] = dice.randint(1, 30)
    line.event(name, start * US, length * US, **stats)


def _streams(dice: random.Random, plane: PlaneBuilder, is_grouped: bool) -> None:
    for number in range(dice.randint(1, 2)):
        line, at = plane.line(f"Stream #{number}(Compute)"), dice.randint(0, 20)
        for _ in range(dice.randint(1, 25)):
            at, length, stats = at + dice.randint(0, 20), dice.randint(0, 12), dict[str, Any]()
            if dice.random() < 0.9:
                stats["correlation_id"] = dice.randint(1, 30)
            if is_grouped and dice.random() < 0.8:
                stats["group_id"] = dice.randint(0, 8)
            if dice.random() < 0.2:
                stats["shape"] = dice.choice(["half[2]", "float[3]", ""])
            line.event(dice.choice(KERNELS), at * US, length * US, **stats)
            at += length
