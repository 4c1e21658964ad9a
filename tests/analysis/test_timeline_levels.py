"""Every level of detail of a trace of tens of thousands of events, against numpy going through all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xprof_nb as xp
from tests.many_events import ManyEvents, name_stat, write_planes
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.timeline.heights import LEVELS
from xprof_nb.analysis.timeline.lanes import Lanes, lay_out
from xprof_nb.analysis.timeline.lod import boxes, bucket_bits, count_boxes

EVENTS = 12_000


def random_lanes(seed: int, longest: int, burst: int) -> Lanes:
    """Bursts of events around the clock's zero, some inside others, some without length."""
    random = np.random.default_rng(seed)
    step = random.integers(0, longest + 1, EVENTS)
    step[::burst] *= 10_000
    start = np.cumsum(step) - step.sum() // 3
    duration = np.where(random.random(EVENTS) < 0.1, 0, random.integers(0, longest + 1, EVENTS))
    duration[:: 7 * burst] *= 50
    names = [f"op {number}" for number in range(40)]
    return lay_out(names, [None] * 40, random.integers(0, 40, EVENTS).astype(np.int32), start, duration)


def expected(lanes: Lanes, lane: int, begin: int, end: int, bits: int) -> list[tuple[int, ...]]:
    """Row, count, begin, end and busy time of each box, by the definition of a box."""
    first, past = int(lanes.first[lane]), int(lanes.first[lane + 1])
    start, duration = lanes.start_ps[first:past], lanes.duration_ps[first:past]
    seen = np.flatnonzero((start < end) & ((start >= begin) | (start + duration > begin)))
    start, duration = start[seen], duration[seen]
    wide, early = duration >= 2**bits, start < begin
    alone = wide | early
    begins = np.append(True, (start[1:] >> bits != start[:-1] >> bits) | alone[1:] | alone[:-1])[: len(seen)]
    groups = np.split(np.arange(len(seen)), np.flatnonzero(begins)[1:]) if len(seen) else []
    inside = np.minimum(start + duration, end) - np.maximum(start, begin)
    return [
        (
            first + int(seen[rows[0]]),
            len(rows),
            int(start[rows[0]]),
            int((start + duration)[rows].max()),
            int(inside[rows].sum()),
        )
        for rows in groups
    ]


@given(
    st.integers(0, 2**32),
    st.sampled_from([3, 40, 5000]),
    st.sampled_from([5, 300, 20_000]),
    st.tuples(st.floats(0, 1), st.floats(-7, 0)),
    st.integers(1, 3000),
)
@settings(max_examples=25, deadline=None)
def test_boxes_of_every_level_are_those_of_their_definition(seed, longest, burst, place, pixels):
    lanes = random_lanes(seed, longest, burst)
    low, high = int(lanes.start_ps.min()), int((lanes.start_ps + lanes.duration_ps).max())
    begin = low + int(place[0] * (high - low))
    end = begin + max(int(10 ** place[1] * (high - low)), 1)
    counts = count_boxes(lanes, begin, end)
    for bits in {bucket_bits(begin, end, pixels), 0, 1, 12, LEVELS - 1}:
        drawn = boxes(lanes, begin, end, bits)
        assert counts[bits] == len(drawn)
        for lane in range(lanes.count):
            mine = drawn.lane == lane
            columns = (drawn.row, drawn.count, drawn.start_ps, drawn.start_ps + drawn.duration_ps, drawn.busy_ps)
            got = list(zip(*(column[mine].tolist() for column in columns), strict=True))
            assert got == expected(lanes, lane, begin, end, bits)
    assert (np.diff(counts) <= 0).all(), "coarser is never more"


@given(st.integers(0, 2**32), st.sampled_from([40, 5000]), st.sampled_from([300, 20_000]), st.integers(6, 40))
@settings(max_examples=20, deadline=None)
def test_a_run_of_thousands_is_called_what_takes_most_of_its_time(seed, longest, burst, bits):
    lanes = random_lanes(seed, longest, burst)
    drawn = boxes(lanes, int(lanes.start_ps.min()), int(lanes.start_ps.max()) + 1, bits)
    for row, count, name in zip(drawn.row, drawn.count, drawn.name, strict=True):
        part = slice(row, row + count)
        time = np.bincount(lanes.name[part], lanes.duration_ps[part], minlength=len(lanes.names))
        assert time[name] == time.max()


@pytest.fixture(scope="module")
def linked_by_the_million(tmp_path_factory):
    """One thread hands 600,000 things to another, numbered; each number is used again by a type of its own."""
    count = 600_000
    rows = np.arange(count)
    plane = SpaceBuilder().plane("/host:CPU")
    names = {name: plane.metadata(name) for name in ("hand over", "take")}
    out, into = (
        {
            name_stat(plane, first, sort): np.arange(count) % 2,
            name_stat(plane, first + 1, number): np.arange(count) // 2,
        }
        for first, sort, number in ((1, "_pt", "_p"), (3, "_ct", "_c"))
    )
    at = rows * 10**6
    lines = [
        ManyEvents("giver/1", np.full(count, names["hand over"]), at, np.full(count, 500_000), out),
        ManyEvents("taker/2", np.full(count, names["take"]), at + 600_000, np.full(count, 300_000), into),
    ]
    return xp.open(write_planes(tmp_path_factory.mktemp("linked") / "many.xplane.pb", [(plane, lines)]))


def test_flows_of_any_number_of_events_are_found(linked_by_the_million):
    view = linked_by_the_million.trace()
    giver, taker = (int(view.frame["track"][view.frame["name"] == name].iloc[0]) for name in ("giver/1", "taker/2"))
    for number in (0, 1, 345_678, 599_999):
        begin = number * 1_000_000
        event = view.window(begin, begin + 500_000, 100, [giver])["event"][0]
        (flow,) = view.event(giver, event).summary["flows"]
        assert (flow["track"], flow["name"], flow["direction"]) == (taker, "take", "out")
        assert flow["start_ps"] == begin + 600_000
        (back,) = view.event(taker, flow["event"]).summary["flows"]
        assert (back["event"], back["direction"]) == (event, "in")
