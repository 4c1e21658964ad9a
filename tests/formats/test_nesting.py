"""Nesting and shares, against definitions applied moment by moment."""

from __future__ import annotations

import numpy as np
import pytest

from xprof_nb.formats import nesting


def spans(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts, ends = np.array(pairs, np.int64).T
    return np.zeros(len(pairs), np.int32), np.ascontiguousarray(starts), np.ascontiguousarray(ends)


def test_an_event_belongs_to_the_innermost_that_includes_it() -> None:
    line, start, end = spans((0, 100), (10, 40), (20, 30), (40, 60), (100, 110))
    assert nesting.parents(line, start, end).tolist() == [-1, 0, 1, 0, -1]


def test_events_of_other_lines_and_mere_overlaps_do_not_nest() -> None:
    _, start, end = spans((0, 50), (10, 60), (20, 30))
    assert nesting.parents(np.array([0, 0, 1], np.int32), start, end).tolist() == [-1, -1, -1]


def test_equal_spans_nest_in_the_order_given() -> None:
    line, start, end = spans((5, 9), (5, 9))
    assert nesting.parents(line, start, end).tolist() == [-1, 0]


def test_self_time_leaves_out_direct_children_only() -> None:
    line, start, end = spans((0, 100), (10, 40), (20, 30))
    parent = nesting.parents(line, start, end)
    assert nesting.self_times(parent, end - start).tolist() == [70, 20, 10]


def test_overlapping_ops_share_each_moment() -> None:
    _, start, end = spans((0, 10), (5, 15))
    device = np.zeros(2, np.int32)
    shares = nesting.shared_times(device, np.array([-1, -1], np.int32), start, end)
    assert shares.tolist() == [7.5, 7.5]


def test_a_loop_runs_only_between_its_children() -> None:
    line, start, end = spans((0, 100), (10, 30), (40, 90))
    parent = nesting.parents(line, start, end)
    assert nesting.shared_times(line, parent, start, end).tolist() == [30.0, 20.0, 50.0]


def test_an_empty_table_has_no_shares() -> None:
    empty = np.empty(0, np.int64)
    assert len(nesting.shared_times(empty.astype(np.int32), empty.astype(np.int32), empty, empty)) == 0


@pytest.mark.parametrize("seed", range(20))
def test_shares_equal_the_definition_applied_moment_by_moment(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 40
    device = random.integers(0, 3, count).astype(np.int32)
    line = random.integers(0, 4, count).astype(np.int32) + 10 * device
    start = random.integers(0, 60, count).astype(np.int64)
    end = start + random.integers(0, 25, count)
    parent = nesting.parents(line, start, end)
    shares = nesting.shared_times(device, parent, start, end)
    expected = np.zeros(count)
    for moment in range(100):
        is_open = (start <= moment) & (moment < end)
        for number in range(3):
            open_here = {row for row in range(count) if is_open[row] and device[row] == number}
            running = open_here - {int(parent[row]) for row in open_here}
            for row in running:
                expected[row] += 1 / len(running)
    assert shares == pytest.approx(expected, abs=1e-9)
