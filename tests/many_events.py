"""Profiles of millions of events, written as bytes: message by message would take minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.xspace_builder import PlaneBuilder, SpaceBuilder

_NUMBER_BYTES = 8
_WRITTEN_AT_A_TIME = 500_000
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ManyEvents:
    """A line of N events, at least one: of each its metadata and times, and by id the numbers that are its stats."""

    name: str
    metadata: Ints
    offset_ps: Ints
    duration_ps: Ints
    stats: Mapping[int, Ints] = field(default_factory=dict)


def write_many(path: Path, count: int, last: str = "last annotation", names: int = 50, stats: int = 0) -> Path:
    """Write a host of ``count`` events of 500 ns, a microsecond apart, then one of 1 ms called ``last``.

    Each has ``stats`` stats that no analysis knows.
    """
    plane = SpaceBuilder().plane("/host:CPU")
    for number in range(names):
        plane.metadata(f"${number}.py:1 call" if number % 2 else f"op {number}")
    rows = np.arange(count + 1, dtype=np.int64)
    metadata, duration_ps = rows % names + 1, np.full(count + 1, 500_000)
    metadata[-1], duration_ps[-1] = plane.metadata(last), 10**9
    unknown = {name_stat(plane, number, f"unknown {number}"): np.full(count + 1, 7) for number in range(1, stats + 1)}
    return write_planes(path, [(plane, [ManyEvents("main/1", metadata, rows * 10**6, duration_ps, unknown)])])


def name_stat(plane: PlaneBuilder, number: int, name: str) -> int:
    """Call a stat of the plane's events something; return its number."""
    entry = plane.message.stat_metadata[number]
    entry.id, entry.name = number, name
    return number


def write_planes(path: Path, planes: Sequence[tuple[PlaneBuilder, Sequence[ManyEvents]]], host: str = "worker") -> Path:
    """Write planes, each with what its builder holds and with lines that are larger."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for plane, lines in planes:
            head = bytes(plane.message.SerializeToString())
            heads = [_line_head(line) for line in lines]
            file.write(_begin(1, len(head) + sum(map(len, heads)) + sum(map(_size, lines))) + head)
            for line_head, line in zip(heads, lines, strict=True):
                file.write(line_head)
                file.writelines(_events(line))
        file.write(_field(4, host.encode()))
    return path


def _line_head(line: ManyEvents) -> bytes:
    """Return the beginning of a line, up to its events."""
    name = _field(2, line.name.encode())
    return _begin(3, len(name) + _size(line)) + name


def _size(line: ManyEvents) -> int:
    return len(_template(line)[0]) * len(line.metadata)


def _template(line: ManyEvents) -> tuple[bytes, list[int]]:
    """Return an event of zeros, and where its numbers are: all are padded to one length, which protobuf allows."""
    zero = b"\x80" * (_NUMBER_BYTES - 1) + b"\x00"
    event, places = b"", []
    for tag in (b"\x08", b"\x10", b"\x18"):
        places.append(len(event) + 1)
        event += tag + zero
    for number in line.stats:
        head = _begin(4, len(_varint(number)) + 2 + _NUMBER_BYTES) + b"\x08" + _varint(number) + b"\x18"
        places.append(len(event) + len(head))
        event += head + zero
    head = _begin(4, len(event))
    return head + event, [len(head) + place for place in places]


def _events(line: ManyEvents) -> Iterator[bytes]:
    template, places = _template(line)
    columns = [line.metadata, line.offset_ps, line.duration_ps, *line.stats.values()]
    for first in range(0, len(line.metadata), _WRITTEN_AT_A_TIME):
        part = slice(first, first + _WRITTEN_AT_A_TIME)
        table = np.tile(np.frombuffer(template, np.uint8), (len(line.metadata[part]), 1))
        for place, column in zip(places, columns, strict=True):
            for byte in range(_NUMBER_BYTES):
                table[:, place + byte] |= (column[part] >> (7 * byte) & 0x7F).astype(np.uint8)
        yield table.tobytes()


def _field(number: int, content: bytes) -> bytes:
    return _begin(number, len(content)) + content


def _begin(number: int, size: int) -> bytes:
    return _varint(number << 3 | 2) + _varint(size)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
