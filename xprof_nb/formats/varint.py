"""A single number as protobuf writes it; long runs of them are numba's, in `wire`."""

from __future__ import annotations


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Return the number of at most 64 bits at a position, as far as the bytes go, and where it ends."""
    value = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            break
    return value % 2**64, position
