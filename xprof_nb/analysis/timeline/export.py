"""The whole timeline for other viewers: Chrome's trace JSON, exact to the picosecond, and Perfetto's own protobuf."""

from __future__ import annotations

import gzip
import json
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np

from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.lanes import MOST_LANES, Lanes
from xprof_nb.analysis.timeline.lod import bucket_bits
from xprof_nb.analysis.timeline.text import PIECE, Texts, chrome_events, perfetto_slices
from xprof_nb.analysis.timeline.tracks import Timeline, Track, timeline_of
from xprof_nb.errors import UsageError
from xprof_nb.model.profile import ProfileData

LONGEST_NAME = 1000
CURVE_POINTS = 5000
"""Stretches in which the rate of work is written: unlike a counter it has no samples of its own."""
_TRACKS = MOST_LANES + 1


def to_chrome_json(profile: ProfileData, path: str | os.PathLike[str]) -> Path:
    """Write every track as Chrome's trace events; gzipped if the name ends in ``.gz``.

    A device, and the threads of a host, are a process; a track is a thread, or where its events overlap one a lane.
    Names are cut after 1,000 characters; what HTML would take for markup is escaped.
    """
    return _written(path, _chrome(profile))


def to_perfetto(profile: ProfileData, path: str | os.PathLike[str]) -> Path:
    """Write every track as Perfetto's trace packets; gzipped if the name ends in ``.gz``.

    Perfetto counts in ns: parts of one are lost. Each lane is a track of its own.
    """
    return _written(path, _perfetto(profile))


def _written(path: str | os.PathLike[str], parts: Iterable[bytes]) -> Path:
    """Write beside the target and rename, so that a failed export leaves nothing that looks like one."""
    target = Path(path)
    staged = target.with_name(f".{target.name[:100]}.{uuid4().hex}")
    try:
        with staged.open("xb") as raw, _opened(raw, target) as file:
            for part in parts:
                file.write(part)
        staged.replace(target)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror or error}", file=target) from error
    finally:
        staged.unlink(missing_ok=True)
    return target


def _opened(raw: BinaryIO, target: Path) -> AbstractContextManager[Any]:
    return gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=4) if target.suffix == ".gz" else nullcontext(raw)


def _chrome(profile: ProfileData) -> Iterator[bytes]:
    timeline = timeline_of(profile)
    zero = _zero(profile, timeline)
    about = {"run": profile.name, "origin_ps": str(zero), "note": "times are in µs from origin_ps"}
    yield b'{"displayTimeUnit":"ns","otherData":' + _json(about) + b',"traceEvents":[\n'
    process = 0
    for row, track in enumerate(timeline.tracks):
        if track.find is None or track.parent < 0:
            process = row + 1
            label = f"{track.host} {track.name}" if track.kind != "host" else track.name
            yield from _meta("process", process, 0, label, row)
            continue
        if track.depth == 1:
            process = _host_row(timeline, row) + 1
        content = timeline.content(profile, row)
        if isinstance(content, Lanes):
            yield from _chrome_lanes(process, row, track, content, zero)
        elif content is not None:
            yield from _chrome_curve(process, row, track, content, timeline, zero)
    yield b'{"ph":"M","name":"trace_end","pid":0,"args":{}}\n]}\n'


def _chrome_lanes(process: int, row: int, track: Track, lanes: Lanes, zero: int) -> Iterator[bytes]:
    labels = [_label(name, kind) for name, kind in zip(lanes.names, lanes.kinds, strict=True)]
    names, together = Texts(labels), lanes.nests
    for lane in range(lanes.count):
        thread = row * _TRACKS + (0 if together else lane)
        if lane == 0 or not together:
            label = track.name if lane == 0 else f"{track.name} · {lane + 1}"
            yield from _meta("thread", process, thread, label, thread)
        head = f'"ph":"X","pid":{process},"tid":{thread},'.encode()
        for first in range(int(lanes.first[lane]), int(lanes.first[lane + 1]), PIECE):
            part = slice(first, min(first + PIECE, int(lanes.first[lane + 1])))
            yield chrome_events(head, names, lanes.name[part], lanes.start_ps[part] - zero, lanes.duration_ps[part])


def _chrome_curve(
    process: int, row: int, track: Track, content: Samples | Rates, timeline: Timeline, zero: int
) -> Iterator[bytes]:
    name = f"{track.name} ({track.unit})" if track.unit else track.name
    for start_ps, value in _points(content, timeline):
        event = {"ph": "C", "pid": process, "tid": row * _TRACKS, "ts": (start_ps - zero) / 1e6, "name": name}
        yield _json({**event, "args": {"value": value}}) + b",\n"


def _points(content: Samples | Rates, timeline: Timeline) -> Iterable[tuple[int, float]]:
    if isinstance(content, Samples):
        return zip(content.start_ps.tolist(), content.value.tolist(), strict=True)
    begin, end = timeline.origin_ps, max(timeline.end_ps, timeline.origin_ps + 1)
    bits = bucket_bits(begin, end, CURVE_POINTS)
    steps = content.within(begin, end, bits)
    return zip(steps.start_ps.tolist(), steps.value.tolist(), strict=True)


def _meta(what: str, process: int, thread: int, name: str, order: int) -> Iterator[bytes]:
    place = {"ph": "M", "pid": process, "tid": thread}
    yield _json({**place, "name": f"{what}_name", "args": {"name": _cut(name)}}) + b",\n"
    yield _json({**place, "name": f"{what}_sort_index", "args": {"sort_index": order}}) + b",\n"


def _label(name: str, kind: str | None) -> bytes:
    fields = {"name": _cut(name), **({"cat": kind} if kind else {})}
    return _json(fields)[1:-1]


def _json(value: Any) -> bytes:
    """Return JSON in ASCII that is also harmless inside a script element of a page."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").encode()


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _host_row(timeline: Timeline, row: int) -> int:
    while timeline.tracks[row].parent >= 0:
        row = timeline.tracks[row].parent
    return row


def _zero(profile: ProfileData, timeline: Timeline) -> int:
    """Return the earliest moment of all: neither format has negative times."""
    zero = timeline.origin_ps
    for row in range(len(timeline.tracks)):
        content = timeline.content(profile, row)
        events = content if isinstance(content, Lanes | Samples) else None
        if events is not None and len(events):
            zero = min(zero, int(events.start_ps.min()))
    return zero


_FIRST_TRACK = 1_000
_CLEARED, _COUNTER = 1, 4


def _perfetto(profile: ProfileData) -> Iterator[bytes]:
    timeline = timeline_of(profile)
    zero = _zero(profile, timeline)
    interned: dict[str, int] = {}
    yield _packet(_number(13, _CLEARED))
    for row, track in enumerate(timeline.tracks):
        content = timeline.content(profile, row)
        own = _FIRST_TRACK + row * _TRACKS
        parent = _FIRST_TRACK + track.parent * _TRACKS if track.parent >= 0 else 0
        if isinstance(content, Lanes):
            yield _descriptor(own, parent, track.name, row)
            yield from _perfetto_lanes(own, track, content, zero, interned)
        elif content is not None:
            counter = _bytes(8, _text(6, track.unit))
            yield _descriptor(own, parent, track.name, row, counter)
            for start_ps, value in _points(content, timeline):
                event = _number(9, _COUNTER) + _number(11, own) + _double(44, value)
                yield _packet(_number(8, (start_ps - zero) // 1000) + _bytes(11, event))
        else:
            yield _descriptor(own, parent, track.name, row)


def _perfetto_lanes(own: int, track: Track, lanes: Lanes, zero: int, interned: dict[str, int]) -> Iterator[bytes]:
    new = [name for name in dict.fromkeys(map(_cut, lanes.names)) if name not in interned]
    if new:
        entries = b"".join(
            _bytes(2, _number(1, interned.setdefault(name, len(interned) + 1)) + _text(2, name)) for name in new
        )
        yield _packet(_bytes(12, entries) + _number(13, 2))
    number_of = np.array([interned[_cut(name)] for name in lanes.names] or [0], np.int32)
    for lane in range(lanes.count):
        if lane:
            yield _descriptor(own + lane, own, track.name, lane)
        for first in range(int(lanes.first[lane]), int(lanes.first[lane + 1]), PIECE):
            part = slice(first, min(first + PIECE, int(lanes.first[lane + 1])))
            start = (lanes.start_ps[part] - zero) // 1000
            end = (lanes.start_ps[part] + lanes.duration_ps[part] - zero) // 1000
            yield perfetto_slices(own + lane, number_of[lanes.name[part]], start, end)


def _descriptor(own: int, parent: int, name: str, order: int, more: bytes = b"") -> bytes:
    """Return a TrackDescriptor: its children in the order given (child_ordering 3), itself at its place among them."""
    above = _number(5, parent) if parent else b""
    body = _number(1, own) + above + _text(2, _cut(name)) + _number(11, 3) + _number(12, order) + more
    return _packet(_bytes(60, body))


def _packet(body: bytes) -> bytes:
    return _bytes(1, body + _number(10, 1))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8", "replace"))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
