"""What caused an event and what it caused: producer and consumer events that share a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.lanes import shown
from xprof_nb.analysis.timeline.recorded import recorded
from xprof_nb.analysis.timeline.tracks import Timeline
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

MOST_EVENTS = 1_000_000
MOST_SHOWN = 50
CONTEXT, LAUNCH, FLOW = range(3)
_NUMBER = 2**56 - 1


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of the flows of a host, E rows: which flow, whether it goes out of or into an event, which event."""

    flow: NDArray[np.int64]
    out: NDArray[np.bool_]
    line: NDArray[np.int32]
    event: NDArray[np.int64]


_ENDS: WeakKeyDictionary[HostTrace, Ends] = WeakKeyDictionary()


def linked(
    profile: ProfileData, timeline: Timeline, track: int, event: int
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the events at the other ends of a recorded event's flows, and a note where they cannot be looked for."""
    found = timeline.tracks[track]
    trace = profile.hosts[found.host_row]
    if trace.event_count > MOST_EVENTS:
        return [], (f"Flows are looked for in profiles of up to {MOST_EVENTS:,} events; this host has more.",)
    ends = _ends(profile, trace)
    mine = np.flatnonzero((ends.line == found.line) & (ends.event == event))
    links: list[dict[str, Any]] = []
    for end in mine.tolist():
        others = np.flatnonzero((ends.flow == ends.flow[end]) & (ends.out != ends.out[end]))
        for other in others[: MOST_SHOWN - len(links)].tolist():
            link = _link(profile, timeline, found.host_row, int(ends.line[other]), int(ends.event[other]))
            if link is not None:
                links.append({**link, "direction": "out" if ends.out[end] else "in"})
    return links, ()


def _link(profile: ProfileData, timeline: Timeline, host: int, line: int, event: int) -> dict[str, Any] | None:
    trace = profile.hosts[host]
    lanes = recorded(profile, trace).lanes[line]
    rows = np.flatnonzero(lanes.event == event)
    tracks = [row for row, each in enumerate(timeline.tracks) if (each.host_row, each.line) == (host, line)]
    if not len(rows) or not tracks:
        return None
    return {
        "track": tracks[0],
        "event": float(event),
        "start_ps": float(lanes.start_ps[rows[0]] - timeline.origin_ps),
        "name": shown(lanes.names[lanes.name[rows[0]]]),
    }


def _ends(profile: ProfileData, trace: HostTrace) -> Ends:
    if trace not in _ENDS:
        _ENDS[trace] = _read(profile, trace)
    return _ENDS[trace]


def _read(profile: ProfileData, trace: HostTrace) -> Ends:
    """Return every end of a flow: `_p` makes one that `_c` of the same type takes; a launch shares one with its kernel.

    XLA packs a flow as 56 bits of number, 2 of direction (1 in, 2 out) and 6 of category.
    """
    lines = recorded(profile, trace)
    tables = [np.empty((0, 6), np.int64)]
    for line, lanes in enumerate(lines.lanes):
        positions = lanes.event.astype(np.int64)
        stats = lines.events.stats(line, positions, ("_pt", "_p", "_ct", "_c", "correlation_id", "flow"))
        if not stats:
            continue
        leaves = not trace.lines.plane[line].startswith("/device:")
        flow = stats["flow"].ints()
        tables += [
            _table(stats["_p"].present, CONTEXT, stats["_pt"].ints(), stats["_p"].ints(), True, line, positions),
            _table(stats["_c"].present, CONTEXT, stats["_ct"].ints(), stats["_c"].ints(), False, line, positions),
            _table(stats["correlation_id"].present, LAUNCH, 0, stats["correlation_id"].ints(), leaves, line, positions),
            _table((flow >> 56) & 1 == 1, FLOW, 0, flow & _NUMBER, False, line, positions),
            _table((flow >> 56) & 2 == 2, FLOW, 0, flow & _NUMBER, True, line, positions),
        ]
    table = np.concatenate(tables)
    _, flow = np.unique(table[:, :3], axis=0, return_inverse=True)
    return Ends(flow.reshape(-1), table[:, 3].astype(np.bool_), table[:, 4].astype(np.int32), table[:, 5])


def _table(
    rows: NDArray[np.bool_], kind: int, sort: Any, number: Any, out: bool, line: int, positions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return an end for each row: kind, type and number of its flow, whether it goes out, line and event."""
    columns = np.broadcast_arrays(kind, sort, number, out, line, positions)
    return np.stack([column[rows] for column in columns], axis=1).astype(np.int64)
