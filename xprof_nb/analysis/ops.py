"""Where the time went, op by op, and how well each op used the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.compute_dtype import roof_notes, roofs_used, with_roofs
from xprof_nb.analysis.op_identity import described_keys, readable_program
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, heaviest_first, stacked, taken, texts
from xprof_nb.model.device import Device, Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.roofs import roofs_of
from xprof_nb.model.trace import HostTrace
from xprof_nb.model.units import SUSPICIOUS_FRACTION, listed

Floats = NDArray[np.float64]

COLUMNS = [
    "host",
    "device",
    "program",
    "program_id",
    "op",
    "category",
    "work_kind",
    "framework_op",
    "source",
    "occurrences",
    "time_ps",
    "self_time_ps",
    "time_fraction",
    "flops",
    "model_flops",
    "bytes_accessed",
    "hbm_bytes",
    "flops_per_s",
    "bytes_per_s",
    "hbm_bytes_per_s",
    "arithmetic_intensity",
    "bound_by",
    "flops_utilization",
    "hbm_utilization",
    "wasted_fraction",
    "compute_dtype",
    "roof_dtype",
    "roof_flops_per_s",
]
ON_CHIP = ["on_chip_read_bytes", "on_chip_write_bytes", "cmem_read_bytes", "cmem_write_bytes"]
TRAFFIC = ["bytes_accessed", "hbm_bytes", *ON_CHIP]
COSTS = ["flops", "model_flops", *TRAFFIC]
_ON_THE_LINK = {"collective": "link", "host": "host"}
_WORTH_SAYING = 0.05
"""Share of the busy time."""


@dataclass(frozen=True, eq=False)
class OpTable:
    """Every (device, op) of a selection with its sums, and the time they are a share of.

    Attributes
    ----------
    columns
        The identity of each op (see `described_keys`), ``host, device, occurrences, time_ps, self_time_ps,
        transfer_ps, is_container`` and the costs of all its occurrences.
    total_ps
        Length of the chosen time, summed over the devices.
    """

    columns: Columns
    total_ps: int
    devices: tuple[Device, ...]

    def __len__(self) -> int:
        return len(self.columns["op"])

    @property
    def busy_ps(self) -> float:
        """Device time accounted for by ops."""
        return float(self.columns["self_time_ps"].sum())

    @property
    def idle_ps(self) -> float:
        """Device time in which nothing ran."""
        return max(self.total_ps - self.busy_ps, 0.0)

    @property
    def peaks(self) -> Peaks:
        """Roofs of the first device; the devices of a profile are of one kind."""
        return roofs_of(self.devices[0]) if self.devices else Peaks()

    @property
    def stated_peaks(self) -> Peaks:
        """Of these, what came with the profile: xprof knows no other."""
        return self.devices[0].peaks if self.devices else Peaks()


_TABLES: WeakKeyDictionary[ProfileData, dict[Selection, OpTable]] = WeakKeyDictionary()
_TABLES_LOCK = Lock()
_MOST_TABLES = 8


def op_table(profile: ProfileData, selection: Selection) -> OpTable:
    """Return the sums of the chosen op executions by device and op; not to be changed by the caller.

    Bytes of an asynchronous pair are booked once, on its done half; the start half has none of its own. The last few
    tables are kept with the profile, since a view asks one thing after another about the same selection.
    """
    with _TABLES_LOCK:
        kept = _TABLES.setdefault(profile, {})
        table = kept.pop(selection, None)
    if table is None:
        table = _summed(profile, selection)
    with _TABLES_LOCK:
        kept[selection] = table
        while len(kept) > _MOST_TABLES:
            del kept[next(iter(kept))]
    return table


def _summed(profile: ProfileData, selection: Selection) -> OpTable:
    return table_of_parts(profile, chosen_parts(profile, selection))


def table_of_parts(profile: ProfileData, parts: Sequence[HostPart]) -> OpTable:
    """Return the sums of the executions in some parts of hosts."""
    total_ps = sum(sum(part.total_ps.tolist()) for part in parts)
    devices = tuple(part.trace.devices[row] for part in parts for row in part.devices)
    return OpTable(stacked([_sums(profile, part) for part in parts]), total_ps, devices)


class OpSums:
    """Sums over the chosen executions, by device and op.

    Attributes
    ----------
    device, key
        Rows of the host's devices and of its op keys, for each sum.
    """

    def __init__(self, part: HostPart) -> None:
        ops, count = part.trace.ops, len(part.trace.keys)
        self._rows = slice(None) if len(part.rows) == len(ops) else part.rows
        self._group = ops.device[self._rows].astype(np.int64) * count + ops.key[self._rows]
        self._size = count * len(part.trace.devices)
        self._seen = np.flatnonzero(np.bincount(self._group, minlength=self._size))
        self.device, self.key = self._seen // max(count, 1), self._seen % max(count, 1)

    def of(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sums of a column of the host's op events."""
        sums = np.bincount(self._group, values[self._rows], minlength=self._size)
        return sums.astype(np.float64, copy=False)[self._seen]


def _sums(profile: ProfileData, part: HostPart) -> Columns:
    trace, ops = part.trace, part.trace.ops
    sums = OpSums(part)
    times = _whole(sums.of(ops.occurrences))
    columns: Columns = {
        "host": np.full(len(times), trace.host, object),
        "device": np.array([item.name for item in trace.devices], object)[sums.device],
        **taken(described_keys(profile, trace), sums.key),
        "occurrences": times,
        "time_ps": _whole(sums.of(ops.duration_ps)),
        "self_time_ps": sums.of(ops.self_ps),
        "transfer_ps": sums.of(ops.transfer_ps),
        "is_container": sums.of(ops.contains) > 0,
    }
    return columns | {name: columns[name] * times for name in COSTS}


def _whole(sums: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return sums as whole numbers, the largest there is where a damaged file's go beyond."""
    return np.minimum(sums, 2.0**63 - 1024).astype(np.int64)


def corrected(columns: Columns, peaks: Peaks) -> Columns:
    """Return the table with each cost where it belongs, and the roof each op is measured against.

    Containers and start halves carry no cost of their own. FLOPs are those of the model: those that a TPU's runtime
    normalises to bf16 would count an f32 multiplication in passes as many times.
    """
    costs = {name: columns[name].astype(np.float64) for name in COSTS}
    costs["flops"] = np.where(costs["model_flops"] > 0, costs["model_flops"], costs["flops"])
    is_container = columns["is_container"].astype(np.bool_)
    is_start = np.array(["-start" in str(op) for op in columns["op"]], np.bool_)
    for name, values in costs.items():
        values[is_container | is_start if name in TRAFFIC else is_container] = np.nan
    return with_roofs({**columns, **costs}, peaks)


def costs_of_keys(profile: ProfileData, trace: HostTrace, peaks: Peaks) -> Columns:
    """Return what one execution of each op key of a host costs, as `corrected` counts it, K values."""
    contains = np.bincount(trace.ops.key[trace.ops.contains], minlength=len(trace.keys)) > 0
    return corrected({**described_keys(profile, trace), "is_container": contains}, peaks)


def recomputed(columns: Columns) -> NDArray[np.bool_]:
    """Return which ops compute again in the backward pass what would have taken memory to keep."""
    pairs = zip(columns["op"], columns["framework_op"], strict=True)
    return np.array([".remat" in str(op) or "rematted_computation" in str(path) for op, path in pairs], np.bool_)


def with_rates(columns: Columns, peaks: Peaks, total_ps: float) -> Columns:
    """Add rates, utilisations and what bounds each row.

    FLOP/s are ``flops / self_time``. Bytes per second are ``bytes / self_time``, and for an asynchronous
    transfer ``bytes / transfer_ps``, the time the bytes were under way. Utilisations are rates over the
    device's peaks and are not clipped. ``wasted_fraction`` is the share of the total time that the busiest
    resource left unused: ``time_fraction * (1 - max(flops_utilization, hbm_utilization))``.
    """
    self_s = seconds(columns["self_time_ps"])
    moved_s = seconds(columns["transfer_ps"])
    columns = rates(columns, peaks, total_ps, self_s, np.where(np.isnan(moved_s), self_s, moved_s))
    compute, memory = columns["flops_utilization"], columns["hbm_utilization"]
    unused: Floats | float = np.nan
    if peaks.reference is not None or peaks.hbm is not None:
        unused = 1 - np.clip(np.fmax(np.fmax(compute, memory), 0), 0, 1)
    bound_by = _bound_by(columns.get("work_kind"), compute, memory)
    return {**columns, "wasted_fraction": columns["time_fraction"] * unused, "bound_by": bound_by}


def rates(columns: Columns, peaks: Peaks, total_ps: float, compute_s: Floats, moved_s: Floats) -> Columns:
    """Return the table with FLOPs over ``compute_s``, bytes over ``moved_s``, and both over their roofs.

    ``flops_utilization`` is ``compute_ps``, the time the FLOPs need at the roof of their own type, over the time they
    took; so the ops below a node may be of several types.
    """
    names = ("flops", "bytes_accessed", "hbm_bytes", "compute_ps", "self_time_ps")
    flops, accessed, hbm, needed_ps, self_ps = (columns[name].astype(np.float64) for name in names)
    return {
        **columns,
        "flops_per_s": flops / compute_s,
        "bytes_per_s": accessed / moved_s,
        "hbm_bytes_per_s": hbm / moved_s,
        "arithmetic_intensity": flops / np.where(accessed > 0, accessed, np.nan),
        "flops_utilization": needed_ps * 1e-12 / compute_s,
        "hbm_utilization": hbm / moved_s / (peaks.hbm.value if peaks.hbm else np.nan),
        "time_fraction": self_ps / (total_ps or np.nan),
    }


def seconds(time_ps: NDArray[Any]) -> Floats:
    """Return times in seconds, NaN where there is none."""
    values = time_ps.astype(np.float64)
    return np.where(values > 0, values, np.nan) * 1e-12


def _bound_by(work_kind: NDArray[np.object_] | None, compute: Floats, memory: Floats) -> NDArray[np.object_]:
    """Return the resource nearest its peak; a collective waits for the link, a host transfer for the host."""
    compute, memory = np.fmax(compute, 0), np.fmax(memory, 0)  # what is missing bounds nothing
    bound = np.full(len(compute), None, object)
    bound[memory > 0] = "memory"
    bound[compute > memory] = "compute"
    if work_kind is None:
        return bound
    return texts(_ON_THE_LINK.get(kind, nearest) for kind, nearest in zip(work_kind, bound, strict=True))


def ops(profile: ProfileData, selection: Selection) -> Answer:
    """Return one row per host, device, program and op, the most expensive first."""
    table = op_table(profile, selection)
    peaks = table.peaks
    columns = with_rates(corrected(table.columns, peaks), peaks, table.total_ps)
    columns = taken(columns, heaviest_first(columns["self_time_ps"], columns["op"]))
    said = {**summary(table), "roofs_used": roofs_used(columns, peaks)}
    return Answer(as_frame({name: columns[name] for name in COLUMNS}), said, notes(profile, table, columns))


def summary(table: OpTable) -> dict[str, Any]:
    """Return what every op table is a table of: the time, the devices and the roofs."""
    peaks = table.peaks
    reference, hbm = peaks.reference, peaks.hbm
    return {
        "total_time_ps": table.total_ps,
        "busy_time_ps": table.busy_ps,
        "idle_time_ps": table.idle_ps,
        "idle_fraction": table.idle_ps / table.total_ps if table.total_ps else None,
        "op_count": len(set(zip(table.columns["program_id"].tolist(), table.columns["op"], strict=True))),
        "device_count": len(table.devices),
        "devices": [device.name for device in table.devices],
        "device_model": table.devices[0].model if table.devices else "",
        "peak_flops_per_s": reference.value if reference else None,
        "peak_flops_dtype": peaks.reference_dtype if reference else None,
        "peak_flops_label": reference.label if reference else None,
        "peak_flops_source": reference.source if reference else None,
        "peak_bytes_per_s": hbm.value if hbm else None,
        "peak_bytes_label": hbm.label if hbm else None,
        "peak_bytes_source": hbm.source if hbm else None,
    }


def notes(profile: ProfileData, table: OpTable, columns: Columns) -> tuple[str, ...]:
    """Return what the numbers leave out, and why."""
    said = [*profile.all_notes]
    if not len(columns["op"]):
        said.append(_why_empty(profile))
        return tuple(said)
    peaks = table.peaks
    if peaks.reference is None and peaks.hbm is None:
        said.append(
            "No utilisation: the peaks of this device are not known here. "
            "State them with xp.hardware(model, bf16_flops=…, hbm_bytes_per_s=…); on a CPU, "
            "`python -m xprof_nb.capture.calibrate` on the machine that ran the work measures them."
        )
    said += roof_notes(columns)
    programs = set(zip(columns["program"], columns["program_id"].tolist(), strict=True))
    missing = sorted(
        {
            name or f"program {number}"
            for name, number in programs
            if (name or number) and readable_program(profile, number) is None
        }
    )
    if missing:
        said.append(
            f"The profile lacks the HLO, or has damaged HLO, of {listed(missing)}: "
            "their ops have no source and no FLOPs of our own counting."
        )
    said += _opaque(columns, table.busy_ps)
    suspicious = (columns[name] > SUSPICIOUS_FRACTION for name in ("flops_utilization", "hbm_utilization"))
    over = columns["op"][np.logical_or(*suspicious)]
    if len(over):
        said.append(
            f"{units.counted(len(over), 'op')} above 105 % of a peak ({', '.join(over[:3])}): "
            "data that stays in cache, or a peak that is too low; nothing was clipped."
        )
    return tuple(said)


def _opaque(columns: Columns, busy_ps: float) -> list[str]:
    """Say how much of the time is spent in custom calls and kernels whose work nobody states."""
    opaque = (columns["work_kind"] == "custom") & np.isnan(columns["flops"])
    self_ps, ops = columns["self_time_ps"][opaque], columns["op"][opaque]
    share = float(self_ps.sum()) / busy_ps if busy_ps else 0.0
    if share < _WORTH_SAYING:
        return []
    longest = [str(op)[:60] for op in ops[np.argsort(-self_ps, kind="stable")[:3]]]
    calls = units.counted(len(ops), "custom call or kernel", "custom calls or kernels")
    return [
        f"The work of {calls} ({units.percent(share)} of the busy time; {', '.join(longest)} …) is"
        " stated nowhere: FLOPs, bytes and utilisations of the whole are lower bounds."
    ]


def _why_empty(profile: ProfileData) -> str:
    if any(len(host.ops) for host in profile.hosts):
        return "No op ran in the chosen part of the profile: leave out filters to see those that ran."
    if not any(host.event_count for host in profile.hosts):
        return "The profile holds no event at all: nothing ran while it was captured, or tracing was off."
    return (
        "No XLA op was recorded, only host events: nothing ran on a device during the capture, "
        "its result was dropped before it was ready (end the block with jax.block_until_ready(result)), "
        "or the profile was taken with host_tracer_level=0."
    )
