"""What each step waited for, input, transfers, compilation, launches, and whether the program is input-bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.selection import Selection, chosen_hosts
from xprof_nb.analysis.step_breakdown import DEFINITIONS, PARTS, breakdown, half_precision_moments
from xprof_nb.analysis.steps import chosen_steps, measured
from xprof_nb.analysis.steps import steps as step_times
from xprof_nb.analysis.xprof import input as xprof_input
from xprof_nb.model import units
from xprof_nb.model.activity import FROM_DEVICE, INPUT, KINDS, TO_DEVICE
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

COLUMNS = ["host", "device", "step", "name", "kind", "start_ps", "step_time_ps", *(f"{part}_ps" for part in PARTS),
           "compute_16bit_ps", "input_fraction", "is_partial"]  # fmt: skip
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
    transfers to the device. A program is input-bound if 5 % of a step, highly if 20 %, wait for input.

    Raises
    ------
    UsageError
        The selection names what the profile does not have.
    """
    if like_xprof:
        return xprof_input.input_pipeline(profile, selection)
    stepped = step_times(profile, selection)
    if not len(stepped.frame):
        return Answer(pd.DataFrame(columns=COLUMNS), {"sentence": "No step was found.", "input_ops": []}, stepped.notes)
    hosts = chosen_hosts(profile, selection)
    frame = pd.concat([_of_host(profile, trace, selection) for trace in hosts], ignore_index=True)
    summary = _summary(frame, _input_ops(hosts, selection))
    return Answer(frame[COLUMNS], summary, stepped.notes)


def _of_host(profile: ProfileData, trace: HostTrace, selection: Selection) -> pd.DataFrame:
    rows = chosen_steps(trace, selection)
    end = rows["start_ps"] + rows["duration_ps"]
    rows["step_time_ps"] = rows["step_time_ps"].fillna(rows["duration_ps"]).astype(np.int64)
    end = rows["start_ps"] + rows["step_time_ps"]
    parts = []
    for device, steps in rows.groupby("device_row", sort=False):
        begin, until = (column.loc[steps.index].to_numpy(np.int64) for column in (rows["start_ps"], end))
        split = breakdown(profile, trace, int(device), begin, until).add_suffix("_ps")
        half = half_precision_moments(profile, trace, int(device)) if device >= 0 else None
        split["compute_16bit_ps"] = np.nan if half is None else half.covered_ps(begin, until).astype(np.float64)
        parts.append(pd.concat([steps.reset_index(drop=True), split], axis=1))
    if not parts:
        return pd.DataFrame(columns=[*COLUMNS, "compile_time_ps"])
    frame = pd.concat(parts, ignore_index=True)
    waited = frame[[f"{part}_ps" for part in INPUT_PARTS]].sum(axis=1)
    return frame.assign(input_fraction=waited / frame["step_time_ps"].where(frame["step_time_ps"] > 0))


def _input_ops(hosts: list[HostTrace], selection: Selection) -> list[dict[str, Any]]:
    """Return the host's input and transfer events by name, those with the most time first."""
    parts = []
    for trace in hosts:
        activity = trace.activity
        begin, end = selection.window_ps or trace.window_ps
        rows = (
            np.isin(activity.kind, _INPUT_OPS)
            & (activity.start_ps >= begin)
            & (activity.start_ps < max(end, begin + 1))
        )
        parts.append(
            pd.DataFrame(
                {
                    "op": np.array(activity.names, object)[activity.name[rows]],
                    "kind": np.array(KINDS, object)[activity.kind[rows]],
                    "time_ps": activity.duration_ps[rows],
                    "self_time_ps": activity.self_ps[rows],
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    sums = table.groupby(["op", "kind"], as_index=False).agg(
        occurrences=("time_ps", "size"), time_ps=("time_ps", "sum"), self_time_ps=("self_time_ps", "sum")
    )
    top = sums.sort_values("self_time_ps", ascending=False).head(_MOST_OPS)
    return [
        {"op": str(row.op), "kind": str(row.kind), "occurrences": int(row.occurrences), "time_ps": int(row.time_ps),
         "self_time_ps": int(row.self_time_ps)}
        for row in top.itertuples()
    ]  # fmt: skip


def _summary(frame: pd.DataFrame, input_ops: list[dict[str, Any]]) -> dict[str, Any]:
    counted = measured(frame)
    total = float(counted["step_time_ps"].sum())
    shares = {part: float(counted[f"{part}_ps"].sum()) / total if total else None for part in PARTS}
    waiting = sum(shares[part] or 0.0 for part in INPUT_PARTS) if total else None
    output = sum(shares[part] or 0.0 for part in OUTPUT_PARTS) if total else None
    mean = float(counted["step_time_ps"].mean()) if len(counted) else None
    summary: dict[str, Any] = {
        "step_count": int(counted["step"].nunique()),
        "step_time_mean_ps": mean,
        "mean_ps": {part: float(counted[f"{part}_ps"].mean()) for part in PARTS} if len(counted) else {},
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
