"""What a question gives back: numbers, and how they show themselves."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb import queries
from xprof_nb.errors import UsageError
from xprof_nb.model.answer import Answer

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.api import Profile


class Result:
    """An answer: numbers, and how they show themselves.

    Attributes
    ----------
    query, params
        The question that was asked.
    profile
        The profile it was asked about.
    """

    def __init__(self, answer: Answer, query: str, params: Mapping[str, Any], profile: Profile) -> None:
        self.answer = answer
        self.query = query
        self.params = dict(params)
        self.profile = profile

    @property
    def view(self) -> str:
        """The name of the view that shows it."""
        return self.query

    @property
    def frame(self) -> pd.DataFrame:
        """The rows; units are in the column names, missing is NaN."""
        return self.answer.frame

    @property
    def summary(self) -> dict[str, Any]:
        """The headline values."""
        return dict(self.answer.summary)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing or estimated, and why."""
        return self.answer.notes

    def to_dict(self) -> dict[str, Any]:
        """Return rows, summary and notes as plain JSON-able values; missing is None."""
        from xprof_nb.model.columns import plain_rows

        return {
            "query": self.query,
            "params": self.params,
            "summary": self.summary,
            "notes": list(self.notes),
            "rows": plain_rows(self.frame),
        }

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the rows as CSV; return the text if no path is given.

        Text that a spreadsheet would run as a formula is preceded by an apostrophe.
        """
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(self.frame.columns)
        present = self.frame.astype(object).where(self.frame.notna(), None)
        for row in present.itertuples(index=False):
            writer.writerow([_harmless(value) for value in row])
        if path is None:
            return text.getvalue()
        Path(path).write_text(text.getvalue(), encoding="utf-8", newline="")
        return None

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained page: the view with its data, needing neither network nor kernel."""
        from xprof_nb.views import page

        return page.write(self, path)

    def __repr__(self) -> str:
        return f"<{self.query} of {self.profile.name!r}: {len(self.frame)} rows>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:  # noqa: ARG002
        from xprof_nb.views import mimebundle

        return mimebundle(self)


class Explorer(Result):
    """All views of a profile as tabs; its numbers are those of the overview."""

    @property
    def view(self) -> str:
        """The name of the view that shows it."""
        return "explore"


class Graph(Result):
    """An answer of `Profile.graph`, which other tools can read too."""

    def to_dot(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the graph in the DOT language, for graphviz and others; return the text if no path is given."""
        return _written(queries.graph_dot(self.answer), path)

    def to_text(self, path: str | os.PathLike[str] | None = None, long: bool = False) -> str | None:
        """Write the whole program as HLO text; return it if no path is given.

        Parameters
        ----------
        long
            With framework ops, source lines and what the compiler's backend noted.
        """
        number = self.summary.get("program_id")
        if number is None:
            raise UsageError("there is no program to write", hint=" ".join(self.notes))
        return _written(queries.program_text(self.profile.programs[int(number)], long), path)


def _written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8", newline="")
    return None


def _harmless(value: object) -> object:
    """Return a CSV cell that no spreadsheet takes for a formula; missing, which is None, is empty."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return value


def result_of(query: str) -> type[Result]:
    """Return the class of a question's answers: some can do more than show themselves."""
    if query == "trace":
        from xprof_nb.trace import Trace

        return Trace
    return Graph if query == "graph" else Result
