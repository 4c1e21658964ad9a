"""Which marked step launched a program that ran on an accelerator? Follow the runtime's links back to the host.

A link goes from an event with a producer id (`_pt`, `_p`) to one with the same consumer id (`_ct`, `_c`), from thread
to thread and at last to the run on the device; within a thread an event belongs to the one that contains it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting
from xprof_nb.formats.tpu.lines import MODULES, inside, last_begun, rows_of
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.trace import ProgramRuns, StepMarks

Rows = NDArray[np.int64]
_MOST_HOPS = 64


def steps_of_runs(
    host_plane: XPlane | None, planes: Sequence[XPlane], runs: ProgramRuns, marks: StepMarks
) -> NDArray[np.int64]:
    """Return the row of the step that launched each run; where no link tells, the one in whose time it began."""
    zeros = np.zeros(len(marks), np.int32)
    begun = last_begun(zeros, marks.start_ps, np.zeros(len(runs), np.int32), runs.start_ps)
    by_time = inside(begun, marks.start_ps, marks.duration_ps, runs.start_ps)
    if host_plane is None:
        return by_time
    linked = _linked(host_plane, planes, marks)
    return linked if (linked >= 0).any() else by_time


def _linked(host_plane: XPlane, planes: Sequence[XPlane], marks: StepMarks) -> Rows:
    """Return the mark that launched each run, in the order of `device_lines.program_runs`."""
    rows, mark_of_row = _connectors(host_plane, marks)
    produced, makes = _ids(host_plane, rows, "_pt", "_p")
    up = _above(host_plane, rows, mark_of_row, produced, makes)
    modules = [rows_of(plane, MODULES) for plane in planes]
    ids = [_ids(plane, of, "_ct", "_c") for plane, of in zip(planes, modules, strict=True)]
    wanted, takes = (np.concatenate([pair[part] for pair in ids]) for part in (0, 1))
    starts = np.concatenate([plane.events.start_ps[of] for plane, of in zip(planes, modules, strict=True)])
    device = np.repeat(np.arange(len(planes)), [len(of) for of in modules])
    order = np.lexsort((starts, device))  # as the runs are
    at = _producers(produced, makes, wanted[order], takes[order])
    for _ in range(_MOST_HOPS):
        higher = np.append(up, -1)[at]
        if (higher < 0).all() or (higher == at).all():
            break
        at = np.where(higher >= 0, higher, at)
    return np.append(mark_of_row, -1)[at]


def _connectors(plane: XPlane, marks: StepMarks) -> tuple[Rows, Rows]:
    """Return the events that are linked or mark a step, and for those that do the row of the mark."""
    producer, consumer, number, root = plane.event_stats("_p", "_c", "step_num", "_r")
    is_mark = number.present & root.present
    rows = np.flatnonzero(producer.present | consumer.present | is_mark)
    known = pd.Series(np.arange(len(marks)), index=pd.MultiIndex.from_arrays([marks.start_ps, marks.number]))
    at = pd.MultiIndex.from_arrays([plane.events.starts_of(rows), number.ints()[rows]])
    found = known[~known.index.duplicated()].reindex(at).fillna(-1).to_numpy(np.int64)
    return rows, np.where(is_mark[rows], found, -1)


def _ids(plane: XPlane, rows: Rows, kind: str, number: str) -> tuple[Rows, NDArray[np.bool_]]:
    """Return kind and id of a link as one number, and which events have one."""
    kinds, numbers = plane.stats_of(rows, kind, number)
    return numbers.ints() * 64 + kinds.ints(), numbers.present


def _producers(produced: Rows, makes: NDArray[np.bool_], wanted: Rows, takes: NDArray[np.bool_]) -> Rows:
    """Return which event made each link that is taken, -1 if none did."""
    makers = np.flatnonzero(makes)
    index = pd.Series(makers, index=produced[makers])
    found = index[~index.index.duplicated()].reindex(wanted).fillna(-1).to_numpy(np.int64)
    return np.where(takes, found, -1)


def _above(plane: XPlane, rows: Rows, mark_of_row: Rows, produced: Rows, makes: NDArray[np.bool_]) -> Rows:
    """Return for each connector the one it comes from: the producer of its link, else the event around it."""
    starts = plane.events.starts_of(rows)
    around = nesting.parents(plane.events.lines_of(rows), starts, starts + plane.events.duration_ps[rows])
    linked = _producers(produced, makes, *_ids(plane, rows, "_ct", "_c"))
    linked = np.where(linked == np.arange(len(rows)), -1, linked)
    return np.where(mark_of_row >= 0, -1, np.where(linked >= 0, linked, around))
