"""How well the model uses this hardware, what bounds it, and what to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis import xprof_compat
from xprof_nb.analysis.ops import OpTable
from xprof_nb.analysis.selection import Selection, chosen_parts
from xprof_nb.analysis.steps import steps
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData

TOP = 10
_OFF_DUTY = {
    "infeed",
    "outfeed",
    "host send",
    "host send-done",
    "host recv",
    "host recv-done",
    "async-done",
    "megacore fusion",
}
BUSY_MEANS = (
    "busy: device time in which at least one op ran, over the whole capture and all devices; "
    "idle is the rest, gaps at both ends included"
)


def overview(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return the headline values as a table ``name, value, unit, definition`` and as the summary."""
    table = (xprof_compat if like_xprof else op_tables).op_table(profile, selection)
    corrected = op_tables.corrected(table.frame, table.peaks)
    total_ps = xprof_compat.core_time_ps(profile, selection) if like_xprof else table.total_ps
    counted = table.frame if like_xprof else corrected
    stepped = steps(profile, selection)
    values = {
        **_step_rows(stepped.summary),
        **_device_rows(profile, selection, table, counted, total_ps, like_xprof),
    }
    frame = pd.DataFrame(
        [(name, value, unit, definition) for name, (value, unit, definition) in values.items()],
        columns=["name", "value", "unit", "definition"],
    )
    rated = op_tables.with_rates(xprof_compat.by_op(corrected), table.peaks, total_ps)
    summary: dict[str, Any] = {
        **op_tables.summary(table),
        "total_time_ps": total_ps,
        **{name: value for name, (value, _, _) in values.items()},
        "step_kind": stepped.summary["kind"],
        "step_count": stepped.summary["step_count"],
        "bound_by": _bound_by(rated),
        "top_ops": _top_ops(rated, table.busy_ps),
        "environment": environment(profile),
    }
    summary["sentence"] = _sentence(summary)
    said = op_tables.notes(profile, table, rated)
    return Answer(frame, summary, (*said, *stepped.notes))


_Row = tuple[float | None, str, str]


def _step_rows(summary: Any) -> dict[str, _Row]:
    kind = summary["kind"]
    text = f"start to start of {kind} steps, partial ones left out" if kind else "no steps"
    return {
        "step_time_mean_ps": (summary["step_time_mean_ps"], "ps", f"mean, {text}"),
        "step_time_sd_ps": (summary["step_time_sd_ps"], "ps", f"sample standard deviation, {text}"),
        "step_time_min_ps": (summary["step_time_min_ps"], "ps", f"shortest, {text}"),
        "step_time_max_ps": (summary["step_time_max_ps"], "ps", f"longest, {text}"),
    }


def _device_rows(
    profile: ProfileData, selection: Selection, table: OpTable, counted: pd.DataFrame, total_ps: float, like_xprof: bool
) -> dict[str, _Row]:
    peaks = table.peaks
    idle_ps = max(total_ps - table.busy_ps, 0.0)
    flops = counted.loc[~counted["is_container"].astype(bool), "model_flops"].sum(min_count=1)
    hbm_bytes = counted["hbm_bytes"].sum(min_count=1)
    total_s = total_ps * 1e-12 or np.nan
    busy_s = table.busy_ps * 1e-12 or np.nan
    reference, hbm = peaks.reference, peaks.hbm
    against = (
        f"{units.flops_per_s(reference.value)} {peaks.reference_dtype} ({reference.label})"
        if reference
        else "an unknown peak"
    )
    roof = f"{units.bytes_per_s(hbm.value)} ({hbm.label})" if hbm else "an unknown peak"
    return {
        "device_busy_fraction": (_known(1 - idle_ps / total_ps if total_ps else np.nan), "fraction", BUSY_MEANS),
        "device_idle_fraction": (_known(idle_ps / total_ps if total_ps else np.nan), "fraction", BUSY_MEANS),
        "device_duty_cycle_fraction": (
            _known(duty_cycle(profile, selection)),
            "fraction",
            "by chip, time in which an op other than a wait for the host ran, from first op to last (as xprof)",
        ),
        "flops_utilization": (
            _known(flops / (busy_s if like_xprof else total_s) / reference.value if reference else np.nan),
            "fraction",
            f"FLOPs of all ops / time / {against}",
        ),
        "busy_flops_utilization": (
            _known(flops / busy_s / reference.value if reference else np.nan),
            "fraction",
            f"FLOPs of all ops / busy time / {against}",
        ),
        "hbm_utilization": (
            _known(hbm_bytes / total_s / hbm.value if hbm else np.nan),
            "fraction",
            f"bytes to and from main memory / time / {roof}",
        ),
        "flops": (_known(flops), "FLOP", "counted from the HLO, or as the runtime states them"),
        "hbm_bytes": (_known(hbm_bytes), "B", "traffic of main memory"),
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def duty_cycle(profile: ProfileData, selection: Selection) -> float:
    """Return busy / (busy + idle) by chip on the host's clock, waits for the host not counted as busy.

    Definition of xprof's ``device_duty_cycle_percent``: per chip the union over its cores of op intervals,
    within the hull of its ops and program runs, summed over chips.
    """
    busy = span = 0
    for part in chosen_parts(profile, selection):
        trace, ops = part.trace, part.trace.ops
        off_duty = np.isin(trace.keys.category.astype(str), list(_OFF_DUTY))
        chips = np.array([row if item.chip is None else item.chip for row, item in enumerate(trace.devices)])
        for chip in np.unique(chips[part.devices]):
            rows = part.rows[chips[ops.device[part.rows]] == chip]
            runs = np.isin(trace.runs.device, np.flatnonzero(chips == chip))
            if not len(rows):
                continue
            start, end = ops.host_start_ps[rows], ops.host_start_ps[rows] + ops.host_duration_ps[rows]
            run_start = trace.runs.start_ps[runs]
            run_end = run_start + trace.runs.duration_ps[runs]
            on_duty = ~off_duty[ops.key[rows]]
            busy += union_length(start[on_duty], end[on_duty])
            span += max(end.max(), run_end.max(initial=0)) - min(start.min(), run_start.min(initial=start.min()))
    return busy / span if span else np.nan


def union_length(start: np.ndarray[Any, np.dtype[np.int64]], end: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """Return the length of the union of intervals."""
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    covered = np.maximum(start[1:], reached[:-1])
    return int(end[0] - start[0] + np.maximum(end[1:] - covered, 0).sum())


def _bound_by(rated: pd.DataFrame) -> str | None:
    """Return what bounds most of the busy time, None if that is of ops nobody can say it of."""
    times = rated.groupby(rated["bound_by"].fillna(""))["self_time_ps"].sum()
    return (str(times.idxmax()) or None) if len(times) else None


def _top_ops(rated: pd.DataFrame, busy_ps: float) -> list[dict[str, Any]]:
    top = rated.sort_values("self_time_ps", ascending=False).head(TOP)
    wanted = ["program", "op", "category", "framework_op", "source", "occurrences", "self_time_ps", "time_fraction"]
    rows = top[[*wanted, "flops_per_s", "flops_utilization", "hbm_utilization", "bound_by"]].to_dict("records")
    return [
        {str(name): (None if pd.isna(value) else value) for name, value in row.items()}
        | {"busy_fraction": row["self_time_ps"] / busy_ps if busy_ps else None}
        for row in rows
    ]


def environment(profile: ProfileData) -> dict[str, Any]:
    """Return what ran where: hosts, devices, versions, flags and the options of the capture."""
    versions = {name: value for host in profile.hosts for name, value in host.versions.items()}
    return {
        "hosts": [host.host for host in profile.hosts],
        "devices": [f"{device.host} {device.name} {device.model}".strip() for device in profile.devices],
        "versions": {**versions, **profile.metadata.get("versions", {})},
        "xla_flags": profile.metadata.get("xla_flags"),
        "options": profile.metadata.get("options"),
        "window": sorted({host.window_source for host in profile.hosts}),
    }


_BOUND = {
    "compute": "Compute-bound",
    "memory": "Memory-bound",
    "link": "Communication-bound",
    "host": "Bound by transfers to and from the host",
}


def _sentence(summary: dict[str, Any]) -> str:
    top = summary["top_ops"]
    if not top:
        return "No op was recorded."
    head = _BOUND.get(str(summary["bound_by"]), "Bound by nothing the profile can name")
    if (summary["device_idle_fraction"] or 0) > 0.5:
        head = f"Mostly idle ({units.percent(summary['device_idle_fraction'])}); when busy, {head[0].lower()}{head[1:]}"
    step = summary["step_time_mean_ps"]
    step_text = f"step {units.duration(step)}, " if step else ""
    flops = summary["flops_utilization"]
    used = f"{units.percent(flops)} of the FLOP/s peak, " if flops is not None else ""
    return (
        f"{head}: {step_text}{used}largest op {top[0]['op']} ({units.percent(top[0]['busy_fraction'])} of busy time)."
    )
