"""What is this box? Everything the profile says of one event, what it is part of, and what it is linked with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.timeline.flows import linked
from xprof_nb.analysis.timeline.lanes import Lanes, shown
from xprof_nb.analysis.timeline.recorded import recorded
from xprof_nb.analysis.timeline.sums import children_of, parent_of
from xprof_nb.analysis.timeline.tracks import Track, timeline_of
from xprof_nb.errors import UsageError
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import number
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.roofs import roofs_of
from xprof_nb.model.trace import HostTrace

LONGEST_TEXT = 4000
MOST_STATS = 100
_OPS = {"ops", "async", "collectives"}


def trace_event(profile: ProfileData, track: int, event: int) -> Answer:
    """Return one event of a track: its times, and of an op what it is and how fast it was.

    Raises
    ------
    UsageError
        There is no such track, or no such event on it.
    """
    timeline = timeline_of(profile)
    timeline.checked([track])
    found, lanes = timeline.tracks[track], timeline.lanes(profile, track)
    rows = np.flatnonzero(lanes.event == event) if lanes is not None else np.empty(0, np.int64)
    if lanes is None or not len(rows):
        raise UsageError(f"no event {event} on track {track}", hint="trace_window names the events it shows.")
    row = int(rows[0])
    trace = profile.hosts[found.host_row]
    count, covered_ps = children_of(lanes, row)
    above = parent_of(lanes, row)
    summary: dict[str, Any] = {
        "track": track,
        "lane": lanes.lane_of(row),
        "event": float(event),
        "name": _bounded(lanes.names[lanes.name[row]]),
        "kind": found.kind,
        "track_name": shown(found.name),
        "host": found.host,
        "device": found.device or None,
        "start_ps": float(lanes.start_ps[row] - timeline.origin_ps),
        "duration_ps": float(lanes.duration_ps[row]),
        "self_time_ps": float(max(lanes.duration_ps[row] - covered_ps, 0)),
        "work_kind": lanes.kinds[lanes.name[row]],
        "parent": _named(lanes, above, timeline.origin_ps) if above >= 0 else None,
        "children_count": count,
        **dict.fromkeys(_OP_FIELDS),
        "stats": {},
        "flows": [],
    }
    notes: tuple[str, ...] = ()
    if found.line >= 0:
        summary["stats"] = _stats(profile, trace, found.line, event)
        summary |= _op_it_names(profile, trace, summary["stats"])
        summary["flows"], notes = linked(profile, timeline, track, event)
    elif found.kind in _OPS:
        summary |= _op(profile, trace, event)
    elif found.kind == "programs":
        summary |= {"program": summary["name"], "program_id": str(trace.runs.program_id[event])}
        summary["stats"] = {"run_id": str(trace.runs.run_id[event])}
    elif found.kind in ("scopes", "source"):
        summary |= _group(profile, trace, found, event)
    return Answer(_frame(summary), summary, notes)


_OP_FIELDS = (
    *("program", "program_id", "op", "framework_op", "source", "category", "flops", "bytes_accessed"),
    *("flops_per_s", "bytes_per_s", "flops_utilization", "hbm_utilization", "transfer_ps"),
)


def _op(profile: ProfileData, trace: HostTrace, event: int) -> dict[str, Any]:
    """Return what an execution of an op is: costs are of one occurrence, rates over its self time."""
    ops = trace.ops
    described = _of_key(profile, trace, int(ops.key[event]))
    seconds = float(ops.self_ps[event]) * 1e-12
    occurrences = int(ops.occurrences[event])
    flops, moved = (number(described[name] * occurrences) for name in ("flops", "bytes_accessed"))
    if ops.contains[event]:
        flops = moved = None  # what it contains carries the cost
    transfer_ps = number(ops.transfer_ps[event])
    moving_s = transfer_ps * 1e-12 if transfer_ps else seconds
    peaks = roofs_of(trace.devices[int(ops.device[event])])
    flops_per_s = flops / seconds if flops and seconds > 0 else None
    bytes_per_s = moved / moving_s if moved and moving_s > 0 else None
    hbm = number(described["hbm_bytes"] * occurrences)
    hbm_per_s = hbm / moving_s if hbm and moved and moving_s > 0 else None
    step = int(ops.step[event])
    stats = {
        "run_id": str(ops.run_id[event]) if ops.run_id[event] else None,
        "step": str(trace.marks.name[step]) if 0 <= step < len(trace.marks) else None,
        "step_num": str(trace.marks.number[step]) if 0 <= step < len(trace.marks) else None,
        "occurrences": str(occurrences) if occurrences > 1 else None,
    }
    return {
        **_identity(described),
        "self_time_ps": number(ops.self_ps[event]),
        "transfer_ps": transfer_ps,
        "flops": flops,
        "bytes_accessed": moved,
        "flops_per_s": flops_per_s,
        "bytes_per_s": bytes_per_s,
        "flops_utilization": flops_per_s / peaks.reference.value if flops_per_s and peaks.reference else None,
        "hbm_utilization": hbm_per_s / peaks.hbm.value if hbm_per_s and peaks.hbm else None,
        "stats": {name: value for name, value in stats.items() if value is not None},
    }


def _of_key(profile: ProfileData, trace: HostTrace, key: int) -> dict[str, Any]:
    return {name: column[key] for name, column in described_keys(profile, trace).items()}


def _identity(described: Mapping[str, Any]) -> dict[str, Any]:
    names = ("program", "op", "category", "work_kind", "framework_op", "source")
    texts = {name: _bounded(described[name]) if isinstance(described[name], str) else None for name in names}
    return {**texts, "program_id": str(described["program_id"])}


def _op_it_names(profile: ProfileData, trace: HostTrace, stats: dict[str, str]) -> dict[str, Any]:
    """Return the identity of the op a recorded event says it is, so that the other views can be asked for it."""
    op, program = stats.get("hlo_op"), stats.get("program_id")
    if op is None:
        return {}
    described = described_keys(profile, trace)
    mine = np.flatnonzero((described["op"] == op) & (described["program_id"].astype(str) == str(program)))
    if not len(mine):
        return {"op": op, "program": stats.get("hlo_module")}
    return _identity(_of_key(profile, trace, int(mine[0])))


def _group(profile: ProfileData, trace: HostTrace, track: Track, event: int) -> dict[str, Any]:
    """Return what the ops of a scope or a source line have in common, from the first of them."""
    identity = _identity(_of_key(profile, trace, int(trace.ops.key[event])))
    name = "framework_op" if track.kind == "scopes" else "source"
    return {key: identity[key] for key in ("program", "program_id", name)}


def _stats(profile: ProfileData, trace: HostTrace, line: int, event: int) -> dict[str, str]:
    columns = recorded(profile, trace).events.stats(line, np.array([event], np.int64), None)
    found = [(name, column.value(0)) for name, column in columns.items() if column.present[0]]
    return {shown(name): _text(value) for name, value in found[:MOST_STATS]}


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, float):
        return f"{value:.12g}"
    return _bounded(str(value))


def _named(lanes: Lanes, row: int, origin_ps: int) -> dict[str, Any]:
    return {
        "lane": lanes.lane_of(row),
        "event": float(lanes.event[row]),
        "start_ps": float(lanes.start_ps[row] - origin_ps),
        "duration_ps": float(lanes.duration_ps[row]),
        "name": shown(lanes.names[lanes.name[row]]),
    }


def _bounded(text: str) -> str:
    more = len(text) - LONGEST_TEXT
    return text if more <= 0 else f"{text[:LONGEST_TEXT]}… ({more:,} more characters)"


def _frame(summary: dict[str, Any]) -> pd.DataFrame:
    plain = {name: value for name, value in summary.items() if not isinstance(value, dict | list)}
    return pd.DataFrame([plain])
