"""The lines of an XSpace as they were recorded: which there are, and, read again when a timeline asks, their events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.tracks import RecordedEvents, RecordedLines

Ints = NDArray[np.int64]

_COUNTERS = ("_counters_", "counters_")
_UNNAMED = "(no name)"
_SMALL_FILE = 2**32


def read_lines(space: XSpace) -> RecordedLines:
    """Return the lines that have events; costs no walk over the events."""
    found, empty = list(_lines(space)), np.empty(0, np.int64)
    return RecordedLines(
        plane=tuple(plane.name for plane, _ in found),
        name=tuple(plane.lines.name[row] or plane.lines.display_name[row] for plane, row in found),
        event_count=np.concatenate([empty, *(counts[counts > 0] for counts in map(_event_counts, space.planes))]),
        counters={
            at: _distinct_names(plane, row)
            for at, (plane, row) in enumerate(found)
            if plane.lines.name[row].startswith(_COUNTERS)
        },
    )


def read_events(read_space: Callable[[], XSpace]) -> RecordedEvents:
    """Return the placed events of every line, from the file.

    Raises
    ------
    ProfileError
        The file has been replaced since it was opened.
    """
    space = read_space()
    plausible.mend(space)
    found = list(_lines(space))
    planes = [plane for plane in space.planes if len(plane.events)]
    name_base = dict(zip(map(id, planes), _starts([len(plane.metadata) + 1 for plane in planes]), strict=True))
    bare = {id(plane): _without_events(plane) for plane in planes}
    counts = [_placed_count(plane, row) for plane, row in found]
    first = np.array([*_starts(counts), sum(counts)], np.int64)
    name, start_ps, duration_ps = np.empty(first[-1], np.int32), *(np.empty(first[-1], np.int64) for _ in range(2))
    position = np.empty(first[-1], np.uint32 if space.size_bytes < _SMALL_FILE else np.int64)
    values = {}
    for at, (plane, row) in enumerate(found):
        here, rows = slice(first[at], first[at + 1]), _placed(plane, row)
        events, base = plane.events, name_base[id(plane)]
        codes = events.metadata[rows]
        name[here] = np.where(codes >= 0, codes, len(plane.metadata)) + base
        start_ps[here] = events.offset_ps[rows] + plane.lines.timestamp_ns[row] * 1000
        duration_ps[here] = events.duration_ps[rows]
        position[here] = events.where[rows]
        if plane.lines.name[row].startswith(_COUNTERS):
            values[at] = _counter_values(plane, rows)
    return RecordedEvents(
        first=first,
        names=tuple(text for plane in planes for text in _names(plane)),
        name=name,
        start_ps=start_ps,
        duration_ps=duration_ps,
        position=position,
        values=values,
        stats=partial(_stats, [bare[id(plane)] for plane, _ in found]),
    )


def _lines(space: XSpace) -> Sequence[tuple[XPlane, int]]:
    return [(plane, row) for plane in space.planes for row in np.flatnonzero(_event_counts(plane)).tolist()]


def _event_counts(plane: XPlane) -> Ints:
    return np.diff(plane.lines.first_event)


def _starts(counts: Sequence[int]) -> list[int]:
    return np.cumsum([0, *counts])[:-1].astype(int).tolist()


def _placed(plane: XPlane, row: int) -> Any:
    """Return which events of a line have a place in time, as a slice when all have."""
    first, last = plane.lines.first_event[row : row + 2].tolist()
    placed = plane.events.positioned[first:last]
    return slice(first, last) if placed.all() else first + np.flatnonzero(placed)


def _placed_count(plane: XPlane, row: int) -> int:
    first, last = plane.lines.first_event[row : row + 2]
    return int(np.count_nonzero(plane.events.positioned[first:last]))


def _names(plane: XPlane) -> list[str]:
    """Return what an event of each metadata row is called; the last is for events whose metadata is missing."""
    metadata = plane.metadata
    shown = [
        display if display and name.startswith("%") else name or display or _UNNAMED
        for name, display in zip(metadata.name, metadata.display_name, strict=True)
    ]
    return [*shown, _UNNAMED]


def _distinct_names(plane: XPlane, row: int) -> tuple[str, ...]:
    names = _names(plane)
    codes = np.unique(plane.events.metadata[_placed(plane, row)])
    return tuple(dict.fromkeys(names[code] for code in codes.tolist()))


def _counter_values(plane: XPlane, rows: Any) -> NDArray[np.float64]:
    """Return the value of each sample: its ``counter_value``, else the first number it carries."""
    rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
    names = ["counter_value", *(name for name in plane.stat_names if name != "counter_value")]
    values = np.full(len(rows), np.nan)
    for column in plane.stats_of(rows, *names):
        values = np.where(np.isnan(values), column.floats(), values)
    return values


def _without_events(plane: XPlane) -> XPlane:
    """Return what is needed to read single events again: the columns of all of them are large."""
    none = np.empty(0, np.int64)
    events = replace(plane.events, metadata=none.astype(np.int32), duration_ps=none, positioned=none.astype(np.bool_),
                     place=none, where=none)  # fmt: skip
    return replace(plane, events=events, _columns={})


def _stats(planes: list[XPlane], line: int, positions: Ints, names: tuple[str, ...] | None) -> dict[str, StatColumn]:
    plane = planes[line]
    asked = plane.stat_names if names is None else names
    return dict(zip(asked, plane.stats_at_positions(positions, *asked), strict=True))
