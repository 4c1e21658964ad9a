"""Sets of moments as disjoint intervals: unions, and how much of other intervals they cover."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Disjoint intervals in time order that do not touch, in ps."""

    begin_ps: Ints
    end_ps: Ints

    @property
    def length_ps(self) -> int:
        """Their total length."""
        return int((self.end_ps - self.begin_ps).sum())

    @cached_property
    def _before(self) -> Ints:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.end_ps - self.begin_ps)])

    def covered_ps(self, begin_ps: Ints, end_ps: Ints) -> Ints:
        """Return how much of each interval [begin, end) they cover; nothing of one that ends before it begins."""
        return np.maximum(self._until(np.maximum(end_ps, begin_ps)) - self._until(begin_ps), 0)

    def _until(self, moment_ps: Ints) -> Ints:
        """Return their length before each moment."""
        if not len(self.begin_ps):
            return np.zeros(len(moment_ps), np.int64)
        row = np.searchsorted(self.begin_ps, moment_ps, side="right")
        last = np.maximum(row - 1, 0)
        inside = np.minimum(moment_ps, self.end_ps[last]) - self.begin_ps[last]
        return np.asarray(np.where(row > 0, self._before[last] + inside, 0), np.int64)

    def without(self, other: Moments) -> Moments:
        """Return their moments that are none of the other's."""
        edge = np.iinfo(np.int64)
        gap_begin, gap_end = np.append(edge.min, other.end_ps), np.append(other.begin_ps, edge.max)
        first = np.searchsorted(gap_end, self.begin_ps, side="right")
        counts = np.searchsorted(gap_begin, self.end_ps, side="left") - first
        mine = np.repeat(np.arange(len(counts)), counts)
        gap = np.arange(len(mine)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        return Moments(np.maximum(self.begin_ps[mine], gap_begin[gap]), np.minimum(self.end_ps[mine], gap_end[gap]))

    def common_ps(self, other: Moments) -> int:
        """Return the length of what both have."""
        return int(other.covered_ps(self.begin_ps, self.end_ps).sum())


def union(begin_ps: Ints, end_ps: Ints) -> Moments:
    """Return the moments that lie in at least one of the intervals, which may come in any order and overlap."""
    some = end_ps > begin_ps
    begin_ps, end_ps = begin_ps[some], end_ps[some]
    if not len(begin_ps):
        return Moments(begin_ps, end_ps)
    order = np.argsort(begin_ps, kind="stable")
    begin_ps, reached = begin_ps[order], np.maximum.accumulate(end_ps[order])
    first = np.concatenate([np.ones(1, np.bool_), begin_ps[1:] > reached[:-1]])
    last = np.append(np.flatnonzero(first)[1:] - 1, len(reached) - 1)
    return Moments(begin_ps[first], reached[last])


def either(*sets: Moments) -> Moments:
    """Return the moments of any of the sets."""
    return union(np.concatenate([each.begin_ps for each in sets]), np.concatenate([each.end_ps for each in sets]))
