"""Whatever the trace and the window: what is drawn adds up to what ran, event for event."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.lanes import MOST_LANES, Lanes, lay_out
from xprof_nb.analysis.timeline.lod import boxes, bucket_bits
from xprof_nb.analysis.timeline.sums import hits, sums

NAMES = ["matmul", "add", "copy", "all-reduce"]

spans = st.lists(
    st.tuples(
        st.integers(-200, 400), st.one_of(st.just(0), st.integers(0, 30), st.integers(0, 400)), st.integers(0, 3)
    ),
    max_size=80,
)
windows = st.tuples(st.integers(-250, 500), st.integers(1, 700), st.integers(1, 200))


def laid_out(events: list[tuple[int, int, int]], block: int = 2) -> Lanes:
    start, duration, name = (
        (np.array(column, np.int64) for column in zip(*events, strict=True)) if events else [np.empty(0, np.int64)] * 3
    )
    lanes = lay_out(NAMES, [None] * 4, name.astype(np.int32), start, duration)
    object.__setattr__(lanes, "block", block)  # so that a few events already fill several blocks
    return lanes


def union(events: list[tuple[int, int]], begin: int, end: int) -> int:
    return len({moment for start, length in events for moment in range(max(start, begin), min(start + length, end))})


def of_lane(lanes: Lanes, lane: int) -> list[tuple[int, int]]:
    part = slice(lanes.first[lane], lanes.first[lane + 1])
    return list(zip(lanes.start_ps[part].tolist(), lanes.duration_ps[part].tolist(), strict=True))


@given(spans)
@settings(max_examples=120, deadline=None)
def test_lanes_hold_every_event_once_and_none_covers_another(events):
    lanes = laid_out(events)
    back = sorted(zip(lanes.start_ps.tolist(), lanes.duration_ps.tolist(), lanes.name.tolist(), strict=True))
    assert back == sorted(events)
    assert [events[row] for row in lanes.event] == [
        *zip(lanes.start_ps.tolist(), lanes.duration_ps.tolist(), lanes.name.tolist(), strict=True)
    ]
    for lane in range(lanes.count):
        mine = of_lane(lanes, lane)
        assert all(start + length <= after for (start, length), (after, _) in pairwise(mine))
    assert lanes.busy_ps == union([event[:2] for event in events], -300, 1000)


@given(spans)
@settings(max_examples=80, deadline=None)
def test_what_lies_inside_an_event_is_drawn_below_it(events):
    lanes = laid_out(events)
    lane_of = np.repeat(np.arange(lanes.count), np.diff(lanes.first))
    for row, (start, length) in enumerate(zip(lanes.start_ps, lanes.duration_ps, strict=True)):
        holders = (lanes.start_ps < start) & (lanes.start_ps + lanes.duration_ps >= start + length)
        holders &= lanes.start_ps + lanes.duration_ps > start
        assert (lane_of[holders] < lane_of[row]).all()


@given(spans, windows)
@settings(max_examples=120, deadline=None)
def test_boxes_add_up_to_the_union_and_count_every_event_once(events, window):
    begin, length, pixels = window
    end = begin + length
    lanes = laid_out(events)
    bits = bucket_bits(begin, end, pixels)
    drawn = boxes(lanes, begin, end, bits)
    assert 2**bits <= max(length / pixels, 1)
    for lane in range(lanes.count):
        mine = np.flatnonzero(drawn.lane == lane)
        assert drawn.busy_ps[mine].sum() == union(of_lane(lanes, lane), begin, end)
        inside = [
            (start, size)
            for start, size in of_lane(lanes, lane)
            if begin <= start < end or (start < begin < start + size)
        ]
        assert drawn.count[mine].sum() == len(inside)
        reached = drawn.start_ps[mine] + drawn.duration_ps[mine]
        assert (reached[:-1] <= drawn.start_ps[mine][1:]).all()
        if inside:
            assert drawn.start_ps[mine].min() == min(start for start, _ in inside)
            assert reached.max() == max(start + size for start, size in inside)
        wide = sorted(event for event in inside if event[1] >= 2**bits)
        single = drawn.count[mine] == 1
        alone = [*zip(drawn.start_ps[mine][single].tolist(), drawn.duration_ps[mine][single].tolist(), strict=True)]
        assert set(wide) <= set(alone)


@given(spans, windows)
@settings(max_examples=120, deadline=None)
def test_a_run_is_called_what_takes_most_of_its_time(events, window):
    begin, length, pixels = window
    lanes = laid_out(events)
    drawn = boxes(lanes, begin, begin + length, bucket_bits(begin, begin + length, pixels) + 3)
    for row, count, name in zip(drawn.row, drawn.count, drawn.name, strict=True):
        part = slice(row, row + count)
        time = np.bincount(lanes.name[part], lanes.duration_ps[part], minlength=4)
        assert time[name] == time.max()


@given(spans, windows)
@settings(max_examples=120, deadline=None)
def test_a_selection_is_the_part_inside(events, window):
    begin, length, _ = window
    end = begin + length
    found = sums(laid_out(events), begin, end)
    for code in range(4):
        mine = [(start, size) for start, size, name in events if name == code]
        parts = [
            min(start + size, end) - max(start, begin)
            for start, size in mine
            if begin <= start < end or start < begin < start + size
        ]
        assert found.count[code] == sum(begin <= start < end for start, _ in mine)
        assert found.pieces[code] == len(parts)
        assert found.total_ps[code] == sum(parts)
        if parts:
            assert (found.least_ps[code], found.greatest_ps[code]) == (min(parts), max(parts))


@given(st.integers(1, 40), st.integers(1, 5), windows)
@settings(max_examples=100, deadline=None)
def test_self_times_of_a_nest_sum_to_its_union(width, depth, window):
    begin, length, _ = window
    events = [(level * 3, width * 10 - level * 6, level % 4) for level in range(depth) if width * 10 > level * 6]
    found = sums(laid_out(events), begin, begin + length)
    assert found.self_ps.sum() == union([event[:2] for event in events], begin, begin + length)


@given(spans, windows, st.booleans(), st.integers(-250, 500))
@settings(max_examples=120, deadline=None)
def test_a_search_counts_every_hit_and_finds_the_next(events, window, forward, moment):
    begin, length, buckets = window
    wanted = np.array([True, False, True, False])
    found = hits(laid_out(events), wanted, (begin, begin + length), buckets, moment, forward)
    inside = [event for event in events if wanted[event[2]] and begin <= event[0] < begin + length]
    assert found.count.sum() == found.density.sum() == len(inside)
    assert found.total_ps.sum() == sum(size for _, size, _ in inside)
    beyond = [start for start, _, _ in inside if (start > moment if forward else start < moment)]
    lanes = laid_out(events)
    expected = (min if forward else max)(beyond, default=None)
    assert (lanes.start_ps[found.following] if found.following >= 0 else None) == expected


@given(
    st.lists(st.tuples(st.integers(-100, 300), st.integers(-5, 50)), min_size=1, max_size=60),
    windows,
)
@settings(max_examples=120, deadline=None)
def test_a_counter_is_drawn_with_its_mean_and_extremes(samples, window):
    begin, length, pixels = window
    end = begin + length
    curve = Samples(np.array([at for at, _ in samples], np.int64), np.array([float(value) for _, value in samples]))
    drawn = curve.within(begin, end, bucket_bits(begin, end, pixels))
    held: dict[int, int] = dict(samples)  # of several at one moment the last counts
    first = min(held)
    levels, level = {}, 0
    for moment in range(first, max(end, max(held) + 1)):
        level = held.get(moment, level)
        levels[moment] = level
    covered = 0
    for start, size, value, low, high in zip(
        drawn.start_ps.tolist(), drawn.duration_ps.tolist(), drawn.value, drawn.low, drawn.high, strict=True
    ):
        part = [levels[moment] for moment in range(start, start + size)]
        assert np.isclose(value, np.mean(part))
        assert (low, high) == (min(part), max(part))
        covered += size
    assert covered == max(end - max(begin, first), 0)


@given(spans, windows)
@settings(max_examples=120, deadline=None)
def test_a_rate_is_the_work_done_in_each_bucket(events, window):
    begin, length, pixels = window
    end = begin + length
    amount = np.array([3.0, 0.0, 7.0, 1.0])
    rates = Rates(laid_out(events), amount, 2.0)
    drawn = rates.within(begin, end, bucket_bits(begin, end, pixels))
    assert int(drawn.duration_ps.sum()) == length

    def done(moment: int) -> float:
        shares = (1.0 if moment >= s + d else (moment - s) / d for s, d, _ in events if s <= moment)
        works = (amount[n] for s, _, n in events if s <= moment)
        return sum(share * work for share, work in zip(shares, works, strict=True))

    for start, size, value in zip(drawn.start_ps.tolist(), drawn.duration_ps.tolist(), drawn.value, strict=True):
        assert np.isclose(value * size * 2.0, done(start + size) - done(start), atol=1e-9)
    assert np.isclose(rates.total(begin, end), done(end) - done(begin), atol=1e-9)


def test_what_overlaps_deeper_than_there_are_lanes_counts_once():
    """A staircase of a thousand: the last lane holds what is left, cut to what it adds."""
    start = np.arange(1000, dtype=np.int64)
    lanes = lay_out(["a"], [None], np.zeros(1000, np.int32), start, np.full(1000, 2000, np.int64))
    assert lanes.count == MOST_LANES
    assert len(lanes) == 1000
    drawn = boxes(lanes, 0, 3000, 0)
    assert drawn.count.sum() == 1000
    last = drawn.lane == MOST_LANES - 1
    assert drawn.busy_ps[last].sum() == 2999 - (MOST_LANES - 1)
    assert lanes.busy_ps == 2999
