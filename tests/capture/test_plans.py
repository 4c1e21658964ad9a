from __future__ import annotations

import pytest

from xprof_nb.capture.plans import Burst, For, Steps, WhenSlower
from xprof_nb.errors import UsageError


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
        (WhenSlower(1.5, 2), "a step slower than 1.5 times the median and 2 steps after it, waited for at most 600 s"),
    ],
)
def test_a_plan_says_what_it_is(plan, text: str) -> None:
    assert str(plan) == text
