"""What happened when? Every track of a profile, and what is drawn of a window of it, whatever its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.selection import Selection, chosen_hosts, not_applied, refuse
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.analysis.timeline.curves import Rates, Steps, no_steps
from xprof_nb.analysis.timeline.lanes import MOST_LANES, Lanes
from xprof_nb.analysis.timeline.lod import COARSEST, Boxes, boxes, bucket_bits, count_boxes
from xprof_nb.analysis.timeline.tracks import Content, Timeline, timeline_of
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import stacked, taken
from xprof_nb.model.profile import ProfileData

MOST_BYTES = 280_000
"""Of one answer about a window; what does not fit is drawn coarser."""
MOST_OPEN = 64
MOST_LAID_OUT_EVENTS = 200_000
MOST_LAID_OUT_TRACKS = 2000
"""A profile of more events or tracks has only the tracks that are open laid out before somebody asks."""
LONGEST_NAME = 200
_ROW_BYTES, _CURVE_BYTES = 53, 24
Drawn = list[Boxes | Steps]
_NOTHING = "The profile has no event: nothing ran while it was captured, or tracing was off."


Span = tuple[float | None, float | None]


def trace(profile: ProfileData, selection: Selection, shown_ps: Span, markers: Sequence[Mapping[str, Any]]) -> Answer:
    """Return one row per track, in display order; the summary says which window to show first.

    ``lanes``, ``event_count`` and ``busy_ps`` of a track that nothing needed yet are missing; ``lanes`` is then 1.

    Parameters
    ----------
    selection
        ``host`` and ``device`` leave their tracks; ``step`` and ``window_ps`` say what to show first.
    shown_ps
        The window to show first, in ps from the beginning of the timeline; wins over the selection's.

    Raises
    ------
    UsageError
        The selection names a host, device or step the profile does not have.
    """
    timeline = timeline_of(profile)
    total = sum(host.event_count for host in profile.hosts)
    chosen = _chosen(profile, timeline, selection)
    opened = timeline.open_tracks()[:MOST_OPEN]
    small = total <= MOST_LAID_OUT_EVENTS and len(timeline.tracks) <= MOST_LAID_OUT_TRACKS
    for row in chosen if small else set(opened) & set(chosen):
        timeline.content(profile, row)
    tracks = [timeline.tracks[row] for row in chosen]
    rows = [_described(timeline, row) for row in chosen]
    names = ["lanes", "event_count", "busy_ps", "minimum", "maximum"]
    frame = pd.DataFrame(
        {
            "track": np.array(chosen, np.int32),
            "parent": np.array([track.parent for track in tracks], np.int32),
            "depth": np.array([track.depth for track in tracks], np.int32),
            **{
                name: np.array([shown(getattr(track, name)) for track in tracks], object)
                for name in ("kind", "name", "host", "device")
            },
            **dict(zip(names, np.array(rows, np.float64).reshape(-1, 5).T, strict=True)),
            "folded": np.array([track.folded for track in tracks], np.bool_),
            "unit": np.array([track.unit for track in tracks], object),
        }
    )
    frame["lanes"] = frame["lanes"].astype(np.int32)
    length = timeline.end_ps - timeline.origin_ps
    has_events = total > 0 or any(track.find is not None for track in timeline.tracks)
    summary: dict[str, Any] = {
        "origin_ps": str(timeline.origin_ps),
        "start_ps": 0.0,
        "end_ps": float(length),
        **_shown_first(profile, timeline, selection, shown_ps),
        "event_count": total,
        "track_count": len(rows),
        "host_count": len(profile.hosts),
        "device_count": len(profile.devices),
        "markers": [dict(marker) for marker in markers],
        "sentence": _sentence(profile, frame, length),
    }
    notes = [*profile.all_notes]
    if not has_events:
        notes.append(_NOTHING)
    notes += not_applied(selection, ("program",), "a timeline shows every program; search for one by name")
    return Answer(frame, summary, tuple(notes))


def _chosen(profile: ProfileData, timeline: Timeline, selection: Selection) -> list[int]:
    """Return the tracks of the host and device chosen, and those they are under."""
    hosts = {id(trace) for trace in chosen_hosts(profile, selection)}
    tracks = [(row, each) for row, each in enumerate(timeline.tracks) if id(profile.hosts[each.host_row]) in hosts]
    if selection.device is None:
        return [row for row, _ in tracks]
    wanted = str(selection.device)
    mine = [(row, each) for row, each in tracks if each.device and wanted in _names_of(each.device)]
    if not mine:
        refuse("device", selection.device, sorted({each.device for _, each in tracks if each.device}))
    return sorted({row for row, _ in mine} | {each.parent for _, each in mine if each.parent >= 0})


def _names_of(device: str) -> tuple[str, str]:
    """Return what a device may be called: its name, and its number alone."""
    return device, device.rpartition(":")[2]


def _shown_first(profile: ProfileData, timeline: Timeline, selection: Selection, shown_ps: Span) -> dict[str, float]:
    begin, end = window(timeline, *shown_ps)
    if shown_ps == (None, None):
        if selection.window_ps is not None:
            begin, end = selection.window_ps
        elif selection.step is not None:
            begin, end = _step(profile, selection)
    return {"shown_start_ps": float(begin - timeline.origin_ps), "shown_end_ps": float(end - timeline.origin_ps)}


def _step(profile: ProfileData, selection: Selection) -> tuple[int, int]:
    """Return when a step began and ended, of the device chosen or of all."""
    parts = []
    for trace in chosen_hosts(profile, selection):
        spans = step_spans(trace)
        names = [*(_names_of(device.name) for device in trace.devices), ()]  # -1: a step of all devices
        wanted = [
            selection.device is None or row < 0 or str(selection.device) in names[row] for row in spans["device_row"]
        ]
        parts.append(taken(spans, np.array(wanted, np.bool_)))
    steps = stacked(parts)
    mine = steps["step"] == selection.step
    if not mine.any():
        refuse("step", selection.step, map(str, sorted(set(steps["step"].tolist()))))
    start_ps = steps["start_ps"][mine]
    return int(start_ps.min()), int((start_ps + steps["duration_ps"][mine]).max())


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


def window(timeline: Timeline, start_ps: float | None, end_ps: float | None) -> tuple[int, int]:
    """Return a window on the joined clock, at least 1 ps long."""
    begin = timeline.origin_ps + (0 if start_ps is None else int(start_ps))
    end = timeline.end_ps if end_ps is None else timeline.origin_ps + int(np.ceil(end_ps))
    return begin, max(end, begin + 1)


def shown(text: str) -> str:
    """Return a name short enough to be drawn."""
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _fitting(contents: list[tuple[int, Content]], begin: int, end: int, bits: int, most: int) -> tuple[Drawn, int]:
    """Return what is drawn of each track, at most ``most`` rows, the fullest tracks coarser until it fits."""
    levels = np.full(len(contents), bits)
    countable = max(4 * most, 8 * MOST_LANES)  # at the coarsest a lane has a few boxes
    sizes = np.array([_size(content, begin, end, bits, countable) for _, content in contents], np.int64)
    while (total := sizes.sum()) > most and ((levels < COARSEST) & (sizes > 0)).any():
        coarsenable = levels < COARSEST
        more = max((int(total) // most).bit_length() - 1, 1)
        for row in np.flatnonzero(coarsenable & (2 * sizes > sizes[coarsenable].max())).tolist():
            levels[row] = min(levels[row] + more, COARSEST)
            sizes[row] = _size(contents[row][1], begin, end, int(levels[row]), countable)
    left, drawn = most, []
    for (_, content), level, size in zip(contents, levels.tolist(), sizes.tolist(), strict=True):
        part = _drawn(content, begin, end, level, size).head(
            left
        )  # cut only where thousands of lanes have an event each
        drawn.append(part)
        left -= len(part)
    return drawn, int(levels.max(initial=bits))


def _size(content: Content, begin: int, end: int, bits: int, most: int) -> int:
    """Return how many rows a track takes at most."""
    if isinstance(content, Lanes):
        return count_boxes(content, begin, end, bits, most)
    return content.count_within(begin, end, bits)


def _drawn(content: Content, begin: int, end: int, bits: int, size: int) -> Boxes | Steps:
    if isinstance(content, Lanes):
        part: Boxes | Steps | None = boxes(content, begin, end, bits, size + 2)
    else:
        part = content.within(begin, end, bits, size)
    return part if part is not None else no_steps(0)


def _frame(
    contents: list[tuple[int, Content]], drawn: Drawn, begin: int, end: int, origin: int, has_curves: bool
) -> pd.DataFrame:
    columns = _BOX_COLUMNS + (_CURVE_COLUMNS if has_curves else [])
    parts = [
        _box_columns(row, content, part, origin)
        if isinstance(content, Lanes) and isinstance(part, Boxes)
        else _curve_columns(row, part, begin, end, origin)
        for (row, content), part in zip(contents, drawn, strict=True)
    ]
    frame = {}
    for name, dtype in columns:
        given = [part.get(name, np.full(len(part["track"]), np.nan)) for part in parts]
        frame[name] = np.concatenate(given).astype(dtype) if given else np.empty(0, dtype)
    return pd.DataFrame(frame)


_BOX_COLUMNS: list[tuple[str, Any]] = [
    ("track", np.int32),
    ("lane", np.int32),
    ("start_ps", np.float64),
    ("duration_ps", np.float64),
    ("name", object),
    ("work_kind", object),
    ("count", np.int32),
    ("busy_ps", np.float64),
    ("event", np.float64),
]
_CURVE_COLUMNS: list[tuple[str, Any]] = [("value", np.float64), ("low", np.float64), ("high", np.float64)]


def _box_columns(track: int, lanes: Lanes, part: Boxes, origin: int) -> dict[str, Any]:
    codes, name = np.unique(part.name, return_inverse=True)
    names = np.array([*(shown(lanes.names[code]) for code in codes.tolist()), None], object)
    kinds = np.array([*(lanes.kinds[code] for code in codes.tolist()), None], object)
    return {
        "track": np.full(len(part), track, np.int32),
        "lane": part.lane,
        "start_ps": part.start_ps - origin,
        "duration_ps": part.duration_ps,
        "name": names[name],
        "work_kind": kinds[name],
        "count": part.count,
        "busy_ps": part.busy_ps,
        "event": np.where(part.count == 1, lanes.event[part.row].astype(np.float64), np.nan),
    }


def _curve_columns(track: int, part: Any, begin: int, end: int, origin: int) -> dict[str, Any]:
    rows = len(part)
    if not isinstance(part, Steps):
        part = no_steps(0)
    inside = np.minimum(part.start_ps + part.duration_ps, end) - np.maximum(part.start_ps, begin)
    return {
        "track": np.full(rows, track, np.int32),
        "lane": np.zeros(rows, np.int32),
        "start_ps": part.start_ps - origin,
        "duration_ps": part.duration_ps,
        "name": np.full(rows, None, object),
        "work_kind": np.full(rows, None, object),
        "count": part.count,
        "busy_ps": inside,
        "value": part.value,
        "low": part.low,
        "high": part.high,
    }


def _described(timeline: Timeline, row: int) -> tuple[float, ...]:
    """Return lanes, events, busy time, minimum and maximum of a track, NaN for what is not known yet."""
    track, content = timeline.tracks[row], timeline.contents.get(row)
    nan = float("nan")
    if content is None:
        return 1 if track.find else 0, nan if track.event_count is None else track.event_count, nan, nan, nan
    if isinstance(content, Lanes):
        return content.count, len(content), content.busy_ps, nan, nan
    return 1, len(content), nan, *content.range


def _sentence(profile: ProfileData, frame: pd.DataFrame, length_ps: int) -> str:
    ops = frame[(frame["kind"] == "ops") & frame["busy_ps"].notna()]
    hosts, devices = len(profile.hosts), len(profile.devices)
    of = f"{hosts} host{'s' * (hosts != 1)} and {devices} device{'s' * (devices != 1)}"
    said = f"{units.duration(length_ps)} of {of}, {units.count(sum(host.event_count for host in profile.hosts))} events"
    if not len(ops) or not length_ps:
        return f"{said}."
    busiest = ops.loc[ops["busy_ps"].idxmax()]
    return f"{said}; {busiest['device']} was busy {units.percent(busiest['busy_ps'] / length_ps)} of the time."
