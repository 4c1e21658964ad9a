"""Sums over the events of a track: of a window by name, and of those whose name was searched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sums:
    """The events of a track in a window by name, a row per row of the track's names; times are those inside.

    Attributes
    ----------
    count
        Events that start in the window.
    pieces
        Events of which a part lies in it.
    self_ps
        Time less that of the events directly inside.
    """

    count: Ints
    pieces: Ints
    total_ps: Ints
    self_ps: Ints
    least_ps: Ints
    greatest_ps: Ints


def sums(lanes: Lanes, begin_ps: int, end_ps: int) -> Sums:
    """Return what the events of a track come to in a window, by name."""
    out = np.zeros((6, len(lanes.names)), np.int64)
    out[4] = np.iinfo(np.int64).max
    _sums(lanes.first, lanes.start_ps, lanes.duration_ps, lanes.name, begin_ps, end_ps, out)
    return Sums(*out)


def parent_of(lanes: Lanes, row: int) -> int:
    """Return the innermost event that contains one, -1 if none does."""
    lane = int(np.searchsorted(lanes.first, row, side="right")) - 1
    return int(_parent(lanes.first, lanes.start_ps, lanes.duration_ps, lane, row))


def children_of(lanes: Lanes, row: int) -> tuple[int, int]:
    """Return how many events lie directly in one, and how much of it they cover in ps."""
    lane = int(np.searchsorted(lanes.first, row, side="right")) - 1
    count, covered = _children(lanes.first, lanes.start_ps, lanes.duration_ps, lane, row)
    return int(count), int(covered)


@dataclass(frozen=True, eq=False)
class Hits:
    """Which events of a track have a wanted name.

    Attributes
    ----------
    count, total_ps
        By row of the track's names.
    density
        Hits that start in each bucket of the window.
    following
        First event that starts after a moment or, for a search backwards, last one before it; -1 if none.
    index
        How many hits of the track start before the one that follows, as far as the track knows.
    """

    count: Ints
    total_ps: Ints
    density: Ints
    following: int
    index: int


def hits(
    lanes: Lanes, wanted: NDArray[np.bool_], window: tuple[int, int], buckets: int, moment: int, forward: bool
) -> Hits:
    """Return what is found on one track in a window."""
    begin, end = window
    by_name = np.zeros((2, len(wanted)), np.int64)
    density = np.zeros(buckets, np.int64)
    width = max(-(-(end - begin) // buckets), 1)
    row, index = _hits(
        lanes.first, lanes.start_ps, lanes.duration_ps, lanes.name, wanted, begin, end, width, moment, forward,
        by_name, density,
    )  # fmt: skip
    return Hits(by_name[0], by_name[1], density, int(row), int(index))


@njit
def _last_not_after(start: Any, low: int, high: int, moment: int) -> Any:
    while low < high:
        middle = (low + high) // 2
        if start[middle] <= moment:
            low = middle + 1
        else:
            high = middle
    return low - 1


@njit
def _parent(first: Any, start: Any, duration: Any, lane: int, row: int) -> Any:
    for above in range(lane - 1, -1, -1):
        at = _last_not_after(start, first[above], first[above + 1], start[row])
        if at >= first[above] and start[at] + duration[at] >= start[row] + duration[row]:
            return at
    return -1


@njit
def _children(first: Any, start: Any, duration: Any, lane: int, row: int) -> Any:
    count, covered = 0, 0
    end = start[row] + duration[row]
    for below in range(lane + 1, len(first) - 1):
        at = max(_last_not_after(start, first[below], first[below + 1], start[row] - 1), first[below])
        while at < first[below + 1] and start[at] <= end:
            if start[at] >= start[row] and _parent(first, start, duration, below, at) == row:
                count += 1
                covered += duration[at]
            at += 1
    return count, covered


@njit
def _sums(first: Any, start: Any, duration: Any, name: Any, begin: int, end: int, out: Any) -> None:
    for lane in range(len(first) - 1):
        at = max(_last_not_after(start, first[lane], first[lane + 1], begin), first[lane])
        while at > first[lane] and start[at] >= begin:
            at -= 1
        above = first[lane - 1] if lane > 0 else 0
        while at < first[lane + 1] and start[at] < end:
            inside = min(start[at] + duration[at], end) - max(start[at], begin)
            if inside > 0 or start[at] >= begin:
                code = name[at]
                out[0, code] += start[at] >= begin
                out[1, code] += 1
                out[2, code] += inside
                out[3, code] += inside
                out[4, code] = min(out[4, code], inside)
                out[5, code] = max(out[5, code], inside)
                if lane > 0 and inside > 0:
                    while above + 1 < first[lane] and start[above + 1] <= start[at]:
                        above += 1
                    holder = above  # mostly the lane above holds it: no search needed
                    if start[above] > start[at] or start[above] + duration[above] < start[at] + duration[at]:
                        holder = _parent(first, start, duration, lane, at)
                    if holder >= 0:
                        out[3, name[holder]] -= inside
            at += 1


@njit
def _hits(
    first: Any, start: Any, duration: Any, name: Any, wanted: Any, begin: int, end: int, width: int, moment: int,
    forward: bool, by_name: Any, density: Any,
) -> Any:  # fmt: skip
    found, index = -1, 0
    for lane in range(len(first) - 1):
        for row in range(first[lane], first[lane + 1]):
            if not wanted[name[row]] or start[row] < begin or start[row] >= end:
                continue
            by_name[0, name[row]] += 1
            by_name[1, name[row]] += duration[row]
            density[(start[row] - begin) // width] += 1
            index += start[row] < moment or (forward and start[row] == moment)
            if forward and start[row] > moment and (found < 0 or start[row] < start[found]):
                found = row
            if not forward and start[row] < moment and (found < 0 or start[row] > start[found]):
                found = row
    return found, index


@warm_up
def _warm() -> None:
    columns = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint32)
    lanes = Lanes(["a"], [None], np.array([0, 1]), *columns)
    sums(lanes, 0, 1)
    parent_of(lanes, 0), children_of(lanes, 0)
    hits(lanes, np.ones(1, np.bool_), (0, 1), 1, 0, True)
