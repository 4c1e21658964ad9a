"""Millions of events as text or protobuf: what differs between two events of a track is only times and a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

PIECE = 200_000
"""Events that are written at a time, so that the text of all of them is never in memory."""
_LONGEST_NUMBER = 20


class Texts:
    """Texts one after the other, to be copied by number."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.bytes = np.frombuffer(b"".join(texts), np.uint8)
        self.first = np.cumsum([0, *map(len, texts)]).astype(np.int64)

    def total(self, numbers: NDArray[np.int32]) -> int:
        """Return how many bytes some of them take."""
        return int(np.diff(self.first)[numbers].sum())


def chrome_events(head: bytes, names: Texts, name: NDArray[np.int32], start_ps: Ints, duration_ps: Ints) -> bytes:
    """Return ``{<head>"ts":1.5,"dur":0.25,<name>},`` for each event; times in µs, none before zero."""
    if not len(name):
        return b""
    room = names.total(name) + len(name) * (len(head) + 2 * _LONGEST_NUMBER + 32)
    out = np.empty(room, np.uint8)
    columns = np.frombuffer(head, np.uint8), names.bytes, names.first, name, start_ps, duration_ps
    return out[: _chrome(*columns, out)].tobytes()


def perfetto_slices(sequence: int, track: int, name: NDArray[np.int32], start_ns: Ints, end_ns: Ints) -> bytes:
    """Return two packets for each event: its begin, with the name interned as ``name``, and its end."""
    out = np.empty(len(name) * 2 * 64, np.uint8)
    return out[: _slices(sequence, track, name, start_ns, end_ns, out)].tobytes()


@njit
def _digits(value: int, least: int, out: Any, at: int) -> Any:
    """Write a whole number of at least so many digits; return where it ends."""
    count, rest = 1, value // 10
    while rest > 0:
        count += 1
        rest //= 10
    count = max(count, least)
    for place in range(count - 1, -1, -1):
        out[at + place] = 48 + value % 10
        value //= 10
    return at + count


@njit
def _microseconds(ps: int, out: Any, at: int) -> Any:
    at = _digits(ps // 1_000_000, 1, out, at)
    fraction = ps % 1_000_000
    if fraction > 0:
        out[at] = 46  # .
        at = _digits(fraction, 6, out, at + 1)
        while out[at - 1] == 48:
            at -= 1
    return at


@njit
def _copied(text: Any, first: int, last: int, out: Any, at: int) -> Any:
    for place in range(first, last):
        out[at] = text[place]
        at += 1
    return at


_TS = np.frombuffer(b'"ts":', np.uint8)
_DUR = np.frombuffer(b',"dur":', np.uint8)


@njit
def _chrome(head: Any, text: Any, first: Any, name: Any, start: Any, duration: Any, out: Any) -> Any:
    at = 0
    for row in range(len(name)):
        out[at] = 123  # {
        at = _copied(head, 0, len(head), out, at + 1)
        at = _copied(_TS, 0, len(_TS), out, at)
        at = _microseconds(start[row], out, at)
        at = _copied(_DUR, 0, len(_DUR), out, at)
        at = _microseconds(duration[row], out, at)
        out[at] = 44  # ,
        at = _copied(text, first[name[row]], first[name[row] + 1], out, at + 1)
        out[at], out[at + 1], out[at + 2] = 125, 44, 10  # },
        at += 3
    return at


@njit
def _varint(value: int, out: Any, at: int) -> Any:
    while value >= 128:
        out[at] = value & 127 | 128
        value >>= 7
        at += 1
    out[at] = value
    return at + 1


@njit
def _packet(
    sequence: int, track: int, kind: int, name: int, time: int, body: Any, event: Any, out: Any, at: int
) -> Any:
    """Write one TracePacket: timestamp (8), sequence (10), track_event (11), sequence_flags (13)."""
    size = 0
    event[size] = 9 << 3
    event[size + 1] = kind
    size += 2
    if name > 0:
        event[size] = 10 << 3
        size = _varint(name, event, size + 1)
    event[size] = 11 << 3
    size = _varint(track, event, size + 1)
    body[0] = 8 << 3
    end = _varint(time, body, 1)
    body[end] = 10 << 3
    end = _varint(sequence, body, end + 1)
    body[end], body[end + 1] = 13 << 3, 2
    body[end + 2] = 11 << 3 | 2
    end = _varint(size, body, end + 3)
    end = _copied(event, 0, size, body, end)
    out[at] = 1 << 3 | 2
    at = _varint(end, out, at + 1)
    return _copied(body, 0, end, out, at)


@njit
def _slices(sequence: int, track: int, name: Any, start: Any, end: Any, out: Any) -> Any:
    body, event = np.empty(64, np.uint8), np.empty(64, np.uint8)
    at = 0
    for row in range(len(name)):
        at = _packet(sequence, track, 1, name[row], start[row], body, event, out, at)
        at = _packet(sequence, track, 2, 0, end[row], body, event, out, at)
    return at


@warm_up
def _warm() -> None:
    name, time = np.zeros(1, np.int32), np.ones(1, np.int64)
    chrome_events(b"", Texts([b"a"]), name, time, time)
    perfetto_slices(1, 1, name, time, time)
