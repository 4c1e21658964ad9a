"""Sums, orders and codes of plain columns, by hand and as pandas has them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from xprof_nb.model.columns import as_frame, coded, heaviest_first, known_sum, summed_by, whole_numbers


def test_the_heaviest_come_first_equal_ones_by_name_unknown_ones_last() -> None:
    weight, name = np.array([1.0, np.nan, 3.0, 1.0]), np.array(["d", "c", "b", "a"], object)
    assert heaviest_first(weight, name).tolist() == [2, 3, 0, 1]


def test_a_sum_is_of_what_is_known() -> None:
    assert known_sum(np.array([1.0, np.nan, 2.5])) == 3.5
    assert math.isnan(known_sum(np.array([np.nan])))
    assert math.isnan(known_sum(np.empty(0)))


def test_sums_by_name_come_in_order_of_appearance() -> None:
    sums = summed_by(["b", None, "a", "b"], np.array([1.0, 2.0, 4.0, 8.0]))
    assert list(sums.items()) == [("b", 9.0), (None, 2.0), ("a", 4.0)]
    assert summed_by([], np.empty(0)) == {}


def test_whole_numbers_may_be_missing() -> None:
    frame = as_frame({"n": whole_numbers(np.array([2.0, np.nan]))})
    pd.testing.assert_series_equal(frame["n"], pd.Series([2, None], dtype="Int64", name="n"))


def test_codes_number_rows_by_first_appearance_however_many_they_could_be() -> None:
    chance = np.random.default_rng(0)
    columns = [chance.integers(0, 5, 200) for _ in range(4)] + [np.arange(200) % 7]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    number: dict[tuple[int, ...], int] = {}
    expected = [number.setdefault(row, len(number)) for row in rows]
    assert coded(*columns).tolist() == expected
    wide = [np.arange(3000) for _ in range(7)]  # 3000 to the 7th power is beyond 64 bits
    assert coded(*wide).tolist() == list(range(3000))
