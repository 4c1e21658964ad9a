"""A plain answer's part of a snapshot: the first rows, or those a question says are worth most, as many as fit."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from xprof_nb import queries
from xprof_nb.model import columns
from xprof_nb.model.pruning import pruned
from xprof_nb.model.thinning import largest_of_stretches
from xprof_nb.snapshot import graph
from xprof_nb.snapshot.bounds import LONGEST_NAME, LONGEST_TEXT, bounded, clipped_names, json_bytes, json_safe
from xprof_nb.snapshot.picks import curves, points

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.model.answer import Answer
    from xprof_nb.model.profile import ProfileData

LARGEST_TABLE_BYTES = 110_000
LARGEST_SUMMARY_BYTES = 60_000
LIST_LENGTHS = (5000, 1000, 250, 100, 24, 4)
MOST_ROWS = 2000
FEWEST_ROWS = 10
SHORT_NAME = 60


def _live_first(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the largest buffers, those live at the peak before others, in the order they were."""
    if "live_at_peak" not in frame:
        return frame.head(rows)
    wanted = frame.sort_values("live_at_peak", ascending=False, kind="stable").head(rows)
    return frame.loc[wanted.index.sort_values()]


def _heaviest(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the nodes of a tree that took most time, and those above them."""
    return pruned(frame, rows, "self_time_ps") if "depth" in frame else frame.head(rows)


def whole_steps(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return every n-th step on all of its devices: the first rows would be those of one device."""
    stride = -(-len(frame) // max(rows, 1))
    numbers = frame["step"].rank(method="dense") - 1
    return frame[numbers % stride == 0].head(rows)


def _with_thinned_curve(summary: Mapping[str, Any], most: int) -> dict[str, Any]:
    curve = {"curve": largest_of_stretches(summary["curve"], "live_bytes", most)} if "curve" in summary else {}
    return {**summary, **curve}


def _as_it_is(summary: Mapping[str, Any], most: int) -> dict[str, Any]:  # noqa: ARG001
    return dict(summary)


Pick = Callable[["pd.DataFrame", int], "pd.DataFrame"]
PICKS: Mapping[str, Pick] = {
    "buffers": _live_first,
    "framework_ops": _heaviest,
    "graph": graph.nearest,
    "memory": curves,
    "roofline": points,
    "input_pipeline": whole_steps,
    "steps": whole_steps,
}
"""Which rows of a question's answer to keep, of so many at most, where the first ones would mislead."""
Shorten = Callable[[Mapping[str, Any], int], dict[str, Any]]
SHORTER: Mapping[str, Shorten] = {
    "buffers": _with_thinned_curve,
    "graph": graph.without_edges,
}
"""How to shorten the lists of a summary, to so many items at most, where the first ones would mislead."""


class Fitted(NamedTuple):
    """An answer, the rows of it that are kept, and their wire form."""

    answer: Answer
    kept: pd.DataFrame
    table: str


def fitting_rows(data: ProfileData, view: str, params: Mapping[str, Any]) -> Fitted:
    """Return the answer, and as many of its rows as `LARGEST_TABLE_BYTES` hold in their wire form."""
    answer = queries.ask(data, view, params)
    return Fitted(answer, *fitting_table(answer.frame, view, LARGEST_TABLE_BYTES))


def fitting_table(frame: pd.DataFrame, view: str, most_bytes: int) -> tuple[pd.DataFrame, str]:
    """Return as many rows of a question's frame as so many bytes hold in their wire form, and that form."""
    told = frame.loc[:, [len(frame) == 0 or column.notna().any() for _, column in frame.items()]]
    pick = PICKS.get(view, _first)
    rows, longest = min(len(told), MOST_ROWS), LONGEST_NAME
    while True:
        kept = pick(told, rows)
        table = base64.b64encode(columns.encode(clipped_names(kept, longest))).decode("ascii")
        if len(table) <= most_bytes or (rows <= FEWEST_ROWS and longest == SHORT_NAME):
            return kept, table
        rows, longest = (rows // 2, longest) if rows > FEWEST_ROWS else (rows, SHORT_NAME)


def _first(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    return frame.head(rows)


def fitting_summary(view: str, summary: Mapping[str, Any], most_bytes: int = LARGEST_SUMMARY_BYTES) -> dict[str, Any]:
    """Return a summary as plain JSON, with lists as long as they fit."""
    shorter = SHORTER.get(view, _as_it_is)
    for length in LIST_LENGTHS:
        found: dict[str, Any] = bounded(json_safe(shorter(summary, length)), LONGEST_TEXT, length)
        if json_bytes(found) <= most_bytes:
            break
    return found
