"""Which rows of an answer tell most where there is no room for all: the shape of a curve, the heaviest points."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_STEPS_SHARE = 4
_FEWEST = 4
"""Rows an allocator keeps at least: its ends, its highest and its lowest."""
Rows = NDArray[np.int64]


def curves(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return memory over time with its peaks and valleys: of each stretch the row with the most and with the least.

    Every allocator keeps its first row, its last and its highest; in between, stretches have equally many rows.
    """
    if len(frame) <= most or "total_bytes" not in frame:
        return frame.head(most)
    total = frame["total_bytes"].to_numpy(np.float64, na_value=np.nan)
    allocator = frame.groupby([name for name in ("host", "allocator") if name in frame], dropna=False).ngroup()
    groups = [np.flatnonzero(allocator == number) for number in range(allocator.max() + 1)]
    to_share = most - _FEWEST * len(groups)
    if to_share < 0:  # more allocators than room: the peaks of the fullest
        tops = np.array([rows[np.argmax(np.nan_to_num(total[rows]))] for rows in groups])
        return frame.iloc[np.sort(tops[np.argsort(-np.nan_to_num(total[tops]), kind="stable")[:most]])]
    shares = [_FEWEST + to_share * len(rows) // len(frame) for rows in groups]
    kept = [rows[_extremes(total[rows], share)] for rows, share in zip(groups, shares, strict=True)]
    return frame.iloc[np.sort(np.concatenate(kept))]


def points(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the whole, some steps evenly spread over time, and the ops that take longest."""
    if len(frame) <= most or "level" not in frame:
        return frame.head(most)
    level = frame["level"].to_numpy()
    steps = np.flatnonzero(level == "step")
    room = max(most // _STEPS_SHARE, 1)
    spread = steps[np.unique(np.linspace(0, len(steps) - 1, room).round().astype(int))] if len(steps) > room else steps
    others = np.flatnonzero(level != "step")[: most - len(spread)]
    return frame.iloc[np.sort(np.concatenate([others, spread]))]


def _extremes(values: NDArray[np.float64], most: int) -> Rows:
    """Return the ends, and of each stretch the places of the highest and the lowest value."""
    stretches = (most - 2) // 2
    if len(values) <= most:
        return np.arange(len(values))
    begins = np.arange(stretches) * len(values) // stretches
    ends = np.append(begins[1:], len(values))
    known = np.nan_to_num(values, nan=-1.0)
    found = [0, len(values) - 1]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        found += [begin + int(np.argmax(known[begin:end])), begin + int(np.argmin(known[begin:end]))]
    return np.unique(found)
