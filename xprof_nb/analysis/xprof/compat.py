"""xprof's own numbers, where it computes them: the same rules, odd ones included.

Rules as in xprof 2.24 (`op_metrics_db_combiner`, `op_stats_to_op_profile`, `op_stats_to_hlo_stats`): times are sums
over cores; the time of a core runs from its first op to its last; both halves of an asynchronous pair carry the
bytes; traffic without a breakdown by memory counts as HBM in the op table and as none in the op profile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.compute_dtype import with_one_roof
from xprof_nb.analysis.ops import COLUMNS, COSTS, OpTable, rates, seconds, summary
from xprof_nb.analysis.ops import op_table as ops_of
from xprof_nb.analysis.selection import Selection, chosen_parts
from xprof_nb.analysis.xprof import gpu as xprof_gpu
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, numbered, taken
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import StepMarks

_IDENTITY = ["program_id", "op"]
_COSTS = [*COSTS, "compute_ps"]
_TIMES = ["occurrences", "time_ps", "self_time_ps", "transfer_ps"]
_SUMS = ["occurrences", "time_ps", "self_time_ps", *_COSTS]


def op_table(profile: ProfileData, selection: Selection) -> OpTable:
    """Return the sums by op that xprof's tables are made of."""
    if xprof_gpu.has_gpus(profile):
        return xprof_gpu.op_table(profile, selection)
    return ops_of(profile, selection)


def core_time_ps(profile: ProfileData, selection: Selection) -> int:
    """Return the time from first op or recorded step to last, summed over the cores."""
    total = 0
    for part in chosen_parts(profile, selection):
        ops = part.trace.ops
        end_ps = ops.start_ps + ops.duration_ps
        for device in part.devices:
            rows = part.rows[ops.device[part.rows] == device]
            if len(rows):
                begin, end = _recorded_steps(part.trace.marks, device) if selection == Selection() else ([], [])
                total += max([int(end_ps[rows].max()), *end]) - min([int(ops.start_ps[rows].min()), *begin])
    return total


def _recorded_steps(marks: StepMarks, device: int) -> tuple[list[int], list[int]]:
    """Return begins and ends of the steps the runtime recorded for a core."""
    if marks.device is None:
        return [], []
    mine = marks.device == device
    return marks.start_ps[mine].tolist(), (marks.start_ps + marks.duration_ps)[mine].tolist()


def by_op(columns: Columns) -> Columns:
    """Sum an op table over devices and hosts."""
    code, distinct = numbered(*(columns[name].tolist() for name in _IDENTITY))
    merge = {**dict.fromkeys(columns, _first), "is_container": _any, **dict.fromkeys(_TIMES, _total)}
    merge |= dict.fromkeys(_COSTS, _known_total)
    last = [*_SUMS, "transfer_ps"]
    names = [*_IDENTITY, *(name for name in columns if name not in {*_IDENTITY, *last}), *last]
    return {name: merge[name](columns[name], code, len(distinct)) for name in names}


def _first(values: NDArray[Any], code: NDArray[np.int64], count: int) -> NDArray[Any]:
    """Return the first known value of each code."""
    found = np.empty(count, values.dtype)
    found[code[::-1]] = values[::-1]
    if pd.isna(found).any():
        known = np.flatnonzero(pd.notna(values))[::-1]
        found[code[known]] = values[known]
    return found


def _any(values: NDArray[Any], code: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    return np.bincount(code, values.astype(np.bool_), minlength=count) > 0


def _total(values: NDArray[Any], code: NDArray[np.int64], count: int) -> NDArray[Any]:
    found = np.zeros(count, values.dtype)
    np.add.at(found, code, np.nan_to_num(values))
    return found


def _known_total(values: NDArray[Any], code: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Return the sum of what is known, NaN where nothing is."""
    values = values.astype(np.float64)
    known = ~np.isnan(values)
    found = np.bincount(code[known], values[known], minlength=count)
    return np.where(np.bincount(code[known], minlength=count) > 0, found, np.nan)


COUNTS_ALL = {"program"}
"""Kinds of nodes that, as the root, count the self time of every op, those without a row of their own too."""


def records(table: OpTable) -> Columns:
    """Return the records xprof's op profile is built of: bytes over the time of each half, not of the transfer.

    Ops that other ops ran inside of have no costs; those named ``region…`` are left out.
    """
    without_transfers = {**table.columns, "transfer_ps": np.zeros(len(table))}
    columns = by_op(with_one_roof(without_transfers, table.stated_peaks))
    without = ~has_a_row(columns)
    for name in _COSTS:
        columns[name][without] = np.nan
    return taken(columns, np.array([not op.startswith("region") for op in columns["op"]], np.bool_))


def has_a_row(columns: Columns) -> NDArray[np.bool_]:
    """Return which ops xprof's op profile shows: those whose time is all their own, so no loop, call or branch."""
    time_ps, self_ps = (columns[name].astype(np.float64) for name in ("time_ps", "self_time_ps"))
    return np.isclose(time_ps, self_ps, rtol=1e-12, atol=0.5) | (time_ps == 0)


def ops(table: OpTable, total_ps: int) -> Answer:
    """Return the rows of xprof's ``hlo_stats``: one per program and op, over all cores."""
    peaks = table.stated_peaks
    columns = by_op(with_one_roof(table.columns, peaks))
    time_s = seconds(columns["time_ps"])
    columns["hbm_bytes"] = hbm_as_xprof(columns)
    frame = as_frame(rates(columns, peaks, total_ps, time_s, time_s))
    frame["host"] = "all"
    frame["device"] = f"all {len(table.devices)}"
    frame["wasted_fraction"] = wasted(frame)
    frame["bound_by"] = bound_by(frame, peaks)
    frame = frame.sort_values(["self_time_ps", "op"], ascending=[False, True]).reset_index(drop=True)
    said = {**summary(table), "total_time_ps": total_ps, "idle_time_ps": max(total_ps - table.busy_ps, 0.0)}
    said["idle_fraction"] = said["idle_time_ps"] / total_ps if total_ps else None
    return Answer(frame[COLUMNS], said, ("Numbers as xprof computes them.",))


def hbm_as_xprof(table: Columns | pd.DataFrame) -> NDArray[np.float64]:
    """Return the bytes of HBM: of an op without a breakdown by memory all of its bytes."""
    known = (table["hbm_bytes"] > 0) | (table["on_chip_read_bytes"] > 0) | (table["on_chip_write_bytes"] > 0)
    return np.where(known, table["hbm_bytes"], table["bytes_accessed"])


def wasted(frame: pd.DataFrame) -> pd.Series[float]:
    """Return xprof's wasted share: unknown, as in its page, where an op moves no HBM bytes."""
    hbm = frame["hbm_utilization"].where(frame["hbm_utilization"] > 0)
    best = np.maximum(frame["flops_utilization"].clip(upper=1), hbm.clip(upper=1))
    return frame["time_fraction"] * (1 - best)


def bound_by(frame: pd.DataFrame, peaks: Peaks) -> pd.Series[str]:
    """Return the resource with the largest utilisation; on a tie the earlier: Compute, HBM, VMEM Read, VMEM Write."""
    time_s = frame["time_ps"].where(frame["time_ps"] > 0) * 1e-12
    utilisations = {"Compute": frame["flops_utilization"].fillna(0), "HBM": frame["hbm_utilization"].fillna(0)}
    for label, column, memory in (
        ("VMEM Read", "on_chip_read_bytes", "vmem_read"),
        ("VMEM Write", "on_chip_write_bytes", "vmem_write"),
    ):
        peak = peaks.bytes_per_s.get(memory)
        if peak is not None:
            utilisations[label] = (frame[column] / time_s / peak.value).fillna(0)
    stacked = pd.DataFrame(utilisations)
    return stacked.idxmax(axis=1).where(stacked.max(axis=1) > 0, "Unknown")
