"""TPU planes of an XSpace, TensorCores and SparseCores, to op executions, program runs and steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.asynchronous import spans_of
from xprof_nb.formats.host_ops import HostOps, known
from xprof_nb.formats.tpu import launches as device_launches
from xprof_nb.formats.tpu.lines import (
    inside,
    joined,
    last_begun,
    op_events,
    program_runs,
    split_program_label,
    step_marks,
)
from xprof_nb.formats.tpu.metadata import op_keys, varint_fields
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.columns import Columns, stacked
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.program import Program
from xprof_nb.model.trace import AsyncSpans, OpEvents, ProgramRuns, StepMarks

__all__ = ["DeviceOps", "read_tpu_cores", "split_program_label", "tpu_cores"]

CORE = re.compile(r"/device:TPU:(\d{1,9})( SparseCore(?: [A-Za-z]+)? \d{1,9})?$")
_LOCAL_CHIP, _GLOBAL_CHIP = 4, 5
_STATED = ("has_megacore", "has_merged_vmem", "peak_sram_rd_bw_gigabytes_per_second",
           "peak_sram_wr_bw_gigabytes_per_second")  # fmt: skip
_RUNTIME = "stated by the TPU runtime in the profile"
_ROOFS = {
    "hbm": "peak_hbm_bw_gigabytes_per_second",
    "vmem_read": "peak_vmem_rd_bw_gigabytes_per_second",
    "vmem_write": "peak_vmem_wr_bw_gigabytes_per_second",
    "cmem_read": "peak_cmem_rd_bw_gigabytes_per_second",
    "cmem_write": "peak_cmem_wr_bw_gigabytes_per_second",
}


@dataclass(frozen=True, eq=False)
class DeviceOps:
    """What the planes of a host's cores hold."""

    host_ops: HostOps
    runs: ProgramRuns
    spans: AsyncSpans


def tpu_cores(space: XSpace) -> list[XPlane]:
    """Return the planes of TensorCores in order of their number, then those of SparseCores."""
    cores = [(found, plane) for plane in space.planes if (found := CORE.match(plane.name))]
    cores.sort(key=lambda core: (core[0][2] is not None, int(core[0][1]), core[0][2] or ""))
    return [plane for _, plane in cores]


def read_tpu_cores(
    planes: Sequence[XPlane], host: str, host_plane: XPlane | None, marks: StepMarks, programs: Mapping[int, Program]
) -> DeviceOps:
    """Return what ran on the cores.

    Op times are those of the device clock where the runtime gives them (`device_offset_ps`,
    `device_duration_ps`), as in xprof; program runs are on the host clock.

    Parameters
    ----------
    marks
        The steps annotated on the host; without any, those the runtime recorded for each core are taken.
    """
    devices = tuple(_device(plane, host) for plane in planes)
    keys, events = keys_and_events(planes)
    runs = program_runs(planes)
    names = dict(zip(runs.program_id.tolist(), runs.program, strict=True))
    keys_of_ops, ops = joined(keys, events, names)
    run = _containing(ops, runs.device, runs.start_ps, runs.duration_ps)
    ops = replace(ops, run_id=np.where(run >= 0, run + 1, 0))
    if len(marks):
        step_of_run = device_launches.steps_of_runs(host_plane, planes, runs, marks)
        step = np.append(step_of_run, -1)[run]
    else:
        marks = step_marks(planes)
        step = _containing(ops, marks.device, marks.start_ps, marks.duration_ps)
    spans, transfer_ps = spans_of(planes, keys_of_ops, ops, programs)
    ops = replace(ops, transfer_ps=transfer_ps, step=step.astype(np.int32))
    return DeviceOps(HostOps(devices, keys_of_ops, ops, partial(known, runs), marks), runs, spans)


def keys_and_events(planes: Sequence[XPlane]) -> tuple[Columns, Columns]:
    """Return what the planes' metadata say of ops, and the executions, whose ``key`` is a row of the former."""
    keys = stacked([op_keys(plane) for plane in planes])
    events = stacked([op_events(plane, row) for row, plane in enumerate(planes)])
    # The metadata rows of each plane follow one another in `keys`.
    first = np.cumsum([0, *(len(plane.metadata.id) for plane in planes)])
    return keys, events | {"key": events["metadata"] + first[events["device"]]}


def _containing(
    ops: OpEvents,
    device: NDArray[np.int32] | None,
    start_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each op the interval of its device in which it started, -1 if none."""
    device = np.empty(0, np.int32) if device is None else device
    begun = last_begun(device, start_ps, ops.device, ops.host_start_ps)
    return inside(begun, start_ps, duration_ps, ops.host_start_ps)


def _device(plane: XPlane, host: str) -> Device:
    found = CORE.match(plane.name)
    assert found is not None
    stats = plane.stats
    bytes_per_s = {
        memory: Peak(stated * 1e9, "profile", _RUNTIME)
        for memory, name in _ROOFS.items()
        if (stated := plausible.positive(stats, name)) > 0
    }
    peak_tflops = plausible.positive(stats, "peak_teraflops_per_second")
    flops = {"bf16": Peak(peak_tflops * 1e12, "profile", _RUNTIME)} if peak_tflops > 0 else {}
    return Device(
        host=host,
        backend="tpu",
        ordinal=int(found[1]),
        name=plane.name.removeprefix("/device:"),
        model=str(stats.get("device_type_string", "")),
        chip=_core_detail(stats.get("core_details"), _LOCAL_CHIP),
        global_chip=_core_detail(stats.get("core_details"), _GLOBAL_CHIP),
        stated={name: value for name in _STATED if (value := plausible.positive(stats, name)) > 0},
        peaks=Peaks(flops_per_s=flops, reference_dtype="bf16", bytes_per_s=bytes_per_s),
        kind="SparseCore" if found[2] else "",
    )


def _core_detail(core_details: object, number: int) -> int | None:
    """Return a field of the core details message; a field left out is 0."""
    if not isinstance(core_details, bytes):
        return None
    fields = dict(varint_fields(core_details))
    return fields.get(number, 0)
