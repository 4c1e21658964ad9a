"""Known laws are found again."""

import numpy as np
import pytest

from xprof_nb.tuning.fitting import largest_size
from xprof_nb.tuning.law import cliff, fit

SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


def test_a_law_without_noise_is_exact():
    law = fit(SIZES, [3e-3 + 2e-4 * n for n in SIZES])
    assert (law.fixed, law.per_item) == (pytest.approx(3e-3, rel=1e-9), pytest.approx(2e-4, rel=1e-9))
    assert law.error_fraction < 1e-9
    assert law.at(1000) == pytest.approx(0.203)
    assert law.fixed_fraction(15) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(20))
def test_with_noise_of_five_percent_the_interval_is_told(seed):
    values = [
        (3e-3 + 2e-4 * n) * (1 + 0.05 * e)
        for n, e in zip(SIZES, np.random.default_rng(seed).standard_normal(8), strict=True)
    ]
    law = fit(SIZES, values)
    assert law.fixed == pytest.approx(3e-3, rel=0.15)
    assert law.per_item == pytest.approx(2e-4, rel=0.15)


def test_ninety_percent_of_intervals_hold_the_truth():
    inside = 0
    for seed in range(200):
        errors = np.random.default_rng(seed).standard_normal(8)
        law = fit(SIZES, [(3e-3 + 2e-4 * n) * (1 + 0.05 * e) for n, e in zip(SIZES, errors, strict=True)])
        inside += law.per_item_interval[0] <= 2e-4 <= law.per_item_interval[1]
    assert 160 <= inside <= 198


def test_no_part_is_negative():
    assert fit([1, 2, 4], [1.0, 2.0, 4.0]).fixed == pytest.approx(0, abs=1e-9)
    still = fit([1, 2, 4], [4.0, 3.0, 2.0])
    assert (still.per_item, still.grows) == (0.0, False)


def test_what_does_not_grow_is_told_from_what_does():
    rng = np.random.default_rng(1)
    assert not fit(SIZES, 1e-3 * (1 + 0.03 * rng.standard_normal(8))).grows
    assert fit(SIZES, [1e-3 + 1e-4 * n for n in SIZES]).grows


def test_one_size_has_no_law():
    assert fit([4], [1.0]) is None
    assert fit([4, 4], [1.0, 1.1]) is None


def test_a_cliff_is_found_where_it_is():
    def step(n):
        return 1e-3 + 1e-5 * n if n < 32 else 1e-3 + 4e-5 * n

    sizes = [4, 8, 12, 16, 24, 32, 40, 48, 64, 96]
    found = cliff(sizes, [step(n) for n in sizes])
    assert found.size == 32
    assert found.before.per_item == pytest.approx(1e-5, rel=1e-6)
    assert found.after.per_item == pytest.approx(4e-5, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_cliff(seed):
    errors = np.random.default_rng(seed).standard_normal(8)
    values = [(1e-3 + 1e-4 * n) * (1 + 0.02 * e) for n, e in zip(SIZES, errors, strict=True)]
    found = cliff(SIZES, values, [0.02 * value for value in values])
    assert found is None


def test_what_fits():
    law = fit([1, 2, 4, 8], [90 + 10 * n for n in (1, 2, 4, 8)])
    assert largest_size(law, 1000) == 91
    assert largest_size(law, 1000, reserve=0.1) == 81
    assert largest_size(law, 50) == 0
    assert largest_size(fit([1, 2], [5.0, 5.0]), 1000) is None


def test_two_sizes_do_not_tell_the_error_of_a_law():
    law = fit([1, 2], [3.0, 5.0])
    assert (law.fixed, law.per_item) == (pytest.approx(1), pytest.approx(2))
    assert np.isnan(law.error_fraction)
    assert fit([1, 2, 3], [3.0, 5.0, 7.0]).error_fraction < 1e-9
