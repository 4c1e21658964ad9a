"""Codes, first rows and matches of long columns, against dictionaries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xprof_nb.formats import factors

KEYS = {
    "serials of threads": st.integers(-3, 3).flatmap(lambda t: st.integers(0, 30).map(lambda n: (t << 32) + n)),
    "small": st.integers(-5, 40),
    "anything": st.integers(-(2**63), 2**63 - 1),
}


def ints(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("kind", KEYS)
def test_a_match_is_the_first_row_of_the_key(kind: str) -> None:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(KEYS[kind]), st.lists(KEYS[kind]), st.randoms())
    def check(keys: list[int], others: list[int], random: object) -> None:
        wanted = [*keys[::2], *others]
        random.shuffle(wanted)  # type: ignore[attr-defined]
        value_of: dict[int, int] = {}
        for row, key in enumerate(keys):
            value_of.setdefault(key, row + 1)
        found = factors.matched(ints(wanted), ints(keys), np.arange(1, len(keys) + 1))
        assert found.tolist() == [value_of.get(key, 0) for key in wanted]

    check()


def test_keys_of_more_threads_than_fit_the_table_are_matched_too() -> None:
    keys = np.arange(2000, dtype=np.int64) << 32
    assert factors.matched(keys[::-1].copy(), keys, np.arange(2000) + 1).tolist() == list(range(2000, 0, -1))


@pytest.mark.parametrize("repeats", [1, 9])
def test_codes_count_by_first_appearance(repeats: int) -> None:
    values = np.repeat(np.random.default_rng(7).integers(0, 20, 200), repeats)
    codes, distinct = factors.factorized(values)
    expected_codes, expected = pd.factorize(values)
    assert codes.tolist() == expected_codes.tolist()
    assert distinct.tolist() == expected.tolist()
    renumbered, first = factors.numbered(values, 20)
    assert renumbered.tolist() == codes.tolist()
    assert values[first].tolist() == distinct.tolist()


def test_nothing_has_no_codes() -> None:
    codes, distinct = factors.factorized(ints([]))
    assert not len(codes)
    assert not len(distinct)


def test_the_earliest_row_of_each_code() -> None:
    assert factors.earliest(ints([0, 1, 0, 1, 1]), 3, ints([5, 9, 3, 2, 2])).tolist() == [2, 3, -1]


def test_rows_of_wanted_codes_where_no_code_is_the_last_entry() -> None:
    codes = np.array([0, -1, 1, 0, -1], np.int32)
    assert factors.rows_where(np.array([True, False, False]), codes).tolist() == [0, 3]
    assert factors.rows_where(np.array([False, False, True]), codes).tolist() == [1, 4]
