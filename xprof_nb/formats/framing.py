"""The outermost frames of a serialized XSpace: enough to tell a whole one from a cut one, and whether anything ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

# Field numbers of XSpace, XPlane and XLine in tsl/profiler/protobuf/xplane.proto.
_XSPACE_FIELDS = frozenset({1, 2, 3, 4})
_XSPACE_PLANES, _XSPACE_HOSTNAMES, _XPLANE_LINES, _XLINE_EVENTS = 1, 4, 3, 4
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}


def is_whole(data: bytes | mmap) -> bool:
    """Return whether the outer frames are an XSpace's and end exactly where the bytes end."""
    try:
        return bool(data) and all(number in _XSPACE_FIELDS for number, _ in _messages(memoryview(data)))
    except ValueError:
        return False


def has_events(data: bytes) -> bool:
    """Return whether any line of any plane holds an event."""
    return any(
        number == _XLINE_EVENTS
        for plane in _children(memoryview(data), _XSPACE_PLANES)
        for line in _children(plane, _XPLANE_LINES)
        for number, _ in _messages(line)
    )


def count_events(data: bytes) -> tuple[int, int]:
    """Return how many events all lines hold together, and how many bytes these lines take."""
    event_count = line_bytes = 0
    for plane in _children(memoryview(data), _XSPACE_PLANES):
        for line in _children(plane, _XPLANE_LINES):
            line_bytes += len(line)
            event_count += sum(number == _XLINE_EVENTS for number, _ in _messages(line))
    return event_count, line_bytes


def host_names(data: bytes) -> list[str]:
    """Return the names of the hosts that recorded it, as the profile states them."""
    return [bytes(name).decode(errors="replace") for name in _children(memoryview(data), _XSPACE_HOSTNAMES)]


def _children(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (body for number, body in _messages(message) if number == wanted)


def _messages(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield field number and bytes of each length-delimited field; raise ValueError where the framing breaks."""
    at, end = 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(message, at)
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in _FIXED_SIZES:
            size = _FIXED_SIZES[kind]
        else:
            raise ValueError(f"wire type {kind}")
        if size > end - at:
            raise ValueError("cut short")
        if kind == _BYTES:
            yield tag >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a varint without an end")
