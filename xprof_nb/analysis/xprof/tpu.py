"""The op records xprof makes of TPU planes: our sums, and what the runtime measured of each execution.

Rules as in xprof 2.24 (``op_metrics_db_utils``): an op's normalised time is its time at the nominal clock, and of ops
that overlap without one inside the other each counts in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.ops import OpSums, OpTable, table_of_parts
from xprof_nb.analysis.ops import op_table as ops_of
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.formats import nesting
from xprof_nb.model.columns import Columns, stacked
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import OpEvents

MEASURED = ["dma_stall_ps", "normalized_time_ps", "energy_j"]
"""Sums xprof's op records have beyond ours."""
_SOURCE = "stated by the TPU runtime in the profile"
_SAID = ["hlo_text", "provenance"]


def op_table(profile: ProfileData, selection: Selection) -> OpTable:
    """Return our op table with `MEASURED`, the HLO text, and of TPUs ``provenance``, the path as the runtime has it."""
    return _with_measured(ops_of(profile, selection), chosen_parts(profile, selection))


def table_of(profile: ProfileData, parts: Sequence[HostPart]) -> OpTable:
    """Return the same of some parts of hosts."""
    return _with_measured(table_of_parts(profile, parts), parts)


def _with_measured(table: OpTable, chosen: Sequence[HostPart]) -> OpTable:
    measured = stacked([_measured(part) for part in chosen])
    is_tpu = any(device.backend == "tpu" for device in table.devices)
    names = [*MEASURED, *([*_SAID, "self_time_ps"] if is_tpu else _SAID[:1])]
    devices = tuple(replace(device, peaks=_xprof_peaks(device)) for device in table.devices)
    return OpTable({**table.columns, **{name: measured[name] for name in names}}, table.total_ps, devices)


def _xprof_peaks(device: Device) -> Peaks:
    """Return the stated roofs with those of the memory on the chip, which xprof's op profile measures against."""
    stated = {way: device.stated.get(f"peak_sram_{short}_bw_gigabytes_per_second", 0.0)
              for way, short in (("read", "rd"), ("write", "wr"))}  # fmt: skip
    sram = {f"sram_{way}": Peak(value * 1e9, "profile", _SOURCE) for way, value in stated.items() if value > 0}
    return replace(device.peaks, bytes_per_s={**device.peaks.bytes_per_s, **sram})


def _measured(part: HostPart) -> Columns:
    ops, keys, stats, sums = part.trace.ops, part.trace.keys, part.trace.core_stats, OpSums(part)
    said = {
        "hlo_text": keys.hlo_text[sums.key],
        "provenance": keys.framework_op[sums.key],
        "self_time_ps": sums.of(self_ps(ops)),
    }
    if not len(stats):
        nothing = np.zeros(len(sums.key))
        columns = [nothing, sums.of(ops.duration_ps), nothing]
    else:
        columns = [sums.of(stats.dma_stall_ps), sums.of(ops.duration_ps * stats.time_scale), sums.of(stats.energy_j)]
    return {**said, **dict(zip(MEASURED, columns, strict=True))}


def self_ps(ops: OpEvents) -> NDArray[np.int64]:
    """Return the time of each execution less that of those directly inside it; an aggregated one stands alone."""
    is_one = ops.occurrences == 1
    group = np.where(is_one, ops.device, np.arange(len(ops)) + len(ops) + ops.device.max(initial=0)).astype(np.int32)
    parent = nesting.parents(group, ops.start_ps, ops.start_ps + ops.duration_ps)
    return nesting.self_times(parent, ops.duration_ps)
