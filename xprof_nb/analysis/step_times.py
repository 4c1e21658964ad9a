"""How long steady steps took: those that are whole, and in which nothing was compiled."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.model.profile import ProfileData


def compiling(profile: ProfileData, frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return in which steps, rows of ``steps().frame``, their host compiled something."""
    found = np.zeros(len(frame), np.bool_)
    for trace in profile.hosts:
        rows = np.flatnonzero(frame["host"] == trace.host)
        if len(rows) and len(trace.compilations):
            start = frame["start_ps"].to_numpy(np.int64)[rows]
            end = start + frame["duration_ps"].to_numpy(np.int64)[rows]
            found[rows] = trace.compilations.overlaps(start, end)
    return found


def step_times(frame: pd.DataFrame, left_out: NDArray[np.bool_]) -> dict[str, float | None]:
    """Return mean, median, sd, min and max of the steps' times, start to start; None where nothing is left.

    Without a step that another follows, those from start to end.
    """
    whole = frame[~frame["is_partial"].to_numpy(bool) & ~left_out] if len(frame) else frame
    times = whole["step_time_ps"].dropna().astype(float) if len(whole) else pd.Series(dtype=float)
    if not len(times) and len(whole):
        times = whole["duration_ps"].astype(float)
    values = {
        "mean": times.mean(),
        "median": times.median(),
        "sd": times.std(ddof=1),
        "min": times.min(),
        "max": times.max(),
    }
    return {name: float(value) if np.isfinite(value) else None for name, value in values.items()}
