"""xprof's ``input_pipeline_analyzer``: its step table, by its rules.

Rules as in xprof 2.24. On a CPU a step lasts as long as its mark, and of more than five the first and the last are
dropped; what xprof calls host compute there, the whole step but for gaps, is left out. On TPUs a step is one that the
runtime recorded, on the cores that all have it; compute is the least over the cores, infeed the most, outfeed the mean,
and idle what is left of the shortest. Of all-reduces with an id, no part is split off as waiting here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.selection import Selection, chosen_hosts, is_chosen, not_applied
from xprof_nb.analysis.step_spans import step_spans, steps_of_ops
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

_HOST_COLUMNS = ["step", "name", "step_time_ps"]
_CORE_COLUMNS = ["step", "step_time_ps", "compute_ps", "infeed_ps", "outfeed_ps", "idle_ps", "host_transfer_ps",
                 "infeed_mean_fraction", "infeed_min_fraction", "infeed_max_fraction"]  # fmt: skip
_FEWEST_TO_DROP = 5
_HOST_TRANSFERS = ("host send", "host send-done", "host recv", "host recv-done")


def input_pipeline(profile: ProfileData, selection: Selection) -> Answer:
    """Return xprof's step table; times in ps, fractions where xprof has percent."""
    whole = not_applied(selection, ("program", "window_ps"), "xprof's step table is of whole profiles")
    answer = _table(profile, selection)
    return replace(answer, notes=(*whole, *answer.notes))


def _table(profile: ProfileData, selection: Selection) -> Answer:
    backends = {device.backend for trace in chosen_hosts(profile, selection) for device in trace.devices}
    if backends == {"tpu"}:
        return _of_cores(profile, selection)
    if "gpu" in backends:
        why = "xprof's step table of GPUs is not computed here: leave out compat='xprof' for ours."
        return Answer(pd.DataFrame(columns=_HOST_COLUMNS), {}, (why,))
    tables = [_of_marks(trace) for trace in chosen_hosts(profile, selection)]
    frame = pd.concat(tables, ignore_index=True)
    if selection.step is not None:
        frame = frame[frame["step"] == selection.step]
    return _answer(frame[_HOST_COLUMNS].reset_index(drop=True))


def _answer(frame: pd.DataFrame) -> Answer:
    if not len(frame):
        return Answer(frame, {"step_count": 0}, ("No step was marked here, and xprof infers none.",))
    times = frame["step_time_ps"].astype(float)
    summary: dict[str, Any] = {
        "step_count": len(frame),
        "step_time_mean_ps": float(times.mean()),
        "step_time_sd_ps": float(times.std(ddof=1)) if len(frame) > 1 else None,
        "step_time_min_ps": float(times.min()),
        "step_time_max_ps": float(times.max()),
    }
    return Answer(frame, summary, ("Numbers as xprof computes them.",))


def _of_marks(trace: HostTrace) -> pd.DataFrame:
    marks = trace.marks
    names = [f"{name} {number}" for name, number in zip(marks.name, marks.number, strict=True)]
    frame = pd.DataFrame({"step": marks.number, "name": names, "step_time_ps": marks.duration_ps})
    return frame.iloc[1:-1] if len(frame) > _FEWEST_TO_DROP else frame


def _of_cores(profile: ProfileData, selection: Selection) -> Answer:
    tables = []
    for trace in chosen_hosts(profile, selection):
        spans = step_spans(trace)
        cores = [row for row, device in enumerate(trace.devices) if is_chosen(device, selection.device)]
        known = spans[(spans["kind"] != "inferred") & spans["device_row"].isin(cores)]
        if len(known):
            tables.append(
                _core_times(profile, trace).loc[known.index].join(known[["step", "device_row", "duration_ps"]])
            )
    if not tables:
        return _answer(pd.DataFrame(columns=_CORE_COLUMNS))
    table = pd.concat(tables)
    by_step = table.groupby("step")
    on_all = by_step["device_row"].transform("size") == len(table[["device_row"]].drop_duplicates())
    by_step = table[on_all].groupby("step")
    fraction = (table["infeed"] / table["duration_ps"]).groupby(table["step"])
    frame = pd.DataFrame(
        {
            "step_time_ps": by_step["duration_ps"].min(),
            "compute_ps": by_step["compute"].min(),
            "infeed_ps": by_step["infeed"].max(),
            "outfeed_ps": by_step["outfeed"].mean(),
            "host_transfer_ps": by_step["host_transfer"].mean(),
            "infeed_mean_fraction": fraction.mean(),
            "infeed_min_fraction": fraction.min(),
            "infeed_max_fraction": fraction.max(),
        }
    ).reset_index()
    spent = frame[["compute_ps", "infeed_ps", "outfeed_ps", "host_transfer_ps"]].sum(axis=1)
    frame["idle_ps"] = (frame["step_time_ps"] - spent).clip(lower=0)
    frame["step"] = np.arange(len(frame))  # xprof counts them itself
    if selection.step is not None:
        frame = frame[frame["step"] == selection.step]
    return _answer(frame[_CORE_COLUMNS])


def _core_times(profile: ProfileData, trace: HostTrace) -> pd.DataFrame:
    """Return the self times of each row of `step_spans` by what xprof books them as."""
    category = described_keys(profile, trace)["category"].astype(str).to_numpy()
    kind = np.select(
        [category == "infeed", category == "outfeed", np.isin(category, _HOST_TRANSFERS)],
        ["infeed", "outfeed", "host_transfer"],
        default="compute",
    )
    rows = steps_of_ops(trace)
    count, of_op = len(step_spans(trace)), kind[trace.ops.key]
    sums = {}
    for name in ("compute", "infeed", "outfeed", "host_transfer"):
        mine = (rows >= 0) & (of_op == name)
        sums[name] = np.bincount(rows[mine], trace.ops.self_ps[mine], minlength=count)
    return pd.DataFrame(sums)
