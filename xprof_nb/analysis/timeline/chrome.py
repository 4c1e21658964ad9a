"""The timeline as Chrome's trace JSON, exact to the picosecond.

A device, and the threads of a host, are a process; a track is a thread, or where its events overlap one a lane.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.exported import THREADS, Box, Piece, cut, earliest_ps, points, slices
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.analysis.timeline.text import Texts, chrome_events
from xprof_nb.analysis.timeline.tracks import Timeline, Track, timeline_of
from xprof_nb.model.profile import ProfileData


def pieces(profile: ProfileData, box: Box) -> Iterator[Piece]:
    """Return what is written of a box, in order; the pieces together are one JSON object."""
    timeline = timeline_of(profile)
    zero = earliest_ps(profile, timeline)
    about = {"run": profile.name, "origin_ps": str(zero), "note": "times are in µs from origin_ps"}
    head = b'{"displayTimeUnit":"ns","otherData":' + _json(about) + b',"traceEvents":[\n'
    yield 0, lambda: head
    process = 0
    for row, track in enumerate(timeline.tracks):
        if track.find is None or track.parent < 0:
            process = row + 1
            label = f"{track.host} {track.name}" if track.kind != "host" else track.name
            yield 1, partial(_meta, "process", process, 0, label, row)
            continue
        if track.depth == 1:
            process = _host_row(timeline, row) + 1
        content = timeline.content(profile, row) if box.has(row) else None
        if isinstance(content, Lanes):
            yield from _lanes(process, row, track, content, box, zero)
        elif content is not None:
            yield 1, partial(_curve, process, row, track, content, timeline, box, zero)
    yield 0, lambda: b'{"ph":"M","name":"trace_end","pid":0,"args":{}}\n]}\n'


def _lanes(process: int, row: int, track: Track, lanes: Lanes, box: Box, zero: int) -> Iterator[Piece]:
    labels = [_label(name, kind) for name, kind in zip(lanes.names, lanes.kinds, strict=True)]
    names, together = Texts(labels), lanes.nests
    for lane in range(lanes.count):
        thread = row * THREADS + (0 if together else lane)
        if lane == 0 or not together:
            label = track.name if lane == 0 else f"{track.name} · {lane + 1}"
            yield 1, partial(_meta, "thread", process, thread, label, thread)
        head = f'"ph":"X","pid":{process},"tid":{thread},'.encode()
        for part in slices(lanes, lane, box):
            yield part.stop - part.start, partial(_events, head, names, lanes, part, zero)


def _events(head: bytes, names: Texts, lanes: Lanes, part: slice, zero: int) -> bytes:
    return chrome_events(head, names, lanes.name[part], lanes.start_ps[part] - zero, lanes.duration_ps[part])


def _curve(
    process: int, row: int, track: Track, content: Samples | Rates, timeline: Timeline, box: Box, zero: int
) -> bytes:
    name = f"{track.name} ({track.unit})" if track.unit else track.name
    head = {"ph": "C", "pid": process, "tid": row * THREADS, "name": name}
    return b"".join(
        _json({**head, "ts": (start_ps - zero) / 1e6, "args": {"value": value}}) + b",\n"
        for start_ps, value in points(content, timeline, box)
    )


def _meta(what: str, process: int, thread: int, name: str, order: int) -> bytes:
    place = {"ph": "M", "pid": process, "tid": thread}
    named = _json({**place, "name": f"{what}_name", "args": {"name": cut(name)}})
    return named + b",\n" + _json({**place, "name": f"{what}_sort_index", "args": {"sort_index": order}}) + b",\n"


def _label(name: str, kind: str | None) -> bytes:
    fields = {"name": cut(name), **({"cat": kind} if kind else {})}
    return _json(fields)[1:-1]


def _json(value: Any) -> bytes:
    """Return JSON in ASCII that is also harmless inside a script element of a page."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").encode()


def _host_row(timeline: Timeline, row: int) -> int:
    while timeline.tracks[row].parent >= 0:
        row = timeline.tracks[row].parent
    return row
