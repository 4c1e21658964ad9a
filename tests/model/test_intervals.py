"""Moments as sets: whatever the intervals, what is covered, shared and left over is what counting by hand gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xprof_nb.model.intervals import Moments, union

spans = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 20)), max_size=12)


def made(intervals: list[tuple[int, int]]) -> tuple[Moments, set[int]]:
    begin, length = np.array(intervals, np.int64).reshape(-1, 2).T
    whole = {moment for start, size in intervals for moment in range(start, start + size)}
    return union(begin, begin + length), whole


def held(moments: Moments) -> set[int]:
    pairs = zip(moments.begin_ps.tolist(), moments.end_ps.tolist(), strict=True)
    return {moment for begin, end in pairs for moment in range(begin, end)}


@given(spans, spans)
def test_unions_and_differences_are_those_of_sets(left, right):
    (some, of_some), (other, of_other) = made(left), made(right)
    assert held(some) == of_some
    assert some.length_ps == len(of_some)
    assert some.common_ps(other) == len(of_some & of_other)
    rest = some.without(other)
    assert held(rest) == of_some - of_other
    assert rest.length_ps == len(of_some - of_other)
    assert (rest.begin_ps[1:] >= rest.end_ps[:-1]).all()


@given(spans, st.integers(-60, 60), st.integers(0, 60))
def test_a_window_covers_what_lies_in_it(intervals, begin, length):
    some, whole = made(intervals)
    covered = some.covered_ps(np.array([begin]), np.array([begin + length]))
    assert covered.tolist() == [len(whole & set(range(begin, begin + length)))]
