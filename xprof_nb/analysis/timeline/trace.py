"""What happened when? Every track of a profile, and which part of it to look at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.selection import Selection, chosen_hosts, not_applied, refuse
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.analysis.timeline.lanes import Lanes, shown
from xprof_nb.analysis.timeline.tracks import Timeline, timeline_of
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import stacked, taken
from xprof_nb.model.profile import ProfileData

MOST_OPEN = 64
MOST_LAID_OUT_EVENTS = 200_000
MOST_LAID_OUT_TRACKS = 2000
"""A profile of more events or tracks has only the tracks that are open laid out before somebody asks."""
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


def window(timeline: Timeline, start_ps: float | None, end_ps: float | None) -> tuple[int, int]:
    """Return a window on the joined clock, at least 1 ps long."""
    begin = timeline.origin_ps + (0 if start_ps is None else int(start_ps))
    end = timeline.end_ps if end_ps is None else timeline.origin_ps + int(np.ceil(end_ps))
    return begin, max(end, begin + 1)


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
