"""How time and memory grow with the size of a batch: a fixed part and one for each item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Many = Sequence[float] | Floats

RESAMPLES = 400
SEED = 20_240_229
LOW, HIGH = 5, 95
"""Ends of the intervals that are told, in percent of the resamples."""
LEAST_GAIN = 10.0
"""Two laws must explain so much more than one (difference of the Bayesian information criterion) to be believed."""
FEWEST_IN_A_PART = 3
STEEPER = 1.5
"""So many times the slope before a cliff is that behind it, at least."""


@dataclass(frozen=True)
class Law:
    """``fixed + per_item * n``, both at least 0, with the interval of either in which 90 % of resamples lie.

    ``error_fraction`` is how far it is off at a size, NaN of two sizes: a line goes through any two.
    """

    fixed: float
    per_item: float
    fixed_interval: tuple[float, float]
    per_item_interval: tuple[float, float]
    first: float
    last: float
    error_fraction: float

    def at(self, size: float) -> float:
        """Return the value for a size."""
        return self.fixed + self.per_item * size

    def gain(self, size: float, larger: float) -> float:
        """Return by which share a larger size brings more throughput, if this is the law of a step's time."""
        return (larger / self.at(larger)) / (size / self.at(size)) - 1

    def fixed_fraction(self, size: float) -> float:
        """Return the share of the fixed part."""
        whole = self.at(size)
        return self.fixed / whole if whole > 0 else math.nan

    @property
    def grows(self) -> bool:
        """Whether the size matters: even the low end of the slope moves it by a tenth over what was measured."""
        return self.per_item_interval[0] * (self.last - self.first) > 0.1 * self.at(self.first)


def fit(sizes: Many, values: Many, spreads: Many | None = None) -> Law | None:
    """Return the law nearest to values, relative errors counting alike; None of fewer than two sizes.

    Parameters
    ----------
    spreads
        How far each value may be off; at least a percent of it is assumed.

    Notes
    -----
    Weighted least squares under ``fixed >= 0`` and ``per_item >= 0``. The intervals are of fits to values that are
    drawn anew around the law, as far off as they are from it or as their spreads say, whichever is more.
    """
    n, y = np.asarray(sizes, np.float64), np.asarray(values, np.float64)
    if len(np.unique(n)) < 2 or not (y > 0).any():
        return None
    scale = np.maximum(np.abs(y), 1e-300)
    fixed, per_item = _nearest(n, y, 1 / scale)
    off = (y - fixed - per_item * n) / scale
    freedom = max(len(n) - 2, 1)
    error = float(np.sqrt((off**2).sum() / freedom))
    told = np.zeros(len(n)) if spreads is None else np.asarray(spreads, np.float64) / scale
    drawn = np.random.default_rng(SEED).standard_normal((RESAMPLES, len(n)))
    around = (fixed + per_item * n) * (1 + drawn * np.maximum(np.maximum(error, told), 0.0))
    fits = np.array([_nearest(n, np.maximum(row, 0), 1 / scale) for row in around])
    low, high = np.percentile(fits, (LOW, HIGH), axis=0)
    return Law(
        fixed,
        per_item,
        (float(low[0]), float(high[0])),
        (float(low[1]), float(high[1])),
        float(n.min()),
        float(n.max()),
        error if len(n) > 2 else math.nan,
    )


def _nearest(n: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    design = np.stack([np.ones(len(n)), n], axis=1) * weights[:, None]
    (fixed, per_item), *_ = np.linalg.lstsq(design, y * weights, rcond=None)
    if fixed < 0:
        return 0.0, float(max(((weights * n) * (weights * y)).sum() / ((weights * n) ** 2).sum(), 0.0))
    if per_item < 0:
        return float((weights**2 * y).sum() / (weights**2).sum()), 0.0
    return float(fixed), float(per_item)


@dataclass(frozen=True)
class Cliff:
    """A size from which on another law holds: the working set no longer fits into a cache, say."""

    size: float
    before: Law
    after: Law


def cliff(sizes: Many, values: Many, spreads: Many | None = None) -> Cliff | None:
    """Return where one law ends and a steeper one begins, if two explain the values far better than one."""
    order = np.argsort(sizes)
    n, y = np.asarray(sizes, np.float64)[order], np.asarray(values, np.float64)[order]
    off = None if spreads is None else np.asarray(spreads, np.float64)[order]
    whole = fit(n, y, off)
    if whole is None or len(n) < 2 * FEWEST_IN_A_PART:
        return None
    best: tuple[float, Cliff] | None = None
    for split in range(FEWEST_IN_A_PART, len(n) - FEWEST_IN_A_PART + 1):
        halves = (slice(split), slice(split, None))
        before, after = (fit(n[half], y[half], None if off is None else off[half]) for half in halves)
        if before is None or after is None or not _is_steeper(after, before, n[split]):
            continue
        told = np.concatenate([[before.at(x) for x in n[:split]], [after.at(x) for x in n[split:]]])
        score = _criterion(y, told, 5)
        if best is None or score < best[0]:
            best = (score, Cliff(float(n[split]), before, after))
    single = _criterion(y, np.array([whole.at(x) for x in n]), 2)
    return best[1] if best is not None and single - best[0] > LEAST_GAIN else None


def _is_steeper(after: Law, before: Law, at: float) -> bool:
    return after.at(at) > before.at(at) and after.per_item > STEEPER * before.per_item


def _criterion(y: Floats, told: Floats, parameters: int) -> float:
    """Return the Bayesian information criterion of relative errors; errors below half a percent say nothing."""
    mean = max(float((((y - told) / y) ** 2).mean()), 0.005**2)
    return len(y) * math.log(mean) + parameters * math.log(len(y))
