"""How long did a step take? Marked or recorded steps, or steps inferred from programs that run again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.selection import Selection, checked_hosts, is_chosen, program_rows
from xprof_nb.analysis.step_spans import CUT, step_spans, steps_of_ops
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import number, words
from xprof_nb.model.intervals import union
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

COLUMNS = [
    "host",
    "device",
    "step",
    "name",
    "kind",
    "start_ps",
    "duration_ps",
    "step_time_ps",
    "busy_time_ps",
    "idle_time_ps",
    "compile_time_ps",
    "is_partial",
    "cut",
]
CUT_BY_WINDOW = "cut by the chosen window"
UNEVEN_FRACTION = 0.05
"""Spread of a step's time over the devices from which on the summary's sentence names it."""
_NO_STEPS = (
    "No step was marked and no program ran twice: wrap a step in "
    "jax.profiler.StepTraceAnnotation('train', step_num=i), or capture for longer."
)


def steps(profile: ProfileData, selection: Selection) -> Answer:
    """Return one row per step and device, by host, device and time.

    ``step_time_ps`` runs from the start of a step to the start of the next, so gaps between steps count; it is missing
    for the last one. ``duration_ps`` is the step alone, ``busy_time_ps`` the device time its ops account for and
    ``idle_time_ps`` the rest of the duration. ``compile_time_ps`` is how long the host compiled between its start and
    the next. Partial steps (``cut`` says where) and steps with a compilation are left out of the means.

    Raises
    ------
    UsageError
        The selection names what the profile does not have.
    """
    hosts = checked_hosts(profile, selection)
    frame = pd.concat([chosen_steps(trace, selection) for trace in hosts], ignore_index=True)
    summary = _summary(frame)
    return Answer(frame[COLUMNS], summary, _notes(profile, frame))


def measured(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the steps that means are made of: whole ones, without a compilation where others have none."""
    whole = frame[~frame["is_partial"].astype(bool)]
    settled = whole[~(whole["compile_time_ps"] > 0)]
    return settled if len(settled) else whole


def chosen_steps(trace: HostTrace, selection: Selection) -> pd.DataFrame:
    """Return the chosen steps of a host: `COLUMNS`, and ``device_row``."""
    spans = step_spans(trace)
    frame = spans.assign(row=np.arange(len(spans)), host=trace.host)
    frame["device"] = words(trace.devices[row].name if row >= 0 else None for row in frame["device_row"])
    start_ps = frame["start_ps"]
    following = frame.groupby("device_row")["start_ps"].shift(-1)
    frame["step_time_ps"] = following - start_ps
    frame["busy_time_ps"] = _busy_times(trace, len(spans))
    frame.loc[frame["device_row"] < 0, "busy_time_ps"] = np.nan
    frame["idle_time_ps"] = (frame["duration_ps"] - frame["busy_time_ps"]).clip(lower=0)
    until = following.fillna(start_ps + frame["duration_ps"]).to_numpy(np.int64)
    frame["compile_time_ps"] = _compile_times(trace, start_ps.to_numpy(np.int64), until)
    return _chosen(trace, frame, selection)


def _chosen(trace: HostTrace, frame: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    if selection.step is not None:
        frame = frame[frame["step"] == selection.step]
    wanted = [row for row, device in enumerate(trace.devices) if is_chosen(device, selection.device)]
    if selection.device is None:
        wanted.append(-1)
    frame = frame[frame["device_row"].isin(wanted)]
    if selection.program is not None:
        rows = steps_of_ops(trace)[program_rows(trace, selection.program)]
        frame = frame[frame["row"].isin(np.unique(rows))]
    if selection.window_ps is not None:
        begin, end = selection.window_ps
        until = frame["start_ps"] + frame["duration_ps"]
        frame = frame[(frame["start_ps"] < end) & (until > begin)]
        outside = (frame["start_ps"] < begin) | (frame["start_ps"] + frame["duration_ps"] > end)
        frame = frame.assign(is_partial=frame["is_partial"] | outside, cut=frame["cut"].mask(outside, CUT_BY_WINDOW))
    return frame


def _busy_times(trace: HostTrace, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the device time the ops of each step account for."""
    rows = steps_of_ops(trace)
    inside = rows >= 0
    return np.bincount(rows[inside], trace.ops.self_ps[inside], minlength=count).astype(np.float64)


def _compile_times(trace: HostTrace, begin_ps: Any, end_ps: Any) -> Any:
    found = trace.compilations
    return union(found.start_ps, found.end_ps).covered_ps(begin_ps, end_ps)


def _summary(frame: pd.DataFrame) -> dict[str, Any]:
    counted = measured(frame) if len(frame) else frame
    times = (counted["step_time_ps"] if len(counted) else pd.Series(dtype=float)).dropna().astype(float)
    to_the_next = len(times) > 0
    if not to_the_next and len(counted):
        times = counted["duration_ps"].astype(float)
    summary: dict[str, Any] = {
        "step_count": int(frame.loc[~frame["is_partial"].astype(bool), "step"].nunique()) if len(frame) else 0,
        "partial_count": int(frame.loc[frame["is_partial"].astype(bool), "step"].nunique()) if len(frame) else 0,
        "kind": str(frame["kind"].iloc[0]) if len(frame) else None,
        "step_time_mean_ps": number(times.mean()),
        "step_time_sd_ps": number(times.std(ddof=1)),
        "step_time_min_ps": number(times.min()),
        "step_time_max_ps": number(times.max()),
        "step_time_median_ps": number(times.median()),
        "compile_time_ps": _compile_total(frame),
        **_spread(counted),
    }
    summary["sentence"] = _sentence(summary, "start to start" if to_the_next else "without the gaps between them")
    return summary


def _compile_total(frame: pd.DataFrame) -> float:
    """Return the compile time of all steps; devices of a host see the same compilations."""
    return float(frame.groupby(["host", "step"])["compile_time_ps"].max().sum()) if len(frame) else 0.0


def _spread(counted: pd.DataFrame) -> dict[str, Any]:
    """Return by how much the devices differ: in the same step, longest less shortest, as a mean over the steps."""
    missing = {"device_spread_ps": None, "device_spread_fraction": None, "slowest_device": None}
    if not len(counted) or len(counted[["host", "device"]].drop_duplicates()) < 2:
        return missing
    busy = counted.groupby("step")["busy_time_ps"]
    spread = (busy.max() - busy.min()).mean()
    by_device = counted.groupby(["host", "device"])["busy_time_ps"].mean()
    if not np.isfinite(spread) or not by_device.max() > 0:
        return missing
    host, device = by_device.idxmax()
    several = counted["host"].nunique() > 1
    return {
        "device_spread_ps": float(spread),
        "device_spread_fraction": float(spread / busy.max().mean()),
        "slowest_device": f"{host} {device}" if several else str(device),
    }


def _sentence(summary: dict[str, Any], meaning: str) -> str:
    if not summary["step_count"]:
        return "No whole step was found."
    times = [units.duration(summary[f"step_time_{name}_ps"]) for name in ("mean", "median", "min", "max")]
    text = f"{units.counted(summary['step_count'], str(summary['kind']) + ' step')} of {times[0]}"
    if summary["step_count"] > 1:
        text += f" on average, {meaning} (median {times[1]}, {times[2]} to {times[3]})"
    elif times[2] != times[3]:
        text += f" ({times[2]} to {times[3]} by device)"
    spread = summary["device_spread_fraction"]
    if spread is not None and spread > UNEVEN_FRACTION:
        text += (
            f"; devices differ by {units.percent(spread)} in the busy time of a step, "
            f"{summary['slowest_device']} has the most"
        )
    return text + "."


def _notes(profile: ProfileData, frame: pd.DataFrame) -> tuple[str, ...]:
    notes = [*profile.all_notes]
    if not len(frame):
        any_step = any(len(step_spans(trace)) for trace in profile.hosts)
        notes.append("The profile has steps, but none in the chosen part of it." if any_step else _NO_STEPS)
        return tuple(notes)
    if (frame["kind"] == "inferred").any():
        program = frame.loc[frame["kind"] == "inferred", "name"].iloc[0]
        notes.append(f"Steps are inferred from the runs of {program}; no step was marked.")
    notes += _cut_notes(frame)
    compiling = frame[frame["compile_time_ps"] > 0]
    if len(compiling):
        total = units.duration(_compile_total(frame))
        numbers = _numbers(compiling["step"])
        notes.append(f"compilation {total} in step {numbers}: left out of the median and the other means.")
    return tuple(notes)


def _cut_notes(frame: pd.DataFrame) -> list[str]:
    notes = []
    for where, which in ((CUT[0], "The first step"), (CUT[1], "The last step"), (CUT_BY_WINDOW, "A step")):
        rows = frame[frame["cut"] == where]
        if len(rows):
            several = "s" if rows["step"].nunique() > 1 else ""
            verb = "are" if several else "is"
            notes.append(f"{which}{several} ({_numbers(rows['step'])}) {verb} {where} and left out of the means.")
    return notes


def _numbers(steps_of: pd.Series) -> str:
    numbers = sorted(set(steps_of))
    return ", ".join(str(number) for number in numbers[:5]) + (
        f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    )
