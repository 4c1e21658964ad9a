"""How long a step takes when nobody traces it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Step = Callable[[], Any]
FEWEST = 4
"""Steps for which a middle half can be told."""


@dataclass(frozen=True)
class Timing:
    """Times of steps, in seconds from the start of one to the start of the next."""

    first_s: float
    times_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """The typical step."""
        return statistics.median(self.times_s)

    @property
    def spread_s(self) -> float:
        """Half of the range of the middle half; 0 of fewer than four steps."""
        if len(self.times_s) < FEWEST:
            return 0.0
        low, _, high = statistics.quantiles(self.times_s, n=4, method="inclusive")
        return (high - low) / 2

    @property
    def compile_s(self) -> float:
        """What the first step took beyond a typical one: tracing, compiling, first use of memory."""
        return max(self.first_s - self.median_s, 0.0)


def time_steps(
    step: Step,
    steps: int,
    warm_up: int,
    wait: Callable[[Any], object],
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Run steps, waiting for what each returns.

    Parameters
    ----------
    steps
        How many to time.
    warm_up
        How many to run first, at least one: it compiles.
    wait
        Waits for what a step returned.
    """
    began = clock()
    wait(step())
    first = clock() - began
    for _ in range(warm_up - 1):
        wait(step())
    starts = []
    for _ in range(steps):
        starts.append(clock())
        wait(step())
    starts.append(clock())
    return Timing(first, tuple(end - start for start, end in pairwise(starts)))
