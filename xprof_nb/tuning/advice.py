"""What a sweep says: the size to use, why no larger one, and what stopped scaling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xprof_nb.tuning.fitting import RESERVE, largest_size, memory_law, smallest_limit
from xprof_nb.tuning.law import Cliff, Law, cliff, fit
from xprof_nb.tuning.point import DONE, OOM, Point

LEAST_NOISE = 0.005
"""Throughputs nearer than this are alike, however little they were seen to vary."""
KNEE = 0.9
"""Share of the highest possible throughput at which the curve is called flat."""
WORTH = 0.02
"""A gain that a larger size must promise to be advised."""


@dataclass(frozen=True)
class Advice:
    """What is made of points along one parameter.

    Attributes
    ----------
    recommended
        Of the values that were measured, the one to use; None if none was.
    knee
        Size from which on throughput is at least nine tenths of what the law allows; None without a law.
    largest
        Largest size that fits, a share of memory left free; None if nobody knows.
    next_size
        A larger one worth measuring; None if there is none.
    kind_laws
        How the time of each kind of work grows.
    """

    recommended: float | None = None
    step_law: Law | None = None
    memory: Law | None = None
    cliff: Cliff | None = None
    knee: float | None = None
    largest: int | None = None
    next_size: int | None = None
    kind_laws: Mapping[str, Law] = field(default_factory=dict)

    @property
    def fixed_kinds(self) -> tuple[str, ...]:
        """Kinds of work whose time does not grow with the size, the longest first."""
        still = {kind: law.at(law.last) for kind, law in self.kind_laws.items() if not law.grows}
        return tuple(sorted(still, key=lambda kind: still[kind], reverse=True))


def advise(points: Sequence[Point], axis: str, reserve: float = RESERVE) -> Advice:
    """Return what points along a numeric parameter say.

    Parameters
    ----------
    reserve
        Share of memory to leave free.
    """
    done = sorted(
        (point for point in points if point.status == DONE and point.step_time_s), key=lambda p: _size(p, axis)
    )
    sizes = [_size(point, axis) for point in done]
    times = [point.step_time_s or 0.0 for point in done]
    spreads = [standard_error(point) for point in done]
    memory = memory_law(points, axis)
    limit = smallest_limit(points)
    largest = largest_size(memory, limit, reserve) if memory is not None and limit is not None else None
    law = fit(sizes, times, spreads)
    advised = Advice(
        recommended=_best(done, axis, largest),
        step_law=law,
        memory=memory,
        cliff=cliff(sizes, times, spreads),
        knee=_knee(law),
        largest=largest,
        kind_laws=_kind_laws(done, axis),
    )
    return replace(advised, next_size=_next(advised, points, axis))


def standard_error(point: Point) -> float:
    """Return how far a median of step times may be off: 1.25 standard deviations of a mean, from the middle half."""
    deviation = (point.step_time_spread_s or 0.0) / 0.6745
    return 1.2533 * deviation / math.sqrt(max(point.step_count, 1))


def _best(done: Sequence[Point], axis: str, largest: int | None) -> float | None:
    """Return the smallest size whose throughput is, within what is known of it, the highest of those that fit."""
    fits = [point for point in done if largest is None or _size(point, axis) <= largest]
    rates = {_size(point, axis): (_rate(point, axis), _noise(point)) for point in fits}
    if not rates:
        return None
    best, noise = max(rates.values())
    return min(size for size, (rate, own) in rates.items() if rate >= best * (1 - max(noise, own)))


def _noise(point: Point) -> float:
    return max(standard_error(point) / (point.step_time_s or 1.0), LEAST_NOISE)


def _rate(point: Point, axis: str) -> float:
    return point.items_per_s or _size(point, axis) / (point.step_time_s or 1.0)


def _knee(law: Law | None) -> float | None:
    return None if law is None or law.per_item <= 0 else knee_of(law.fixed, law.per_item)


def knee_of(fixed: float, per_item: float) -> float:
    """Return from which size on a law's throughput is that share of the most; infinity of one that does not grow."""
    return KNEE / (1 - KNEE) * fixed / per_item if per_item > 0 else math.inf


def _kind_laws(done: Sequence[Point], axis: str) -> dict[str, Law]:
    laws = {}
    for kind in sorted({kind for point in done for kind in point.kind_time_s}):
        pairs = [(_size(point, axis), point.kind_time_s[kind]) for point in done if kind in point.kind_time_s]
        law = fit([size for size, _ in pairs], [time for _, time in pairs])
        if law is not None:
            laws[kind] = law
    return laws


def _next(advised: Advice, points: Sequence[Point], axis: str) -> int | None:
    """Return a size beyond the largest measured that promises more and fits."""
    law, best = advised.step_law, advised.recommended
    tried = [_size(point, axis) for point in points if point.status in (DONE, OOM)]
    if law is None or best is None or best < max(tried) or advised.cliff is not None:
        return None
    size = int(2 * best)
    if advised.largest is not None:
        size = min(size, advised.largest)
    return size if size > best and law.gain(best, size) > WORTH else None


def _size(point: Point, axis: str) -> float:
    return float(point.setting[axis])
