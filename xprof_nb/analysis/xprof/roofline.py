"""xprof's own roofline table: the same rows, rates and peaks as its ``roofline_model``.

Rules as in xprof 2.24 (`op_stats_to_roofline_model`, `op_metrics_to_record.h`): times are sums over cores, rates are
over the inclusive time, traffic without a breakdown by memory counts as HBM, a memory nobody accessed has rate 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.compute_dtype import with_one_roof
from xprof_nb.analysis.ops import COSTS, OpTable, summary
from xprof_nb.analysis.selection import HostPart, Selection, chosen_hosts
from xprof_nb.analysis.xprof import input as xprof_input
from xprof_nb.analysis.xprof import tpu
from xprof_nb.analysis.xprof.compat import (
    ON_CHIP_LABELS,
    by_op,
    core_time_ps,
    hbm_as_xprof,
    on_chip_bytes,
    time_scale,
)
from xprof_nb.analysis.xprof.cores import core_groups
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame, words
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData

MOST_OPS = 1000
MEMORIES = {
    "hbm": "hbm_bytes",
    "cmem_read": "cmem_read_bytes",
    "cmem_write": "cmem_write_bytes",
    "vmem_read": "vmem_read_bytes",
    "vmem_write": "vmem_write_bytes",
}
_LABELS = {"hbm": "HBM", **ON_CHIP_LABELS}
_NOT_IN_PROGRAM = {"while", "conditional", "call", "megacore fusion"}
_FEEDS = {"infeed", "outfeed"}
_PROGRAM = {"category": "Program", "op": "Program", "program_id": "0", "occurrences": 1, "self_time_ps": 0.0}
_SUMS = [*COSTS, "vmem_read_bytes", "vmem_write_bytes"]
COLUMNS = [
    *("step", "rank", "category", "op", "program", "program_id", "occurrences", "time_ps", "self_time_ps"),
    *("self_time_fraction", "cumulative_self_time_fraction", "flops_per_s", "model_flops_per_s", "bytes_per_s"),
    *(f"{memory}_bytes_per_s" for memory in MEMORIES),
    *("arithmetic_intensity", *(f"{memory}_arithmetic_intensity" for memory in MEMORIES)),
    *("bottleneck_arithmetic_intensity", "bound_by", "time_per_core_ps", "time_fraction", "optimal_flops_per_s"),
    *("efficiency_fraction", "flops_utilization", "memory_utilization", "include_infeed_outfeed", "source"),
    *("mean_time_ps", "mean_self_time_ps", "dma_stall_fraction"),
]


def roofline(profile: ProfileData, selection: Selection, table: OpTable) -> Answer:
    """Return xprof's rows: per choice of counting infeed and outfeed the whole program, rank 0, and its ops."""
    several = len(chosen_hosts(profile, selection)) > 1
    peaks, roofs = table.stated_peaks, _roofs(table, several)
    records = _by_memory(table, peaks)
    total_ps = core_time_ps(profile, selection)
    kind = table.devices[0].backend if table.devices else ""
    steps = _step_records(profile, selection, kind)
    has_average = kind == "tpu" or several
    blocks = []
    for include in (True, False):
        blocks.append(_block(records, total_ps, include, roofs))
        if steps or kind == "tpu":
            blocks.append(_step_block(steps, include, roofs, has_average))
    frame = pd.concat(blocks, ignore_index=True) if kind in {"gpu", "tpu"} else pd.DataFrame(columns=COLUMNS)
    frame["time_per_core_ps"] = frame["time_ps"] / max(len(table.devices), 1)
    times = frame["occurrences"].where(frame["occurrences"] > 0)
    frame["mean_time_ps"] = frame["mean_time_ps"].fillna((frame["time_ps"] / times).astype(np.float64))
    frame["mean_self_time_ps"] = frame["self_time_ps"] / times
    said = {**summary(table), **_properties(table, roofs)}
    notes = ["Numbers as xprof computes them."]
    if not len(records):
        notes.append("xprof shows no roofline here: it knows no op of this kind of device, or none ran.")
    return Answer(frame[COLUMNS], said, tuple(notes))


def _by_memory(table: OpTable, peaks: Peaks) -> pd.DataFrame:
    """Return the ops with their traffic by memory, 0 where it is unknown."""
    frame = as_frame(by_op(with_one_roof(table.columns, peaks))).astype({"program_id": str})
    frame = frame.assign(**{f"{memory}_bytes": moved for memory, moved in on_chip_bytes(frame).items()})
    frame[_SUMS] = frame[_SUMS].fillna(0.0)
    frame["model_flops"] = frame["model_flops"].where(frame["model_flops"] > 0, frame["flops"])
    return frame


@dataclass(frozen=True)
class _Roofs:
    """What the table is measured against.

    Attributes
    ----------
    shown
        Bytes per second of the memories that count for efficiency.
    """

    peaks: Peaks
    shown: Mapping[str, float]
    has_merged_vmem: bool
    has_megacore: bool


_Steps = list[tuple[int, pd.DataFrame, float]]


def _step_records(profile: ProfileData, selection: Selection, kind: str) -> _Steps:
    """Return number, records and core time of xprof's steps; of GPUs it keeps no op by step."""
    if selection.step is not None or not kind:
        return []
    if kind != "tpu":
        numbers = xprof_input.steps(profile, selection).frame["step"].tolist() if kind == "gpu" else []
        return [(int(number), pd.DataFrame(columns=["category", "self_time_ps", *_SUMS], dtype=np.float64), 0.0)
                for number in numbers]  # fmt: skip
    steps: _Steps = []
    for number, parts, total_ps in core_groups(profile, selection):
        table = tpu.table_of(profile, [HostPart(trace, rows, devices, np.zeros(len(devices), np.int64))
                                       for trace, rows, devices in parts])  # fmt: skip
        steps.append((number, _by_memory(table, table.stated_peaks), float(total_ps)))
    return steps


def _step_block(steps: _Steps, include: bool, roofs: _Roofs, has_average: bool) -> pd.DataFrame:
    """Return the program row of the average step and of each step: xprof has no others of steps."""
    rows = [_program(records, total_ps, include) for _, records, total_ps in steps]
    sums = pd.DataFrame(rows)[["time_ps", *_SUMS]].sum() if rows else dict.fromkeys(["time_ps", *_SUMS], 0.0)
    frame = _rated(pd.DataFrame([{**_PROGRAM, **sums}, *rows]), roofs)
    frame["mean_time_ps"] = frame["time_ps"]  # of the average step too, xprof does not divide this one
    frame.loc[0, "time_ps"] = frame.loc[0, "time_ps"] / max(len(rows), 1)
    labels = ["Average", *(str(number) for number, _, _ in steps)]
    shares = {"self_time_fraction": 0.0, "cumulative_self_time_fraction": 0.0}
    frame = frame.assign(step=labels, rank=0, include_infeed_outfeed=include, **shares)
    frame = _in_words(frame.assign(time_fraction=np.where(frame["time_ps"] > 0, 1.0, 0.0)))
    return frame if has_average else frame.iloc[1:]


def _block(records: pd.DataFrame, total_ps: float, include: bool, roofs: _Roofs) -> pd.DataFrame:
    """Return the rows of the whole profile: the program and its most expensive ops."""
    program = _program(records, total_ps, include)
    ops = records if include else records[~records["category"].isin(_FEEDS)]
    ops = ops.sort_values(["self_time_ps", "op"], ascending=[False, True]).head(MOST_OPS)
    frame = _rated(pd.concat([pd.DataFrame([program]), ops], ignore_index=True), roofs)
    frame["step"] = "Total"
    frame["rank"] = np.arange(len(frame))
    whole_ps = program["time_ps"]
    frame["self_time_fraction"] = frame["self_time_ps"] / whole_ps if whole_ps else 0.0
    frame["cumulative_self_time_fraction"] = frame["self_time_fraction"].cumsum()
    frame["time_fraction"] = frame["time_ps"] / whole_ps if whole_ps else 0.0
    frame["include_infeed_outfeed"] = include
    return _in_words(frame)


def _program(records: pd.DataFrame, total_ps: float, include: bool) -> dict[str, Any]:
    """Return the row of the whole program: what its ops did, loops not counted again, over all of the time."""
    feeds = records["category"].isin(_FEEDS)
    if not include:
        total_ps = total_ps - float(records.loc[feeds, "self_time_ps"].sum())
        records = records[~feeds]
    sums = records.loc[~records["category"].isin(_NOT_IN_PROGRAM), _SUMS].sum()
    return {**_PROGRAM, "time_ps": total_ps, **sums}


def _in_words(frame: pd.DataFrame) -> pd.DataFrame:
    texts = [name for name in ("category", "op", "program", "source") if name in frame]
    return frame.assign(**{name: words(frame[name]) for name in texts}).reindex(columns=COLUMNS)


def _rated(frame: pd.DataFrame, roofs: _Roofs) -> pd.DataFrame:
    peaks = roofs.peaks
    stalled = frame["dma_stall_ps"].fillna(0.0) if "dma_stall_ps" in frame else frame["time_ps"] * 0.0
    frame = frame.assign(hbm_bytes=hbm_as_xprof(frame))
    frame = frame.assign(dma_stall_fraction=(stalled / frame["time_ps"].where(frame["time_ps"] > 0)).fillna(0.0))
    time_s = frame["time_ps"].where(frame["time_ps"] > 0) * 1e-12

    def over(amount: pd.Series[float], by: pd.Series[float]) -> pd.Series[float]:
        return (amount / by.where(by != 0)).fillna(0.0)

    frame["flops_per_s"] = over(frame["flops"], time_s)
    frame["model_flops_per_s"] = over(frame["model_flops"], time_s)
    frame["bytes_per_s"] = over(frame["bytes_accessed"], time_s)
    frame["arithmetic_intensity"] = over(frame["flops"], frame["bytes_accessed"])
    peak_flops = peaks.reference.value if peaks.reference else 0.0
    used = {"Compute": frame["flops_per_s"] / peak_flops if peak_flops else frame["flops_per_s"] * 0.0}
    for memory, column in MEMORIES.items():
        frame[f"{memory}_bytes_per_s"] = over(frame[column], time_s)
        frame[f"{memory}_arithmetic_intensity"] = over(frame["flops"], frame[column])
        peak = peaks.bytes_per_s.get(memory)
        if peak is not None:
            used[_LABELS[memory]] = frame[f"{memory}_bytes_per_s"] / peak.value
    utilisation = pd.DataFrame(used)
    frame["flops_utilization"] = utilisation["Compute"]
    counted = [_LABELS[memory] for memory in roofs.shown if _LABELS[memory] in utilisation]
    frame["memory_utilization"] = utilisation[counted].max(axis=1).fillna(0.0)
    frame["bound_by"] = utilisation.idxmax(axis=1).where(utilisation.max(axis=1) > 0, "Unknown")
    intensity = frame["arithmetic_intensity"] * 0.0
    for memory, label in _LABELS.items():
        intensity = intensity.where(frame["bound_by"] != label, frame[f"{memory}_arithmetic_intensity"])
    compute = frame["bound_by"] == "Compute"
    frame["bottleneck_arithmetic_intensity"] = intensity.where(~compute, frame["arithmetic_intensity"])
    frame["efficiency_fraction"] = frame[["flops_utilization", "memory_utilization"]].max(axis=1)
    frame["optimal_flops_per_s"] = over(frame["flops_per_s"], frame["efficiency_fraction"])
    return frame


def _properties(table: OpTable, roofs: _Roofs) -> dict[str, Any]:
    """Return the peaks and ridge points xprof writes beside the table; a peak it does not know is 0 there."""
    flops = roofs.peaks.reference.value if roofs.peaks.reference else 0.0
    device = table.devices[0] if table.devices else None
    speeds = {memory: roofs.shown.get(memory, 0.0) for memory in MEMORIES}
    return {
        "device_type": device.model if device else "",
        "peak_flops_per_s": flops,
        **{f"peak_{memory}_bytes_per_s": speed for memory, speed in speeds.items()},
        **{f"{memory}_ridge_flops_per_byte": flops / speed if speed else 0.0 for memory, speed in speeds.items()},
        "has_cmem": bool(speeds["cmem_read"] or speeds["cmem_write"]),
        "has_merged_vmem": roofs.has_merged_vmem,
        "has_megacore": roofs.has_megacore,
        "time_scale": time_scale(table) or 0.0,
    }


def _roofs(table: OpTable, several: bool) -> _Roofs:
    """Return the roofs of a table.

    VMEM's count where it is one with CMEM, shared memory's of a GPU stand for VMEM's. Joining several hosts, xprof
    forgets what memories the chip has.
    """
    peaks = table.stated_peaks
    known = {memory: peak.value for memory, peak in peaks.bytes_per_s.items()}
    device = table.devices[0] if table.devices else None
    is_gpu = device is not None and device.backend == "gpu"
    stated = device.stated if device is not None and not several else {}
    merged = bool(stated.get("has_merged_vmem"))
    wanted: tuple[str, ...] = ()
    if is_gpu and "sram_write" in known:
        known["vmem_write"], wanted = known["sram_write"], ("vmem_write",)
    elif not is_gpu and not several and any(memory.startswith("cmem") for memory in known):
        wanted = ("cmem_read", "cmem_write")
    elif merged:
        wanted = ("vmem_read", "vmem_write")
    shown = {memory: known[memory] for memory in wanted if memory in known}
    return _Roofs(peaks, {"hbm": known.get("hbm", 0.0), **shown}, merged, bool(stated.get("has_megacore")))
