"""Values over time for a timeline: sampled counters, and the rate at which ops do work, by pixel of a window."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.heights import LEVELS
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_BLOCK = 256
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Steps:
    """A curve in a window: what it was on average, at least and at most in each stretch of it.

    Attributes
    ----------
    count
        Samples, or events, that begin in the stretch.
    """

    start_ps: Ints
    duration_ps: Ints
    value: Floats
    low: Floats
    high: Floats
    count: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start_ps)

    def head(self, n: int) -> Steps:
        """Return the first stretches."""
        return Steps(
            self.start_ps[:n], self.duration_ps[:n], self.value[:n], self.low[:n], self.high[:n], self.count[:n]
        )


class Samples:
    """Values that hold from their sample to the next one.

    Parameters
    ----------
    start_ps, value
        M samples in any order; of several at one moment the last counts. NaN ones are left out, and such as only
        damage makes, whose areas would overflow.
    """

    def __init__(self, start_ps: Ints, value: Floats) -> None:
        known = np.abs(value) < _LARGEST
        start_ps, value = start_ps[known], value[known]
        order = np.argsort(start_ps, kind="stable")
        start_ps, value = start_ps[order], value[order]
        last = np.append(start_ps[1:] != start_ps[:-1], True)[: len(start_ps)]
        self.start_ps, self.value = start_ps[last], value[last]

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value, NaN if there is none."""
        return (float(self.value.min()), float(self.value.max())) if len(self) else (np.nan, np.nan)

    @cached_property
    def _area(self) -> Floats:
        spans = np.diff(self.start_ps).astype(np.float64)
        return np.concatenate([np.zeros(1), np.cumsum(self.value[:-1] * spans)])

    @cached_property
    def _extremes(self) -> tuple[Floats, Floats]:
        firsts = np.arange(0, max(len(self), 1), _BLOCK)
        return np.minimum.reduceat(self.value, firsts), np.maximum.reduceat(self.value, firsts)

    def counts_within(self, begin_ps: int, end_ps: int) -> Ints:
        """Return how many stretches there are at most with buckets of each size, int64[63]."""
        low, high = np.searchsorted(self.start_ps, [begin_ps, end_ps])
        return np.minimum(_buckets(begin_ps, end_ps), 2 * int(high - low) + 2)

    def within(self, begin_ps: int, end_ps: int, bits: int) -> Steps:
        """Return the curve in buckets of ``2**bits`` ps."""
        if not len(self):
            return no_steps(0)
        out = no_steps(int(self.counts_within(begin_ps, end_ps)[bits]))
        n = _sampled(
            self.start_ps, self.value, self._area, *self._extremes, begin_ps, end_ps, bits,
            out.start_ps, out.duration_ps, out.value, out.low, out.high, out.count,
        )  # fmt: skip
        return out.head(n)


@dataclass(frozen=True, eq=False)
class Rates:
    """Work per second over time: each event's work spread evenly over it.

    Attributes
    ----------
    amount
        Work of one event by its name, K values.
    unit_per_ps
        What the rate is divided by: the peak as work per ps for a share of it, 1e-12 for work per second.
    """

    lanes: Lanes
    amount: Floats
    unit_per_ps: float

    def __len__(self) -> int:
        return len(self.lanes)

    @property
    def range(self) -> tuple[float, float]:
        """Zero and NaN: how high it gets depends on the pixel."""
        return 0.0, np.nan

    @cached_property
    def _before(self) -> Floats:
        whole = self.amount[self.lanes.name]
        firsts = np.arange(0, len(whole), _BLOCK)
        return np.concatenate([np.zeros(1), np.cumsum(np.add.reduceat(whole, firsts) if len(whole) else whole)])

    def counts_within(self, begin_ps: int, end_ps: int) -> Ints:
        """Return how many stretches there are at most with buckets of each size, int64[63]."""
        return _buckets(begin_ps, end_ps)

    def total(self, begin_ps: int, end_ps: int) -> float:
        """Return the work done in a window."""
        at = np.array([begin_ps, end_ps], np.int64)
        done = np.zeros(2)
        _done_before(self.lanes.first, self.lanes.start_ps, self.lanes.duration_ps, self.lanes.name, self.amount,
                     self._before, at, done)  # fmt: skip
        return float(done[1] - done[0])

    def within(self, begin_ps: int, end_ps: int, bits: int) -> Steps:
        """Return the rate in buckets of ``2**bits`` ps, equal neighbours as one."""
        first, last = (begin_ps >> bits) + 1, -(-end_ps >> bits)
        inner = np.arange(first, max(last, first), dtype=np.int64) << bits
        at = np.concatenate([[begin_ps], inner[inner < end_ps], [end_ps]]).astype(np.int64)
        lanes, done = self.lanes, np.zeros(len(at))
        _done_before(lanes.first, lanes.start_ps, lanes.duration_ps, lanes.name, self.amount, self._before, at, done)
        value = np.diff(done) / (np.diff(at) * self.unit_per_ps)
        changes = np.append(True, value[1:] != value[:-1])[: len(value)]
        start = at[:-1][changes]
        end = np.append(start[1:], at[-1])
        value = value[changes]
        return Steps(start, end - start, value, value, value, np.ones(len(value), np.int32))


def _buckets(begin_ps: int, end_ps: int) -> Ints:
    bits = np.arange(LEVELS)
    return (np.int64(end_ps - 1) >> bits) - (np.int64(begin_ps) >> bits) + 1


def no_steps(rows: int) -> Steps:
    """Return a curve of so many stretches that nothing is known of yet."""
    start_ps, duration_ps = np.empty(rows, np.int64), np.empty(rows, np.int64)
    return Steps(start_ps, duration_ps, np.empty(rows), np.empty(rows), np.empty(rows), np.empty(rows, np.int32))


@njit
def _last_not_after(start: Any, low: int, high: int, moment: int) -> Any:
    """Return the last row in [low, high) that starts at ``moment`` or before, ``low - 1`` if none does."""
    while low < high:
        middle = (low + high) // 2
        if start[middle] <= moment:
            low = middle + 1
        else:
            high = middle
    return low - 1


@njit
def _sampled(
    start: Any, value: Any, area: Any, least: Any, greatest: Any, begin: int, end: int, bits: int,
    out_start: Any, out_duration: Any, out_value: Any, out_low: Any, out_high: Any, out_count: Any,
) -> Any:  # fmt: skip
    n, rows = 0, len(start)
    now = max(begin, start[0])
    row = max(_last_not_after(start, 0, rows, now), 0)
    while now < end:
        after = min(((now >> bits) + 1) << bits, end)
        following = start[row + 1] if row + 1 < rows else end
        last = row
        if following >= after:  # nothing changes in this bucket, nor in those before the next sample
            after = max(after, min((following >> bits) << bits, end))
            if row + 1 >= rows:
                after = end
            out_value[n] = out_low[n] = out_high[n] = value[row]
        else:
            last = _last_not_after(start, row, rows, after - 1)
            until = area[last] + value[last] * (after - start[last])
            out_value[n] = (until - area[row] - value[row] * (now - start[row])) / (after - now)
            low, high = value[row], value[row]
            at = row
            while at <= last:
                if at % 256 == 0 and at + 256 <= last + 1:
                    low, high = min(low, least[at // 256]), max(high, greatest[at // 256])
                    at += 256
                else:
                    low, high = min(low, value[at]), max(high, value[at])
                    at += 1
            out_low[n], out_high[n] = low, high
            out_value[n] = min(max(out_value[n], low), high)
        out_start[n], out_duration[n] = now, after - now
        out_count[n] = last - row + (1 if start[row] >= now else 0)
        n += 1
        row = last
        if row + 1 < rows and start[row + 1] == after:
            row += 1
        now = after
    return n


@njit
def _done_before(
    first: Any, start: Any, duration: Any, name: Any, amount: Any, before: Any, moments: Any, done: Any
) -> None:
    """Add up the work done before each moment; the moments ascend."""
    for lane in range(len(first) - 1):
        low = first[lane]
        base = before[low // 256]
        for at in range(low // 256 * 256, low):
            base += amount[name[at]]
        for index in range(len(moments)):
            row = _last_not_after(start, low, first[lane + 1], moments[index])
            if row < first[lane]:
                continue
            low = row
            whole = before[row // 256]
            for at in range(row // 256 * 256, row):
                whole += amount[name[at]]
            passed = moments[index] - start[row]
            share = 1.0 if passed >= duration[row] else passed / duration[row]
            done[index] += whole - base + amount[name[row]] * share


@warm_up
def _warm() -> None:
    columns = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint32)
    Samples(np.array([0, 2]), np.array([1.0, 2.0])).within(0, 4, 1)
    Rates(Lanes(["a"], [None], np.array([0, 1]), *columns), np.ones(1), 1.0).within(0, 4, 1)
