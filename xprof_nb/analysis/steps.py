"""How long did a step take? Marked or recorded steps, or steps inferred from programs that run again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from xprof_nb.analysis.device_clock import lengths_by_device
from xprof_nb.analysis.selection import Selection, checked_hosts, is_chosen, program_rows
from xprof_nb.analysis.step_spans import CUT, step_spans, steps_of_ops
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, numbered, stacked, taken
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
    for the last one. ``duration_ps`` is the step alone. Both are by the clock of the device, where it has one of its
    own; ``start_ps`` is by the host's. ``busy_time_ps`` is the device time its ops account for and
    ``idle_time_ps`` the rest of the duration. ``compile_time_ps`` is how long the host compiled between its start and
    the next. Partial steps (``cut`` says where) and steps with a compilation are left out of the means.

    Raises
    ------
    UsageError
        The selection names what the profile does not have.
    """
    columns = stacked([chosen_steps(trace, selection) for trace in checked_hosts(profile, selection)])
    return Answer(as_frame({name: columns[name] for name in COLUMNS}), _summary(columns), notes(profile, columns))


def measured(columns: Columns) -> Columns:
    """Return the steps that means are made of: whole ones, without a compilation where others have none."""
    whole = ~columns["is_partial"]
    settled = whole & ~(columns["compile_time_ps"] > 0)
    return taken(columns, settled if settled.any() else whole)


def chosen_steps(trace: HostTrace, selection: Selection) -> Columns:
    """Return the chosen steps of a host.

    Returns
    -------
    Columns
        `COLUMNS`, ``device_row``, ``row`` (that of `step_spans`), ``device_start_ps``, ``end_ps`` (host's clock).
    """
    spans = step_spans(trace)
    start_ps, device_row = spans["start_ps"], spans["device_row"]
    end_ps = start_ps + spans["duration_ps"]
    device_start_ps, duration_ps = lengths_by_device(trace)
    count = len(start_ps)
    goes_on = np.append(device_row[1:] == device_row[:-1], False)[:count]
    following = np.where(goes_on, np.roll(device_start_ps, -1), np.nan)
    busy_ps = np.where(device_row < 0, np.nan, _busy_times(trace, count))
    until_ps = np.where(goes_on, np.roll(start_ps, -1), end_ps)
    columns = {
        **spans,
        "row": np.arange(count),
        "host": np.full(count, trace.host, object),
        "device": np.array([*(device.name for device in trace.devices), None], object)[device_row],
        "duration_ps": duration_ps,
        "device_start_ps": device_start_ps,
        "end_ps": end_ps,
        "step_time_ps": following - device_start_ps,
        "busy_time_ps": busy_ps,
        "idle_time_ps": np.maximum(duration_ps - busy_ps, 0),
        "compile_time_ps": _compile_times(trace, start_ps, until_ps),
    }
    return _chosen(trace, columns, selection)


def _chosen(trace: HostTrace, columns: Columns, selection: Selection) -> Columns:
    wanted = [row for row, device in enumerate(trace.devices) if is_chosen(device, selection.device)]
    if selection.device is None:
        wanted.append(-1)
    keep = np.isin(columns["device_row"], wanted)
    if selection.step is not None:
        keep &= columns["step"] == selection.step
    if selection.program is not None:
        rows = steps_of_ops(trace)[program_rows(trace, selection.program)]
        keep[np.setdiff1d(np.arange(len(keep)), rows)] = False
    if selection.window_ps is None:
        return taken(columns, keep)
    begin, end = selection.window_ps
    start_ps, until_ps = columns["start_ps"], columns["end_ps"]
    outside = (start_ps < begin) | (until_ps > end)
    cut = np.where(outside, CUT_BY_WINDOW, columns["cut"])
    marked = {**columns, "is_partial": columns["is_partial"] | outside, "cut": cut}
    return taken(marked, keep & (start_ps < end) & (until_ps > begin))


def _busy_times(trace: HostTrace, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the device time the ops of each step account for."""
    rows = steps_of_ops(trace)
    inside = rows >= 0
    return np.bincount(rows[inside], trace.ops.self_ps[inside], minlength=count).astype(np.float64)


def _compile_times(trace: HostTrace, begin_ps: Any, end_ps: Any) -> Any:
    found = trace.compilations
    return union(found.start_ps, found.end_ps).covered_ps(begin_ps, end_ps)


def _summary(columns: Columns) -> dict[str, Any]:
    counted = measured(columns)
    times = counted["step_time_ps"][~np.isnan(counted["step_time_ps"])]
    to_the_next = len(times) > 0
    if not to_the_next:
        times = counted["duration_ps"].astype(np.float64)
    known, partial = len(times) > 0, columns["is_partial"]
    summary: dict[str, Any] = {
        "step_count": len(set(columns["step"][~partial].tolist())),
        "partial_count": len(set(columns["step"][partial].tolist())),
        "kind": columns["kind"][0] if len(partial) else None,
        "step_time_mean_ps": float(times.mean()) if known else None,
        "step_time_sd_ps": float(times.std(ddof=1)) if len(times) > 1 else None,
        "step_time_min_ps": float(times.min()) if known else None,
        "step_time_max_ps": float(times.max()) if known else None,
        "step_time_median_ps": float(np.median(times)) if known else None,
        "compile_time_ps": _compile_total(columns),
        **_spread(counted),
    }
    summary["sentence"] = _sentence(summary, "start to start" if to_the_next else "without the gaps between them")
    return summary


def _compile_total(columns: Columns) -> float:
    """Return the compile time of all steps; devices of a host see the same compilations."""
    longest: dict[tuple[str, int], int] = {}
    for host, step, time_ps in zip(columns["host"], columns["step"], columns["compile_time_ps"].tolist(), strict=True):
        longest[host, step] = max(longest.get((host, step), 0), time_ps)
    return float(sum(longest.values()))


def _spread(counted: Columns) -> dict[str, Any]:
    """Return by how much the devices differ: in the same step, longest less shortest, as a mean over the steps."""
    missing = {"device_spread_ps": None, "device_spread_fraction": None, "slowest_device": None}
    known = ~np.isnan(counted["busy_time_ps"])
    busy_ps = counted["busy_time_ps"][known]
    device, names = numbered(counted["host"][known], counted["device"][known])
    if len(names) < 2:
        return missing
    step, row = np.unique(counted["step"][known], return_inverse=True)
    most, least = np.full(len(step), -np.inf), np.full(len(step), np.inf)
    np.maximum.at(most, row, busy_ps)
    np.minimum.at(least, row, busy_ps)
    by_device = np.bincount(device, busy_ps) / np.bincount(device)
    if not by_device.max() > 0:
        return missing
    spread = (most - least).mean()
    host, name = names[int(by_device.argmax())]
    several = len({each for each, _ in names}) > 1
    return {
        "device_spread_ps": float(spread),
        "device_spread_fraction": float(spread / most.mean()),
        "slowest_device": f"{host} {name}" if several else str(name),
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


def notes(profile: ProfileData, columns: Columns) -> tuple[str, ...]:
    """Return how steps are known, and which are left out of means, for `chosen_steps` of all hosts."""
    said = [*profile.all_notes]
    if not len(columns["step"]):
        any_step = any(len(step_spans(trace)["step"]) for trace in profile.hosts)
        said.append("The profile has steps, but none in the chosen part of it." if any_step else _NO_STEPS)
        return tuple(said)
    inferred = columns["name"][columns["kind"] == "inferred"]
    if len(inferred):
        said.append(f"Steps are inferred from the runs of {inferred[0]}; no step was marked.")
    said += _cut_notes(columns)
    compiling = columns["step"][columns["compile_time_ps"] > 0]
    if len(compiling):
        total = units.duration(_compile_total(columns))
        numbers = _numbers(set(compiling.tolist()))
        said.append(f"compilation {total} in step {numbers}: left out of the median and the other means.")
    return tuple(said)


def _cut_notes(columns: Columns) -> list[str]:
    said = []
    for where, which in ((CUT[0], "The first step"), (CUT[1], "The last step"), (CUT_BY_WINDOW, "A step")):
        steps_there = set(columns["step"][columns["cut"] == where].tolist())
        if steps_there:
            several = "s" if len(steps_there) > 1 else ""
            verb = "are" if several else "is"
            said.append(f"{which}{several} ({_numbers(steps_there)}) {verb} {where} and left out of the means.")
    return said


def _numbers(steps_of: set[int]) -> str:
    numbers = sorted(steps_of)
    return ", ".join(str(number) for number in numbers[:5]) + (
        f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    )
