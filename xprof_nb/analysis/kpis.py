"""The key figures of a training run: step time, throughput, MFU and HFU, bandwidth, communication, peak memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.collectives import collectives
from xprof_nb.analysis.peak_memory import PLANNED, RECORDED, SAMPLED, peak_memory
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.step_costs import step_costs
from xprof_nb.analysis.steps import steps
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, are_texts, known_sum, summed_by
from xprof_nb.model.device import Peak, Peaks
from xprof_nb.model.figures import Figure, as_table, reasons
from xprof_nb.model.profile import ProfileData

FLOPS_PER_PARAMETER_AND_TOKEN = 6
"""Two forward, four backward, as in Kaplan et al. 2020, section 2.1: attention's own FLOPs are not among them."""
_WITHOUT_STEPS = (
    "The profile has no whole step, so nothing can be said per step: mark steps with "
    "jax.profiler.StepTraceAnnotation('train', step_num=i), or capture for longer."
)
_COUNTED = "counted from the HLO, or as the runtime states them"
_WITHOUT_ROOFS = (
    "The profile states no such work, or the peaks of the device are not known: xp.hardware(name, bf16_flops=…, "
    "hbm_bytes_per_s=…) states them."
)
_PEAKS = {
    RECORDED: ("most that one allocator held at once", "allocator, whole capture"),
    SAMPLED: ("most that the arrays Python held took, of the samples", "live arrays, sampled over the whole capture"),
    PLANNED: (
        "most that is live at once in the largest program, inputs and outputs included",
        "plan of the compiler",
    ),
}


@dataclass(frozen=True)
class Workload:
    """What a profile cannot know of a step; None is not told.

    Attributes
    ----------
    tokens_per_step, items_per_step
        Of all devices together.
    parameters
        Of the model, for 6·N·D.
    """

    tokens_per_step: float | None = None
    items_per_step: float | None = None
    parameters: float | None = None


def kpis(profile: ProfileData, selection: Selection, workload: Workload) -> Answer:
    """Return the table ``name, value, unit, definition, source``; what is not known is missing, with a note why.

    MFU is the time that the model's FLOPs need at the peak of the devices, over the time of a step on all of them; HFU
    counts what was run, recomputed values included. The model's FLOPs are ``6 · parameters · tokens_per_step`` where
    both are told, and else those of the HLO without the ops that recompute (``.remat``, ``rematted_computation``).

    Raises
    ------
    UsageError
        The selection names what the profile does not have.
    """
    table = op_tables.op_table(profile, selection)
    columns = op_tables.corrected(table.columns, table.peaks)
    stepped = steps(profile, selection)
    costs = step_costs(profile, selection, table.peaks)
    step_ps = stepped.summary["step_time_mean_ps"]
    rows = [
        *_times(stepped.summary),
        *_throughput(step_ps, workload),
        *_utilization(table, columns, costs, step_ps, workload),
        _exposed(profile, selection),
        _peak_memory(profile, selection),
    ]
    rated = op_tables.with_rates(columns, table.peaks, table.total_ps)
    bound = summed_by((bound or "" for bound in rated["bound_by"]), rated["self_time_ps"])
    summary: dict[str, Any] = {
        **{row.name: row.known for row in rows},
        "step_count": stepped.summary["step_count"],
        "device_count": len(table.devices),
        "bound_by": max(sorted(bound), key=lambda name: bound[name], default=None) or None,
    }
    summary["sentence"] = sentence(rows, summary["bound_by"])
    return Answer(as_table(rows), summary, (*stepped.notes, *reasons(rows)))


def sentence(rows: Iterable[Figure], bound_by: str | None) -> str:
    """Return the figures that people ask for first."""
    first = {"step_time_mean": "step", "tokens_per_s": "", "items_per_s": "", "mfu": "MFU", "hfu": "HFU"}
    said = [f"{first[row.name]} {row}".strip() for row in rows if row.name in first and row.known is not None]
    said += [f"mostly {bound_by}-bound"] if bound_by in {"compute", "memory"} else []
    text = ", ".join(said)
    return f"{text[0].upper()}{text[1:]}." if text else "No step and no roof is known."


def _times(summary: Any) -> list[Figure]:
    kind = summary["kind"]
    how = f"{kind} steps, start to start, partial and compiling ones left out"
    source = f"profile, {units.counted(summary['step_count'], 'whole step')}"
    return [
        Figure(f"step_time_{name}", summary[f"step_time_{name}_ps"], "ps", f"{word} of {how}", source, _WITHOUT_STEPS)
        for name, word in (("mean", "mean"), ("median", "median"))
    ]


def _throughput(step_ps: float | None, workload: Workload) -> list[Figure]:
    rows = []
    for name, each in (("tokens", workload.tokens_per_step), ("items", workload.items_per_step)):
        value = each / (step_ps * 1e-12) if each is not None and step_ps else None
        why = _WITHOUT_STEPS if each is not None else f"Tell how much a step does: kpis({name}_per_step=…)."
        rows.append(
            Figure(f"{name}_per_s", value, f"{name}/s", f"{name}_per_step / step_time_mean, all devices", "told", why)
        )
    return rows


def _utilization(
    table: op_tables.OpTable, columns: Columns, costs: Columns, step_ps: float | None, workload: Workload
) -> list[Figure]:
    count, devices = len(costs["step"]), len(table.devices)
    per_step = {
        name: known_sum(costs[name]) / count if count else np.nan for name in ("flops", "compute_ps", "hbm_bytes")
    }
    again_flops, again_ps = (_again(columns, name) for name in ("flops", "compute_ps"))
    spent_ps = (step_ps or np.nan) * (devices or np.nan)
    roof, dtype = main_roof(columns, table.peaks)
    at = f"the peaks of their element types, mostly {dtype} at {_stated(roof)}" if roof else "an unknown peak"
    if workload.parameters is not None and workload.tokens_per_step is not None:
        model_flops = FLOPS_PER_PARAMETER_AND_TOKEN * workload.parameters * workload.tokens_per_step
        needed_ps = model_flops / roof.value * 1e12 if roof else np.nan
        how, source = f"6 · {workload.parameters:g} parameters · {workload.tokens_per_step:g} tokens", "6ND, as told"
    else:
        model_flops, needed_ps = per_step["flops"] * (1 - again_flops), per_step["compute_ps"] * (1 - again_ps)
        how = f"FLOPs of the HLO without ops that recompute ({units.percent(again_flops)} of all)"
        source = _COUNTED
    hbm = table.peaks.hbm
    moved_s = per_step["hbm_bytes"] / hbm.value if hbm else np.nan
    why = _WITHOUT_ROOFS if step_ps and count else _WITHOUT_STEPS
    time = "/ (step_time_mean · devices)"
    mfu = f"time that model_flops_per_step need at {at} {time}"
    hfu = f"time that hardware_flops_per_step need at {at} {time}"
    bandwidth = f"bytes of main memory / {units.bytes_per_s(hbm.value) if hbm else 'an unknown peak'} {time}"
    ran = "FLOPs of all ops of a step, recomputed ones too"
    return [
        Figure("model_flops_per_step", model_flops, "FLOP", how, source, why),
        Figure("hardware_flops_per_step", per_step["flops"], "FLOP", ran, _COUNTED, why),
        Figure("mfu", needed_ps / spent_ps, "fraction", mfu, source, why),
        Figure("hfu", per_step["compute_ps"] / spent_ps, "fraction", hfu, _COUNTED, why),
        Figure("hbm_utilization", moved_s * 1e12 / spent_ps, "fraction", bandwidth, _COUNTED, why),
    ]


def _stated(roof: Peak) -> str:
    return f"{units.flops_per_s(roof.value)} ({roof.label})"


def main_roof(columns: Columns, peaks: Peaks) -> tuple[Peak | None, str]:
    """Return the FLOP/s roof that most FLOPs are measured against, and its element type."""
    counted = np.flatnonzero((columns["flops"] > 0) & are_texts(columns["roof_dtype"]))
    weights = summed_by(columns["roof_dtype"][counted], columns["flops"][counted])
    dtype = max(sorted(weights), key=lambda name: weights[name], default="").partition(" / ")[0]
    peak = peaks.flops_per_s.get(dtype)
    return (peak, dtype) if peak is not None else (peaks.reference, peaks.reference_dtype)


def _again(columns: Columns, cost: str) -> float:
    """Return which share of a cost is computed again in the backward pass, to save memory."""
    values = np.nan_to_num(columns[cost])
    total = float(values.sum())
    return float(values[op_tables.recomputed(columns)].sum()) / total if total else 0.0


def _exposed(profile: ProfileData, selection: Selection) -> Figure:
    summary = collectives(profile, selection, False).summary
    return Figure(
        "exposed_communication",
        summary.get("exposed_step_fraction"),
        "fraction",
        "time of a step in which a collective ran and no computing op did / step time, mean over steps and devices",
        "profile",
        "No collective ran in a whole step.",
    )


def _peak_memory(profile: ProfileData, selection: Selection) -> Figure:
    peak = peak_memory(profile, Selection(selection.host, selection.device, selection.program))
    how, source = _PEAKS.get(peak.source or "", _PEAKS[PLANNED])
    why = "The runtime recorded no allocation and no program says where it keeps its values."
    return Figure("peak_memory", peak.peak_bytes, "B", how, source, why)
