"""Which sizes fit into memory."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xprof_nb.tuning.law import Law, fit
from xprof_nb.tuning.point import Point

_NOTHING = 1e-12
RESERVE = 0.1
"""Share of memory that is left free: peaks of steps vary, and longer sequences come."""


def memory_law(points: Iterable[Point], axis: str) -> Law | None:
    """Return how the memory of a device grows along a parameter, from peaks, else from plans."""
    known = [(float(point.setting[axis]), point.needed_bytes) for point in points]
    pairs = [(size, needed) for size, needed in known if needed is not None]
    return fit([size for size, _ in pairs], [needed for _, needed in pairs])


def largest_size(law: Law, limit_bytes: float, reserve: float = 0.0) -> int | None:
    """Return the largest whole size within a limit, a share of it left free; None if nothing or everything fits."""
    room = limit_bytes * (1 - reserve) - law.fixed
    if room <= 0:
        return 0
    return None if law.per_item <= _NOTHING * law.fixed else math.floor(room / law.per_item + 1e-9)


def smallest_limit(points: Iterable[Point]) -> float | None:
    """Return the memory of the smallest device; None if nobody knows."""
    return min((point.limit_bytes for point in points if point.limit_bytes), default=None)
