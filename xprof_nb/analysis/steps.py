"""How long did a step take? Marked steps, or steps inferred from a program that runs again and again."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xprof_nb.analysis.selection import Selection, chosen_hosts
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

_COLUMNS = [
    "host",
    "device",
    "step",
    "name",
    "kind",
    "start_ps",
    "duration_ps",
    "step_time_ps",
    "busy_time_ps",
    "is_partial",
]


def steps(profile: ProfileData, selection: Selection) -> Answer:
    """Return one row per step and, for inferred steps, per device.

    ``step_time_ps`` runs from the start of a step to the start of the next, so gaps between steps count;
    ``duration_ps`` is the step alone. Partial steps, cut by an edge of the capture, are named and left out
    of the means.
    """
    frames = [_host_steps(trace) for trace in chosen_hosts(profile, selection)]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_COLUMNS)
    notes = []
    if not len(frame):
        notes.append(
            "No step was marked and no program ran twice: wrap a step in "
            "jax.profiler.StepTraceAnnotation('train', step_num=i), or capture for longer."
        )
    elif (frame["kind"] == "inferred").any():
        program = frame.loc[frame["kind"] == "inferred", "name"].iloc[0]
        notes.append(f"Steps are inferred from the runs of {program}; no step was marked.")
    partial = int(frame["is_partial"].sum()) if len(frame) else 0
    if partial:
        notes.append(f"{partial} of {len(frame)} steps are cut by an edge of the capture and left out of the means.")
    return Answer(frame[_COLUMNS], _summary(frame), tuple(notes))


def _summary(frame: pd.DataFrame) -> dict[str, object]:
    whole = frame[~frame["is_partial"].astype(bool)] if len(frame) else frame
    times = (whole["step_time_ps"] if len(whole) else pd.Series(dtype=float)).dropna().astype(float)
    if not len(times) and len(whole):
        times = whole["duration_ps"].astype(float)
    return {
        "step_count": int(whole["step"].nunique()) if len(whole) else 0,
        "kind": str(whole["kind"].iloc[0]) if len(whole) else None,
        "step_time_mean_ps": _number(times.mean()),
        "step_time_sd_ps": _number(times.std(ddof=1)),
        "step_time_min_ps": _number(times.min()),
        "step_time_max_ps": _number(times.max()),
        "step_time_median_ps": _number(times.median()),
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _host_steps(trace: HostTrace) -> pd.DataFrame:
    frame = step_spans(trace).copy()
    frame["host"] = trace.host
    frame["device"] = [trace.devices[row].name if row >= 0 else None for row in frame["device_row"]]
    following = frame.groupby("device_row")["start_ps"].shift(-1)
    frame["step_time_ps"] = following - frame["start_ps"]
    frame["busy_time_ps"] = _busy_times(trace, frame)
    return frame


def _busy_times(trace: HostTrace, frame: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the device time each step's ops account for, averaged over the devices the step ran on."""
    ops = trace.ops
    busy = np.full(len(frame), np.nan)
    by_mark = np.bincount(ops.step[ops.step >= 0], ops.self_ps[ops.step >= 0], minlength=len(trace.marks))
    order = np.argsort(ops.host_start_ps, kind="stable")
    start_ps = ops.host_start_ps[order]
    for row, span in enumerate(frame.itertuples()):
        if span.mark >= 0:
            busy[row] = by_mark[span.mark] / max(len(trace.devices), 1) if len(by_mark) else np.nan
            continue
        low, high = np.searchsorted(start_ps, [span.start_ps, span.start_ps + span.duration_ps])
        inside = order[low:high]
        busy[row] = ops.self_ps[inside[ops.device[inside] == span.device_row]].sum()
    return busy
