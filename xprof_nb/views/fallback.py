"""The table for whoever has no script: nbconvert, GitHub, a screen reader, a terminal."""

from __future__ import annotations

import html as escaping
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
class Column:
    """A column ready to print; numbers stand to the right, words to the left."""

    head: str
    cells: tuple[str, ...]
    is_text: bool = False


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
    is_tree = result.query == "op_profile"
    frame = _top_of_tree(result.frame, rows) if is_tree else result.frame.head(rows)
    total = int(result.summary.get("node_count") or len(result.frame)) if is_tree else len(result.frame)
    shown = f"{len(frame)} of {units.count(total)} rows" if total > len(frame) else f"{len(frame)} rows"
    return Table(
        caption=f"{result.query.replace('_', ' ')} of {one_line(result.profile.data.name)}, {shown}",
        sentence=one_line(result.summary.get("sentence") or "", LONGEST_NOTE),
        columns=tuple(_LAYOUTS.get(result.query, _everything)(frame)),
        indents=tuple(int(depth) for depth in frame["depth"]) if is_tree else (0,) * len(frame),
        notes=tuple(one_line(note, LONGEST_NOTE) for note in (*result.notes, *notes)),
    )


def html(table: Table) -> str:
    """Return a semantic ``<table>`` with a caption: no script, no style, everything escaped."""
    first, *others = table.columns
    head = "".join(f'<th scope="col" align="{_side(c)}">{escaping.escape(c.head)}</th>' for c in table.columns)
    body = "".join(
        f'<tr><th scope="row" align="left">{"&emsp;" * indent}{escaping.escape(first.cells[row])}</th>'
        + "".join(f'<td align="{_side(c)}">{escaping.escape(c.cells[row])}</td>' for c in others)
        + "</tr>\n"
        for row, indent in enumerate(table.indents)
    )
    sentence = f"<p><strong>{escaping.escape(table.sentence)}</strong></p>\n" if table.sentence else ""
    notes = "".join(f"<li>{escaping.escape(note)}</li>" for note in table.notes)
    return (
        f"{sentence}<table>\n<caption>{escaping.escape(table.caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>" + (f"\n<ul>{notes}</ul>" if notes else "")
    )


def plain(table: Table) -> str:
    """Return the table as aligned text."""
    first, *others = table.columns
    named = Column(first.head, tuple(map(_indented, first.cells, table.indents)), is_text=True)
    lines = [row.rstrip() for row in map("  ".join, zip(*map(_padded, (named, *others)), strict=True))]
    notes = [f"note: {note}" for note in table.notes]
    return "\n".join([*filter(None, (table.caption, table.sentence)), *lines, *notes])


def _side(column: Column) -> str:
    return "left" if column.is_text else "right"


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


def _op_profile(frame: pd.DataFrame) -> list[Column]:
    return [_column(frame, "name", "name"), *_work(frame)]


def _ops(frame: pd.DataFrame) -> list[Column]:
    names = [_column(frame, name, name) for name in ("op", "program", "category")]
    return [*names, *_work(frame), _column(frame, "source", "source")]


def _work(frame: pd.DataFrame) -> list[Column]:
    return [
        _column(frame, "share", "time_fraction"),
        _column(frame, "time", "time_ps"),
        _column(frame, "self time", "self_time_ps"),
        _column(frame, "count", "occurrences"),
        _rate(frame, "FLOP/s", "flops_per_s", "flops_utilization"),
        _rate(frame, "memory", "hbm_bytes_per_s", "hbm_utilization"),
        _column(frame, "bound by", "bound_by"),
        _column(frame, "wasted", "wasted_fraction"),
    ]


def _overview(frame: pd.DataFrame) -> list[Column]:
    values = tuple(map(units.quantity, frame["value"], frame["unit"]))
    # Our own words, and the last column: cut, a definition defines nothing.
    definitions = Column(
        "definition", tuple(one_line(text, LONGEST_NOTE) for text in frame["definition"]), is_text=True
    )
    return [_column(frame, "name", "name"), Column("value", values), definitions]


def _everything(frame: pd.DataFrame) -> list[Column]:
    told = [name for name in frame.columns if not len(frame) or frame[name].notna().any()]
    return [_column(frame, one_line(units.heading(name)), name) for name in told]


_LAYOUTS: dict[str, Callable[[pd.DataFrame], list[Column]]] = {
    "op_profile": _op_profile,
    "ops": _ops,
    "overview": _overview,
}


def _column(frame: pd.DataFrame, head: str, name: str) -> Column:
    write = units.formatter(name)
    values = frame[name]
    is_text = values.dtype.kind not in "biufm" and any(isinstance(value, str) for value in values)
    return Column(head, tuple(one_line(write(value)) for value in values), is_text)


def _rate(frame: pd.DataFrame, head: str, rate: str, share: str) -> Column:
    """Return a rate and how much of its peak that is: a number never stands alone."""
    both = zip(_column(frame, head, rate).cells, _column(frame, head, share).cells, strict=True)
    return Column(head, tuple(value if part == units.MISSING else f"{value}, {part}" for value, part in both))


def one_line(text: object, longest: int = LONGEST_NAME) -> str:
    """Return ``text`` on one line, not too long, without characters that steer a terminal or the text's direction."""
    word = "".join(_visible(character) for character in str(text)[: longest + 1])
    return word if len(word) <= longest else f"{word[: longest - 1]}…"


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character).startswith("C") else character
