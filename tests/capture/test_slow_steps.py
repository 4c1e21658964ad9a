from __future__ import annotations

import pytest

from xprof_nb.capture.slow_steps import LONGEST_STEP_S, WINDOW_S, Search, Slow, slow_step
from xprof_nb.capture.step_watch import Step

STEADY = [1.0, 9.0, 1.0, 1.1, 0.9, 1.0]
"""One was slow while nobody could know it yet."""


def steps_of(lengths_s: list[float], start_s: float = 0.0) -> list[Step]:
    steps = []
    for length_s in lengths_s:
        steps.append(Step(start_s, length_s))
        start_s += length_s
    return steps


def test_a_step_is_slow_against_the_median_of_those_before_it() -> None:
    assert slow_step(steps_of(STEADY), 1.5) is None
    assert slow_step(steps_of([*STEADY, 1.49]), 1.5) is None
    slow = Slow(Step(14.0, 1.6), 1.0)
    assert slow_step(steps_of([*STEADY, 1.6]), 1.5) == slow
    assert slow_step(steps_of([*STEADY, 1.6, 1.0, 1.0]), 1.5) == slow  # several steps pass between two looks
    assert slow.factor == pytest.approx(1.6)


@pytest.mark.parametrize("count", range(6))
def test_the_first_steps_are_never_called_slow(count: int) -> None:
    assert slow_step(steps_of([1.0] * (count - 1) + [100.0] * (count > 0)), 1.5) is None


def test_what_is_no_longer_recorded_is_not_found_and_what_beginning_anew_took_does_not_count() -> None:
    steps = steps_of([*STEADY, 1.6, 1.0])  # the slow one lasts from 14.0 to 15.6
    assert slow_step(steps, 1.5, dropped_s=15.7) is None
    assert slow_step(steps, 1.5, dropped_s=14.5, lost_s=0.05) == Slow(Step(14.0, 1.6), 1.0)
    assert slow_step(steps, 1.5, dropped_s=14.5, lost_s=0.2) is None


def test_it_says_where_in_the_profile_the_slow_step_is() -> None:
    slow = Slow(Step(14.0, 1.6), 1.0)
    assert slow.describe(13.5) == (
        "The slow step took 1.60 s, 1.6 times the median of 1.00 s; it begins 500 ms into the profile."
    )
    assert slow.describe(14.25).endswith("it had begun 250 ms before the profile does.")
    assert slow.to_dict(13.5) == {"step_s": 1.6, "median_s": 1.0, "factor": 1.6, "begins_s": 0.5}


class Watched:
    """Steps of one second, of which the one under way began at a moment."""

    def __init__(self, open_s: float) -> None:
        self._open_s = open_s

    def lengths_s(self) -> list[float]:
        return [1.0] * 9

    def open_s(self) -> float:
        return self._open_s


def test_nothing_is_dropped_while_a_step_lasts_longer_than_usual() -> None:
    search = Search(Watched(open_s=10.0), 1.5, began_s=8.0)
    assert not search.may_drop(8.0 + WINDOW_S - 0.1)
    assert search.may_drop(10.5)
    assert not search.may_drop(11.5)
    assert search.may_drop(10.0 + LONGEST_STEP_S + 1)  # the loop has ended
