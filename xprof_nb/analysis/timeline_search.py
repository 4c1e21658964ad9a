"""Where in the whole trace is an event of this name? How many there are, where they lie, and the next one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.timeline import shown, window
from xprof_nb.analysis.timeline_lanes import Lanes
from xprof_nb.analysis.timeline_sums import Hits, hits
from xprof_nb.analysis.timeline_tracks import Timeline, timeline_of
from xprof_nb.errors import UsageError
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData

MOST_ROWS = 2000
BUCKETS = 500
MOST_NAMES = 100
LONGEST_SEARCHED = 2000
"""Characters of a name that are looked at: a pattern on a name of 100 kB could take forever."""
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
    matches = _matcher(wanted.text)
    chosen = timeline.checked(list(tracks)) if tracks is not None else _all(timeline)
    begin, end = window(timeline, wanted.start_ps, wanted.end_ps)
    if wanted.start_ps is None and wanted.end_ps is None:
        begin, end = _everything(profile, timeline, chosen, begin, end)
    ahead = wanted.forward
    moment = timeline.origin_ps + int(wanted.from_ps) if wanted.from_ps is not None else begin - 1 if ahead else end
    found: dict[int, tuple[Lanes, Hits]] = {}
    for row in chosen:
        lanes = timeline.lanes(profile, row)
        mask = np.array([matches(name) for name in lanes.names], np.bool_) if lanes is not None else None
        if lanes is not None and mask is not None and mask.any():
            buckets = max(min(BUCKETS, MOST_ROWS // max(len(chosen), 1)), 1)
            part = hits(lanes, mask, (begin, end), buckets, moment, ahead)
            if part.count.sum():
                found[row] = lanes, part
    names = _names(found)
    summary = {
        "text": wanted.text,
        "count": int(sum(part.count.sum() for _, part in found.values())),
        "names_count": len(names),
        "names": names[:MOST_NAMES],
        "next": _next(found, ahead, timeline.origin_ps),
    }
    frame = _density(found, begin, end, timeline.origin_ps)
    notes = () if len(frame) else (f"No event's name has {wanted.text!r} in it here; the search looked at every track.",)
    return Answer(frame, summary, notes)


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


def _matcher(text: str) -> Callable[[str], bool]:
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            pattern = re.compile(text[1:-1])
        except (re.error, RecursionError, OverflowError) as wrong:
            raise UsageError(f"{text!r} is no regular expression: {wrong}", hint="Plain text needs no slashes.") from None
        return lambda name: pattern.search(name[:LONGEST_SEARCHED]) is not None
    lower = text.lower()
    return lambda name: lower in name.lower()


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
    for row, (_, part) in found.items():
        some = np.flatnonzero(part.density)
        width = max(-(-(end - begin) // len(part.density)), 1)
        tracks.append(np.full(len(some), row, np.int32))
        starts.append((begin - origin + some * width).astype(np.float64))
        widths.append(np.full(len(some), width, np.float64))
        counts.append(part.density[some].astype(np.int32))
    columns = {"track": tracks, "start_ps": starts, "duration_ps": widths, "count": counts}
    dtypes = {"track": np.int32, "start_ps": np.float64, "duration_ps": np.float64, "count": np.int32}
    frame = {
        name: np.concatenate(parts) if parts else np.empty(0, dtypes[name])  # type: ignore[arg-type]
        for name, parts in columns.items()
    }
    return pd.DataFrame(frame)
