"""The timeline as Perfetto's trace packets, in ns: parts of one are lost. Each lane is a track of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

import numpy as np

from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.exported import THREADS, Box, Piece, cut, earliest_ps, points, slices
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.analysis.timeline.text import perfetto_slices
from xprof_nb.analysis.timeline.tracks import Timeline, Track, timeline_of
from xprof_nb.model.profile import ProfileData

_FIRST_TRACK = 1_000
_CLEARED, _COUNTER = 1, 4


class Sequence:
    """Packets that share a table of names: whoever reads them needs no other sequence."""

    def __init__(self, number: int = 1) -> None:
        self.number = number
        self._names: dict[str, int] = {}

    @property
    def begin(self) -> bytes:
        """The packet that says that nothing is known yet."""
        return self.packet(_number(13, _CLEARED))

    def packet(self, body: bytes) -> bytes:
        """Return a packet of this sequence."""
        return _bytes(1, body + _number(10, self.number))

    def intern(self, names: list[str]) -> tuple[bytes, list[int]]:
        """Return a packet that numbers those names that have none yet, and the numbers."""
        new = [name for name in dict.fromkeys(names) if name not in self._names]
        for name in new:
            self._names[name] = len(self._names) + 1
        entries = b"".join(_bytes(2, _number(1, self._names[name]) + _text(2, name)) for name in new)
        told = self.packet(_bytes(12, entries) + _number(13, 2)) if new else b""
        return told, [self._names[name] for name in names]


def pieces(profile: ProfileData, box: Box, sequence: Sequence) -> Iterator[Piece]:
    """Return what is written of a box; the pieces may be written to several sequences."""
    timeline = timeline_of(profile)
    zero = earliest_ps(profile, timeline)
    for row, track in enumerate(timeline.tracks):
        own = _FIRST_TRACK + row * THREADS
        parent = _FIRST_TRACK + track.parent * THREADS if track.parent >= 0 else 0
        if track.find is not None and not box.has(row):
            continue
        content = timeline.content(profile, row)
        counter = _bytes(8, _text(6, track.unit)) if isinstance(content, Samples | Rates) else b""
        yield 1, partial(_descriptor, sequence, own, parent, track.name, row, counter)
        if isinstance(content, Lanes):
            yield from _lanes(sequence, own, track, content, box, zero)
        elif content is not None:
            yield 1, partial(_curve, sequence, own, content, timeline, box, zero)


def _lanes(sequence: Sequence, own: int, track: Track, lanes: Lanes, box: Box, zero: int) -> Iterator[Piece]:
    for lane in range(lanes.count):
        if lane:
            yield 1, partial(_descriptor, sequence, own + lane, own, track.name, lane, b"")
        for part in slices(lanes, lane, box):
            yield part.stop - part.start, partial(_events, sequence, own + lane, lanes, part, zero)


def _events(sequence: Sequence, track: int, lanes: Lanes, part: slice, zero: int) -> bytes:
    used, name = np.unique(lanes.name[part], return_inverse=True)
    told, numbers = sequence.intern([cut(lanes.names[code]) for code in used.tolist()])
    start = (lanes.start_ps[part] - zero) // 1000
    end = (lanes.start_ps[part] + lanes.duration_ps[part] - zero) // 1000
    return told + perfetto_slices(sequence.number, track, np.array(numbers, np.int32)[name], start, end)


def _curve(sequence: Sequence, own: int, content: Samples | Rates, timeline: Timeline, box: Box, zero: int) -> bytes:
    head = _number(9, _COUNTER) + _number(11, own)
    return b"".join(
        sequence.packet(_number(8, (start_ps - zero) // 1000) + _bytes(11, head + _double(44, value)))
        for start_ps, value in points(content, timeline, box)
    )


def _descriptor(sequence: Sequence, own: int, parent: int, name: str, order: int, more: bytes) -> bytes:
    """Return a TrackDescriptor: its children in the order given (child_ordering 3), itself at its place among them."""
    above = _number(5, parent) if parent else b""
    body = _number(1, own) + above + _text(2, cut(name)) + _number(11, 3) + _number(12, order) + more
    return sequence.packet(_bytes(60, body))


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
