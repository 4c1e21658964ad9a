"""xprof's ``input_pipeline_analyzer``: its step table and its table of input ops, by its rules.

Rules as in xprof 2.24; for steps of CPUs and GPUs see `xprof_steps`. On TPUs a step is one that the runtime recorded,
on the cores that all have it; compute is the least over the cores, infeed the most, outfeed the mean, and idle what is
left of the shortest. Of all-reduces with an id, no part is split off as waiting here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.host_framework_ops import host_ops_as_xprof
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.selection import Selection, checked_hosts, chosen_hosts, is_chosen, not_applied, refuse
from xprof_nb.analysis.step_spans import step_spans, steps_of_ops
from xprof_nb.analysis.xprof.steps import COLUMNS, steps_of_host
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

_CORE_COLUMNS = ["step", "name", "start_ps", "step_time_ps", "compute_ps", "infeed_ps", "outfeed_ps", "idle_ps",
                 "host_transfer_ps", "infeed_mean_fraction", "infeed_min_fraction", "infeed_max_fraction"]  # fmt: skip
_STEP_COLUMNS = ["step", "name", "start_ps", "step_time_ps"]
_HOST_TRANSFERS = ("host send", "host send-done", "host recv", "host recv-done")
_FILES = ("::TFRecord", "::TextLine", "::FixedLengthRecord", "::SSTable", "::RecordIO", "::ArrayRecord")
_IN_ADVANCE = ("::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch", "::ParallelMap")


def input_pipeline(profile: ProfileData, selection: Selection) -> Answer:
    """Return xprof's step table, times in ps and fractions where it has percent; the summary has its input ops."""
    frame, notes = _step_table(profile, selection)
    summary = _step_summary(frame)
    parts = [name for name in frame if str(name).endswith("_ps") and name not in _STEP_COLUMNS]
    summary["mean_ps"] = {str(name).removesuffix("_ps"): float(frame[name].mean()) for name in parts if len(frame)}
    summary["input_ops"] = _input_ops(chosen_hosts(profile, selection))
    return Answer(frame, summary, notes)


def steps(profile: ProfileData, selection: Selection) -> Answer:
    """Return the steps of xprof's step table: ``step, name, start_ps, step_time_ps``, and of CPUs and GPUs the host.

    A step lasts as long as its mark or, on a device, its work; gaps between steps count nowhere.
    """
    frame, notes = _step_table(profile, selection)
    return Answer(frame[[name for name in ("host", *_STEP_COLUMNS) if name in frame]], _step_summary(frame), notes)


def _step_table(profile: ProfileData, selection: Selection) -> tuple[pd.DataFrame, tuple[str, ...]]:
    hosts = checked_hosts(profile, replace(selection, step=None))
    backends = {device.backend for trace in hosts for device in trace.devices}
    if backends == {"tpu"}:
        frame = _of_cores(profile, selection)
    else:
        found = [steps_of_host(trace, selection).frame for trace in hosts]
        frame = pd.concat(found, ignore_index=True)[COLUMNS]
    if selection.step is not None and len(frame):
        if not (frame["step"] == selection.step).any():
            refuse("step", selection.step, map(str, frame["step"]))
        frame = frame[frame["step"] == selection.step].reset_index(drop=True)
    unused = ["program", "window_ps", *(["device"] if backends == {"cpu"} else [])]
    notes = not_applied(selection, unused, "xprof's steps are whole, and of all programs")
    notes.append("Numbers as xprof computes them." if len(frame) else "No step was marked, and xprof infers none.")
    return frame, tuple(notes)


def _step_summary(frame: pd.DataFrame) -> dict[str, Any]:
    times = frame["step_time_ps"].astype(float)
    known = len(frame) > 0
    return {
        "step_count": len(frame),
        "step_time_mean_ps": float(times.mean()) if known else None,
        "step_time_sd_ps": float(times.std(ddof=1)) if len(frame) > 1 else (0.0 if known else None),
        "step_time_min_ps": float(times.min()) if known else None,
        "step_time_max_ps": float(times.max()) if known else None,
    }


def _input_ops(hosts: list[HostTrace]) -> list[dict[str, Any]]:
    """Return the host's input ops as xprof lists them: ``kind`` is its category, fractions are of their self time."""
    ops, _ = host_ops_as_xprof(hosts)
    is_input = (ops["type"] == "Dataset") | (ops["type"] == "MemcpyHToD") | ops["type"].str.startswith("InfeedEnqueue")
    ops = ops[is_input.astype(bool)].sort_values(["self_time_ps", "name"], ascending=[False, True])
    total = float(ops["self_time_ps"].sum())
    return [
        {
            "op": str(row.op),
            "kind": _category(str(row.op), str(row.type)),
            "occurrences": int(row.occurrences),
            "time_ps": float(row.time_ps),
            "self_time_ps": float(row.self_time_ps),
            "time_fraction": float(row.time_ps) / total if total else 0.0,
            "self_time_fraction": float(row.self_time_ps) / total if total else 0.0,
        }
        for row in ops.rename(columns={"name": "op"}).itertuples()
    ]


def _category(name: str, kind: str) -> str:
    if kind != "Dataset":
        return "Enqueue"
    if not name.endswith(_FILES):
        return "Preprocessing"
    return "Advanced file read" if any(part in name for part in _IN_ADVANCE) else "Demanded file read"


def _of_cores(profile: ProfileData, selection: Selection) -> pd.DataFrame:
    tables = []
    for trace in chosen_hosts(profile, selection):
        spans = as_frame(step_spans(trace))
        cores = [row for row, device in enumerate(trace.devices) if is_chosen(device, selection.device)]
        known = spans[(spans["kind"] != "inferred") & spans["device_row"].isin(cores)]
        if len(known):
            shown = known[["step", "device_row", "start_ps", "duration_ps"]]
            tables.append(_core_times(profile, trace).loc[known.index].join(shown))
    if not tables:
        return pd.DataFrame(columns=_CORE_COLUMNS)
    table = pd.concat(tables)
    by_step = table.groupby("step")
    on_all = by_step["device_row"].transform("size") == len(table[["device_row"]].drop_duplicates())
    by_step = table[on_all].groupby("step")
    fraction = (table["infeed"] / table["duration_ps"]).groupby(table["step"])
    frame = pd.DataFrame(
        {
            "start_ps": by_step["start_ps"].min(),
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
    frame["name"] = frame["step"].astype(str)
    return frame[_CORE_COLUMNS]


def _core_times(profile: ProfileData, trace: HostTrace) -> pd.DataFrame:
    """Return the self times of each row of `step_spans` by what xprof books them as."""
    category = described_keys(profile, trace)["category"].astype(str)
    kind = np.select(
        [category == "infeed", category == "outfeed", np.isin(category, _HOST_TRANSFERS)],
        ["infeed", "outfeed", "host_transfer"],
        default="compute",
    )
    rows = steps_of_ops(trace)
    count, of_op = len(step_spans(trace)["step"]), kind[trace.ops.key]
    sums = {}
    for name in ("compute", "infeed", "outfeed", "host_transfer"):
        mine = (rows >= 0) & (of_op == name)
        sums[name] = np.bincount(rows[mine], trace.ops.self_ps[mine], minlength=count)
    return pd.DataFrame(sums)
