"""Where steps begin and end: as the program marked them, or inferred from a program that runs again and again."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xprof_nb.model.trace import HostTrace


def step_spans(trace: HostTrace) -> pd.DataFrame:
    """Return the steps of a host: step, name, kind, device_row (-1: all), mark (-1: none), start, duration, partial."""
    return _marked(trace) if len(trace.marks) else _inferred(trace)


def _marked(trace: HostTrace) -> pd.DataFrame:
    marks = trace.marks
    begin, end = trace.window_ps
    return pd.DataFrame(
        {
            "step": marks.number,
            "name": marks.name,
            "kind": "marked",
            "device_row": -1,
            "mark": np.arange(len(marks)),
            "start_ps": marks.start_ps,
            "duration_ps": marks.duration_ps,
            "is_partial": (marks.start_ps < begin) | (marks.start_ps + marks.duration_ps > end),
        }
    )


def _inferred(trace: HostTrace) -> pd.DataFrame:
    """Take the program that ran longest in all, if it ran at least twice, as the step."""
    runs = trace.runs
    frame = pd.DataFrame(
        {
            "device_row": runs.device.astype(np.int64),
            "program_id": runs.program_id,
            "name": runs.program,
            "start_ps": runs.start_ps,
            "duration_ps": runs.duration_ps,
        }
    )
    totals = frame.groupby("program_id")["duration_ps"].agg(["sum", "count"])
    per_device = totals["count"] / max(len(trace.devices), 1)
    repeated = totals[per_device >= 2]
    frame = frame[frame["program_id"] == repeated["sum"].idxmax()] if len(repeated) else frame.iloc[:0]
    begin, end = trace.window_ps
    frame = frame.assign(
        step=frame.groupby("device_row").cumcount(),
        kind="inferred",
        mark=-1,
        is_partial=(frame["start_ps"] <= begin) | (frame["start_ps"] + frame["duration_ps"] >= end),
    )
    return frame.reset_index(drop=True)
