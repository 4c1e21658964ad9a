"""Numbers that the compiled walks over an XSpace and their callers share."""

from __future__ import annotations

VARINT, FIXED64, LENGTH = 0, 1, 2
"""Wire types; the other one in use is four bytes long."""
WIRE_TYPES = 0b100111
"""A bit for each wire type in use."""

ABSENT, DOUBLE, UINT64, INT64, STR, BYTES, REF = range(7)
"""Kinds of a stat's value."""

OVERRUN, CUT_NUMBER, LONG_NUMBER, BAD_TAG, BAD_WIRE, NOT_UTF8, TWO_VALUES, LONG_SIZE = range(1, 9)
"""What can be wrong with bytes."""
FAULTS = 16
"""More than there are codes of faults: a negative result has code and position in one number."""

SEGMENT_EVENTS = 65536
"""Events that are walked at once; a long line is cut so that threads can share it."""


def fault(result: int) -> tuple[int, int]:
    """Return what was wrong and where from the negative result of a walk."""
    return -result % FAULTS, -result // FAULTS
