"""Every event of the profile as a frame: what happened when, on which line of which plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.patterns import matching
from xprof_nb.analysis.selection import Selection, chosen_hosts, chosen_parts, is_chosen
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.events import Events
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

Rows = NDArray[np.int64]
COLUMNS = ["host", "plane", "line", "device", "name", "start_ps", "duration_ps", "occurrences"]
MOST_ROWS_WITH_STATS = 100_000
"""More events than this are given without their stats, which would take more room than the events."""
_TOP_NAMES = 10
_PYTHON = "$"
"""What names of the Python tracer's events begin with."""


@dataclass(frozen=True)
class Narrowed:
    """What else narrows the events, and how many are listed.

    Attributes
    ----------
    pattern
        A regular expression that a name has to match somewhere; see `xprof_nb.analysis.patterns.matching`.
    min_python_ps
        Leaves out calls that the Python tracer recorded and that are shorter; no other event.
    limit
        Lists the first so many events; the summary counts all.
    """

    pattern: str | None = None
    min_python_ps: int | None = None
    limit: int | None = None


@dataclass(frozen=True, eq=False)
class HostEvents:
    """The chosen events of a host: rows of its events, ascending, and how many short Python calls were left out."""

    trace: HostTrace
    events: Events
    rows: Rows
    short_calls: int = 0


def events(profile: ProfileData, selection: Selection, narrowed: Narrowed | None = None) -> Answer:
    """Return every event whose name matches, in time order by host, one row an event.

    Columns ``host, plane, line, device, name, start_ps, duration_ps, occurrences``; of up to 100,000 events also
    their stats, a column each, named as in the file (``stat_`` before a name that is taken). Times are on the
    profile's clock. An aggregated event has no start and stands for its occurrences.
    """
    narrowed = narrowed or Narrowed()
    parts = host_events(profile, selection, narrowed)
    count = sum(len(part.rows) for part in parts)
    with_stats = count <= MOST_ROWS_WITH_STATS
    frame = stacked([_timed(part, with_stats) for part in parts])
    notes = [*profile.notes, *_notes(parts, narrowed, with_stats)]
    if narrowed.limit is not None and narrowed.limit < count:
        frame = frame.iloc[: narrowed.limit]
        notes.append(
            f"The first {units.count(len(frame))} of {units.count(count)} events are listed; the summary counts all."
        )
    return Answer(frame, _summary(parts), tuple(notes))


def host_events(profile: ProfileData, selection: Selection, narrowed: Narrowed) -> list[HostEvents]:
    """Return the chosen events of each chosen host.

    Raises
    ------
    UsageError
        The selection names what the profile does not have, or the pattern is no regular expression.
    """
    if selection != Selection(window_ps=selection.window_ps):
        chosen_parts(profile, selection)  # says what it does not find
    return [_chosen(trace, selection, narrowed) for trace in chosen_hosts(profile, selection)]


def _chosen(trace: HostTrace, selection: Selection, narrowed: Narrowed) -> HostEvents:
    events = trace.events
    wanted = np.ones(len(events.names) + 1, np.bool_)
    if narrowed.pattern is not None:
        wanted[:-1], wanted[-1] = matching(events.names, narrowed.pattern), False
    keep = wanted[events.name] if not wanted.all() else np.ones(len(events), np.bool_)
    if narrowed.min_python_ps is not None:
        of_python = np.array([*(name.startswith(_PYTHON) for name in events.names), False])
        keep_long = keep & ~(of_python[events.name] & (events.duration_ps < narrowed.min_python_ps))
        short_calls = int(np.count_nonzero(keep)) - int(np.count_nonzero(keep_long))
        keep = keep_long
    else:
        short_calls = 0
    for begin, end in _windows(trace, selection):
        keep &= events.positioned & (events.start_ps >= begin) & (events.start_ps < end)
    rows = np.flatnonzero(keep)
    rows = _of_device(trace, events, rows, selection.device)
    return HostEvents(trace, events, _of_program(events, rows, selection.program), short_calls)


def _windows(trace: HostTrace, selection: Selection) -> Iterator[tuple[int, int]]:
    """Yield the times that an event has to start in, all of them."""
    if selection.window_ps is not None:
        yield selection.window_ps
    if selection.step is not None:
        spans = step_spans(trace)
        mine = spans["step"] == selection.step
        begins = spans["start_ps"][mine]
        ends = begins + spans["duration_ps"][mine]
        yield (int(begins.min()), int(ends.max())) if len(begins) else (0, 0)


def _of_device(trace: HostTrace, events: Events, rows: Rows, device: str | int | None) -> Rows:
    """Return the events on a device's plane; on a CPU, those that name its ordinal, as host threads are shared."""
    if device is None:
        return rows
    chosen = [row for row, item in enumerate(trace.devices) if is_chosen(item, device)]
    on_line = np.array([line.device in chosen for line in events.lines], np.bool_)
    keep = on_line[events.line[rows]] if len(on_line) else np.zeros(len(rows), np.bool_)
    if any(trace.devices[row].backend == "cpu" for row in chosen):
        ordinals = [trace.devices[row].ordinal for row in chosen]
        keep |= _stat_is(events, rows, "device_ordinal", ordinals)
    return rows[keep]


def _of_program(events: Events, rows: Rows, program: str | int | None) -> Rows:
    if program is None:
        return rows
    return rows[_stat_is(events, rows, "program_id", [program]) | _stat_is(events, rows, "hlo_module", [program])]


def _stat_is(events: Events, rows: Rows, stat: str, values: Sequence[str | int]) -> NDArray[np.bool_]:
    column = events.find_stats(rows, (stat,)).get(stat)
    if column is None:
        return np.zeros(len(rows), np.bool_)
    return np.asarray(column.astype(str).isin([str(value) for value in values]), np.bool_)


def event_columns(part: HostEvents, rows: Rows) -> pd.DataFrame:
    """Return the columns of some of a host's chosen events; texts as categories, which millions of rows share."""
    events, trace = part.events, part.trace
    everything = rows is part.rows and len(rows) == len(events)

    def chosen(values: NDArray[Any]) -> NDArray[Any]:
        return values if everything else values[rows]

    line, positioned = chosen(events.line), chosen(events.positioned)
    start_ps = pd.Series(chosen(events.start_ps), copy=False)
    if not positioned.all():
        start_ps = start_ps.astype("Int64").mask(~positioned)
    devices = [trace.devices[item.device].name if item.device >= 0 else None for item in events.lines]
    columns = {
        "host": pd.Categorical.from_codes(np.zeros(len(rows), np.int8), [trace.host]),
        "plane": _by_line(line, [item.plane for item in events.lines]),
        "line": _by_line(line, [item.line for item in events.lines]),
        "device": _by_line(line, devices),
        "name": pd.Categorical.from_codes(chosen(events.name), list(events.names)),
        "start_ps": start_ps,
        "duration_ps": chosen(events.duration_ps),
        "occurrences": chosen(events.occurrences),
    }
    return pd.DataFrame(columns, copy=False)


def _by_line(line: NDArray[np.int32], texts: Sequence[str | None]) -> pd.Categorical:
    codes, distinct = pd.factorize(np.array([*texts, None], object))
    smallest = np.int8 if len(distinct) < 128 else np.int32
    return pd.Categorical.from_codes(codes.astype(smallest)[line], list(distinct))


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below one another, their categories joined."""
    if len(frames) == 1:
        return frames[0]
    if not frames:
        return pd.DataFrame(columns=COLUMNS)
    columns = list(dict.fromkeys(name for frame in frames for name in frame))
    frames = [frame.assign(**{name: None for name in columns if name not in frame})[columns] for frame in frames]
    whole: dict[str, Any] = {}
    for name in columns:
        pieces = [frame[name] for frame in frames]
        if all(isinstance(piece.dtype, pd.CategoricalDtype) for piece in pieces):
            whole[name] = pd.api.types.union_categoricals(pieces)
        elif len({piece.dtype for piece in pieces}) > 1:
            whole[name] = pd.concat([piece.astype(object) for piece in pieces], ignore_index=True)
        else:
            whole[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(whole)


def _timed(part: HostEvents, with_stats: bool) -> pd.DataFrame:
    """Return the rows of a host in time order, those without a place in time last."""
    events, rows = part.events, part.rows
    start_ps = np.where(events.positioned[rows], events.start_ps[rows], np.iinfo(np.int64).max)
    if (start_ps[1:] >= start_ps[:-1]).all():  # as a file of one thread has them
        order = np.arange(len(rows))
        frame = event_columns(part, rows)
    else:
        order = np.argsort(start_ps, kind="stable")
        frame = event_columns(part, rows[order])
    if with_stats:
        stats = events.find_stats(rows, None)
        taken = {name: f"stat_{name}" if name in COLUMNS else name for name in stats}
        added = pd.DataFrame({taken[name]: values for name, values in stats.items()}, index=pd.RangeIndex(len(rows)))
        frame = pd.concat([frame, added.take(order).reset_index(drop=True)], axis=1)
    return frame


def _summary(parts: Sequence[HostEvents]) -> dict[str, Any]:
    count = sum(len(part.rows) for part in parts)
    total = sum(len(part.events) for part in parts)
    placed = [part.rows[part.events.positioned[part.rows]] for part in parts]
    starts = [part.events.start_ps[rows] for part, rows in zip(parts, placed, strict=True)]
    ends = [start + part.events.duration_ps[rows] for part, rows, start in zip(parts, placed, starts, strict=True)]
    by_name = _by_name(parts)
    summary: dict[str, Any] = {
        "event_count": count,
        "events_in_profile": total,
        "name_count": len(by_name),
        "first_start_ps": min((int(start.min()) for start in starts if len(start)), default=None),
        "last_end_ps": max((int(end.max()) for end in ends if len(end)), default=None),
        "longest_in_sum": [
            {"name": name, "occurrences": int(row.occurrences), "duration_ps": float(row.duration_ps)}
            for name, row in zip(by_name.index[:_TOP_NAMES], by_name[:_TOP_NAMES].itertuples(), strict=True)
        ],
    }
    which = "All " if count == total else f"{units.count(count)} of "
    of_names = f"{which}{units.counted(total, 'event')}, of {units.counted(len(by_name), 'name')}"
    summary["sentence"] = f"{of_names}."
    if len(by_name):
        top = summary["longest_in_sum"][0]
        took = units.duration(top["duration_ps"])
        summary["sentence"] = f"{of_names}; in sum {top['name'][:80]} took longest, {took}."
    return summary


def _by_name(parts: Sequence[HostEvents]) -> pd.DataFrame:
    """Return occurrences and duration by name, the longest in sum first."""
    sums = []
    for part in parts:
        events, rows = part.events, part.rows
        code, size = events.name[rows] + 1, len(events.names) + 1
        seen = np.bincount(code, minlength=size) > 0
        sums.append(
            pd.DataFrame(
                {
                    "name": np.array(["(without a name)", *events.names], object)[seen],
                    "occurrences": np.bincount(code, events.occurrences[rows], size)[seen],
                    "duration_ps": np.bincount(code, events.duration_ps[rows].astype(np.float64), size)[seen],
                }
            )
        )
    joined = pd.concat(sums) if sums else pd.DataFrame(columns=["name", "occurrences", "duration_ps"])
    return (
        joined.groupby("name", sort=False)[["occurrences", "duration_ps"]]
        .sum()
        .sort_values("duration_ps", ascending=False, kind="stable")
    )


def _notes(parts: Sequence[HostEvents], narrowed: Narrowed, with_stats: bool) -> Iterator[str]:
    count, total = sum(len(part.rows) for part in parts), sum(len(part.events) for part in parts)
    if not total:
        yield "The profile holds no event at all: nothing ran while it was captured, or tracing was off."
    elif not count:
        sought = f" whose name matches {narrowed.pattern[:200]!r}" if narrowed.pattern else ""
        every = f"the {units.count(total)} events"
        yield f"None of {every}{sought} is in the chosen part; events() without filters gives all."
    if not with_stats:
        yield (
            f"Stats are left out of more than {units.count(MOST_ROWS_WITH_STATS)} events; a pattern or a window that "
            "leaves fewer gives them as columns."
        )
    if narrowed.min_python_ps is not None:
        left_out = sum(part.short_calls for part in parts)
        shorter = f"shorter than {units.duration(narrowed.min_python_ps)}"
        yield f"Left out: {units.counted(left_out, 'Python call')} {shorter}."
