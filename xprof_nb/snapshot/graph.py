"""The graph's part of a snapshot: the nearest ops, whole fusions, and the edges between them by row."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from xprof_nb.model import columns

if TYPE_CHECKING:
    from xprof_nb.model.answer import Answer

LARGEST_EDGES_BYTES = 50_000


def nearest(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the ops nearest to the center, then what is fused into them, a fusion as a whole or not at all."""
    if "inside" not in frame:
        return frame.head(rows)
    outer = frame[frame["inside"].isna()].head(rows)
    left = rows - len(outer)
    parts = [outer]
    for fusion, inner in frame[frame["inside"].isin(outer["node"])].groupby("inside", sort=False):
        if len(inner) <= left and fusion is not None:
            parts.append(inner)
            left -= len(inner)
    return frame.loc[pd.concat(parts).index.sort_values()]


def without_edges(summary: Mapping[str, Any], most: int) -> dict[str, Any]:  # noqa: ARG001
    """Return the summary without its edges, which `edges` keeps in a form a tenth of the size."""
    return {**summary, "edges": []}


def edges(answer: Answer, kept: pd.DataFrame) -> str:
    """Return the edges between rows that are kept, ``source, target, operand``, in base64 of the codec of tables."""
    row = {name: number for number, name in enumerate(kept["node"])} if "node" in kept else {}
    found = [
        (row[source], row[target], operand)
        for source, target, operand, _ in answer.summary.get("edges", ())
        if source in row and target in row
    ]
    while True:
        wire = np.array(found, np.int32).reshape(-1, 3)
        table = pd.DataFrame({"source": wire[:, 0], "target": wire[:, 1], "operand": wire[:, 2]})
        text = base64.b64encode(columns.encode(table)).decode("ascii")
        if len(text) <= LARGEST_EDGES_BYTES:
            return text
        found = found[: len(found) // 2]
