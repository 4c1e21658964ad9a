"""A made-up run of four TPU cores and their host, with as many events as wanted: 20 million take seconds to write.

usage: PYTHONPATH=. python tests/bench/many_ops.py FILE EVENTS

Programs run on every core, one a step: a loop and in it the ops, some long and most short, with gaps. On the host one
thread launches, and each launch is taken up by another thread, linked by a number as XLA's tracing links them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from tests.many_events import Ints, ManyEvents, name_stat, write_planes
from tests.tpu_builder import Core
from tests.xspace_builder import PlaneBuilder, SpaceBuilder

CORES, OPS_A_RUN, NAMES = 4, 2000, 300
HOST_SHARE = 0.2
GAP_PS = 50 * 10**6
_CATEGORIES = ("convolution", "loop fusion", "copy", "all-reduce", "custom-call")


def write_run(path: Path, events: int) -> Path:
    """Write a run of about so many events and return the file."""
    random = np.random.default_rng(3)
    space = SpaceBuilder()
    runs = max(int(events * (1 - HOST_SHARE)) // CORES // (OPS_A_RUN + 3), 1)
    planes = [_core(space, f"/device:TPU:{core}", runs, random) for core in range(CORES)]
    end_ps = int(planes[0][1][2].offset_ps[-1])
    planes.append(_host(space, max(int(events * HOST_SHARE) // 2, 1), end_ps))
    return write_planes(path, planes)


def _core(
    space: SpaceBuilder, name: str, runs: int, random: np.random.Generator
) -> tuple[PlaneBuilder, list[ManyEvents]]:
    core = Core(space, name)
    core.op("while", "while")
    for number in range(NAMES):
        text = f'%op.{number} = f32[8,8]{{1,0}} fusion(), metadata={{op_name="jit(step)/layer{number % 12}/dot"}}'
        core.op(f"op.{number}", _CATEGORIES[number % len(_CATEGORIES)], text, flops=10**6 * number, bytes_accessed=4096)
    loop, ops = core.plane.metadata("while"), np.array([core.plane.metadata(f"op.{n}") for n in range(NAMES)])
    module, step = core.plane.metadata("jit_step(7)"), [core.plane.metadata(str(n)) for n in range(runs)]

    length = np.exp(random.normal(13.5, 1.5, (runs, OPS_A_RUN))).astype(np.int64) + 1000  # 0.7 us in the middle
    gap = (length * random.uniform(0, 0.2, length.shape)).astype(np.int64)
    gap[:, 0] += GAP_PS
    end = np.cumsum(length + gap).reshape(length.shape)
    start = end - length
    begin, whole = start[:, 0] - 1000, end[:, -1] - start[:, 0] + 2000
    chosen = random.zipf(1.5, length.shape) % NAMES
    return core.plane, [
        ManyEvents("Steps", np.array(step), begin, whole),
        ManyEvents("XLA Modules", np.full(runs, module), begin, whole),
        _with_loops(loop, begin, whole, ops[chosen], start, length),
    ]


def _with_loops(loop: int, begin: Ints, whole: Ints, op: Ints, start: Ints, length: Ints) -> ManyEvents:
    columns = ((np.full(len(begin), loop), op), (begin, start), (whole, length))
    return ManyEvents("XLA Ops", *(np.column_stack(pair).ravel() for pair in columns))


def _host(space: SpaceBuilder, pairs: int, end_ps: int) -> tuple[PlaneBuilder, list[ManyEvents]]:
    plane = space.plane("/host:CPU")
    producer, consumer = (
        {name_stat(plane, first, kind): np.full(pairs, 1), name_stat(plane, first + 1, number): np.arange(pairs) + 1}
        for first, kind, number in ((1, "_pt", "_p"), (3, "_ct", "_c"))
    )
    launch, execute = plane.metadata("Launch"), plane.metadata("Execute")
    at = np.linspace(0, end_ps, pairs, endpoint=False).astype(np.int64)
    length = np.full(pairs, max(end_ps // pairs * 2 // 3, 1))
    return plane, [
        ManyEvents("python/1", np.full(pairs, launch), at, length, producer),
        ManyEvents("worker/2", np.full(pairs, execute), at + length // 2, length, consumer),
    ]


if __name__ == "__main__":
    write_run(Path(sys.argv[1]), int(sys.argv[2]))
