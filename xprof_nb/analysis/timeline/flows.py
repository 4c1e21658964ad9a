"""What caused an event and what it caused: producer and consumer events that share a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.lanes import Lanes, shown
from xprof_nb.analysis.timeline.recorded import Recorded, recorded
from xprof_nb.analysis.timeline.tracks import Timeline
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

MOST_EVENTS = 100_000_000
MOST_SHOWN = 50
CONTEXT, LAUNCH, FLOW = range(3)
_STATS = ("_pt", "_p", "_ct", "_c", "correlation_id", "flow")
_NUMBER = 2**56 - 1
_READ_AT_A_TIME = 500_000


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of the flows of a host, E rows.

    Attributes
    ----------
    flow
        Equal for the ends of one flow.
    out
        Whether it goes out of the event, or into it.
    line, event
        Row of the host's lines, and what the line's `Lanes` know the event by.
    """

    flow: NDArray[np.uint64]
    out: NDArray[np.bool_]
    line: NDArray[np.int32]
    event: NDArray[Any]


_ENDS: WeakKeyDictionary[HostTrace, Ends] = WeakKeyDictionary()
_LOCK = Lock()


def linked(
    profile: ProfileData, timeline: Timeline, track: int, event: int
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the events at the other ends of a recorded event's flows, and a note where not all are looked for.

    The first event that has a flow makes all events be read for theirs, a second for five million; they are kept, 17
    bytes for each end.
    """
    found = timeline.tracks[track]
    trace = profile.hosts[found.host_row]
    lines = recorded(profile, trace)
    mine = _read(trace, lines, found.line, np.array([event], lines.lanes[found.line].event.dtype))
    if not len(mine.flow):
        return [], ()
    if trace.event_count > MOST_EVENTS:
        why = f"Flows are looked for among up to {MOST_EVENTS:,} events; this host has {trace.event_count:,}"
        return [], (f"{why}: capture a shorter time to see what this one is linked with.",)
    ends = _ends(trace, lines)
    track_of = {(each.host_row, each.line): row for row, each in reversed(list(enumerate(timeline.tracks)))}
    links: list[dict[str, Any]] = []
    for flow, out in zip(mine.flow, mine.out, strict=True):
        others = np.flatnonzero((ends.flow == flow) & (ends.out != out))
        for other in others[: MOST_SHOWN - len(links)].tolist():
            line = int(ends.line[other])
            link = _link(timeline, track_of.get((found.host_row, line)), lines.lanes[line], int(ends.event[other]))
            if link is not None:
                links.append({**link, "direction": "out" if out else "in"})
    return links, ()


def _link(timeline: Timeline, track: int | None, lanes: Lanes, event: int) -> dict[str, Any] | None:
    rows = np.flatnonzero(lanes.event == event)
    if not len(rows) or track is None:
        return None
    return {
        "track": track,
        "lane": lanes.lane_of(int(rows[0])),
        "event": float(event),
        "start_ps": float(lanes.start_ps[rows[0]] - timeline.origin_ps),
        "duration_ps": float(lanes.duration_ps[rows[0]]),
        "name": shown(lanes.names[lanes.name[rows[0]]]),
    }


def _ends(trace: HostTrace, lines: Recorded) -> Ends:
    with _LOCK:
        if trace not in _ENDS:
            parts = [
                _read(trace, lines, line, lanes.event[first : first + _READ_AT_A_TIME])
                for line, lanes in enumerate(lines.lanes)
                for first in range(0, len(lanes), _READ_AT_A_TIME)
            ]
            _ENDS[trace] = _joined(parts)
        return _ENDS[trace]


def _joined(parts: Sequence[Ends]) -> Ends:
    columns = zip(*((part.flow, part.out, part.line, part.event) for part in parts), strict=True)
    return Ends(*(np.concatenate(column) for column in columns))


def _read(trace: HostTrace, lines: Recorded, line: int, events: NDArray[Any]) -> Ends:
    """Return the ends at events of a line: `_p` makes one that `_c` of its type takes; launch and kernel share one.

    XLA packs a flow as 56 bits of number, 2 of direction (1 in, 2 out) and 6 of category.
    """
    stats = lines.events.stats(line, events.astype(np.int64), _STATS)
    nothing = np.zeros(0, np.uint64)
    parts = [Ends(nothing, nothing.astype(np.bool_), nothing.astype(np.int32), events[:0])]

    def add(rows: NDArray[np.bool_], kind: int, sort: Any, number: Any, out: bool) -> None:
        some, count = np.flatnonzero(rows), int(np.count_nonzero(rows))
        flow = _number(kind, np.broadcast_to(sort, len(rows))[some], number[some])
        parts.append(Ends(flow, np.full(count, out), np.full(count, line, np.int32), events[some]))

    if stats:
        values = {name: column.ints() for name, column in stats.items()}
        leaves = not trace.lines.plane[line].startswith("/device:")
        add(stats["_p"].present, CONTEXT, values["_pt"], values["_p"], True)
        add(stats["_c"].present, CONTEXT, values["_ct"], values["_c"], False)
        add(stats["correlation_id"].present, LAUNCH, 0, values["correlation_id"], leaves)
        add((values["flow"] >> 56) & 1 == 1, FLOW, 0, values["flow"] & _NUMBER, False)
        add((values["flow"] >> 56) & 2 == 2, FLOW, 0, values["flow"] & _NUMBER, True)
    return _joined(parts)


def _number(kind: int, sort: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return one number for kind, sort and number of a flow: its own, with the other two scattered over its bits."""
    scattered = (sort.astype(np.uint64) * np.uint64(3) + np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    return number.astype(np.uint64) ^ scattered ^ (scattered >> np.uint64(29))
