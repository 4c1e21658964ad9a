"""How coarse may a picture get until an event no longer begins a box of its own? What every level of detail needs.

At level b, time is cut into buckets of ``2**b`` ps, counted from the clock's zero. An event begins a box if it is the
first of its lane in its bucket, or at least as long as a bucket; so it does at every level below its height, which is
the larger of two numbers of bits: those in which its start differs from the start ahead of it, and those of its
duration. One byte an event thus holds the pictures of all levels, and counting how many boxes one has takes no longer
for a million events than for ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import bit_length, njit, warm_up

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
LEVELS = 63


@dataclass(frozen=True, eq=False)
class Heights:
    """The heights of N events, by lane and start.

    Attributes
    ----------
    of_event
        uint8[N], 0 to 63; that of a lane's first event is 63.
    of_64, of_4096
        The greatest of each so many events.
    count_before
        int32[B, 63]: how many events of a block's begin have a height above each level.
    """

    of_event: Bytes
    of_64: Bytes
    of_4096: Bytes
    count_before: NDArray[np.int32]


def heights(first: Ints, start_ps: Ints, duration_ps: Ints) -> Heights:
    """Return the heights of events in lanes, the events of lane i being ``first[i]:first[i + 1]``."""
    of_event = np.empty(len(start_ps), np.uint8)
    count_before = np.empty((len(start_ps) // 256 + 1, LEVELS), np.int32)
    _heights(first, start_ps, duration_ps, of_event, count_before)
    return Heights(of_event, _greatest(of_event, 64), _greatest(of_event, 4096), count_before)


def _greatest(heights: Bytes, of: int) -> Bytes:
    if not len(heights):
        return heights
    greatest: Bytes = np.maximum.reduceat(heights, np.arange(0, len(heights), of))
    return greatest


@njit
def _heights(first: Any, start: Any, duration: Any, out: Any, before: Any) -> None:
    histogram = np.zeros(LEVELS + 1, np.int32)
    for lane in range(len(first) - 1):
        for row in range(first[lane], first[lane + 1]):
            if row % 256 == 0:
                _suffix_sums(histogram, before, row // 256)
            height = LEVELS
            if row > first[lane]:
                height = min(max(bit_length(start[row] ^ start[row - 1]), bit_length(duration[row])), LEVELS)
            out[row] = height
            histogram[height] += 1
    if len(start) % 256 == 0:
        _suffix_sums(histogram, before, len(start) // 256)


@njit
def _suffix_sums(histogram: Any, before: Any, block: int) -> None:
    above = 0
    for level in range(len(histogram) - 2, -1, -1):
        above += histogram[level + 1]
        before[block, level] = above


@warm_up
def _warm() -> None:
    heights(np.array([0, 1]), np.zeros(1, np.int64), np.ones(1, np.int64))
