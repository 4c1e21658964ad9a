from __future__ import annotations

import pytest

from xprof_nb.capture.plans import Burst, For, Steps, WhenSlower, slow_step
from xprof_nb.errors import UsageError


def test_a_step_is_slow_against_the_median_of_those_before_it() -> None:
    steady = [1.0, 9.0, 1.0, 1.1, 0.9, 1.0]  # one was slow while nobody could know it yet
    assert slow_step(steady, 1.5) is None
    assert slow_step([*steady, 1.49], 1.5) is None
    assert slow_step([*steady, 1.6], 1.5) == (1.6, 1.0)
    assert slow_step([*steady, 1.6, 1.0, 1.0], 1.5) == (1.6, 1.0)  # several steps pass between two looks


@pytest.mark.parametrize("count", range(6))
def test_the_first_steps_are_never_called_slow(count: int) -> None:
    assert slow_step([1.0] * (count - 1) + [100.0] * (count > 0), 1.5) is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: For(0),
        lambda: For(float("nan")),
        lambda: Steps(0),
        lambda: Steps(10**6),
        lambda: Steps(3, limit_s=0),
        lambda: Burst(0.1, 0.3, 3),
        lambda: Burst(2, 0.3, 0),
        lambda: WhenSlower(1.0),
        lambda: WhenSlower(float("inf")),
    ],
)
def test_plans_out_of_bounds_are_refused(wrong) -> None:
    with pytest.raises(UsageError):
        wrong()


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (For(3), "3 s"),
        (Steps(1), "1 step, at most 60 s"),
        (Burst(2, 0.3, 3), "3 times 0.3 s, every 2 s"),
        (WhenSlower(1.5, 2), "2 steps after one slower than 1.5 times the median, watched for at most 600 s"),
    ],
)
def test_a_plan_says_what_it_is(plan, text: str) -> None:
    assert str(plan) == text
