"""What is in this box of tracks and time? By name, and how well the devices in it were used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.moving_spans import computing_keys
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.ops import recomputed
from xprof_nb.analysis.timeline.curves import Rates
from xprof_nb.analysis.timeline.derived import ops_of, work_of_keys
from xprof_nb.analysis.timeline.lanes import Lanes, shown
from xprof_nb.analysis.timeline.sums import sums
from xprof_nb.analysis.timeline.trace import MOST_OPEN, window
from xprof_nb.analysis.timeline.tracks import Timeline, timeline_of
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.intervals import Moments, union
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

Ints = NDArray[np.int64]

_COLUMNS = ["name", "work_kind", "kind", "count", "total_ps", "self_ps", "mean_ps", "min_ps", "max_ps"]


@dataclass(frozen=True, eq=False)
class _DeviceWork:
    """What a device did over the whole capture.

    Attributes
    ----------
    model_flops
        Without those of ops that compute something again.
    exposed
        When collectives went on and nothing was computed.
    """

    flops: Rates
    model_flops: Rates
    bytes_accessed: Rates
    exposed: Moments


_WORK: WeakKeyDictionary[HostTrace, dict[int, _DeviceWork]] = WeakKeyDictionary()
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
    start_ps, end_ps = np.maximum(lanes.start_ps, begin), np.minimum(lanes.start_ps + lanes.duration_ps, end)
    return float(union(start_ps, end_ps).length_ps)


def _work(profile: ProfileData, timeline: Timeline, chosen: Sequence[int], begin: int, end: int) -> dict[str, Any]:
    """Return FLOPs, bytes, their share of the peak, and exposed collectives of the devices whose tracks are chosen."""
    devices = {
        (track.host_row, track.device_row)
        for row in chosen
        if (track := timeline.tracks[row]).kind in _ON_THE_DEVICE and track.device_row >= 0
    }
    nothing = dict.fromkeys(("flops", "bytes", "flops_per_s", "flops_utilization", "mfu"))
    if not devices:
        return {**nothing, "exposed_collective_ps": None}
    flops = model_flops = bytes_accessed = roof_flops = exposed = 0.0
    for host, device in sorted(devices):
        work = _device_work(profile, timeline, host, device)
        flops += work.flops.total(begin, end)
        model_flops += work.model_flops.total(begin, end)
        bytes_accessed += work.bytes_accessed.total(begin, end)
        exposed += float(work.exposed.covered_ps(np.array([begin]), np.array([end]))[0])
        peak = profile.hosts[host].devices[device].peaks.reference
        roof_flops += peak.value * (end - begin) * 1e-12 if peak is not None else np.nan
    seconds = (end - begin) * 1e-12
    return {
        "flops": flops or None,
        "bytes": bytes_accessed or None,
        "flops_per_s": flops / seconds if flops else None,
        "flops_utilization": flops / roof_flops if flops and roof_flops > 0 else None,
        "mfu": model_flops / roof_flops if flops and roof_flops > 0 else None,
        "exposed_collective_ps": exposed,
    }


def _device_work(profile: ProfileData, timeline: Timeline, host: int, device: int) -> _DeviceWork:
    """Return what a device did over the whole capture, found once: a window of it then costs nothing."""
    trace = profile.hosts[host]
    known = _WORK.setdefault(trace, {})
    if device not in known:
        lanes = _derived(profile, timeline, "ops", host, device) or ops_of(profile, trace, device)
        links = _derived(profile, timeline, "collectives", host, device)
        flops, bytes_accessed = (work_of_keys(profile, trace, device, cost) for cost in ("flops", "bytes_accessed"))
        model_flops = np.where(recomputed(described_keys(profile, trace)), 0, flops)
        known[device] = _DeviceWork(
            Rates(lanes, flops, 1.0),
            Rates(lanes, model_flops, 1.0),
            Rates(lanes, bytes_accessed, 1.0),
            _exposed(profile, trace, lanes, links),
        )
    return known[device]


def _derived(profile: ProfileData, timeline: Timeline, kind: str, host: int, device: int) -> Lanes | None:
    """Return a track of a device that was derived, None if it has no such."""
    for row, track in enumerate(timeline.tracks):
        if (track.kind, track.line, track.host_row, track.device_row) == (kind, -1, host, device):
            return timeline.lanes(profile, row)
    return None


def _exposed(profile: ProfileData, trace: HostTrace, ops: Lanes, links: Lanes | None) -> Moments:
    """Return when collectives went on while no op of the device computed, as `collectives` defines it."""
    if links is None:
        return union(np.empty(0, np.int64), np.empty(0, np.int64))
    computing = computing_keys(profile, trace)[ops.name] & ~trace.ops.contains[ops.event]
    moved = union(links.start_ps, links.start_ps + links.duration_ps)
    start_ps = ops.start_ps[computing]
    return moved.without(union(start_ps, start_ps + ops.duration_ps[computing]))


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
