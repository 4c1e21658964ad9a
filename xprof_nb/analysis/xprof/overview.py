"""What xprof's overview page says besides: its steps, shares of op counts, idle hosts, its top framework ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from xprof_nb.analysis.duty_cycle import duty_times
from xprof_nb.analysis.ops import OpTable
from xprof_nb.analysis.selection import Selection, chosen_hosts
from xprof_nb.analysis.xprof import input as xprof_input
from xprof_nb.analysis.xprof.framework_ops import framework_ops
from xprof_nb.analysis.xprof.gpu import has_gpus
from xprof_nb.analysis.xprof.kernels import tensor_cores_by_op
from xprof_nb.analysis.xprof.steps import steps_of_host
from xprof_nb.analysis.xprof.training import is_training
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

TOP = 10
_TENSOR_CORES = ("uses_tensor_cores", "tensor_core_eligible")
LOW_PRECISION = 0.1
"""Share of 16-bit computing below which xprof advises more of it."""


def rows(profile: ProfileData, selection: Selection, table: OpTable) -> dict[str, tuple[float | None, str, str]]:
    """Return xprof's values under our names, as ``value, unit, definition``."""
    frame = framework_ops(profile, selection, table).frame
    host, device = (frame[frame["on"] == on] for on in ("Host", "Device"))
    counts = host["occurrences"].sum() + device["occurrences"].sum()
    idle = host.loc[host["type"] == "IDLE", "self_time_ps"].sum()
    total = host["self_time_ps"].sum()
    on_duty_ps, span_ps = duty_times(profile, selection)
    off_duty = "by chip, from first op to last, waiting for the host included"
    return {
        "device_off_duty_ps": (float(span_ps - on_duty_ps), "ps", off_duty),
        **_stated(chosen_hosts(profile, selection)),
        "device_op_count_fraction": (_share(device["occurrences"].sum(), counts), "fraction", "of executions of ops"),
        "host_op_count_fraction": (_share(host["occurrences"].sum(), counts), "fraction", "of executions of ops"),
        "host_idle_fraction": (_share(idle, total), "fraction", "time of threads between framework ops"),
    }


def _stated(hosts: list[HostTrace]) -> dict[str, tuple[float | None, str, str]]:
    """Return the use of matrix units and HBM as the runtime states it, the mean over hosts, 0 where it is silent."""
    found: dict[str, tuple[float | None, str, str]] = {}
    for name, label in (("matrix_unit", "matrix units"), ("hbm", "main memory")):
        values = [trace.stated.get(f"{name}_utilization_percent", 0.0) for trace in hosts]
        share = sum(values) / len(values) / 100 if values else 0.0
        found[f"stated_{name}_utilization"] = (share, "fraction", f"use of the {label} as the runtime states it")
    return found


Rows = Mapping[str, tuple[float | None, str, str]]


def said(profile: ProfileData, selection: Selection, values: Rows) -> dict[str, Any]:
    """Return what xprof says in words of run and bottleneck; of TPUs with steps its page names none."""
    found = xprof_input.input_pipeline(profile, replace(selection, step=None)).summary
    hosts = xprof_input.workers(chosen_hosts(profile, selection))
    of_cores = any(device.backend == "tpu" for trace in hosts for device in trace.devices)
    names = ("input", "collective", "launch", "other")
    kinds = {name: found.get(f"{name}_classification", "no") for name in names}
    if of_cores and found["step_count"]:
        kinds = dict.fromkeys(names)
    half, single = (values.get(f"compute_{bits}bit_time_fraction", (None, "", ""))[0] for bits in (16, 32))
    return {
        "is_training": is_training(profile),
        "bottleneck": kinds["input"],
        "bottleneck_statement": found["input_statement"] if kinds["input"] else None,
        **{f"{name}_bottleneck": kinds[name] for name in names[1:]},
        "advises_16bit": bool(half is not None and single and half < LOW_PRECISION and not of_cores),
        **{name: found[name] for name in ("mean_ps", "sd_ps")},
    }


def step_rows(profile: ProfileData, selection: Selection) -> dict[str, tuple[float | None, str, str]]:
    """Return xprof's step times, and of GPUs what share of the time they computed in 16 and in 32 bits."""
    summary = xprof_input.steps(profile, replace(selection, step=None)).summary
    text = "steps as xprof has them: as long as their mark or, on devices, their work"
    rows = {
        f"step_time_{name}_ps": (summary[f"step_time_{name}_ps"], "ps", f"{word}, {text}")
        for name, word in (("mean", "mean"), ("sd", "sample standard deviation"), ("min", "least"), ("max", "most"))
    }
    rows["step_time_median_ps"] = (None, "ps", "xprof has none")
    hosts = chosen_hosts(profile, selection)
    rows |= {"step_count": (summary["step_count"], "", text), "host_count": (len(hosts), "", "hosts")}
    backends = {device.backend for trace in hosts for device in trace.devices}
    if backends == {"tpu"}:
        cores = sum(not device.kind for trace in hosts for device in trace.devices)
        return rows | {"device_core_count": (cores, "", "TensorCores")}
    if backends != {"gpu"}:
        return rows
    found = [steps_of_host(trace, selection) for trace in hosts]
    half, single = sum(each.half_ps for each in found), sum(each.single_ps for each in found)
    by_name = "of the time GPUs computed in steps; kernels named half or fp16 are 16-bit, all others 32-bit"
    return rows | {
        "device_core_count": (sum(_gpu_count(trace) for trace in hosts), "", "GPUs, idle ones included"),
        "compute_16bit_time_fraction": (_share(half, half + single) or 0.0, "fraction", by_name),
        "compute_32bit_time_fraction": (_share(single, half + single) or 0.0, "fraction", by_name),
    }


def step_notes(profile: ProfileData, selection: Selection) -> tuple[str, ...]:
    """Return what to know of the profile and of xprof's steps of it."""
    of_hosts = (text for host in profile.hosts for text in host.notes)
    return (*profile.notes, *of_hosts, *xprof_input.steps(profile, replace(selection, step=None)).notes)


def _gpu_count(trace: HostTrace) -> int:
    return max((int(device.stated.get("host_gpu_count", 0)) for device in trace.devices), default=0)


def top_ops(profile: ProfileData, selection: Selection, table: OpTable) -> list[dict[str, Any]]:
    """Return the framework ops xprof puts first; ``busy_fraction`` is of the time of all ops."""
    frame = framework_ops(profile, selection, table).frame
    top = frame[(frame["on"] == "Device") & (frame["type"] != "IDLE")].head(TOP)
    if has_gpus(profile):
        cores = tensor_cores_by_op(profile, selection).reindex(top["name"])
        top = top.assign(**{name: cores[name].eq(True).to_numpy() for name in _TENSOR_CORES})
    names = {"name": "op", "type": "category"}
    wanted = [
        "name",
        "type",
        "occurrences",
        "self_time_ps",
        "busy_fraction",
        "time_fraction",
        "flops_per_s",
        "bound_by",
        *(name for name in _TENSOR_CORES if name in top),
    ]
    return [
        {str(name): (None if pd.isna(value) else value) for name, value in row.items()}
        for row in top[wanted].rename(columns=names).to_dict("records")
    ]


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None
