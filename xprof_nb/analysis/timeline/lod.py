"""Level of detail: events wider than a pixel as they are, narrower ones as runs, in time that grows with the pixels.

Time is cut into buckets of a power of two of picoseconds, the largest that is no wider than a pixel, counted from the
clock's zero: a pan moves the picture and does not change it. Events as wide as a bucket are drawn as they are, those
that start in the same bucket and are narrower become one run. Since an event as wide as a bucket ends beyond it, it is
the last of its lane to start there: the runs and events of a lane never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.heights import LEVELS
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
COARSEST = LEVELS - 1


@dataclass(frozen=True, eq=False)
class Boxes:
    """What is drawn of a track in a window, by lane and start.

    Attributes
    ----------
    row
        First event of the box, a row of the track's `Lanes`.
    start_ps, duration_ps
        From the start of its first event to the end of its last; it may stick out of the window.
    busy_ps
        How much of it events cover inside the window.
    count
        Events in it; 1: the box is that event.
    name
        The name that takes most of its time, row of the names of the track.
    """

    lane: Codes
    row: Ints
    start_ps: Ints
    duration_ps: Ints
    busy_ps: Ints
    count: Codes
    name: Codes

    def __len__(self) -> int:
        return len(self.lane)

    def head(self, n: int) -> Boxes:
        """Return the first boxes."""
        if n >= len(self):
            return self
        return Boxes(
            self.lane[:n], self.row[:n], self.start_ps[:n], self.duration_ps[:n], self.busy_ps[:n], self.count[:n],
            self.name[:n],
        )  # fmt: skip


def bucket_bits(begin_ps: int, end_ps: int, pixels: int) -> int:
    """Return the logarithm of the widest bucket that is no wider than a pixel."""
    return max((max(end_ps - begin_ps, 1) // pixels).bit_length() - 1, 0)


def count_boxes(lanes: Lanes, begin_ps: int, end_ps: int) -> Ints:
    """Return how many boxes a window has at each level, int64[63]: the same work for any number of events."""
    heights, out = lanes.heights, np.zeros(LEVELS, np.int64)
    _count(
        lanes.first, lanes.start_ps, lanes.duration_ps, heights.of_event, heights.count_before, begin_ps, end_ps, out
    )
    return out


def boxes(lanes: Lanes, begin_ps: int, end_ps: int, bits: int) -> Boxes:
    """Return the boxes of a track in a window with buckets of ``2**bits`` ps."""
    most, heights = int(count_boxes(lanes, begin_ps, end_ps)[bits]), lanes.heights
    lane, count, name = (np.empty(most, np.int32) for _ in range(3))
    row, start, duration, busy = (np.empty(most, np.int64) for _ in range(4))
    _boxes(
        lanes.first, lanes.start_ps, lanes.duration_ps, lanes.name, lanes.block, lanes.time_before,
        heights.of_event, heights.of_64, heights.of_4096,
        begin_ps, end_ps, bits, lane, row, start, duration, busy, count, name,
    )  # fmt: skip
    return Boxes(lane, row, start, duration, busy, count, name)


@njit
def _first_not_before(start: Any, low: int, high: int, moment: int) -> Any:
    while low < high:
        middle = (low + high) // 2
        if start[middle] < moment:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _seen(start: Any, duration: Any, low: int, high: int, begin: int, end: int) -> Any:
    """Return which rows of a lane a window shows: the first may have begun before it, which makes it a box."""
    at = _first_not_before(start, low, high, begin)
    past = _first_not_before(start, at, high, end)
    reaches_in = at > low and start[at - 1] + duration[at - 1] > begin
    return at - 1 if reaches_in else at, at, past


@njit
def _count(first: Any, start: Any, duration: Any, height: Any, before: Any, begin: int, end: int, out: Any) -> None:
    histogram = np.zeros(len(out) + 1, np.int64)
    for lane in range(len(first) - 1):
        seen, inside, past = _seen(start, duration, first[lane], first[lane + 1], begin, end)
        out += (inside - seen) + (past > inside)
        low, high = inside + 1, past
        low_block, high_block = -(-low // 256), high // 256
        if low_block < high_block:
            out += before[high_block] - before[low_block]
            for row in range(high_block * 256, high):
                histogram[height[row]] += 1
            high = low_block * 256
        for row in range(low, high):
            histogram[height[row]] += 1
    above = 0
    for level in range(len(out) - 1, -1, -1):
        above += histogram[level + 1]
        out[level] += above


@njit
def _next_above(height: Any, of_64: Any, of_4096: Any, low: int, high: int, bits: int) -> Any:
    """Return the first row from ``low`` on that is higher than a level, ``high`` if there is none before."""
    row = low
    while row < high:
        if row % 4096 == 0 and of_4096[row // 4096] <= bits:
            row += 4096
        elif row % 64 == 0 and of_64[row // 64] <= bits:
            row += 64
        elif height[row] > bits:
            return row
        else:
            row += 1
    return high


@njit
def _boxes(
    first: Any, start: Any, duration: Any, name: Any, block: int, before: Any,
    height: Any, of_64: Any, of_4096: Any, begin: int, end: int, bits: int,
    out_lane: Any, out_row: Any, out_start: Any, out_duration: Any, out_busy: Any, out_count: Any, out_name: Any,
) -> None:  # fmt: skip
    n, weight = 0, np.zeros(before.shape[1], np.int64)
    for lane in range(len(first) - 1):
        at, inside, past = _seen(start, duration, first[lane], first[lane + 1], begin, end)
        while at < past:
            following = inside if at < inside else _next_above(height, of_64, of_4096, at + 1, past, bits)
            name_of, busy = _summed(duration, name, block, before, weight, at, following)
            reached = start[following - 1] + duration[following - 1]
            out_lane[n], out_row[n], out_count[n], out_name[n] = lane, at, following - at, name_of
            out_start[n], out_duration[n] = start[at], reached - start[at]
            out_busy[n] = busy - max(reached - end, 0) - max(begin - start[at], 0)
            n += 1
            at = following


@njit
def _summed(duration: Any, name: Any, block: int, before: Any, weight: Any, low: int, high: int) -> Any:
    """Return the name with most time among some events, the first of equals, and their time; ``weight`` stays zero."""
    busy = np.int64(0)
    best = name[low]
    if high - low == 1:
        return best, duration[low]
    inner_low, inner_high = -(-low // block), high // block
    if inner_high - inner_low < 2:
        for row in range(low, high):
            weight[name[row]] += duration[row]
            busy += duration[row]
            if weight[name[row]] > weight[best]:
                best = name[row]
        most = weight[best]
        for row in range(high - 1, low - 1, -1):
            if weight[name[row]] == most:
                best = name[row]
        for row in range(low, high):
            weight[name[row]] = 0
        return best, busy
    for row in range(low, inner_low * block):
        weight[name[row]] += duration[row]
    for row in range(inner_high * block, high):
        weight[name[row]] += duration[row]
    for code in range(len(weight)):
        time = weight[code] + before[inner_high, code] - before[inner_low, code]
        weight[code] = time
        busy += time
        if time > weight[best]:
            best = code
    weight[:] = 0
    return best, busy


@warm_up
def _warm() -> None:
    columns = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint32)
    lanes = Lanes(["a"], [None], np.array([0, 1]), *columns)
    boxes(lanes, 0, 2, 0)
