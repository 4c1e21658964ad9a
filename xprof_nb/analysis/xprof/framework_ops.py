"""xprof's own table of framework ops: the same rows and numbers as its ``framework_op_stats``.

Rules as in xprof 2.24 (`op_metrics_to_tf_stats`, `xplane_to_op_metrics_db`): device ops are grouped by the name before
the colon of their path, occurrences are the highest among them; times of hosts are summed over threads, idle is the
rest of each thread from its first framework op to its last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.compute_dtype import with_one_roof
from xprof_nb.analysis.host_framework_ops import host_ops_as_xprof
from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.analysis.ops import COSTS, OpTable, summary
from xprof_nb.analysis.selection import Selection, chosen_hosts, not_applied
from xprof_nb.analysis.xprof.compat import bound_by, by_op, core_time_ps
from xprof_nb.analysis.xprof.gpu import has_gpus
from xprof_nb.analysis.xprof.kernels import tensor_cores_by_op
from xprof_nb.analysis.xprof.training import has_gradients
from xprof_nb.formats.framework_events import split_framework_op
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame, words
from xprof_nb.model.profile import ProfileData

_HOST_PLANE = "/host:CPU"
MOST_ROWS = 500
_SUMS = ["time_ps", "self_time_ps", *COSTS, "compute_ps"]
COLUMNS = [
    *("rank", "on", "type", "name", "occurrences", "time_ps", "self_time_ps", "time_fraction"),
    *("cumulative_time_fraction", "busy_fraction", "cumulative_busy_fraction", "flops_per_s", "model_flops_per_s"),
    *("bytes_per_s", "arithmetic_intensity", "bound_by", "tensor_core_fraction"),
]


def framework_ops(profile: ProfileData, selection: Selection, table: OpTable) -> Answer:
    """Return xprof's rows, devices first; fractions of all time, idle included, and of the busy time."""
    device = _device_rows(profile, table)
    idle = max(core_time_ps(profile, selection) - float(device["self_time_ps"].sum()), 0.0)
    chosen = chosen_hosts(profile, selection)
    hosts, span_ps = host_ops_as_xprof(chosen)
    host_idle = max(span_ps - float(hosts["self_time_ps"].sum()), 0.0)
    tables = [_ranked(device, idle, "Device", table)]
    if any(plane == _HOST_PLANE for trace in chosen for plane in trace.lines.plane):
        tables.append(_ranked(hosts, host_idle, "Host", table))
    frame = pd.concat(tables, ignore_index=True)
    frame["rank"] = np.arange(1, len(frame) + 1)
    for name in ("name", "type", "on", "bound_by"):
        frame[name] = words(frame[name])
    frame["tensor_core_fraction"] = _on_tensor_cores(profile, selection, frame)
    of_devices = not_applied(selection, ("device", "program", "step", "window_ps"), "rows of the host are of all of it")
    kinds = zip(frame["name"], frame["type"], strict=True)
    said = {**summary(table), "is_training": has_gradients((str(name), str(kind)) for name, kind in kinds)}
    return Answer(frame[COLUMNS], said, (*of_devices, "Numbers as xprof computes them."))


def _on_tensor_cores(profile: ProfileData, selection: Selection, frame: pd.DataFrame) -> pd.Series[float]:
    """Return which share of the kernels' time of each op was on tensor cores; xprof says so of GPUs alone."""
    if not has_gpus(profile):
        return frame["time_ps"] * np.nan
    by_op = tensor_cores_by_op(profile, selection)["tensor_core_fraction"]
    return frame["name"].map(by_op).where(frame["on"] == "Device").fillna(0.0).astype(np.float64)


def _device_rows(profile: ProfileData, table: OpTable) -> pd.DataFrame:
    records = as_frame(by_op(with_one_roof(table.columns, table.stated_peaks)))
    if not len(records):
        return pd.DataFrame(columns=["name", "type", "occurrences", *_SUMS])
    path = _paths_with_types(profile)
    if "provenance" in records:
        identity = zip(records["program_id"], records["op"], strict=True)
        path = {pair: text for pair, text in zip(identity, records["provenance"], strict=True) if isinstance(text, str)}
    named = [
        _name_and_type(path.get((program, op)), op)
        for program, op in zip(records["program_id"], records["op"], strict=True)
    ]
    records["name"], records["type"] = zip(*named, strict=True)
    how: dict[str, Any] = {"occurrences": "max", **dict.fromkeys(_SUMS, "sum")}
    return records.groupby(["name", "type"], sort=False, as_index=False).agg(how)


def _paths_with_types(profile: ProfileData) -> dict[tuple[int, str], str]:
    """Return the framework's ``path:type`` by op as the runtime wrote it, else as the program has it."""
    found: dict[tuple[int, str], str] = {}
    for trace in profile.hosts:
        keys = trace.keys
        for program_id, op, stated in zip(keys.program_id.tolist(), keys.op, keys.framework_op, strict=True):
            path = stated or _path_in_program(profile, program_id, op)
            if path:
                found[program_id, op] = str(path)
    return found


def _path_in_program(profile: ProfileData, program_id: int, op: str) -> str | None:
    program = readable_program(profile, program_id)
    instruction = program.instruction(op) if program is not None else None
    return f"{instruction.op_name}:{instruction.op_type}" if instruction and instruction.op_name else None


def _name_and_type(path: str | None, op: str) -> tuple[str, str]:
    if not path:
        return op, "Unknown"
    name, kind = split_framework_op(path)
    return name, kind or "Unknown"


def _ranked(rows: pd.DataFrame, idle_ps: float, on: str, table: OpTable) -> pd.DataFrame:
    idle = {"name": "IDLE", "type": "IDLE", "occurrences": 0, "time_ps": idle_ps, "self_time_ps": idle_ps}
    everything = pd.concat([rows, pd.DataFrame([idle])], ignore_index=True)
    frame = everything.reindex(columns=["name", "type", "occurrences", *_SUMS])
    frame[["occurrences", *_SUMS]] = frame[["occurrences", *_SUMS]].astype(float).fillna(0.0)
    frame = frame.sort_values(["self_time_ps", "name"], ascending=[False, True]).head(MOST_ROWS)
    busy = frame["type"] != "IDLE"
    self_ps = frame["self_time_ps"]
    total, busy_ps = float(rows["self_time_ps"].sum()) + idle_ps, float(rows["self_time_ps"].sum())
    frame["time_fraction"] = self_ps / total if total else 0.0
    frame["cumulative_time_fraction"] = frame["time_fraction"].cumsum()
    frame["busy_fraction"] = (self_ps / busy_ps if busy_ps else self_ps * 0.0).where(busy)
    frame["cumulative_busy_fraction"] = frame["busy_fraction"].cumsum()
    time_s = frame["time_ps"].where(frame["time_ps"] > 0) * 1e-12
    peaks = table.stated_peaks
    # The table has no traffic by memory: all of it counts as HBM's.
    on_chip = [f"{memory}_{way}_bytes" for memory in ("on_chip", "cmem") for way in ("read", "write")]
    frame = frame.assign(hbm_bytes=frame["bytes_accessed"], **dict.fromkeys(on_chip, 0.0))
    for rate, amount in (
        ("flops_per_s", "flops"),
        ("model_flops_per_s", "model_flops"),
        ("bytes_per_s", "bytes_accessed"),
        ("hbm_bytes_per_s", "hbm_bytes"),
    ):
        frame[rate] = (frame[amount] / time_s).fillna(0.0)
    frame["arithmetic_intensity"] = (
        frame["flops"] / frame["bytes_accessed"].where(frame["bytes_accessed"] > 0)
    ).fillna(0.0)
    frame["flops_utilization"] = frame["flops_per_s"] / (peaks.reference.value if peaks.reference else np.nan)
    frame["hbm_utilization"] = frame["hbm_bytes_per_s"] / (peaks.hbm.value if peaks.hbm else np.nan)
    return frame.assign(on=on, bound_by=bound_by(frame, peaks))
