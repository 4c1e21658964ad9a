"""A slow step, found while it is being recorded.

Nobody knows that a step will be slow before it has been, so the profiler runs all the time, and what it recorded is
dropped every few seconds: between steps as far as possible, and never while a step lasts longer than usual.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xprof_nb.capture.step_watch import Step, StepWatch

MEDIAN_OF, LATEST = 101, 32
"""Several steps may pass between two looks."""
FEWEST_STEPS = 5
"""Before this many steps have been seen, none of them is called slow."""
WINDOW_S = 2.0
LONGEST_STEP_S = 60.0
"""A step that has lasted for so long is taken for the end of the loop."""


@dataclass(frozen=True)
class Slow:
    """A slow step, and the median of those before it."""

    step: Step
    median_s: float

    @property
    def factor(self) -> float:
        """How many times the median it took."""
        return self.step.length_s / self.median_s

    def describe(self, began_s: float) -> str:
        """Say it of a profile that begins at a moment of ``time.perf_counter``."""
        into_s = self.step.start_s - began_s
        where = (
            f"begins {units.seconds(into_s)} into the profile"
            if into_s >= 0
            else f"had begun {units.seconds(-into_s)} before the profile does"
        )
        return (
            f"The slow step took {units.seconds(self.step.length_s)}, {self.factor:.3g} times the median of "
            f"{units.seconds(self.median_s)}; it {where}."
        )

    def to_dict(self, began_s: float) -> dict[str, float]:
        """Return it as the sidecar keeps it."""
        return {
            "step_s": self.step.length_s,
            "median_s": self.median_s,
            "factor": self.factor,
            "begins_s": self.step.start_s - began_s,
        }


class Search:
    """Looks at the steps of a loop that is being recorded, and says when what was recorded may be dropped.

    Attributes
    ----------
    began_s
        Since when there is something recorded, a moment of ``time.perf_counter`` as all here.
    found
        The slow step, None so far.
    """

    def __init__(self, watch: StepWatch, factor: float, began_s: float) -> None:
        self.began_s = self._dropped_s = began_s
        self.found: Slow | None = None
        self._watch = watch
        self._factor = factor

    def look(self) -> Slow | None:
        """Return the slow step among those that have ended since the last drop."""
        steps = self._watch.steps()
        self.found = slow_step(steps, self._factor, self._dropped_s, self.began_s - self._dropped_s)
        return self.found

    def may_drop(self, now_s: float) -> bool:
        """Return whether enough is recorded, and the step under way not overdue."""
        if now_s - self.began_s < WINDOW_S:
            return False
        lengths = self._watch.lengths_s()[-MEDIAN_OF:]
        lasts_s = now_s - self._watch.open_s()
        return not lengths or lasts_s < statistics.median(lengths) or lasts_s > LONGEST_STEP_S

    def dropped(self, from_s: float, until_s: float) -> None:
        """Take note that nothing was recorded between two moments, and nothing from before is left."""
        self._dropped_s, self.began_s = from_s, until_s


def slow_step(
    steps: Sequence[Step], factor: float, dropped_s: float = float("-inf"), lost_s: float = 0.0
) -> Slow | None:
    """Return the first of the latest steps that took over ``factor`` times the median of those before it.

    Parameters
    ----------
    dropped_s
        Only steps that ended after this moment count.
    lost_s
        How much longer a step took in which it lies: beginning anew is no work of the step.
    """
    for at in range(max(FEWEST_STEPS, len(steps) - LATEST), len(steps)):
        start_s, length_s = steps[at]
        if start_s + length_s <= dropped_s:
            continue
        median_s = statistics.median(step.length_s for step in steps[max(0, at - MEDIAN_OF) : at])
        if length_s - (lost_s if start_s < dropped_s else 0.0) > factor * median_s:
            return Slow(steps[at], median_s)
    return None
