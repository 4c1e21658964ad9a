"""Keeping some rows of a tree in preorder, with those above them."""

from __future__ import annotations

import numpy as np
import pandas as pd


def pruned(frame: pd.DataFrame, limit: int, weight_column: str) -> pd.DataFrame:
    """Return the ``limit`` heaviest nodes; a node is never heavier than its parent, so parents stay."""
    if len(frame) <= limit:
        return frame
    weight = frame[weight_column].fillna(-1.0)
    kept = frame.assign(_weight=weight).sort_values(["_weight", "depth"], ascending=[False, True], kind="stable")
    return renumbered(frame.loc[np.sort(with_ancestors(frame, kept.index[:limit].to_numpy()))])


def with_ancestors(
    frame: pd.DataFrame, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the rows and every row above them."""
    parent = frame["parent"].to_numpy()
    kept = set()
    for row in rows:
        above = int(row)
        while above >= 0 and above not in kept:
            kept.add(above)
            above = int(parent[above])
    return np.array(sorted(kept), np.int64)


def renumbered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows numbered from 0; a parent that is gone becomes -1."""
    number = {old: new for new, old in enumerate(frame["node"])}
    parent = [number.get(old, -1) for old in frame["parent"]]
    return frame.assign(node=np.arange(len(frame), dtype=np.int32), parent=np.array(parent, np.int32)).reset_index(
        drop=True
    )
