"""The events of one track, laid out in lanes so that none covers another and what is inside lies below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.heights import Heights, heights
from xprof_nb.formats.jit import njit, warm_up
from xprof_nb.model.columns import texts

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST_LANES = 255
"""What nests or overlaps deeper shares the last lane, cut where it would cover what is there already."""
LONGEST_NAME = 200
FEWEST_EVENTS = 32
_MOST_CELLS = 2_000_000
_MOST_EQUAL = 64


@dataclass(frozen=True, eq=False)
class Lanes:
    """N events of one track by lane and start; within a lane none begins before the one ahead of it has ended.

    Attributes
    ----------
    names, kinds
        What the distinct events are called, K texts, and the kind of work each is, None where it is none.
    first
        The events of lane i are ``first[i]:first[i + 1]``.
    start_ps, duration_ps
        On the joined clock.
    name
        Row of `names`.
    event
        What the track's source knows the event by.
    """

    names: Sequence[str]
    kinds: Sequence[str | None]
    first: Ints
    start_ps: Ints
    duration_ps: Ints
    name: Codes
    event: NDArray[Any]
    block: int = field(init=False)

    def __post_init__(self) -> None:
        """Make the blocks of `time_before` longer where there are so many names that it, or a row of it, is large."""
        names = max(len(self.names), 1)
        cells = len(self.name) * names
        object.__setattr__(self, "block", max(FEWEST_EVENTS, names // 2, -(-cells // _MOST_CELLS)))

    def __len__(self) -> int:
        return len(self.name)

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return len(self.first) - 1

    def lane_of(self, row: int) -> int:
        """Return the lane of an event."""
        return int(np.searchsorted(self.first, row, side="right")) - 1

    @cached_property
    def labels(self) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """`names`, short enough to be drawn, and `kinds` as arrays."""
        return texts([shown(name) for name in self.names]), texts(self.kinds)

    @cached_property
    def time_before(self) -> Ints:
        """int64[B, K]: the time of each name before each block of events, which makes sums over many events cheap."""
        return _time_before(self.duration_ps, self.name, self.block, len(self.names))

    @cached_property
    def heights(self) -> Heights:
        """Where the boxes of each level of detail begin."""
        return heights(self.first, self.start_ps, self.duration_ps)

    @cached_property
    def busy_ps(self) -> float:
        """Length of the union of all events."""
        if self.nests:
            return float(self.duration_ps[: self.first[1]].sum()) if self.count else 0.0
        return float(_union_ps(self.first, self.start_ps, self.duration_ps))

    @cached_property
    def nests(self) -> bool:
        """Whether every event of a lower lane lies inside one of the lane above it."""
        return bool(_nests(self.first, self.start_ps, self.duration_ps))


def shown(text: str) -> str:
    """Return a name short enough to be drawn."""
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def lay_out(
    names: Sequence[str],
    kinds: Sequence[str | None],
    name: Codes,
    start_ps: Ints,
    duration_ps: Ints,
    event: NDArray[Any] | None = None,
) -> Lanes:
    """Return events, given in any order, in lanes; an event is known by its row unless ``event`` says otherwise."""
    # Columns of a table are read-only, for which the kernels would be compiled once more.
    start_ps, duration_ps = (np.require(column, requirements=("C", "W")) for column in (start_ps, duration_ps))
    order = _nesting_order(start_ps, duration_ps)
    lane = np.empty(len(name), np.uint8)
    count = _assign(order, start_ps, duration_ps, MOST_LANES, lane)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(lane, minlength=count))])
    if event is None:
        event = np.arange(len(name), dtype=np.int32 if len(name) < 2**31 else np.int64)
    out = (np.empty_like(start_ps), np.empty_like(start_ps), np.empty(len(name), np.int32), np.empty_like(event))
    _gather(order, lane, first[:-1].copy(), MOST_LANES, start_ps, duration_ps, name, event, *out)
    return Lanes(names, kinds, first, *out)


def _nesting_order(start_ps: Ints, duration_ps: Ints) -> Ints:
    """Return the rows by start and, the longest first, duration; none if they are so, as profilers mostly write."""
    if _is_sorted(start_ps, duration_ps):
        return np.empty(0, np.int64)
    # Mostly a few sorted pieces, which the stable sort merges; few begin at the same moment.
    order = np.argsort(start_ps, kind="stable")
    if _longest_first(order, start_ps, duration_ps, _MOST_EQUAL):
        return order
    return np.lexsort((-duration_ps, start_ps))


@njit
def _longest_first(order: Any, start: Any, duration: Any, most: int) -> Any:
    """Put the longest of those that start together first; false if there are too many of them to do it in place."""
    together = 0
    for at in range(1, len(order)):
        row = order[at]
        together = together + 1 if start[row] == start[order[at - 1]] else 0
        if together > most:
            return False
        to = at
        while to > at - together and duration[order[to - 1]] < duration[row]:
            order[to] = order[to - 1]
            to -= 1
        order[to] = row
    return True


@njit
def _is_sorted(start: Any, duration: Any) -> Any:
    for row in range(1, len(start)):
        if start[row] < start[row - 1] or (start[row] == start[row - 1] and duration[row] > duration[row - 1]):
            return False
    return True


@njit
def _assign(order: Any, start: Any, duration: Any, most: int, lane: Any) -> Any:
    """Give each event the first free lane below the events that contain it; return how many lanes it took."""
    ends = np.full(most, np.iinfo(np.int64).min, np.int64)
    top = count = 0
    for at in range(len(start)):
        row = order[at] if len(order) > 0 else at
        begin, end = start[row], start[row] + duration[row]
        while top > 0 and ends[top - 1] <= begin:
            top -= 1
        place = 0
        for above in range(top - 1, -1, -1):
            if ends[above] >= end and ends[above] > begin:
                place = above + 1
                break
        while place < top and ends[place] > begin:
            place += 1
        place = min(place, most - 1)
        lane[at] = place
        ends[place] = max(ends[place], end)
        top = max(top, place + 1)
        count = max(count, top)
    return count


@njit
def _gather(
    order: Any, lane: Any, free: Any, most: int, start: Any, duration: Any, name: Any, event: Any,
    out_start: Any, out_duration: Any, out_name: Any, out_event: Any,
) -> None:  # fmt: skip
    """Move events to their lanes; ``free`` is where the next of each lane goes."""
    reached = np.iinfo(np.int64).min
    for at in range(len(start)):
        row = order[at] if len(order) > 0 else at
        place = lane[at]
        begin, end = start[row], start[row] + duration[row]
        if place == most - 1:
            begin = max(begin, reached)
            end = max(end, begin)
            reached = end
        to = free[place]
        free[place] += 1
        out_start[to], out_duration[to] = begin, end - begin
        out_name[to], out_event[to] = name[row], event[row]


@njit
def _time_before(duration: Any, name: Any, block: int, names: int) -> Any:
    blocks = len(duration) // block + 1
    out = np.zeros((blocks, names), np.int64)
    for row in range(1, blocks):
        out[row] = out[row - 1]
        for at in range((row - 1) * block, row * block):
            out[row, name[at]] += duration[at]
    return out


@njit
def _union_ps(first: Any, start: Any, duration: Any) -> Any:
    """Return the length of the union of events of all lanes."""
    lanes = len(first) - 1
    at = first[:-1].copy()
    reached = np.iinfo(np.int64).min
    total = 0.0
    while True:
        best = -1
        for lane in range(lanes):
            if at[lane] < first[lane + 1] and (best < 0 or start[at[lane]] < start[at[best]]):
                best = lane
        if best < 0:
            return total
        row = at[best]
        at[best] += 1
        end = start[row] + duration[row]
        if end > reached:
            total += end - max(start[row], reached)
            reached = end


@njit
def _nests(first: Any, start: Any, duration: Any) -> Any:
    for lane in range(1, len(first) - 1):
        above = first[lane - 1]
        for row in range(first[lane], first[lane + 1]):
            while above + 1 < first[lane] and start[above + 1] <= start[row]:
                above += 1
            inside = start[above] <= start[row] and start[row] + duration[row] <= start[above] + duration[above]
            if not inside:
                return False
    return True


@warm_up
def _warm() -> None:
    start, duration = np.array([0, 2, 1], np.int64), np.array([9, 3, 4], np.int64)
    for event in (None, np.zeros(3, np.uint32)):
        lanes = lay_out(["a"], [None], np.zeros(3, np.int32), start, duration, event)
    _ = lanes.busy_ps, lanes.time_before
    _union_ps(lanes.first, lanes.start_ps, lanes.duration_ps)
    _longest_first(np.arange(3), start, duration, 1)
