"""What the framework spent on the hosts themselves, by op."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting
from xprof_nb.model.columns import Columns, as_frame, numbered, stacked, texts
from xprof_nb.model.framework import JIT_CALL, FrameworkEvents, no_framework_events
from xprof_nb.model.trace import HostTrace


def host_ops(traces: Iterable[HostTrace], window_ps: tuple[int, int] | None) -> Columns:
    """Return ``name, type, occurrences, time_ps, self_time_ps`` of every framework op, summed over threads and hosts.

    ``self_time_ps`` is without the framework ops inside. A call of a jitted function that consists of another of the
    same name, as jax writes them, counts once.
    """
    return _summed([_of_host(trace.framework_events, window_ps) for trace in traces])


def host_ops_as_xprof(traces: Iterable[HostTrace]) -> tuple[pd.DataFrame, int]:
    """Return the ops xprof knows, which calls of jitted functions are not, and the time the threads span together."""
    tables, span_ps = [], 0
    for trace in traces:
        events = trace.framework_events
        known = np.array([kind != JIT_CALL for kind in events.types], np.bool_)
        rows = np.flatnonzero(known[events.op]) if len(events) else np.empty(0, np.int64)
        tables.append(_sums(events, rows, _self_times(events, rows)))
        span_ps += _span_of_lines(events, rows)
    return as_frame(_summed(tables)), span_ps


def _summed(tables: Sequence[Columns]) -> Columns:
    table = stacked([*tables, _sums(no_framework_events(), np.empty(0, np.int64), np.empty(0, np.int64))])
    code, named = numbered(table["name"], table["type"])
    sums = {name: np.bincount(code, table[name], minlength=len(named)) for name in ("time_ps", "self_time_ps")}
    return {
        "name": texts(name for name, _ in named),
        "type": texts(kind for _, kind in named),
        "occurrences": np.bincount(code, table["occurrences"], minlength=len(named)).astype(np.int64),
        **sums,
    }


def _of_host(events: FrameworkEvents, window_ps: tuple[int, int] | None) -> Columns:
    rows = np.arange(len(events))
    if window_ps is not None:
        rows = rows[(events.start_ps >= window_ps[0]) & (events.start_ps < window_ps[1])]
    parent = _parents(events, rows)
    repeats = parent >= 0
    repeats[repeats] = events.op[rows[repeats]] == events.op[rows[parent[repeats]]]
    rows = rows[~repeats]
    return _sums(events, rows, _self_times(events, rows))


def _parents(events: FrameworkEvents, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    start = events.start_ps[rows]
    return nesting.parents(events.line[rows], start, start + events.duration_ps[rows])


def _self_times(events: FrameworkEvents, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return nesting.self_times(_parents(events, rows), events.duration_ps[rows])


def _span_of_lines(events: FrameworkEvents, rows: NDArray[np.int64]) -> int:
    start = events.start_ps[rows]
    spans = pd.DataFrame({"line": events.line[rows], "start": start, "end": start + events.duration_ps[rows]})
    hulls = spans.groupby("line").agg({"start": "min", "end": "max"})
    return int((hulls["end"] - hulls["start"]).sum())


def _sums(events: FrameworkEvents, rows: NDArray[np.int64], self_ps: NDArray[np.int64]) -> Columns:
    op, count = events.op[rows], len(events.names)
    occurrences = np.bincount(op, minlength=count)
    seen = np.flatnonzero(occurrences)
    return {
        "name": np.array([*events.names, ""], object)[seen],
        "type": np.array([*events.types, ""], object)[seen],
        "occurrences": occurrences[seen],
        "time_ps": np.bincount(op, events.duration_ps[rows], minlength=count).astype(np.float64)[seen],
        "self_time_ps": np.bincount(op, self_ps, minlength=count).astype(np.float64)[seen],
    }
