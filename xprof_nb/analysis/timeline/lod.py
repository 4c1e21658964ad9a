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

from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
COARSEST = 62


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
        return Boxes(
            self.lane[:n], self.row[:n], self.start_ps[:n], self.duration_ps[:n], self.busy_ps[:n], self.count[:n],
            self.name[:n],
        )  # fmt: skip


def bucket_bits(begin_ps: int, end_ps: int, pixels: int) -> int:
    """Return the logarithm of the widest bucket that is no wider than a pixel."""
    return max((max(end_ps - begin_ps, 1) // pixels).bit_length() - 1, 0)


def count_boxes(lanes: Lanes, begin_ps: int, end_ps: int, bits: int, most: int) -> int:
    """Return how many boxes there would be, ``most + 1`` if more: a fraction of the work of drawing them."""
    return int(_count(lanes.first, lanes.start_ps, lanes.duration_ps, begin_ps, end_ps, bits, most))


def boxes(lanes: Lanes, begin_ps: int, end_ps: int, bits: int, most: int) -> Boxes | None:
    """Return the boxes of a track in a window with buckets of ``2**bits`` ps, None if there are more than ``most``."""
    lane, count, name = (np.empty(most, np.int32) for _ in range(3))
    row, start, duration, busy = (np.empty(most, np.int64) for _ in range(4))
    n = _boxes(
        lanes.first, lanes.start_ps, lanes.duration_ps, lanes.name, lanes.block, lanes.time_before,
        begin_ps, end_ps, bits, lane, row, start, duration, busy, count, name,
    )  # fmt: skip
    if n < 0:
        return None
    return Boxes(lane, row, start, duration, busy, count, name).head(n)


@njit
def _first_not_before(start: Any, low: int, high: int, moment: int) -> Any:
    """Return the first row from ``low`` on that starts at ``moment`` or later; near rows are found fastest."""
    step = 1
    while low + step < high and start[low + step] < moment:
        low += step
        step *= 2
    high = min(high, low + step)
    while low < high:
        middle = (low + high) // 2
        if start[middle] < moment:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _first_seen(start: Any, duration: Any, low: int, high: int, begin: int) -> Any:
    """Return the first row of a lane of which something lies at or after a moment."""
    at = _first_not_before(start, low, high, begin)
    return at - 1 if at > low and start[at - 1] + duration[at - 1] > begin else at


@njit
def _bucket(start: Any, duration: Any, at: int, high: int, begin: int, end: int, bits: int) -> Any:
    """Return where the next bucket of a lane begins, and up to where this one is one run."""
    if start[at] < begin:
        return at + 1, at  # what began before the window stands for itself
    bound = min(((start[at] >> bits) + 1) << bits, end)
    following = _first_not_before(start, at, high, max(bound, start[at] + 1))
    return following, following - 1 if duration[following - 1] >= 1 << bits else following


@njit
def _count(first: Any, start: Any, duration: Any, begin: int, end: int, bits: int, most: int) -> Any:
    n = 0
    for lane in range(len(first) - 1):
        at = _first_seen(start, duration, first[lane], first[lane + 1], begin)
        while at < first[lane + 1] and start[at] < end:
            following, narrow = _bucket(start, duration, at, first[lane + 1], begin, end, bits)
            n += (narrow > at) + (narrow < following)
            if n > most:
                return most + 1
            at = following
    return n


@njit
def _boxes(
    first: Any, start: Any, duration: Any, name: Any, block: int, before: Any,
    begin: int, end: int, bits: int,
    out_lane: Any, out_row: Any, out_start: Any, out_duration: Any, out_busy: Any, out_count: Any, out_name: Any,
) -> Any:  # fmt: skip
    most, n = len(out_lane), 0
    weight = np.zeros(before.shape[1], np.int64)
    for lane in range(len(first) - 1):
        at = _first_seen(start, duration, first[lane], first[lane + 1], begin)
        while at < first[lane + 1] and start[at] < end:
            if n + 2 > most:
                return -1
            following, narrow = _bucket(start, duration, at, first[lane + 1], begin, end, bits)
            last = following - 1
            if narrow > at:
                name_of, busy = _summed(duration, name, block, before, weight, at, narrow)
                reached = start[narrow - 1] + duration[narrow - 1]
                out_lane[n], out_row[n], out_count[n], out_name[n] = lane, at, narrow - at, name_of
                out_start[n], out_duration[n] = start[at], reached - start[at]
                out_busy[n] = busy - max(reached - end, 0)
                n += 1
            if narrow <= last:
                reached = start[last] + duration[last]
                out_lane[n], out_row[n], out_count[n], out_name[n] = lane, last, 1, name[last]
                out_start[n], out_duration[n] = start[last], duration[last]
                out_busy[n] = min(reached, end) - max(start[last], begin)
                n += 1
            at = following
    return n


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
    boxes(lanes, 0, 2, 0, 4), count_boxes(lanes, 0, 2, 0, 4)
