"""When was a profile taken? Found in the file without reading what it recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xprof_nb.errors import ProfileError
from xprof_nb.formats import xspace
from xprof_nb.formats.varint import read_varint

_HEAD_BYTES = 96
_MOST_PLANES = 1000
_LARGEST_BYTES = 1 << 20
_PLANE, _NAME, _LENGTH = 1, 2, 2
SESSION = "Task Environment"
"""The plane that says when the profiler was started and stopped."""


def wall_clock(read: Callable[[int, int], bytes], size_bytes: int) -> tuple[int, int] | None:
    """Return start and stop of the profiler in Unix ns, None where the file does not say.

    Only the first bytes of each plane are read, and that one plane: a file of many gigabytes costs no more
    than a small one.

    Parameters
    ----------
    read
        Gives the bytes from one position to another; may raise OSError.
    """
    position = 0
    for _ in range(_MOST_PLANES):
        head = read(position, min(position + _HEAD_BYTES, size_bytes))
        tag, start = read_varint(head, 0)
        length, start = read_varint(head, start)
        end = position + start + length
        if tag & 7 != _LENGTH or end > size_bytes:
            return None
        if tag >> 3 == _PLANE and _plane_name(head[start:]) == SESSION.encode() and length <= _LARGEST_BYTES:
            return _stated(read(position, end))
        position = end
        if position >= size_bytes:
            return None
    return None


def session_times(stats: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return start and stop in Unix ns as the stats of the session's plane have them, None where they have not."""
    start, stop = stats.get("profile_start_time"), stats.get("profile_stop_time")
    if not isinstance(start, int) or not isinstance(stop, int) or not 0 < start < stop < 2**63:
        return None
    return start, stop


def _stated(space: bytes) -> tuple[int, int] | None:
    """Return what one plane, cut out of its space, says."""
    try:
        plane = xspace.read(space).plane(SESSION)
    except ProfileError:
        return None
    return session_times(plane.stats) if plane is not None else None


def _plane_name(head: bytes) -> bytes:
    """Return the name a plane begins with, as protobuf writes it: after its id, before everything else."""
    position = 0
    while position < len(head):
        tag, position = read_varint(head, position)
        value, position = read_varint(head, position)
        if tag & 7 == _LENGTH:
            return head[position : position + value] if tag >> 3 == _NAME else b""
    return b""
