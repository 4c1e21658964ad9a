"""Profiles of millions of events, written as bytes: message by message would take minutes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.xspace_builder import SpaceBuilder

_OFFSET_BYTES = 8


def write_many(path: Path, count: int, last: str = "last annotation", names: int = 50, stats: int = 0) -> Path:
    """Write a host of ``count`` events of 500 ns, a microsecond apart, then one of 1 ms called ``last``.

    Each of the many has ``stats`` stats that no analysis knows.
    """
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number in range(names):
        plane.metadata(f"${number}.py:1 call" if number % 2 else f"op {number}")
    for number in range(1, stats + 1):
        plane.message.stat_metadata[number].id = number
        plane.message.stat_metadata[number].name = f"unknown {number}"
    head = bytes(plane.message.SerializeToString())
    annotation = bytes(plane.line("x").event(last, count * 10**6, 10**9).message.events[0].SerializeToString())
    entry = plane.message.event_metadata[names + 1]
    extra = _field(4, b"\x08" + _varint(names + 1) + _field(2, bytes(entry.SerializeToString())))
    line = b"\x08\x01" + _field(2, b"main/1") + _events(count, names, stats) + _field(4, annotation)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_field(1, head + extra + _field(3, line)) + _field(4, b"worker"))
    return path


def _events(count: int, names: int, stats: int) -> bytes:
    """Return events of one length: numbers are padded, which protobuf allows."""
    event = b"\x08\x00\x10" + b"\x80" * _OFFSET_BYTES + b"\x18" + _varint(500_000)
    event += b"".join(_field(4, b"\x08" + _varint(number) + b"\x20\x07") for number in range(1, stats + 1))
    field = _field(4, event)
    at = len(field) - len(event)
    table = np.tile(np.frombuffer(field, np.uint8), (count, 1))
    offset_ps = np.arange(count, dtype=np.int64) * 10**6
    table[:, at + 1] = np.arange(count) % names + 1
    for byte in range(_OFFSET_BYTES):
        more = 0 if byte == _OFFSET_BYTES - 1 else 0x80
        table[:, at + 3 + byte] = offset_ps >> (7 * byte) & 0x7F | more
    return table.tobytes()


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
