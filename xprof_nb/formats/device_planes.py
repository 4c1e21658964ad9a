"""Accelerator planes of an XSpace (TPU cores) to op executions and program runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats import nesting, plausible
from xprof_nb.formats.host_ops import HostOps, known
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.columns import words
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.program import Program
from xprof_nb.model.trace import OpEvents, OpKeys, ProgramRuns, StepMarks

TENSOR_CORE = re.compile(r"/device:TPU:(\d{1,9})$")
_RUNTIME = "stated by the TPU runtime in the profile"
_HBM, _CMEM, _READ, _WRITE = 1, 2, 1, 2
_TRAFFIC = ["hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes", "cmem_read_bytes", "cmem_write_bytes"]
_LOCAL_CHIP, _GLOBAL_CHIP = 4, 5


def tensor_cores(space: XSpace) -> list[XPlane]:
    """Return the planes of TPU TensorCores in order of their number."""
    cores = [(int(found[1]), plane) for plane in space.planes if (found := TENSOR_CORE.match(plane.name))]
    return [plane for _, plane in sorted(cores, key=lambda core: core[0])]


def read_tensor_cores(
    planes: Sequence[XPlane], host: str, marks: StepMarks, programs: Mapping[int, Program]
) -> HostOps:
    """Return ops and program runs of TensorCore planes.

    Op times are those of the device clock where the runtime gives them (`device_offset_ps`,
    `device_duration_ps`), as in xprof; program runs are on the host clock.
    """
    devices = tuple(_device(plane, host) for plane in planes)
    keys = pd.concat([_keys(plane) for plane in planes], ignore_index=True)
    events = pd.concat([_op_events(plane, row) for row, plane in enumerate(planes)], ignore_index=True)
    # The metadata rows of each plane follow one another in `keys`.
    first = np.cumsum([0, *(len(plane.metadata.id) for plane in planes)])
    events["key"] = events["metadata"] + first[events["device"]]
    runs = _program_runs(planes)
    names = dict(zip(runs.program_id.tolist(), runs.program, strict=True))
    op_keys, ops = _joined(keys, events, names)
    ops = replace(ops, transfer_ps=_transfer_times(op_keys, ops, programs))
    return HostOps(devices, op_keys, ops, partial(known, runs), marks)


def _device(plane: XPlane, host: str) -> Device:
    found = TENSOR_CORE.match(plane.name)
    assert found is not None
    stats = plane.stats
    roofs = {
        "hbm": "peak_hbm_bw_gigabytes_per_second",
        "vmem_read": "peak_vmem_rd_bw_gigabytes_per_second",
        "vmem_write": "peak_vmem_wr_bw_gigabytes_per_second",
        "cmem_read": "peak_cmem_rd_bw_gigabytes_per_second",
        "cmem_write": "peak_cmem_wr_bw_gigabytes_per_second",
    }
    bytes_per_s = {
        memory: Peak(stated * 1e9, "profile", _RUNTIME)
        for memory, name in roofs.items()
        if (stated := plausible.positive(stats, name)) > 0
    }
    peak_tflops = plausible.positive(stats, "peak_teraflops_per_second")
    flops = {"bf16": Peak(peak_tflops * 1e12, "profile", _RUNTIME)} if peak_tflops > 0 else {}
    return Device(
        host=host,
        backend="tpu",
        ordinal=int(found[1]),
        name=f"TPU:{found[1]}",
        model=str(stats.get("device_type_string", "")),
        chip=_core_detail(stats.get("core_details"), _LOCAL_CHIP),
        global_chip=_core_detail(stats.get("core_details"), _GLOBAL_CHIP),
        peaks=Peaks(flops_per_s=flops, reference_dtype="bf16", bytes_per_s=bytes_per_s),
    )


def _core_detail(core_details: object, number: int) -> int | None:
    """Return a field of the core details message; a field left out is 0."""
    if not isinstance(core_details, bytes):
        return None
    fields = dict(_varint_fields(core_details))
    return fields.get(number, 0)


def _varint_fields(message: bytes) -> list[tuple[int, int]]:
    """Return (field, value) of the scalar fields of a small message; nested fields are stepped over."""
    fields, position = [], 0
    while position < len(message):
        tag, position = _varint(message, position)
        value, position = _varint(message, position)
        if tag & 7 == 2:
            position += value
        else:
            fields.append((tag >> 3, value))
    return fields


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """Return a number of at most 64 bits and what follows it; protobuf writes none of more than 10 bytes."""
    value = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return value % 2**64, position


def _keys(plane: XPlane) -> pd.DataFrame:
    """Return one row per event metadata of the plane, with the identity and the costs of an op."""
    metadata = plane.metadata
    shown = [display or name for name, display in zip(metadata.name, metadata.display_name, strict=True)]
    frame = pd.DataFrame(
        {
            "program_id": plane.metadata_stat("program_id").ints().view(np.uint64),
            "symbol_id": plane.metadata_stat("symbol_id").ints(),
            "op": shown,
            "hlo_text": metadata.name,
            "category": _texts(plane, "hlo_category"),
            "framework_op": _texts(plane, "tf_op"),
            "source": _texts(plane, "source"),
            "duplicate_of": _texts(plane, "deduplicated_name"),
            "flops": plane.metadata_stat("flops").floats(),
            "model_flops": plane.metadata_stat("model_flops").floats(),
            "bytes_accessed": plane.metadata_stat("bytes_accessed").floats(),
        }
    )
    frame["is_op"] = plane.metadata_stat("program_id").present & (frame["symbol_id"] != 0)
    traffic = [_traffic(blob) for blob in plane.metadata_stat("memory_access_breakdown").blobs()]
    frame[_TRAFFIC] = np.array(traffic).reshape(-1, len(_TRAFFIC))
    return frame


def _texts(plane: XPlane, stat: str) -> NDArray[np.object_]:
    codes, labels = plane.metadata_stat(stat).texts()
    return np.array([*labels, None], dtype=object)[codes]


def _traffic(breakdown: bytes | None) -> tuple[float, ...]:
    """Return the bytes of one access breakdown, as in `_TRAFFIC`: of HBM, read and written on chip, of CMEM alone."""
    if breakdown is None:
        return (np.nan,) * len(_TRAFFIC)
    hbm = read = written = cmem_read = cmem_written = 0
    position = 0
    while position < len(breakdown):
        _, position = _varint(breakdown, position)
        size, position = _varint(breakdown, position)
        access = dict(_varint_fields(breakdown[position : position + size]))
        position += size
        count, space = access.get(3, 0), access.get(2)
        if space == _HBM:
            hbm += count
        elif access.get(1) == _READ:
            read += count
            cmem_read += count * (space == _CMEM)
        elif access.get(1) == _WRITE:
            written += count
            cmem_written += count * (space == _CMEM)
    return float(hbm), float(read), float(written), float(cmem_read), float(cmem_written)


def _op_events(plane: XPlane, device: int) -> pd.DataFrame:
    """Return the events of the plane's op line, self times by inclusion of device time."""
    rows = _rows_of(plane, "XLA Ops")
    events = plane.events
    offset = plane.event_stat("device_offset_ps")
    duration = plane.event_stat("device_duration_ps")
    has_offset = offset.present & (np.abs(offset.ints()) <= plausible.LARGEST_SPAN_PS)
    has_duration = duration.present & (duration.ints() >= 0) & (duration.ints() <= plausible.LONGEST_PS)
    start_ps = np.where(has_offset, offset.ints(), events.start_ps)[rows]
    duration_ps = np.where(has_duration, duration.ints(), events.duration_ps)[rows]
    parent = nesting.parents(np.zeros(len(rows), np.int32), start_ps, start_ps + duration_ps)
    return pd.DataFrame(
        {
            "metadata": events.metadata[rows],
            "device": np.full(len(rows), device, np.int32),
            "start_ps": start_ps,
            "duration_ps": duration_ps,
            "self_ps": nesting.shared_times(np.zeros(len(rows), np.int32), parent, start_ps, start_ps + duration_ps),
            "host_start_ps": events.start_ps[rows],
            "host_duration_ps": events.duration_ps[rows],
            "occurrences": np.maximum(events.occurrences[rows], 1),
            "contains": nesting.containers(parent),
        }
    )


def _rows_of(plane: XPlane, line: str) -> NDArray[np.int64]:
    """Return the events of every line of that name; one whose metadata is missing has no name and is left out."""
    first = plane.lines.first_event
    wanted = [
        np.arange(first[row], first[row + 1], dtype=np.int64)
        for row, name in enumerate(plane.lines.name)
        if name == line
    ]
    rows = np.concatenate(wanted) if wanted else np.empty(0, np.int64)
    return rows[plane.events.metadata[rows] >= 0]


def _joined(keys: pd.DataFrame, events: pd.DataFrame, programs: Mapping[int, str]) -> tuple[OpKeys, OpEvents]:
    """Give ops of equal (program id, name) one key and drop what is no op."""
    events = events[keys["is_op"].to_numpy()[events["key"]]]
    identity = keys["program_id"].astype(str) + "/" + keys["op"]
    codes, _ = pd.factorize(identity[events["key"]])
    distinct = keys.iloc[events["key"].to_numpy()[_first_of(codes)]].reset_index(drop=True)
    events = events.assign(key=codes.astype(np.int32)).sort_values(["device", "start_ps"], kind="stable")
    n = len(events)
    ops = OpEvents(
        key=events["key"].to_numpy(np.int32),
        device=events["device"].to_numpy(np.int32),
        start_ps=events["start_ps"].to_numpy(np.int64),
        duration_ps=events["duration_ps"].to_numpy(np.int64),
        host_duration_ps=events["host_duration_ps"].to_numpy(np.int64),
        self_ps=events["self_ps"].to_numpy(np.float64),
        transfer_ps=np.full(n, np.nan),
        host_start_ps=events["host_start_ps"].to_numpy(np.int64),
        run_id=np.zeros(n, np.int64),
        step=np.full(n, -1, np.int32),
        occurrences=events["occurrences"].to_numpy(np.int64),
        contains=events["contains"].to_numpy(np.bool_),
    )
    names = [name for name in OpKeys.__dataclass_fields__ if name in distinct]
    columns: dict[str, Any] = {name: distinct[name].to_numpy() for name in names}
    columns["program"] = np.array([programs.get(int(number), "") for number in distinct["program_id"]], object)
    for name in ("op", "category", "framework_op", "source", "hlo_text", "duplicate_of"):
        columns[name] = words(distinct[name]).to_numpy()
    return OpKeys(**columns), ops


def _first_of(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for codes numbered by first appearance, where each appears first."""
    return np.unique(codes, return_index=True)[1]


def _transfer_times(keys: OpKeys, ops: OpEvents, programs: Mapping[int, Program]) -> NDArray[np.float64]:
    """Return for each done half of an asynchronous pair the time since its start half began, NaN for other ops.

    The n-th done of a core completes the n-th start: asynchronous pairs of one name do not overtake.
    """
    transfer = np.full(len(ops), np.nan)
    end_ps = ops.start_ps + ops.duration_ps
    rows_by_key = pd.Series(np.arange(len(ops))).groupby([ops.device, ops.key]).indices
    number = {
        (int(program), str(op)): row for row, (program, op) in enumerate(zip(keys.program_id, keys.op, strict=True))
    }
    for (program, op), done_key in number.items():
        start_key = number.get((program, _start_of(op, programs.get(program)))) if "-done" in op else None
        if start_key is None:
            continue
        for device in range(int(ops.device.max()) + 1):
            done, started = rows_by_key.get((device, done_key)), rows_by_key.get((device, start_key))
            if done is not None and started is not None and len(done) == len(started):
                transfer[done] = end_ps[done] - ops.start_ps[started]
    return transfer


def _start_of(done: str, program: Program | None) -> str:
    """Return the op a done half completes: its operand; without the program, the name that differs in that word."""
    try:
        instruction = program.instruction(done) if program is not None else None
    except DamagedFileError:
        instruction = None
    if instruction is not None and instruction.operands:
        return instruction.operands[0]
    return done.replace("-done", "-start")


def _program_runs(planes: Sequence[XPlane]) -> ProgramRuns:
    frames = []
    for device, plane in enumerate(planes):
        rows = _rows_of(plane, "XLA Modules")
        events = plane.events
        labels = [plane.metadata.name[row] for row in events.metadata[rows]]
        named = [split_program_label(label) for label in labels]
        frames.append(
            pd.DataFrame(
                {
                    "device": np.full(len(rows), device, np.int32),
                    "program_id": np.array([program_id for _, program_id in named], np.uint64),
                    "program": np.array([name for name, _ in named], object),
                    "run_id": plane.event_stat("run_id").ints()[rows],
                    "start_ps": events.start_ps[rows],
                    "duration_ps": events.duration_ps[rows],
                }
            )
        )
    runs = pd.concat(frames, ignore_index=True).sort_values(["device", "start_ps"], kind="stable")
    return ProgramRuns(**{name: runs[name].to_numpy() for name in ProgramRuns.__dataclass_fields__})


def split_program_label(label: str) -> tuple[str, int]:
    """Return module name and program id of ``jit_f(123)``; the id is 0 where there is none."""
    found = re.fullmatch(r"(.*)\((-?\d{1,20})\)", label, re.DOTALL)
    return (found[1], int(found[2]) % 2**64) if found else (label, 0)
