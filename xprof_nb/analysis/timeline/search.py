"""Where in the whole trace is an event of this name? How many there are, where they lie, and the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.patterns import matching
from xprof_nb.analysis.timeline.lanes import Lanes, shown
from xprof_nb.analysis.timeline.sums import Hits, hits
from xprof_nb.analysis.timeline.trace import window
from xprof_nb.analysis.timeline.tracks import Timeline, timeline_of
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData

MOST_ROWS = 2000
BUCKETS = 500
MOST_NAMES = 100
_REPEAT_OPS = {"collectives", "async"}


@dataclass(frozen=True)
class Wanted:
    """What is searched for.

    Attributes
    ----------
    text
        Part of a name in any case, or a regular expression between slashes.
    start_ps, end_ps
        Where; everywhere if None.
    from_ps, forward
        The hit wanted is the first that starts after ``from_ps``, or the last that starts before it.
    """

    text: str
    start_ps: float | None = None
    end_ps: float | None = None
    from_ps: float | None = None
    forward: bool = True


def trace_search(profile: ProfileData, wanted: Wanted, tracks: Sequence[int] | None) -> Answer:
    """Return how dense hits are on each track, and in the summary their count, names, and the next one.

    Tracks that repeat what another shows, collectives and asynchronous ops, are searched only if asked for.

    Raises
    ------
    UsageError
        The regular expression is none.
    """
    timeline = timeline_of(profile)
    chosen = timeline.checked(list(tracks)) if tracks is not None else _all(timeline)
    begin, end = window(timeline, wanted.start_ps, wanted.end_ps)
    if wanted.start_ps is None and wanted.end_ps is None:
        begin, end = _everything(profile, timeline, chosen, begin, end)
    ahead = wanted.forward
    moment = timeline.origin_ps + int(wanted.from_ps) if wanted.from_ps is not None else begin - 1 if ahead else end
    tracks_lanes = {row: lanes for row in chosen if (lanes := timeline.lanes(profile, row)) is not None}
    matched = _matching(wanted.text, {name for lanes in tracks_lanes.values() for name in lanes.names})
    masks = {row: np.array([name in matched for name in lanes.names]) for row, lanes in tracks_lanes.items()}
    masks = {row: mask for row, mask in masks.items() if mask.any()}
    buckets = max(min(BUCKETS, MOST_ROWS // max(len(masks), 1)), 1)
    found: dict[int, tuple[Lanes, Hits]] = {}
    for row, mask in masks.items():
        part = hits(tracks_lanes[row], mask, (begin, end), buckets, moment, ahead)
        if part.count.sum():
            found[row] = tracks_lanes[row], part
    names = _names(found)
    summary = {
        "text": wanted.text,
        "count": int(sum(part.count.sum() for _, part in found.values())),
        "names_count": len(names),
        "names": names[:MOST_NAMES],
        "next": _next(found, ahead, timeline.origin_ps),
    }
    frame = _density(found, begin, end, timeline.origin_ps)
    if len(frame):
        return Answer(frame[:MOST_ROWS], summary)
    nothing = f"No event's name has {shown(wanted.text)!r} in it on the tracks and in the time searched."
    return Answer(frame, summary, (nothing,))


def _all(timeline: Timeline) -> list[int]:
    return [row for row, track in enumerate(timeline.tracks) if track.find and track.kind not in _REPEAT_OPS]


def _everything(
    profile: ProfileData, timeline: Timeline, chosen: Sequence[int], begin: int, end: int
) -> tuple[int, int]:
    """Return a window with every event in it: a few may lie beyond what the capture says it saw."""
    for row in chosen:
        lanes = timeline.lanes(profile, row)
        if lanes is not None and len(lanes):
            begin, end = min(begin, int(lanes.start_ps.min())), max(end, int(lanes.start_ps.max()) + 1)
    return begin, end


def _matching(text: str, names: set[str]) -> set[str]:
    """Return which names are wanted.

    Raises
    ------
    UsageError
        What stands between slashes is no regular expression.
    """
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        known = list(names)
        return {known[row] for row in np.flatnonzero(matching(known, text[1:-1])).tolist()}
    lower = text.lower()
    return {name for name in names if lower in name.lower()}


def _names(found: dict[int, tuple[Lanes, Hits]]) -> list[dict[str, Any]]:
    totals: dict[str, list[int]] = {}
    for lanes, part in found.values():
        for code in np.flatnonzero(part.count).tolist():
            entry = totals.setdefault(lanes.names[code], [0, 0])
            entry[0] += int(part.count[code])
            entry[1] += int(part.total_ps[code])
    ranked = sorted(totals.items(), key=lambda item: (-item[1][1], -item[1][0], item[0]))
    return [{"name": shown(name), "count": count, "total_ps": float(ps)} for name, (count, ps) in ranked]


def _next(found: dict[int, tuple[Lanes, Hits]], forward: bool, origin: int) -> dict[str, Any] | None:
    """Return the nearest hit of all tracks, and which it is of all hits, counted from 0 by start."""
    ahead = [(row, lanes, part) for row, (lanes, part) in found.items() if part.following >= 0]
    if not ahead:
        return None
    row, lanes, part = (min if forward else max)(ahead, key=lambda item: int(item[1].start_ps[item[2].following]))
    at = part.following
    before = sum(each.index for _, each in found.values())
    return {
        "track": row,
        "lane": int(np.searchsorted(lanes.first, at, side="right")) - 1,
        "event": float(lanes.event[at]),
        "start_ps": float(lanes.start_ps[at] - origin),
        "duration_ps": float(lanes.duration_ps[at]),
        "name": shown(lanes.names[lanes.name[at]]),
        "index": before if forward else before - 1,
    }


def _density(found: dict[int, tuple[Lanes, Hits]], begin: int, end: int, origin: int) -> pd.DataFrame:
    tracks, starts, widths, counts = [], [], [], []
    for row, (_, part) in islice(found.items(), MOST_ROWS):  # a track with hits has at least a row
        some = np.flatnonzero(part.density)
        width = max(-(-(end - begin) // len(part.density)), 1)
        tracks.append(np.full(len(some), row, np.int32))
        starts.append((begin - origin + some * width).astype(np.float64))
        widths.append(np.full(len(some), width, np.float64))
        counts.append(part.density[some].astype(np.int32))
    return pd.DataFrame(
        {
            "track": np.concatenate([*tracks, np.empty(0, np.int32)]),
            "start_ps": np.concatenate([*starts, np.empty(0)]),
            "duration_ps": np.concatenate([*widths, np.empty(0)]),
            "count": np.concatenate([*counts, np.empty(0, np.int32)]),
        }
    )
