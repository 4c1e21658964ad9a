"""The table for whoever has no script: nbconvert, GitHub, a screen reader, a terminal."""

from __future__ import annotations

import html as escaping
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from xprof_nb.model import units
from xprof_nb.views import layouts, paper
from xprof_nb.views.layouts import LONGEST_NOTE, Column, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

ROWS = 24
"""As many as the overview has numbers."""
NO_BREAK_SPACE = "\u00a0"


class Tabular(Protocol):
    """What a table needs of a result."""

    @property
    def frame(self) -> pd.DataFrame:
        """One row per thing asked about."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The headline values."""

    @property
    def notes(self) -> Sequence[str]:
        """What is missing, and why."""

    @property
    def query(self) -> str:
        """The name of the question."""

    @property
    def profile(self) -> Any:
        """The opened profile."""


@dataclass(frozen=True)
class Table:
    """A table ready to print; the first column names the row.

    Attributes
    ----------
    sentence
        The answer in one sentence.
    indents
        Depth of every row in the tree, 0 where there is none.
    """

    caption: str
    sentence: str
    columns: tuple[Column, ...]
    indents: tuple[int, ...]
    notes: tuple[str, ...]


def table(result: Tabular, notes: Iterable[str] = (), rows: int = ROWS) -> Table:
    """Return the most expensive rows of ``result`` in human units.

    Parameters
    ----------
    result
        An answer about a profile; the tree of an op profile keeps its shape.
    notes
        What to say below the table besides the answer's own notes.
    rows
        How many of them.
    """
    everything = layouts.rows(result.query, result.frame, result.summary)
    is_tree = layouts.is_tree(result.query, everything)
    frame = _top_of_tree(everything, rows) if is_tree else everything.head(rows)
    total = int(result.summary.get("node_count") or len(everything)) if is_tree else len(everything)
    shown = f"{len(frame)} of {units.count(total)} rows" if total > len(frame) else f"{len(frame)} rows"
    return Table(
        caption=f"{result.query.replace('_', ' ')} of {one_line(result.profile.data.name)}, {shown}",
        sentence=one_line(result.summary.get("sentence") or "", LONGEST_NOTE),
        columns=layouts.columns(result.query, frame),
        indents=tuple(int(depth) for depth in frame["depth"]) if is_tree else (0,) * len(frame),
        notes=tuple(one_line(note, LONGEST_NOTE) for note in (*result.notes, *notes)),
    )


def html(table: Table, picture: str = "") -> str:
    """Return a semantic ``<table>`` with a caption: no script, no sheet of styles, everything escaped.

    ``picture`` is HTML that stands between the answer in words and the table.
    """
    page = paper.page((replace(table.columns[0], is_text=True), *table.columns[1:]))
    first, *others = page.columns
    head = "".join(
        f'<th scope="col" {_wide(column, digits)}>{escaping.escape(column.head)}</th>'
        for column, digits in zip(page.columns, page.digits, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row" {_LEFT}>{2 * indent * "&nbsp;"}{escaping.escape(first.cells[row])}</th>'
        + "".join(f"<td {_side(c)}>{escaping.escape(_firm(c, row))}</td>" for c in others)
        + "</tr>\n"
        for row, indent in enumerate(table.indents)
    )
    notes = html_list((*table.notes, *_elsewhere(page.left_out)))
    return (
        f'{html_sentence(table.sentence)}{picture}<table style="font-size:{paper.FONT_PX}px">\n'
        f"<caption>{escaping.escape(table.caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>" + (f"\n{notes}" if notes else "")
    )


def html_sentence(sentence: str) -> str:
    """Return the answer in one sentence, nothing if there is none."""
    return f"<p><strong>{escaping.escape(sentence)}</strong></p>\n" if sentence else ""


def html_list(notes: Iterable[str]) -> str:
    """Return notes as a list, nothing if there are none."""
    items = "".join(f"<li>{escaping.escape(note)}</li>" for note in notes)
    return f"<ul>{items}</ul>" if items else ""


def plain(table: Table) -> str:
    """Return the table as aligned text."""
    first, *others = table.columns
    named = replace(first, cells=tuple(map(_indented, first.cells, table.indents)), is_text=True)
    lines = [row.rstrip() for row in map("  ".join, zip(*map(_padded, (named, *others)), strict=True))]
    notes = [f"note: {note}" for note in table.notes]
    return "\n".join([*filter(None, (table.caption, table.sentence)), *lines, *notes])


# GitHub knows the attribute alone, Jupyter's sheets of styles outdo it.
_LEFT = 'align="left" style="text-align:left;overflow-wrap:anywhere"'


def _side(column: Column) -> str:
    return _LEFT if column.is_text else 'align="right"'


def _wide(column: Column, digits: int) -> str:
    return f'align="left" style="text-align:left;min-width:{digits}ch"' if column.is_text else _side(column)


def _elsewhere(heads: Sequence[str]) -> tuple[str, ...]:
    """Say which columns a page has no room for."""
    return (f"Left out to fit a page: {', '.join(heads)}.",) if heads else ()


def _firm(column: Column, row: int) -> str:
    """Return a cell; no line of it ends between a number and its unit."""
    return column.cells[row] if column.is_text else re.sub(r"(?<!,) ", NO_BREAK_SPACE, column.cells[row])


def _indented(cell: str, depth: int) -> str:
    return "  " * depth + cell


def _padded(column: Column) -> list[str]:
    texts = (column.head, *column.cells)
    width = max(map(len, texts))
    return [text.ljust(width) if column.is_text else text.rjust(width) for text in texts]


def _top_of_tree(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the largest nodes in the tree's own order; the self time of a parent is never the smaller."""
    largest = frame.sort_values(["self_time_ps", "depth"], ascending=[False, True], kind="stable").head(rows)
    return frame.loc[largest.index.sort_values()]
