"""How well the model uses this hardware, what bounds it, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.compute_dtype import with_one_roof
from xprof_nb.analysis.duty_cycle import duty_cycle
from xprof_nb.analysis.environment import environment
from xprof_nb.analysis.ops import OpTable
from xprof_nb.analysis.peak_memory import PeakMemory, peak_memory
from xprof_nb.analysis.precision import by_bits, precision
from xprof_nb.analysis.selection import Selection, chosen_hosts
from xprof_nb.analysis.step_costs import step_times_and_busy
from xprof_nb.analysis.steps import steps
from xprof_nb.analysis.xprof import compat as xprof_compat
from xprof_nb.analysis.xprof import overview as xprof_overview
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, are_texts, heaviest_first, known_sum, number, summed_by
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData

TOP = 10
BUSY_MEANS = (
    "busy: device time in which at least one op ran, over the whole capture and all devices; "
    "idle is the rest, gaps at both ends included"
)
_Row = tuple[float | None, str, str]


def overview(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return the headline values as a table ``name, value, unit, definition`` and as the summary."""
    table = (xprof_compat if like_xprof else op_tables).op_table(profile, selection)
    corrected = op_tables.corrected(table.columns, table.peaks)
    stepped = steps(profile, selection)
    records = xprof_compat.by_op(corrected)
    total_ps = xprof_compat.core_time_ps(profile, selection) if like_xprof else table.total_ps
    rated = op_tables.with_rates(records, table.peaks, total_ps)
    shares = precision(records)
    peak = peak_memory(profile, selection)
    values: dict[str, _Row] = {
        **_step_rows(stepped.summary),
        **_device_rows(profile, selection, table, corrected, total_ps, like_xprof),
        **_memory_rows(peak),
        **_host_rows(profile, selection),
        **_precision_rows(shares),
    }
    if like_xprof:
        values |= xprof_overview.rows(profile, selection, table) | xprof_overview.step_rows(profile, selection)
    frame = pd.DataFrame(
        [(name, value, unit, definition) for name, (value, unit, definition) in values.items()],
        columns=["name", "value", "unit", "definition"],
    )
    summary: dict[str, Any] = {
        **op_tables.summary(table),
        "total_time_ps": total_ps,
        "step_kind": None if like_xprof else stepped.summary["kind"],
        "step_count": stepped.summary["step_count"],
        **{name: value for name, (value, _, _) in values.items()},
        "peak_memory_source": peak.source,
        "peak_memory_of": peak.of,
        "bound_by": _bound_by(rated),
        "precision": shares,
        "top_ops": xprof_overview.top_ops(profile, selection, table) if like_xprof else _top_ops(rated, table.busy_ps),
        "environment": environment(profile),
        **(xprof_overview.said(profile, selection, values) if like_xprof else {}),
    }
    summary["sentence"] = _sentence(summary)
    of_steps = xprof_overview.step_notes(profile, selection) if like_xprof else stepped.notes
    said = [*op_tables.notes(profile, table, rated), *of_steps]
    if (values["compile_time_ps"][0] or 0) > 0 and not stepped.summary["compile_time_ps"]:
        said.append(f"Compilation {units.duration(values['compile_time_ps'][0])} in the capture, outside of its steps.")
    return Answer(frame, summary, tuple(said))


def _step_rows(summary: Mapping[str, Any]) -> dict[str, _Row]:
    kind = summary["kind"]
    text = f"start to start of {kind} steps, partial and compiling ones left out" if kind else "no steps"
    return {
        "step_time_mean_ps": (summary["step_time_mean_ps"], "ps", f"mean, {text}"),
        "step_time_median_ps": (summary["step_time_median_ps"], "ps", f"median, {text}"),
        "step_time_sd_ps": (summary["step_time_sd_ps"], "ps", f"sample standard deviation, {text}"),
        "step_time_min_ps": (summary["step_time_min_ps"], "ps", f"shortest, {text}"),
        "step_time_max_ps": (summary["step_time_max_ps"], "ps", f"longest, {text}"),
    }


def _device_rows(
    profile: ProfileData,
    selection: Selection,
    table: OpTable,
    corrected: Columns,
    total_ps: float,
    like_xprof: bool,
) -> dict[str, _Row]:
    peaks = table.stated_peaks if like_xprof else table.peaks
    counted = with_one_roof(table.columns, peaks) if like_xprof else corrected
    idle_ps = max(total_ps - table.busy_ps, 0.0)
    own = ~counted["is_container"].astype(np.bool_)
    flops = known_sum(counted["model_flops"][own])
    needed_s = known_sum(counted["compute_ps"][own]) * 1e-12
    hbm_bytes = known_sum(counted["hbm_bytes"])
    total_s, busy_s = total_ps * 1e-12 or np.nan, table.busy_ps * 1e-12 or np.nan
    hbm = peaks.hbm
    against = _against(counted, peaks)
    roof = f"{units.bytes_per_s(hbm.value)} ({hbm.label})" if hbm else "an unknown peak"
    return {
        "device_busy_fraction": (number(1 - idle_ps / total_ps if total_ps else np.nan), "fraction", BUSY_MEANS),
        "device_idle_fraction": (number(idle_ps / total_ps if total_ps else np.nan), "fraction", BUSY_MEANS),
        "device_duty_cycle_fraction": (
            number(duty_cycle(profile, selection)),
            "fraction",
            "by chip, time in which an op other than a wait for the host ran, from first op to last (as xprof)",
        ),
        "flops_utilization": (
            number(needed_s / (busy_s if like_xprof else total_s)),
            "fraction",
            f"time the FLOPs of all ops need at {against} / time",
        ),
        "busy_flops_utilization": (
            number(needed_s / busy_s),
            "fraction",
            f"time the FLOPs of all ops need at {against} / busy time",
        ),
        "hbm_utilization": (
            number(hbm_bytes / total_s / hbm.value if hbm else np.nan),
            "fraction",
            f"bytes to and from main memory / time / {roof}",
        ),
        "flops": (number(flops), "FLOP", "counted from the HLO, or as the runtime states them"),
        "hbm_bytes": (number(hbm_bytes), "B", "traffic of main memory"),
    }


def _memory_rows(peak: PeakMemory) -> dict[str, _Row]:
    return {
        "peak_memory_bytes": (peak.peak_bytes, "B", peak.definition),
        "memory_capacity_bytes": (
            peak.capacity_bytes,
            "B",
            "of the memory whose peak this is" if peak.capacity_bytes else "stated by nobody",
        ),
    }


def _against(counted: Columns, peaks: Peaks) -> str:
    """Return the roofs that most of the FLOPs are measured against, in words."""
    flops = counted["flops"].astype(np.float64)
    measured = np.flatnonzero((flops > 0) & are_texts(counted["roof_dtype"]))
    by_roof = summed_by(counted["roof_dtype"][measured], flops[measured])
    roofs = []
    for name in sorted(by_roof, key=lambda name: -by_roof[name])[:3]:
        dtype = name.partition(" / ")[0]
        peak = peaks.flops_per_s.get(dtype)
        if peak is not None:
            roofs.append(f"{units.flops_per_s(peak.value)} {dtype} ({peak.label})")
    if not roofs and peaks.reference is not None:
        roofs = [f"{units.flops_per_s(peaks.reference.value)} {peaks.reference_dtype} ({peaks.reference.label})"]
    return " or ".join(dict.fromkeys(roofs)) or "an unknown peak"


def _host_rows(profile: ProfileData, selection: Selection) -> dict[str, _Row]:
    """Return what the devices waited for: the host, in the share of the steps in which no op ran."""
    whole = step_times_and_busy(profile, selection)
    time_ps, busy_ps = float(whole["time_ps"].sum()), float(whole["busy_ps"].sum())
    compiled = sum(trace.compilations.total_ps for trace in chosen_hosts(profile, selection))
    return {
        "step_busy_fraction": (
            number(busy_ps / time_ps if time_ps else np.nan),
            "fraction",
            "device time of the whole steps in which an op ran",
        ),
        "step_host_fraction": (
            number(max(1 - busy_ps / time_ps, 0.0) if time_ps else np.nan),
            "fraction",
            "device time of the whole steps in which no op ran: the host launched, fed or waited",
        ),
        "compile_time_ps": (float(compiled), "ps", "time in which a host compiled, every host counted"),
    }


def _precision_rows(shares: list[dict[str, Any]]) -> dict[str, _Row]:
    rows: dict[str, _Row] = {}
    time, flops = by_bits(shares, "time_fraction"), by_bits(shares, "flops_fraction")
    for bits in sorted({*time, "16-bit", "32-bit"} - {"none"}, key=lambda text: int(text.partition("-")[0])):
        name = bits.replace("-", "")
        rows[f"compute_{name}_time_fraction"] = (
            time.get(bits, 0.0) if time else None,
            "fraction",
            f"busy time of ops that compute in {bits} types",
        )
        rows[f"compute_{name}_flops_fraction"] = (
            flops.get(bits, 0.0) if flops else None,
            "fraction",
            f"FLOPs in {bits} types, of those that are known",
        )
    return rows


def _bound_by(rated: Columns) -> str | None:
    """Return what bounds most of the busy time, None if that is of ops nobody can say it of."""
    times = summed_by((bound or "" for bound in rated["bound_by"]), rated["self_time_ps"])
    return max(sorted(times), key=lambda bound: times[bound], default=None) or None


def _top_ops(rated: Columns, busy_ps: float) -> list[dict[str, Any]]:
    top = heaviest_first(rated["self_time_ps"], rated["op"])[:TOP]
    wanted = ["program", "op", "category", "work_kind", "framework_op", "source", "occurrences", "self_time_ps"]
    wanted += ["time_fraction", "flops_per_s", "flops_utilization", "hbm_utilization", "bound_by"]
    rows = zip(*(rated[name][top].tolist() for name in wanted), strict=True)
    programs = [str(program_id) for program_id in rated["program_id"][top].tolist()]
    known = [{name: value for name, value in zip(wanted, row, strict=True) if value == value} for row in rows]  # noqa: PLR0124
    return [
        {
            **dict.fromkeys(wanted),
            **row,
            "program_id": program_id,
            "busy_fraction": row["self_time_ps"] / busy_ps if busy_ps else None,
        }
        for program_id, row in zip(programs, known, strict=True)
    ]


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
