"""Which columns of a plain table fit a page: what has no room there is named below instead of cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xprof_nb.views.layouts import Column

FONT_PX = 11
PAGE_DIGITS = 74
"""Digits of that size side by side where nbconvert prints an output on A4 with margins of 2 cm."""
NAME_DIGITS = 16
"""What a name is broken into at least, so that it pushes no number off the page."""
GAP_DIGITS = 1.6


@dataclass(frozen=True)
class Page:
    """What of a table a page has room for.

    Attributes
    ----------
    columns
        Those shown; the first names the row.
    digits
        How wide each of them is at least.
    left_out
        Heads of the others.
    """

    columns: tuple[Column, ...]
    digits: tuple[int, ...]
    left_out: tuple[str, ...]


def page(columns: Sequence[Column]) -> Page:
    """Return the columns that fit, earlier ones first; the name of the row always does, and gets what room is left."""
    room = float(PAGE_DIGITS)
    shown: list[Column] = []
    digits: list[int] = []
    left_out: list[str] = []
    for column in columns:
        least = _least(column, NAME_DIGITS)
        if shown and least + GAP_DIGITS > room:
            left_out.append(column.head)
            continue
        shown.append(column)
        digits.append(least)
        room -= least + GAP_DIGITS
    digits[0] = min(_least(columns[0], PAGE_DIGITS), digits[0] + int(max(room, 0)))
    return Page(tuple(shown), tuple(digits), tuple(left_out))


def _least(column: Column, most: int) -> int:
    """Return how many digits wide a column is at least: a number stays whole, a word up to ``most``."""
    head = max(map(len, column.head.split()), default=0)
    apart = re.compile(" " if column.is_text else ", ")
    widest = max((len(piece) for cell in column.cells for piece in apart.split(cell)), default=0)
    return max(head, min(widest, most) if column.is_text else widest)
