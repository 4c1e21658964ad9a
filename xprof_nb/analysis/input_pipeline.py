"""What each step waited for, input, transfers, compilation, launches, and whether the program is input-bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.selection import Selection, checked_hosts
from xprof_nb.analysis.step_breakdown import DEFINITIONS, PARTS, breakdown, half_precision_moments
from xprof_nb.analysis.steps import chosen_steps, measured
from xprof_nb.analysis.steps import notes as step_notes
from xprof_nb.analysis.xprof import input as xprof_input
from xprof_nb.model import units
from xprof_nb.model.activity import FROM_DEVICE, INPUT, KINDS, TO_DEVICE
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, heaviest_first, numbered, stacked
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

COLUMNS = ["host", "device", "step", "name", "kind", "start_ps", "step_time_ps", *(f"{part}_ps" for part in PARTS),
           "compute_16bit_ps", "input_fraction", "is_compiling", "is_partial", "cut"]  # fmt: skip
INPUT_PARTS = ("infeed", "host_input", "host_to_device")
OUTPUT_PARTS = ("outfeed", "device_to_host")
MODERATE_FRACTION, HIGH_FRACTION = 0.05, 0.2
"""Share of a step that waits for input from which on a program is input-bound, moderately and highly, as in xprof."""
NAMED_FRACTION = 0.03
_INPUT_OPS = (INPUT, TO_DEVICE, FROM_DEVICE)
_MOST_OPS = 100
_WORDS = {
    "collective": "collectives",
    "device_copy": "copies within the device",
    "host_offload": "host offload",
    "outfeed": "output",
    "compile": "compilation",
    "device_to_host": "fetching results",
    "launch": "launching",
    "host_wait": "latency, the host waiting for the device,",
    "host_other": "Python and other work of the host",
    "idle": "time in which nothing was recorded",
}


def input_pipeline(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return one row per step and device: what its time went to.

    A step's time runs to the start of the next, the last one's to its own end. Each moment counts once, in the first
    column that applies, so the columns of a row add up to its time; `DEFINITIONS` says what each counts and the
    summary repeats it. ``compute_16bit_ps`` is the part of ``compute_ps`` with 16-bit results, missing where the
    profile does not state what ops compute. ``input_fraction`` is the share of infeed, the host's input pipeline and
    transfers to the device; means leave out steps that are partial or compiling. A program is input-bound if 5 % of a
    step, highly if 20 %, wait for input.

    Raises
    ------
    UsageError
        The selection names what the profile does not have.
    """
    if like_xprof:
        return xprof_input.input_pipeline(profile, selection)
    hosts = checked_hosts(profile, selection)
    of_hosts = [chosen_steps(trace, selection) for trace in hosts]
    steps = stacked(of_hosts)
    said = step_notes(profile, steps)
    if not len(steps["step"]):
        return Answer(pd.DataFrame(columns=COLUMNS), {"sentence": "No step was found.", "input_ops": []}, said)
    columns = stacked([_of_host(profile, trace, each) for trace, each in zip(hosts, of_hosts, strict=True)])
    frame = as_frame({name: columns[name] for name in COLUMNS})
    return Answer(frame, _summary(columns, _input_ops(hosts, selection)), said)


def _of_host(profile: ProfileData, trace: HostTrace, steps: Columns) -> Columns:
    length_ps = np.where(np.isnan(steps["step_time_ps"]), steps["duration_ps"], steps["step_time_ps"]).astype(np.int64)
    begin, until = steps["device_start_ps"], steps["device_start_ps"] + length_ps
    parts = {part: np.zeros(len(begin), np.int64) for part in PARTS}
    half_ps = np.full(len(begin), np.nan)
    for device in np.unique(steps["device_row"]).tolist():
        mine = np.flatnonzero(steps["device_row"] == device)
        for part, time_ps in breakdown(profile, trace, device, begin[mine], until[mine]).items():
            parts[part][mine] = time_ps
        half = half_precision_moments(profile, trace, device) if device >= 0 else None
        if half is not None:
            half_ps[mine] = half.covered_ps(begin[mine], until[mine])
    waited = sum((parts[part] for part in INPUT_PARTS), np.zeros(len(begin), np.int64))
    return {
        **steps,
        "step_time_ps": length_ps,
        **{f"{part}_ps": time_ps for part, time_ps in parts.items()},
        "compute_16bit_ps": half_ps,
        "input_fraction": waited / np.where(length_ps > 0, length_ps, np.nan),
        "is_compiling": steps["compile_time_ps"] > 0,
    }


def _input_ops(hosts: list[HostTrace], selection: Selection) -> list[dict[str, Any]]:
    """Return the host's input and transfer events by name, those with the most time first."""
    parts: list[Columns] = []
    for trace in hosts:
        activity = trace.activity
        begin, end = selection.window_ps or trace.window_ps
        rows = (
            np.isin(activity.kind, _INPUT_OPS)
            & (activity.start_ps >= begin)
            & (activity.start_ps < max(end, begin + 1))
        )
        parts.append(
            {
                "op": np.array([*activity.names, None], object)[activity.name[rows]],
                "kind": np.array(KINDS, object)[activity.kind[rows]],
                "time_ps": activity.duration_ps[rows],
                "self_time_ps": activity.self_ps[rows],
            }
        )
    table = stacked(parts)
    code, named = numbered(table["op"], table["kind"])
    occurrences, time_ps, self_ps = (np.zeros(len(named), np.int64) for _ in range(3))
    for total, values in ((occurrences, 1), (time_ps, table["time_ps"]), (self_ps, table["self_time_ps"])):
        np.add.at(total, code, values)
    top = heaviest_first(self_ps, np.array([op for op, _ in named], object))[:_MOST_OPS]
    return [
        {"op": named[row][0], "kind": named[row][1], "occurrences": int(occurrences[row]),
         "time_ps": int(time_ps[row]), "self_time_ps": int(self_ps[row])}
        for row in top.tolist()
    ]  # fmt: skip


def _summary(columns: Columns, input_ops: list[dict[str, Any]]) -> dict[str, Any]:
    counted = measured(columns)
    times, known = counted["step_time_ps"], len(counted["step"]) > 0
    total = float(times.sum())
    shares = {part: float(counted[f"{part}_ps"].sum()) / total if total else None for part in PARTS}
    waiting = sum(shares[part] or 0.0 for part in INPUT_PARTS) if total else None
    output = sum(shares[part] or 0.0 for part in OUTPUT_PARTS) if total else None
    summary: dict[str, Any] = {
        "step_count": len(set(counted["step"].tolist())),
        "step_time_mean_ps": float(times.mean()) if known else None,
        "mean_ps": {part: float(counted[f"{part}_ps"].mean()) for part in PARTS} if known else {},
        "fractions": shares,
        "definitions": DEFINITIONS,
        "input_fraction": waiting,
        "output_fraction": output,
        "bound": _bound(waiting),
        "input_ops": input_ops,
    }
    summary["sentence"] = _sentence(summary)
    return summary


def _bound(waiting: float | None) -> str | None:
    if waiting is None:
        return None
    if waiting >= HIGH_FRACTION:
        return "highly input-bound"
    return "moderately input-bound" if waiting >= MODERATE_FRACTION else "not input-bound"


def _sentence(summary: dict[str, Any]) -> str:
    bound, shares = summary["bound"], summary["fractions"]
    if bound is None:
        return "No whole step has a length."
    step = units.duration(summary["step_time_mean_ps"])
    text = (
        f"{bound[0].upper()}{bound[1:]}: {units.percent(summary['input_fraction'])} of a {step} step waits for input; "
        f"the device computes {units.percent(shares['compute'])}"
    )
    rest = {part: share for part, share in shares.items() if part in _WORDS and share and share >= NAMED_FRACTION}
    if rest:
        largest = max(rest, key=lambda part: rest[part])
        text += f", {_WORDS[largest]} takes {units.percent(rest[largest])}".replace(",, ", ", ")
    return text + "."
