"""Which setting comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from xprof_nb.tuning.grid import BATCH, Setting
from xprof_nb.tuning.point import DONE, Point

LARGEST_SIZE = 2**16
STILL = 0.03
"""A doubling that brings less than this of throughput brings nothing."""


class Order(Protocol):
    """Gives the settings of a sweep one after the other."""

    def settings(self, points: Sequence[Point]) -> Iterator[Setting]:
        """Give settings; ``points`` has what was measured up to now, in any order."""


class Fixed:
    """The settings that were asked for."""

    def __init__(self, settings: Sequence[Setting]) -> None:
        self._settings = settings

    def settings(self, points: Sequence[Point]) -> Iterator[Setting]:  # noqa: ARG002
        """Give each of them."""
        return iter(self._settings)


class Doubling:
    """Batch sizes 1, 2, 4 … until two doublings brought nothing or one did not fit, then those around the best."""

    def settings(self, points: Sequence[Point]) -> Iterator[Setting]:
        """Give sizes."""
        size, rates = 1, [0.0]
        while size <= LARGEST_SIZE:
            yield {BATCH: size}
            rate = _rate_at(points, size)
            if rate is None:
                break
            if len(rates) > 2 and rate < rates[-2] * (1 + STILL):
                break
            rates.append(rate)
            size *= 2
        best = max((point for point in points if point.items_per_s), key=lambda p: p.items_per_s or 0.0, default=None)
        if best is not None:
            size = int(best.setting[BATCH])
            for near in sorted({(3 * size) // 4, (3 * size) // 2} - {0}):
                yield {BATCH: near}


def _rate_at(points: Sequence[Point], size: int) -> float | None:
    found = [point for point in points if point.setting[BATCH] == size and point.status == DONE]
    return found[0].items_per_s if found else None


def spread_out(count: int, most: int) -> list[int]:
    """Return which of so many to measure if only few can be: both ends, and what lies evenly between."""
    if most >= count:
        return list(range(count))
    if most == 1:
        return [count - 1]
    return sorted({round(number * (count - 1) / (most - 1)) for number in range(most)})
