"""What of the timeline goes into an export: which events of which tracks, in pieces that are written one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.lanes import MOST_LANES, Lanes
from xprof_nb.analysis.timeline.lod import bucket_bits
from xprof_nb.analysis.timeline.text import PIECE
from xprof_nb.analysis.timeline.tracks import Timeline
from xprof_nb.model.profile import ProfileData

LONGEST_NAME = 1000
CURVE_POINTS = 5000
"""Stretches in which the rate of work is written: unlike a counter it has no samples of its own."""
THREADS = MOST_LANES + 1
"""Numbers that a track takes, one for each of its lanes."""
Piece = tuple[int, Callable[[], bytes]]
"""How many events, and what writes them."""


@dataclass(frozen=True)
class Box:
    """Which part of a timeline: a window on the joined clock and rows of tracks, None for all."""

    window_ps: tuple[int, int] | None = None
    tracks: frozenset[int] | None = None

    def has(self, track: int) -> bool:
        """Whether a track is in it."""
        return self.tracks is None or track in self.tracks


def slices(lanes: Lanes, lane: int, box: Box) -> Iterator[slice]:
    """Return the events of a lane that reach into a box, some at a time."""
    first, last = int(lanes.first[lane]), int(lanes.first[lane + 1])
    if box.window_ps is not None:
        begin, end = box.window_ps
        starts = lanes.start_ps[first:last]
        # None begins before the one ahead of it has ended: the ends are in order too.
        skipped = int(np.searchsorted(starts + lanes.duration_ps[first:last], begin, side="left"))
        last = first + int(np.searchsorted(starts, end, side="left"))
        first += skipped
    for at in range(first, last, PIECE):
        yield slice(at, min(at + PIECE, last))


def points(content: Samples | Rates, timeline: Timeline, box: Box) -> Iterable[tuple[int, float]]:
    """Return when a curve has which value: a counter's own samples, of a rate what it was on average."""
    begin, end = box.window_ps or (timeline.origin_ps, max(timeline.end_ps, timeline.origin_ps + 1))
    if isinstance(content, Samples):
        start_ps, value = content.start_ps, content.value
        inside = slice(None) if box.window_ps is None else slice(*np.searchsorted(start_ps, (begin, end)))
        return zip(start_ps[inside].tolist(), value[inside].tolist(), strict=True)
    steps = content.within(begin, end, bucket_bits(begin, end, CURVE_POINTS))
    return zip(steps.start_ps.tolist(), steps.value.tolist(), strict=True)


def earliest_ps(profile: ProfileData, timeline: Timeline) -> int:
    """Return the earliest moment of all: no format has negative times, and parts must agree on their zero."""
    zero = timeline.origin_ps
    for row in range(len(timeline.tracks)):
        content = timeline.content(profile, row)
        events = content if isinstance(content, Lanes | Samples) else None
        if events is not None and len(events):
            zero = min(zero, int(events.start_ps.min()))
    return zero


def cut(name: str) -> str:
    """Return a name short enough for other viewers."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
