"""What is drawn of a window of the timeline: boxes and curves of some tracks, whatever the size of the profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.curves import Rates, Steps
from xprof_nb.analysis.timeline.heights import LEVELS
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.analysis.timeline.lod import COARSEST, Boxes, boxes, bucket_bits, count_boxes
from xprof_nb.analysis.timeline.trace import MOST_OPEN, Span, window
from xprof_nb.analysis.timeline.tracks import Content, timeline_of
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame
from xprof_nb.model.profile import ProfileData

MOST_BYTES = 280_000
"""Of one answer about a window; what does not fit is drawn coarser."""
_ROW_BYTES, _CURVE_BYTES = 53, 24
Drawn = list[Boxes | Steps]


def trace_window(
    profile: ProfileData, span_ps: Span, pixels: int, tracks: Sequence[int] | None, most_rows: int
) -> Answer:
    """Return what is drawn of a window: events at least a pixel wide as they are, narrower ones as runs.

    Parameters
    ----------
    span_ps
        Begin and end in ps from the beginning of the timeline; its own if None.
    tracks
        Rows of `trace`; those that are open at first if None.
    most_rows
        What an answer may have at most; fewer if it would take more than `MOST_BYTES`.

    Returns
    -------
    Answer
        ``busy_ps`` is what events cover of a box inside the window: over the boxes of a lane it sums to the exact
        union of the lane's events in the window. A box with ``count`` 1 is one event, ``event`` its number. Rows of
        a curve have ``value``, ``low`` and ``high``.
    """
    timeline = timeline_of(profile)
    chosen = timeline.open_tracks()[:MOST_OPEN] if tracks is None else timeline.checked(list(tracks))
    begin, end = window(timeline, *span_ps)
    shown_tracks = [(row, content) for row in chosen if (content := timeline.content(profile, row)) is not None]
    bits = bucket_bits(begin, end, pixels)
    has_curves = any(not isinstance(content, Lanes) for _, content in shown_tracks)
    most = min(most_rows, MOST_BYTES // (_ROW_BYTES + _CURVE_BYTES * has_curves))
    drawn, worst = _fitting(shown_tracks, begin, end, bits, most)
    frame = _frame(shown_tracks, drawn, begin, end, timeline.origin_ps, has_curves)
    summary = {
        "start_ps": float(begin - timeline.origin_ps),
        "end_ps": float(end - timeline.origin_ps),
        "pixels": pixels,
        "exact": _is_exact(shown_tracks, drawn),
        "bucket_ps": float(2**bits),
        "coarsest_bucket_ps": float(2**worst),
        "tracks": [row for row, _ in shown_tracks],
        "lanes": {str(row): content.count for row, content in shown_tracks if isinstance(content, Lanes)},
    }
    nothing = "Nothing was recorded on these tracks in this window: zoom out or ask for other tracks."
    return Answer(frame, summary, () if len(frame) else (nothing,))


def _is_exact(contents: list[tuple[int, Content]], drawn: Drawn) -> bool:
    """Whether a closer look would show nothing more."""
    for (_, content), part in zip(contents, drawn, strict=True):
        if isinstance(part, Boxes):
            if (part.count > 1).any():
                return False
        elif isinstance(content, Rates) or (part.low != part.high).any():
            return False
    return True


def _fitting(contents: list[tuple[int, Content]], begin: int, end: int, bits: int, most: int) -> tuple[Drawn, int]:
    """Return what is drawn of each track, at most ``most`` rows, the fullest tracks coarser until it fits."""
    sizes = np.array([_sizes(content, begin, end) for _, content in contents], np.int64).reshape(-1, LEVELS)
    levels = _levels(sizes, bits, most)
    left, drawn = most, []
    for (_, content), level in zip(contents, levels.tolist(), strict=True):
        # Cut only where thousands of lanes have an event each.
        part = _drawn(content, begin, end, level).head(left)
        drawn.append(part)
        left -= len(part)
    return drawn, int(levels.max(initial=bits))


def _levels(sizes: NDArray[np.int64], bits: int, most: int) -> NDArray[np.int64]:
    """Return the level of each track; ``sizes`` says how many rows it takes at each."""
    rows, levels = np.arange(len(sizes)), np.full(len(sizes), bits)
    while True:
        now = sizes[rows, levels]
        coarsenable = np.where(levels < COARSEST, now, 0)
        if now.sum() <= most or not coarsenable.any():
            return levels
        levels[2 * coarsenable > coarsenable.max()] += 1


def _sizes(content: Content, begin: int, end: int) -> NDArray[np.int64]:
    """Return how many rows a track takes at most at each level."""
    return count_boxes(content, begin, end) if isinstance(content, Lanes) else content.counts_within(begin, end)


def _drawn(content: Content, begin: int, end: int, bits: int) -> Boxes | Steps:
    return boxes(content, begin, end, bits) if isinstance(content, Lanes) else content.within(begin, end, bits)


def _frame(
    contents: list[tuple[int, Content]], drawn: Drawn, begin: int, end: int, origin: int, has_curves: bool
) -> pd.DataFrame:
    ends = np.cumsum([0, *map(len, drawn)]).tolist()
    columns = _BOX_COLUMNS + (_CURVE_COLUMNS if has_curves else [])
    whole = {name: np.full(ends[-1], missing, dtype) for name, dtype, missing in columns}
    for (row, content), part, first, last in zip(contents, drawn, ends[:-1], ends[1:], strict=True):
        if isinstance(part, Steps):
            values = _curve_columns(part, begin, end)
        else:
            assert isinstance(content, Lanes)
            values = _box_columns(content, part)
        values |= {"track": row, "start_ps": part.start_ps - origin, "duration_ps": part.duration_ps}
        for name, value in (values | {"count": part.count}).items():
            whole[name][first:last] = value
    return as_frame(whole)


_BOX_COLUMNS: list[tuple[str, Any, Any]] = [
    ("track", np.int32, 0),
    ("lane", np.int32, 0),
    ("start_ps", np.float64, 0),
    ("duration_ps", np.float64, 0),
    ("name", object, None),
    ("work_kind", object, None),
    ("count", np.int32, 0),
    ("busy_ps", np.float64, 0),
    ("event", np.float64, np.nan),
]
_CURVE_COLUMNS: list[tuple[str, Any, Any]] = [(name, np.float64, np.nan) for name in ("value", "low", "high")]


def _box_columns(lanes: Lanes, part: Boxes) -> dict[str, Any]:
    names, kinds = lanes.labels
    return {
        "lane": part.lane,
        "name": names[part.name],
        "work_kind": kinds[part.name],
        "busy_ps": part.busy_ps,
        "event": np.where(part.count == 1, lanes.event[part.row].astype(np.float64), np.nan),
    }


def _curve_columns(part: Steps, begin: int, end: int) -> dict[str, Any]:
    inside = np.minimum(part.start_ps + part.duration_ps, end) - np.maximum(part.start_ps, begin)
    return {"busy_ps": inside, "value": part.value, "low": part.low, "high": part.high}
