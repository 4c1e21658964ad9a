"""Which numbers of a file can be meant: a damaged one must neither overflow nor pass for a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane, XSpace

LONGEST_PS = 2**60
"""13 days: no event lasts longer, or starts longer after its line; sums of a few still fit 64 bits."""
LARGEST_SPAN_PS = 2**62
MOST_OCCURRENCES = 2**40
LARGEST_NUMBER = 2**53
"""Whole numbers above it are not told apart in a column with missing ones."""
SMALLEST, LARGEST = 2.0**-126, 2.0**63
"""Between these, peaks and sizes can be divided, multiplied and counted."""
_HINT = "Bytes were changed on the way: copy it again in binary mode, or capture again."


def positive(stats: Mapping[str, Any], name: str) -> float:
    """Return a stat that is a positive number, neither tiny nor huge beyond reason, else 0."""
    value = stats.get(name)
    if not isinstance(value, int | float):
        return 0.0
    number = float(value)
    return number if SMALLEST <= number < LARGEST else 0.0


def amounts(column: StatColumn) -> npt.NDArray[np.float64]:
    """Return the counts of a column: FLOPs, bytes; NaN where there is none that can be meant."""
    values = column.floats()
    return np.where((values >= 0) & (values <= LARGEST), values, np.nan)


def length_ps(stats: Mapping[str, Any], begin_ns: str, end_ns: str) -> int:
    """Return the time between two stats in ns, 0 where they do not say one that can be."""
    begin, end = stats.get(begin_ns), stats.get(end_ns)
    if not isinstance(begin, int) or not isinstance(end, int):
        return 0
    length = (end - begin) * 1000
    return length if 0 < length <= LARGEST_SPAN_PS else 0


def step_numbers(stated: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the numbers of steps: as stated, or by position where that is no whole number a table can hold."""
    numbers = np.asarray(stated, np.float64)
    whole = (np.abs(numbers) < LARGEST_NUMBER) & (numbers == np.floor(numbers))
    return np.where(whole, numbers, np.arange(len(numbers))).astype(np.int64)


def mend(space: XSpace) -> list[str]:
    """Let events that end before they begin last no time, and such as stand for impossibly many stand for one.

    Returns a note for each plane that has some.
    """
    notes = []
    for plane in space.planes:
        duration_ps, place = plane.events.duration_ps, plane.events.place
        impossible = ~plane.events.positioned & (place > MOST_OCCURRENCES)
        if impossible.any():
            place[impossible] = 1
            count = int(np.count_nonzero(impossible))
            notes.append(
                f"{count:,} events of plane {plane.name[:100]!r} say they stand for more than 10^12; each counts once."
            )
        if len(duration_ps) and duration_ps.min() < 0:
            count = int((duration_ps < 0).sum())
            np.maximum(duration_ps, 0, out=duration_ps)
            notes.append(
                f"{count:,} events of plane {plane.name[:100]!r} end before they begin; they count as no time."
            )
    return notes


def span(space: XSpace) -> tuple[int, int] | None:
    """Return begin of the first and end of the last placed event in ps, None where nothing is placed.

    Raises
    ------
    DamagedFileError
        They are further apart than 64-bit picoseconds can add up.
    """
    hulls = [hull for plane in space.planes for hull in _hulls(plane, space.source)]
    if not hulls:
        return None
    begin, end = min(begin for begin, _ in hulls), max(end for _, end in hulls)
    if end - begin > LARGEST_SPAN_PS:
        raise DamagedFileError("events lie more than 53 days apart", file=space.source, hint=_HINT)
    return begin, end


def _hulls(plane: XPlane, file: str) -> Sequence[tuple[int, int]]:
    events = plane.events
    if not len(events):
        return []
    offset_ps, duration_ps = events.offset_ps, events.duration_ps
    if max(-int(offset_ps.min()), int(offset_ps.max()), int(duration_ps.max())) > LONGEST_PS:
        raise DamagedFileError(
            f"an event of plane {plane.name[:100]!r} lasts, or starts after its line, more than 13 days",
            file=file,
            hint=_HINT,
        )
    first = events.lines.first_event
    if not events.positioned.all():
        rows = np.flatnonzero(events.positioned)
        offset_ps, duration_ps, first = offset_ps[rows], duration_ps[rows], np.searchsorted(rows, first)
    lines = np.flatnonzero(np.diff(first))
    if not len(lines):
        return []
    begin_ps = events.line_starts_ps[lines] + np.minimum.reduceat(offset_ps, first[lines])
    end_ps = events.line_starts_ps[lines] + np.maximum.reduceat(offset_ps + duration_ps, first[lines])
    return [(int(begin_ps.min()), int(end_ps.max()))]
