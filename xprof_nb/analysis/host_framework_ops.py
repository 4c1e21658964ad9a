"""What the framework spent on the hosts themselves, by op."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting
from xprof_nb.model.framework import JIT_CALL, FrameworkEvents
from xprof_nb.model.trace import HostTrace

COLUMNS = ["name", "type", "occurrences", "time_ps", "self_time_ps"]


def host_ops(traces: Iterable[HostTrace], window_ps: tuple[int, int] | None) -> pd.DataFrame:
    """Return ``name, type, occurrences, time_ps, self_time_ps`` of every framework op, summed over threads and hosts.

    ``self_time_ps`` is without the framework ops inside. A call of a jitted function that consists of another of the
    same name, as jax writes them, counts once.
    """
    frames = [_of_host(trace.framework_events, window_ps) for trace in traces]
    return _summed(frames)


def host_ops_as_xprof(traces: Iterable[HostTrace]) -> tuple[pd.DataFrame, int]:
    """Return the ops xprof knows, which calls of jitted functions are not, and the time the threads span together."""
    frames, span_ps = [], 0
    for trace in traces:
        events = trace.framework_events
        known = np.array([kind != JIT_CALL for kind in events.types], np.bool_)
        rows = np.flatnonzero(known[events.op]) if len(events) else np.empty(0, np.int64)
        frames.append(_sums(events, rows, _self_times(events, rows)))
        span_ps += _span_of_lines(events, rows)
    return _summed(frames), span_ps


def _summed(frames: list[pd.DataFrame]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=COLUMNS)
    return pd.concat(frames, ignore_index=True).groupby(["name", "type"], sort=False, as_index=False).sum()


def _of_host(events: FrameworkEvents, window_ps: tuple[int, int] | None) -> pd.DataFrame:
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


def _sums(events: FrameworkEvents, rows: NDArray[np.int64], self_ps: NDArray[np.int64]) -> pd.DataFrame:
    op, count = events.op[rows], len(events.names)
    occurrences = np.bincount(op, minlength=count)
    seen = np.flatnonzero(occurrences)
    sums = {
        "occurrences": occurrences,
        "time_ps": np.bincount(op, events.duration_ps[rows], minlength=count).astype(np.float64),
        "self_time_ps": np.bincount(op, self_ps, minlength=count).astype(np.float64),
    }
    names = {
        "name": np.array([*events.names, ""], object)[seen],
        "type": np.array([*events.types, ""], object)[seen],
    }
    return pd.DataFrame({**names, **{name: values[seen] for name, values in sums.items()}})
