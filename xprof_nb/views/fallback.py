"""The table for whoever has no script: nbconvert, GitHub, a screen reader, a terminal."""

from __future__ import annotations

import html as escaping
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

ROWS = 20
LONGEST_NAME = 72
LONGEST_NOTE = 500


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
    """A table ready to print: every cell is text, the first column names the row.

    Attributes
    ----------
    sentence
        The answer in one sentence.
    indents
        Depth of every row in the tree, 0 where there is none.
    """

    caption: str
    sentence: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    indents: tuple[int, ...]
    notes: tuple[str, ...]


def table(result: Tabular, notes: Iterable[str] = ()) -> Table:
    """Return the most expensive `ROWS` rows of ``result`` in human units.

    Parameters
    ----------
    result
        An answer about a profile; the tree of an op profile keeps its shape.
    notes
        What to say below the table besides the answer's own notes.
    """
    is_tree = {"depth", "name", "time_ps"} <= set(result.frame.columns)
    frame = _top_of_tree(result.frame) if is_tree else result.frame.head(ROWS)
    cells = _op_profile_cells(frame) if is_tree else _plain_cells(frame)
    total = int(result.summary.get("node_count") or len(result.frame))
    shown = f"{len(frame)} of {units.count(total)} rows" if total > len(frame) else f"{len(frame)} rows"
    return Table(
        caption=f"{result.query.replace('_', ' ')} of {_short(result.profile.data.name)}, {shown}",
        sentence=_short(result.summary.get("sentence") or "", LONGEST_NOTE),
        headers=tuple(cells),
        rows=tuple(zip(*cells.values(), strict=True)),
        indents=tuple(int(depth) for depth in frame["depth"]) if is_tree else (0,) * len(frame),
        notes=tuple(_short(note, LONGEST_NOTE) for note in (*result.notes, *notes)),
    )


def html(table: Table) -> str:
    """Return a semantic ``<table>`` with a caption: no script, no style, everything escaped."""
    head = "".join(f'<th scope="col">{escaping.escape(name)}</th>' for name in table.headers)
    body = "".join(
        f'<tr><th scope="row" align="left">{"&emsp;" * indent}{escaping.escape(row[0])}</th>'
        + "".join(f'<td align="right">{escaping.escape(cell)}</td>' for cell in row[1:])
        + "</tr>\n"
        for row, indent in zip(table.rows, table.indents, strict=True)
    )
    sentence = f"<p><strong>{escaping.escape(table.sentence)}</strong></p>\n" if table.sentence else ""
    notes = "".join(f"<li>{escaping.escape(note)}</li>" for note in table.notes)
    return (
        f"{sentence}<table>\n<caption>{escaping.escape(table.caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>" + (f"\n<ul>{notes}</ul>" if notes else "")
    )


def plain(table: Table) -> str:
    """Return the table as aligned text: names to the left, numbers to the right."""
    rows = [("  " * indent + name, *cells) for (name, *cells), indent in zip(table.rows, table.indents, strict=True)]
    widths = [max(map(len, column)) for column in zip(table.headers, *rows, strict=True)]
    lines = [_aligned(row, widths) for row in (table.headers, *rows)] if widths else []
    notes = [f"note: {note}" for note in table.notes]
    return "\n".join([*filter(None, (table.caption, table.sentence)), *lines, *notes])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers]).rstrip()


def _top_of_tree(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the `ROWS` largest nodes in the tree's own order; a parent is never smaller than its child."""
    largest = frame.sort_values(["time_ps", "depth"], ascending=[False, True], kind="stable").head(ROWS)
    return frame.loc[largest.index.sort_values()]


def _op_profile_cells(frame: pd.DataFrame) -> dict[str, list[str]]:
    return {
        "name": [_short(name) for name in frame["name"]],
        "share": _written(frame, "time_fraction"),
        "time": _written(frame, "time_ps"),
        "self time": _written(frame, "self_time_ps"),
        "count": _written(frame, "occurrences"),
        "FLOP/s": _with_share(frame, "flops_per_s", "flops_utilization"),
        "memory": _with_share(frame, "hbm_bytes_per_s", "hbm_utilization"),
        "bound by": _written(frame, "bound_by"),
        "wasted": _written(frame, "wasted_fraction"),
    }


def _plain_cells(frame: pd.DataFrame) -> dict[str, list[str]]:
    return {_short(str(column)): _written(frame, column) for column in frame.columns}


def _written(frame: pd.DataFrame, column: str) -> list[str]:
    write = units.formatter(column)
    return [_short(write(value)) for value in frame[column]]


def _with_share(frame: pd.DataFrame, rate: str, share: str) -> list[str]:
    """Return a rate and how much of its peak that is: a number never stands alone."""
    both = zip(_written(frame, rate), _written(frame, share), strict=True)
    return [value if part == units.MISSING else f"{value}, {part}" for value, part in both]


def _short(text: object, longest: int = LONGEST_NAME) -> str:
    """Return ``text`` on one line, not too long, without characters that steer a terminal or the text's direction."""
    word = "".join(_visible(character) for character in str(text)[: longest + 1])
    return word if len(word) <= longest else f"{word[: longest - 1]}…"


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character).startswith("C") else character
