"""What is in this box of tracks and time? By name, and how well the devices in it were used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.moving_spans import computing_keys
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.timeline.curves import Rates
from xprof_nb.analysis.timeline.derived import collective_keys, collectives_of, ops_of
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.analysis.timeline.sums import sums
from xprof_nb.analysis.timeline.trace import MOST_OPEN, shown, window
from xprof_nb.analysis.timeline.tracks import Timeline, timeline_of
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.intervals import Moments, union
from xprof_nb.model.profile import ProfileData

Ints = NDArray[np.int64]

_COLUMNS = ["name", "work_kind", "kind", "count", "total_ps", "self_ps", "mean_ps", "min_ps", "max_ps"]
_ON_THE_DEVICE = {"ops", "programs", "steps", "async", "collectives", "scopes", "source", "utilization", "stream"}


def trace_selection(
    profile: ProfileData, start_ps: float | None, end_ps: float | None, tracks: Sequence[int] | None
) -> Answer:
    """Return one row per kind of track and name, the longest first.

    An event cut by an edge has the part inside; ``count`` is of those that start inside, ``mean_ps``, ``min_ps`` and
    ``max_ps`` are of the parts. ``busy_ps`` is the union over the ops of the devices, or where none is chosen over
    all events, summed over the tracks.
    """
    timeline = timeline_of(profile)
    chosen = timeline.checked(list(tracks)) if tracks is not None else timeline.open_tracks()[:MOST_OPEN]
    begin, end = window(timeline, start_ps, end_ps)
    parts = [
        _by_name(timeline.tracks[row].kind, lanes, begin, end)
        for row in chosen
        if (lanes := timeline.lanes(profile, row)) is not None
    ]
    frame = _merged(parts)
    busy = [row for row in chosen if timeline.tracks[row].kind == "ops"]
    busy = busy or [row for row in chosen if timeline.lanes(profile, row) is not None]
    busy_ps = sum(_busy_ps(timeline.lanes(profile, row), begin, end) for row in busy)
    whole = (end - begin) * len(busy)
    frame["share_fraction"] = frame["total_ps"] / whole if whole else np.nan
    summary: dict[str, Any] = {
        "start_ps": float(begin - timeline.origin_ps),
        "end_ps": float(end - timeline.origin_ps),
        "window_ps": float(end - begin),
        "busy_ps": busy_ps,
        "utilization_fraction": busy_ps / whole if whole else None,
        "track_count": len(busy),
        "op_count": int(frame.loc[frame["kind"] == "ops", "count"].sum()),
        **_work(profile, timeline, chosen, begin, end),
    }
    summary["sentence"] = _sentence(summary, frame)
    nothing = "Nothing was recorded on these tracks in this time: select more of it, or other tracks."
    return Answer(frame, summary, () if len(frame) else (nothing,))


def _by_name(kind: str, lanes: Lanes, begin: int, end: int) -> pd.DataFrame:
    part = sums(lanes, begin, end)
    some = np.flatnonzero(part.pieces)
    return pd.DataFrame(
        {
            "name": [shown(lanes.names[code]) for code in some.tolist()],
            "work_kind": [lanes.kinds[code] for code in some.tolist()],
            "kind": kind,
            "count": part.count[some],
            "pieces": part.pieces[some],
            "total_ps": part.total_ps[some],
            "self_ps": part.self_ps[some],
            "min_ps": part.least_ps[some],
            "max_ps": part.greatest_ps[some],
        }
    )


def _merged(parts: list[pd.DataFrame]) -> pd.DataFrame:
    parts = [part for part in parts if len(part)]
    if not parts:
        whole = pd.DataFrame({name: pd.Series(dtype=np.int64) for name in (*_COLUMNS, "pieces")})
    else:
        whole = pd.concat(parts, ignore_index=True)
    how = {"work_kind": "first", "count": "sum", "pieces": "sum", "total_ps": "sum", "self_ps": "sum"}
    frame = whole.groupby(["kind", "name"], as_index=False, sort=False).agg({**how, "min_ps": "min", "max_ps": "max"})
    frame["mean_ps"] = frame["total_ps"] / frame["pieces"]
    frame = frame.sort_values(["total_ps", "count", "name"], ascending=[False, False, True], ignore_index=True)
    return frame[_COLUMNS]


def _busy_ps(lanes: Lanes | None, begin: int, end: int) -> float:
    """Return how much of a window the events of a track cover, several at a time counted once."""
    if lanes is None:
        return 0.0
    if lanes.nests:
        return float(sums(replace(lanes, first=lanes.first[:2]), begin, end).total_ps.sum())
    return float(_within(lanes.start_ps, lanes.start_ps + lanes.duration_ps, begin, end).length_ps)


def _within(start_ps: Ints, end_ps: Ints, begin: int, end: int) -> Moments:
    return union(np.maximum(start_ps, begin), np.minimum(end_ps, end))


def _work(profile: ProfileData, timeline: Timeline, chosen: Sequence[int], begin: int, end: int) -> dict[str, Any]:
    """Return FLOPs, bytes, their share of the peak, and exposed collectives of the devices whose tracks are chosen."""
    devices = {
        (track.host_row, track.device_row)
        for row in chosen
        if (track := timeline.tracks[row]).kind in _ON_THE_DEVICE and track.device_row >= 0
    }
    nothing = {"flops": None, "bytes": None, "flops_per_s": None, "flops_utilization": None}
    flops = bytes_accessed = roof_flops = exposed = 0.0
    for host, device in sorted(devices):
        trace = profile.hosts[host]
        described = described_keys(profile, trace)
        inner = np.unique(trace.ops.key[trace.ops.contains])
        lanes = _lanes_of(profile, timeline, host, device)
        amounts = [np.nan_to_num(described[name]) for name in ("flops", "bytes_accessed")]
        for amount in amounts:
            amount[inner] = 0
        flops += Rates(lanes, amounts[0], 1.0).total(begin, end)
        bytes_accessed += Rates(lanes, amounts[1], 1.0).total(begin, end)
        peak = trace.devices[device].peaks.reference
        roof_flops += peak.value * (end - begin) * 1e-12 if peak is not None else np.nan
        exposed += _exposed_ps(profile, host, device, lanes, begin, end)
    if not devices:
        return {**nothing, "exposed_collective_ps": None}
    seconds = (end - begin) * 1e-12
    return {
        "flops": flops or None,
        "bytes": bytes_accessed or None,
        "flops_per_s": flops / seconds if flops else None,
        "flops_utilization": flops / roof_flops if flops and roof_flops > 0 else None,
        "exposed_collective_ps": exposed,
    }


def _lanes_of(profile: ProfileData, timeline: Timeline, host: int, device: int) -> Lanes:
    for row, track in enumerate(timeline.tracks):
        if (track.kind, track.line, track.host_row, track.device_row) == ("ops", -1, host, device):
            lanes = timeline.lanes(profile, row)
            assert lanes is not None
            return lanes
    return ops_of(profile, profile.hosts[host], device)


def _exposed_ps(profile: ProfileData, host: int, device: int, ops: Lanes, begin: int, end: int) -> float:
    """Return how long collectives went on while no op of the device computed, as `collectives` defines it."""
    trace = profile.hosts[host]
    if not collective_keys(profile, trace).any():
        return 0.0
    links = collectives_of(profile, trace, device)
    computing = computing_keys(profile, trace)[ops.name] & ~trace.ops.contains[ops.event]
    moved = _within(links.start_ps, links.start_ps + links.duration_ps, begin, end)
    computed = _within(ops.start_ps[computing], (ops.start_ps + ops.duration_ps)[computing], begin, end)
    return float(moved.length_ps - moved.common_ps(computed))


def _sentence(summary: dict[str, Any], frame: pd.DataFrame) -> str:
    if not len(frame):
        return "Nothing was recorded here."
    tracks = summary["track_count"]
    said = f"{units.duration(summary['busy_ps'] / max(tracks, 1))} busy of {units.duration(summary['window_ps'])}"
    if tracks > 1:
        said += f" on average over {tracks} tracks"
    if summary["op_count"]:
        said = f"{units.count(summary['op_count'])} ops, {said}"
    if summary["flops_utilization"] is not None:
        said += f"; {units.utilization(summary['flops_utilization'])} of the FLOP/s peak"
    if summary["exposed_collective_ps"]:
        said += f"; collectives exposed for {units.duration(summary['exposed_collective_ps'])}"
    return f"{said}."
