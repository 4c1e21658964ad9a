"""A plain answer's part of a snapshot: the first rows, or those a question says are worth most, as many as fit."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xprof_nb import queries
from xprof_nb.model import columns
from xprof_nb.snapshot.bounds import LONGEST_NAME, LONGEST_TEXT, bounded, clipped_names, json_bytes, json_safe

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.model.answer import Answer
    from xprof_nb.model.profile import ProfileData

LARGEST_TABLE_BYTES = 110_000
LARGEST_SUMMARY_BYTES = 60_000
LIST_LENGTHS = (5000, 1000, 250, 100, 24)
MOST_ROWS = 2000
FEWEST_ROWS = 10
SHORT_NAME = 60

Pick = Callable[["pd.DataFrame", int], "pd.DataFrame"]
PICKS: Mapping[str, Pick] = {}
"""Which rows of a question's answer to keep, of so many at most, where the first ones would mislead."""


def fitting_rows(data: ProfileData, view: str, params: Mapping[str, Any]) -> tuple[Answer, str]:
    """Return the answer, and as many of its rows as `LARGEST_TABLE_BYTES` hold in their wire form."""
    answer = queries.ask(data, view, params)
    told = answer.frame.loc[:, [len(answer.frame) == 0 or column.notna().any() for _, column in answer.frame.items()]]
    pick = PICKS.get(view, _first)
    rows, longest = min(len(told), MOST_ROWS), LONGEST_NAME
    while True:
        kept = clipped_names(pick(told, rows), longest)
        table = base64.b64encode(columns.encode(kept)).decode("ascii")
        if len(table) <= LARGEST_TABLE_BYTES or (rows <= FEWEST_ROWS and longest == SHORT_NAME):
            return answer, table
        rows, longest = (rows // 2, longest) if rows > FEWEST_ROWS else (rows, SHORT_NAME)


def _first(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    return frame.head(rows)


def fitting_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary as plain JSON, with lists as long as they fit."""
    plain = json_safe(summary)
    for length in LIST_LENGTHS:
        found: dict[str, Any] = bounded(plain, LONGEST_TEXT, length)
        if json_bytes(found) <= LARGEST_SUMMARY_BYTES:
            break
    return found
