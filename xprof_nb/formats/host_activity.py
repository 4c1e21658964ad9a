"""A host's events about its devices' work: compilations, input, transfers, launches, waits, and what else went on."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import nesting, plausible
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.activity import (
    COMPILE,
    FROM_DEVICE,
    INPUT,
    LAUNCH,
    OTHER,
    TO_DEVICE,
    WAIT,
    HostActivity,
    no_activity,
)
from xprof_nb.model.intervals import union
from xprof_nb.model.trace import StepMarks

Rows = NDArray[np.int64]
_LONGEST_NAME = 1000
"""Characters: no runtime names its own work longer, and to search damaged ones takes minutes."""
MERGED = "events of a thread, merged"

# In the order they are tried. Names of jax, PjRt, XLA's compilers, TPU and GPU runtimes, tf.data, grain.
_NAMES = {
    COMPILE: (
        *("^backend_compile", "Compiler::Compile", "Client::Compile", "^XlaCompile", "CompileAndLoad"),
        "^lower_sharding_computation$",
    ),
    INPUT: (
        *("^Iterator::", "^IteratorGetNext", "MultiDeviceIteratorGetNext", "^InfeedEnqueue", "::Infeed", "^Dataset"),
        *("^PyGrain", "^grain"),
    ),
    TO_DEVICE: (
        *("TransferToDevice$", "^H2D Dispatch$", "MemcpyH(2|To)D", "BufferFromHostBuffer", "^DevicePut", "^device_put"),
        *("^batched_copy_array_to_devices", "^BatchedDevicePut", "^shard_args$", "CopyRawToDevice"),
    ),
    FROM_DEVICE: (
        *("TransferFromDevice$", "^D2H Dispatch$", "MemcpyD(2|To)H", "ToLiteral", "^OutfeedDequeue", "CopyToHost"),
        "CopyRawToHost",
    ),
    WAIT: ("Buffer::Await$", "BlockUntilReady", "^Wait for ", "[ :]block_until_ready$", r"^\$time sleep$"),
    LAUNCH: (
        *("^PjitFunction", "LoadedExecutable::Execute", "^ExecuteReplicated", "^DoEnqueueProgram"),
        *("^tpu::System::Execute$", "^(cu|cuda|hip)(Module|Ext|Graph)?Launch"),
    ),
}
_RULES = tuple((kind, re.compile("|".join(patterns))) for kind, patterns in _NAMES.items())


def read_activity(read_space: Callable[[], XSpace], marks: StepMarks) -> HostActivity:
    """Return the activity of a host from its file.

    Parameters
    ----------
    marks
        Its marked steps: an event around a whole step says nothing about the step.
    """
    space = read_space()
    plausible.mend(space)
    plane = space.plane("/host:CPU")
    return no_activity() if plane is None or not len(plane.events) else _activity(plane, marks)


def _activity(plane: XPlane, marks: StepMarks) -> HostActivity:
    names = plane.metadata.name
    kind_of = np.array([*(_kind(name) for name in names), -1], np.int8)
    events = plane.events
    kind = kind_of[events.metadata]
    rows = np.flatnonzero(kind >= 0)
    kind, lines, starts = kind[rows], events.lines_of(rows), events.starts_of(rows)
    duration_ps = events.duration_ps[rows]
    self_ps = nesting.self_times(nesting.parents(lines, starts, starts + duration_ps), duration_ps)
    used, name = np.unique(events.metadata[rows], return_inverse=True)
    begin_ps, end_ps, line = _other_work(plane, np.unique(lines[kind == LAUNCH]), marks)
    others = len(begin_ps)
    return HostActivity(
        names=(*(names[row] for row in used), MERGED),
        name=np.append(name, np.full(others, len(used))).astype(np.int32),
        kind=np.append(kind, np.full(others, OTHER)).astype(np.int8),
        line=np.append(lines, line).astype(np.int32),
        start_ps=np.append(starts, begin_ps),
        duration_ps=np.append(duration_ps, end_ps - begin_ps),
        self_ps=np.append(self_ps, end_ps - begin_ps),
    )


def _kind(name: str) -> int:
    if len(name) > _LONGEST_NAME:
        return -1
    return next((kind for kind, rule in _RULES if rule.search(name)), -1)


def _other_work(plane: XPlane, lines: NDArray[np.int32], marks: StepMarks) -> tuple[Rows, Rows, Rows]:
    """Return begin, end and line of the times in which some event was open, on lines that launch work."""
    events, first = plane.events, plane.lines.first_event
    parts = [np.empty((3, 0), np.int64)]
    for line in lines.tolist():
        rows = np.arange(first[line], first[line + 1])
        begin = events.starts_of(rows)
        end = begin + events.duration_ps[rows]
        inner = ~_holds_a_mark(begin, end, marks) & (end > begin)
        waited = union(begin[inner], end[inner])
        parts.append(np.stack([waited.begin_ps, waited.end_ps, np.full(len(waited.begin_ps), line)]))
    begin, end, line_of = np.concatenate(parts, axis=1)
    return begin, end, line_of


def _holds_a_mark(begin: Rows, end: Rows, marks: StepMarks) -> NDArray[np.bool_]:
    if not len(marks):
        return np.zeros(len(begin), np.bool_)
    following = np.searchsorted(marks.start_ps, begin)
    mark_end = np.append(marks.start_ps + marks.duration_ps, np.iinfo(np.int64).max)
    return np.asarray(mark_end[following] <= end, np.bool_)
