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
from xprof_nb.analysis.selection import Selection, chosen_parts
from xprof_nb.analysis.xprof import gpu as xprof_gpu
from xprof_nb.analysis.xprof import tpu as xprof_tpu
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, numbered, taken, words
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import StepMarks

_IDENTITY = ["program_id", "op"]
_COSTS = [*COSTS, "compute_ps"]
_TIMES = ["occurrences", "time_ps", "self_time_ps", "transfer_ps"]
_SUMS = ["occurrences", "time_ps", "self_time_ps", *_COSTS]
_RATES = ["model_flops_per_s", "cmem_read_bytes_per_s", "cmem_write_bytes_per_s"]
_FLAGS = ["is_rematerialized", "is_outside_compilation"]
XPROF_COLUMNS = [*COLUMNS, "mean_time_ps", "mean_self_time_ps", "cumulative_time_fraction", "dma_stall_fraction",
                 *_RATES, *_FLAGS, "core_type", "energy_j"]  # fmt: skip


def op_table(profile: ProfileData, selection: Selection) -> OpTable:
    """Return the sums by op that xprof's tables are made of."""
    kind = xprof_gpu if xprof_gpu.has_gpus(profile) else xprof_tpu
    return kind.op_table(profile, selection)


def core_time_ps(profile: ProfileData, selection: Selection) -> int:
    """Return the time from first op, of TPUs also recorded step, to last, summed over the cores.

    A core whose ops overlap has no less time than they sum to.
    """
    total = 0
    for part in chosen_parts(profile, selection):
        ops = part.trace.ops
        end_ps, self_ps = ops.start_ps + ops.duration_ps, xprof_tpu.self_ps(ops)
        for device in part.devices:
            rows = part.rows[ops.device[part.rows] == device]
            if len(rows):
                is_tpu = part.trace.devices[device].backend == "tpu"
                counts_steps = selection == Selection() and is_tpu
                begin, end = _recorded_steps(part.trace.marks, device) if counts_steps else ([], [])
                length = max([int(end_ps[rows].max()), *end]) - min([int(ops.start_ps[rows].min()), *begin])
                total += max(length, int(self_ps[rows].sum())) if is_tpu else length
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
    measured = [name for name in xprof_tpu.MEASURED if name in columns]
    merge |= dict.fromkeys(measured, _total)
    last = [*(name for name in _SUMS if name in columns), "transfer_ps", *measured]
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
    frame = _as_in_hlo_stats(frame, table)
    said = {**summary(table), "total_time_ps": total_ps, "idle_time_ps": max(total_ps - table.busy_ps, 0.0)}
    said["idle_fraction"] = said["idle_time_ps"] / total_ps if total_ps else None
    said["time_scale"] = time_scale(table)
    return Answer(frame[XPROF_COLUMNS], said, ("Numbers as xprof computes them.",))


def _as_in_hlo_stats(frame: pd.DataFrame, table: OpTable) -> pd.DataFrame:
    """Add what xprof's table shows beyond ours; it is ranked already."""
    time_s, times = seconds(frame["time_ps"].to_numpy()), frame["occurrences"].where(frame["occurrences"] > 0)
    paths = frame["provenance"] if "provenance" in frame else frame["framework_op"]
    core = table.devices[0] if table.devices else None
    core_type = (core.kind or "TensorCore") if core is not None and core.backend == "tpu" else None
    of_op = list(zip(frame["op"].astype(str), frame["hlo_text"].map(text_of), paths.map(text_of), strict=True))
    found: dict[str, Any] = {
        "mean_time_ps": frame["time_ps"] / times,
        "mean_self_time_ps": frame["self_time_ps"] / times,
        "cumulative_time_fraction": frame["time_fraction"].cumsum(),
        "dma_stall_fraction": frame["dma_stall_ps"] / frame["time_ps"].where(frame["time_ps"] > 0),
        "model_flops_per_s": frame["model_flops"] / time_s,
        "cmem_read_bytes_per_s": frame["cmem_read_bytes"] / time_s,
        "cmem_write_bytes_per_s": frame["cmem_write_bytes"] / time_s,
        "is_rematerialized": np.array([_is_rematerialized(text, path) for _, text, path in of_op], np.bool_),
        "is_outside_compilation": np.array([_is_outside(text, path) for _, text, path in of_op], np.bool_),
        "core_type": words([core_type] * len(frame)),
    }
    return frame.assign(**found)


def text_of(value: object) -> str:
    """Return a text, empty where there is none."""
    return value if isinstance(value, str) else ""


def _is_rematerialized(text: str, path: str) -> bool:
    return ".remat" in text.partition("=")[0] or "rematted_computation" in path


def _is_outside(text: str, path: str) -> bool:
    return path.endswith(":XlaSendToHost") or ("send-done" in text and "is_host_transfer=true" in text)


def time_scale(table: OpTable) -> float | None:
    """Return by how much slower or faster than the nominal clock the ops ran, weighted by their self times."""
    columns = by_op(table.columns)
    self_ps, time_ps = columns["self_time_ps"], columns["time_ps"].astype(np.float64)
    busy_ps = float(self_ps.sum())
    normal_ps = float(np.nansum(self_ps * columns["normalized_time_ps"] / np.where(time_ps > 0, time_ps, np.nan)))
    return normal_ps / busy_ps if busy_ps else None


def hbm_as_xprof(table: Columns | pd.DataFrame) -> NDArray[np.float64]:
    """Return the bytes of HBM: of an op without a breakdown by memory all of its bytes."""
    known = (table["hbm_bytes"] > 0) | (table["on_chip_read_bytes"] > 0) | (table["on_chip_write_bytes"] > 0)
    return np.where(known, table["hbm_bytes"], table["bytes_accessed"])


def wasted(frame: pd.DataFrame) -> pd.Series[float]:
    """Return xprof's wasted share: unknown, as in its page, where an op moves no HBM bytes."""
    hbm = frame["hbm_utilization"].where(frame["hbm_utilization"] > 0)
    best = np.maximum(frame["flops_utilization"].clip(upper=1), hbm.clip(upper=1))
    return frame["time_fraction"] * (1 - best)


ON_CHIP_LABELS = {
    "cmem_read": "CMEM Read",
    "cmem_write": "CMEM Write",
    "vmem_read": "VMEM Read",
    "vmem_write": "VMEM Write",
}


def on_chip_bytes(frame: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return the traffic of each memory on the chip, 0 where none is known; what is not CMEM's is VMEM's."""
    cmem = {way: frame[f"cmem_{way}_bytes"].astype(np.float64).fillna(0.0) for way in ("read", "write")}
    on_chip = {way: frame[f"on_chip_{way}_bytes"].astype(np.float64).fillna(0.0) for way in ("read", "write")}
    return {
        **{f"cmem_{way}": moved for way, moved in cmem.items()},
        **{f"vmem_{way}": moved - cmem[way] for way, moved in on_chip.items()},
    }


def bound_by(frame: pd.DataFrame, peaks: Peaks) -> pd.Series[str]:
    """Return the resource with the largest utilisation; on a tie the earlier: compute, HBM, CMEM, VMEM."""
    time_s = frame["time_ps"].where(frame["time_ps"] > 0) * 1e-12
    utilisations = {"Compute": frame["flops_utilization"].fillna(0), "HBM": frame["hbm_utilization"].fillna(0)}
    for memory, moved in on_chip_bytes(frame).items():
        peak = peaks.bytes_per_s.get(memory)
        if peak is not None:
            utilisations[ON_CHIP_LABELS[memory]] = (moved / time_s / peak.value).fillna(0)
    stacked = pd.DataFrame(utilisations)
    return stacked.idxmax(axis=1).where(stacked.max(axis=1) > 0, "Unknown")
