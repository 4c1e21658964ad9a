"""Which marked step launched an op of XLA's CPU backend? Dispatch is asynchronous, so when it ran does not tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.factors import earliest, factorized, rows_where
from xprof_nb.formats.planes import Events, XPlane
from xprof_nb.model.trace import StepMarks

Ints = NDArray[np.int64]
Rows = NDArray[np.int64]

CALL_ON_ONE_DEVICE = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"
CALL_ON_SEVERAL = "CommonPjRtLoadedExecutable::Execute ("
_RUN_IDS = 2**32


def steps_of_ops(plane: XPlane, rows: Rows, start_ps: Ints, run_id: Ints, marks: StepMarks) -> NDArray[np.int32]:
    """Return the row of the step whose code launched each op's run, -1 for none.

    Parameters
    ----------
    rows, start_ps, run_id
        The op events of the plane, when each began, and the run it belongs to.
    """
    if not len(marks) or not len(rows):
        return np.full(len(rows), -1, np.int32)
    code, runs = factorized(run_id)
    launched_ps = _launch_times(plane, runs, rows[earliest(code, len(runs), start_ps)])
    row = np.searchsorted(marks.start_ps, launched_ps, side="right") - 1
    inside = (row >= 0) & (launched_ps < marks.start_ps[row] + marks.duration_ps[row])
    return np.where(inside, row, -1).astype(np.int32)[code]


def _launch_times(plane: XPlane, runs: Ints, first: Rows) -> Ints:
    """Return when the program's own thread launched each run; when its first op began, if nothing tells."""
    events = plane.events
    launched_ps = events.starts_of(first)
    calls = _events_named(plane, CALL_ON_ONE_DEVICE)
    call = _calls_by_run_id(runs, _enqueuing_calls(plane, first, calls), len(calls))
    if len(calls):
        launched_ps = np.where(call >= 0, events.starts_of(calls)[call], launched_ps)
    spread = _events_named(plane, CALL_ON_SEVERAL)
    (stated,) = plane.stats_of(spread, "run_id")
    by_run = dict(zip(stated.ints().tolist()[::-1], spread[::-1], strict=True))  # of several calls the earliest stays
    for number, run in enumerate(runs.tolist()):
        if run in by_run:
            launched_ps[number] = events.starts_of(by_run[run])
    return launched_ps


def _events_named(plane: XPlane, beginning: str) -> Rows:
    """Return the events whose name begins so, in time order."""
    begins = np.array([*(name.startswith(beginning) for name in plane.metadata.name), False])
    if not begins.any():
        return np.empty(0, np.int64)
    rows = rows_where(begins, plane.events.metadata)
    return rows[np.argsort(plane.events.starts_of(rows), kind="stable")]


def _calls_by_run_id(runs: Ints, enqueued_by: Ints, count: int) -> Ints:
    """Return the call that made each run, -1 if unknown.

    Every call takes the next run id, so one run seen enqueued by a call dates all the others. That is needed
    for a run whose inputs were not ready: the pool enqueues it later, out of the call's sight.
    """
    known = enqueued_by >= 0
    if not known.any():
        return enqueued_by
    lead, votes = np.unique((enqueued_by[known] - runs[known]) % _RUN_IDS, return_counts=True)
    counted = (runs + lead[np.argmax(votes)]) % _RUN_IDS
    return np.where(counted < count, counted, enqueued_by)


def _enqueuing_calls(plane: XPlane, first: Rows, calls: Rows) -> Ints:
    """Return, for the first op of each run, the call that enqueued the thread-pool region it is in, -1 if none did.

    A region begins with a marker that carries the number of a record left where it was enqueued.
    """
    events = plane.events
    begins = _by_line(events, _events_named(plane, "ThreadpoolListener::StartRegion"))
    stops = _by_line(events, _events_named(plane, "ThreadpoolListener::StopRegion"))
    records = _events_named(plane, "ThreadpoolListener::Record")
    found = np.full(len(first), -1, np.int64)
    if not len(begins) or not len(records) or not len(calls):
        return found
    begun = _last_before(events, begins, first)
    stopped = _last_before(events, stops, first)
    begun_ps = np.where(begun >= 0, events.starts_of(begins)[begun], -1)
    stopped_ps = np.where(stopped >= 0, events.starts_of(stops)[stopped] if len(stops) else -1, -1)
    inside = np.flatnonzero((begun >= 0) & (begun_ps >= stopped_ps))

    serial = plane.stats_of(records, "_p")[0].ints()
    order = np.argsort(serial, kind="stable")
    serial, records = serial[order], records[order]
    wanted = plane.stats_of(begins[begun[inside]], "_c")[0].ints()
    at = np.minimum(np.searchsorted(serial, wanted), len(serial) - 1)
    inside, record = inside[serial[at] == wanted], records[at[serial[at] == wanted]]

    by_line = _by_line(events, calls)
    call = _last_before(events, by_line, record)
    call_row = by_line[call]
    ends_ps = events.starts_of(call_row) + events.duration_ps[call_row]
    holds = (call >= 0) & (events.starts_of(record) <= ends_ps)
    in_time_order = np.empty(len(events), np.int64)
    in_time_order[calls] = np.arange(len(calls))
    found[inside[holds]] = in_time_order[call_row[holds]]
    return found


def _by_line(events: Events, rows: Rows) -> Rows:
    return rows[np.lexsort((events.starts_of(rows), events.lines_of(rows)))]


def _last_before(events: Events, sorted_rows: Rows, rows: Rows) -> Ints:
    """Return, per row, where in `sorted_rows` (by line, time) the last one on its line not after it is, or -1."""
    found = np.full(len(rows), -1, np.int64)
    among, times = events.lines_of(sorted_rows), events.starts_of(sorted_rows)
    lines, wanted = events.lines_of(rows), events.starts_of(rows)
    for number in np.unique(lines):
        low, high = np.searchsorted(among, [number, number + 1])
        mine = lines == number
        position = low + np.searchsorted(times[low:high], wanted[mine], side="right") - 1
        found[mine] = np.where(position >= low, position, -1)
    return found
