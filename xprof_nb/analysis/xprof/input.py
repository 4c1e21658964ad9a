"""xprof's ``input_pipeline_analyzer``: its step table and its table of input ops, by its rules.

Rules as in xprof 2.24; for steps of CPUs and GPUs see `xprof.steps`, for those of TPUs `xprof.cores`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.host_framework_ops import host_ops_as_xprof
from xprof_nb.analysis.selection import Selection, checked_hosts, chosen_hosts, not_applied, refuse
from xprof_nb.analysis.xprof import bottleneck
from xprof_nb.analysis.xprof.cores import steps_of_cores
from xprof_nb.analysis.xprof.step_alignment import first_steps
from xprof_nb.analysis.xprof.steps import COLUMNS, steps_of_host
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

_STEP_COLUMNS = ["step", "name", "start_ps", "step_time_ps"]
_FILES = ("::TFRecord", "::TextLine", "::FixedLengthRecord", "::SSTable", "::RecordIO", "::ArrayRecord")
_KINDS = ("Enqueue", "Demanded file read", "Advanced file read", "Preprocessing")
_IN_ADVANCE = ("::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch", "::ParallelMap")


def input_pipeline(profile: ProfileData, selection: Selection) -> Answer:
    """Return xprof's step table, times in ps and fractions where it has percent.

    The summary has mean and standard deviation of each column, what bounds the program (`bottleneck`), the host's input
    ops and ``input_time_ps``, the time of each of their kinds scaled to what a step waits for input.
    """
    frame, longest_ps, notes = _step_table(profile, selection)
    summary = _step_summary(longest_ps)
    parts = [name for name in frame if str(name).endswith("_ps") and name not in _STEP_COLUMNS]
    known = frame[parts].astype(np.float64) if len(frame) else frame[[]]
    summary["mean_ps"] = {str(name).removesuffix("_ps"): float(known[name].mean()) for name in known}
    summary["sd_ps"] = {str(name).removesuffix("_ps"): _sd(known[name]) for name in known}
    of_cores = "infeed_max_fraction" in frame
    if of_cores:
        shares = frame["infeed_max_fraction"].astype(np.float64)
        summary["infeed_fraction"] = _statistics(shares)
    summary |= bottleneck.of_cores(frame) if of_cores else bottleneck.of_devices(frame)
    hosts = chosen_hosts(profile, selection)
    summary["input_ops"] = ops = _input_ops(hosts)
    summary["input_time_ps"] = _input_times(ops, _sending_share(hosts, frame, of_cores))
    return Answer(frame, summary, notes)


def _input_times(ops: list[dict[str, Any]], sending: float) -> dict[str, float]:
    """Return the self time of input ops by kind, all but sending scaled to the share of a step that is not sending."""
    times = {kind: sum(each["self_time_ps"] for each in ops if each["kind"] == kind) for kind in _KINDS}
    sent = times.pop("Enqueue")
    others = sum(times.values())
    scaled = sent * (1 - sending) / sending if sending else others
    found = {kind: scaled * time / others if others else 0.0 for kind, time in times.items()}
    return {"Enqueue": sent, **found, "Unclassified": max(0.0, scaled - sum(found.values()))}


def _sending_share(hosts: list[HostTrace], frame: pd.DataFrame, of_cores: bool) -> float:
    """Return which share of a step the host sends its input to the device, at most 1."""
    sent, apart = (sum(each) for each in zip(*(_enqueued(trace) for trace in hosts), strict=True))
    if apart > 0:
        return min(1.0, sent / apart)
    if of_cores or not len(frame):
        return 0.0
    return min(1.0, float(frame["host_to_device_ps"].mean() / frame["step_time_ps"].mean()))


def _enqueued(trace: HostTrace) -> tuple[int, int]:
    """Return the time of infeed enqueues on the threads of a host, and between their starts; the last are left out."""
    events = trace.framework_events
    is_enqueue = np.array([kind.startswith("InfeedEnqueue") for kind in events.types], np.bool_)
    rows = np.flatnonzero(is_enqueue[events.op]) if len(events) and len(is_enqueue) else np.empty(0, np.int64)
    rows = rows[np.lexsort((events.start_ps[rows], events.line[rows]))]
    follows = np.flatnonzero(np.diff(events.line[rows]) == 0)
    return int(events.duration_ps[rows][follows].sum()), int(np.diff(events.start_ps[rows])[follows].sum())


def steps(profile: ProfileData, selection: Selection) -> Answer:
    """Return the steps of xprof's step table: ``step, name, start_ps, step_time_ps``, and of CPUs and GPUs the host.

    A step lasts as long as its mark or, on a device, its work; gaps between steps count nowhere.
    """
    frame, longest_ps, notes = _step_table(profile, selection)
    shown = frame[[name for name in ("host", *_STEP_COLUMNS) if name in frame]]
    return Answer(shown, _step_summary(longest_ps), notes)


def _step_table(profile: ProfileData, selection: Selection) -> tuple[pd.DataFrame, pd.Series[float], tuple[str, ...]]:
    """Return the table, what each step took on the slowest host, and the notes."""
    hosts = workers(checked_hosts(profile, replace(selection, step=None)))
    backends = {device.backend for trace in hosts for device in trace.devices}
    if backends == {"tpu"}:
        frame = steps_of_cores(profile, selection)
        longest_ps = frame["step_time_ps"].astype(np.float64)
    else:
        frame, longest_ps = _of_first_host([steps_of_host(trace, selection).frame[COLUMNS] for trace in hosts])
    if selection.step is not None and len(frame):
        if not (frame["step"] == selection.step).any():
            refuse("step", selection.step, map(str, frame["step"]))
        is_chosen = frame["step"] == selection.step
        frame, longest_ps = frame[is_chosen].reset_index(drop=True), longest_ps[is_chosen]
    unused = ["program", "window_ps", *(["device"] if backends == {"cpu"} else [])]
    notes = not_applied(selection, unused, "xprof's steps are whole, and of all programs")
    notes.append("Numbers as xprof computes them." if len(frame) else "No step was marked, and xprof infers none.")
    return frame, longest_ps, tuple(notes)


def workers(hosts: list[HostTrace]) -> list[HostTrace]:
    """Return the hosts with accelerators, all if there are none: xprof counts no steps of one that only coordinates."""
    by_kind = {kind: [trace for trace in hosts if any(device.backend == kind for device in trace.devices)]
               for kind in ("tpu", "gpu")}  # fmt: skip
    return by_kind["tpu"] or by_kind["gpu"] or hosts


def _of_first_host(frames: list[pd.DataFrame]) -> tuple[pd.DataFrame, pd.Series[float]]:
    """Return the steps that all hosts have, as the first has them, and how long each took on the slowest host."""
    if len(frames) == 1:
        frame = frames[0].reset_index(drop=True)
        return frame, frame["step_time_ps"].astype(np.float64)
    spans = [list(zip(each["start_ps"].tolist(), (each["start_ps"] + each["step_time_ps"]).tolist(), strict=True))
             for each in frames]  # fmt: skip
    first, count = first_steps(spans)
    parts = [each.iloc[begin : begin + count].reset_index(drop=True)
             for begin, each in zip(first, frames, strict=True)]  # fmt: skip
    longest_ps = pd.DataFrame([each["step_time_ps"] for each in parts]).max().astype(np.float64)
    place, first_of_all = np.arange(count), parts[0]
    is_numbered = first_of_all["name"] == first_of_all["step"].astype(str)
    names = words(first_of_all["name"].where(~is_numbered, pd.Series(place).astype(str)))
    return first_of_all.assign(step=place, name=names), longest_ps


def _step_summary(times: pd.Series[float]) -> dict[str, Any]:
    return {"step_count": len(times), **{f"step_time_{name}_ps": value for name, value in _statistics(times).items()}}


def _statistics(values: pd.Series[float]) -> dict[str, float | None]:
    if not len(values):
        return dict.fromkeys(("mean", "sd", "min", "max"))
    found = {"mean": values.mean(), "sd": _sd(values), "min": values.min(), "max": values.max()}
    return {name: float(value) for name, value in found.items()}


def _sd(values: pd.Series[float]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


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
