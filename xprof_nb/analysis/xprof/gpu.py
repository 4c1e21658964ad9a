"""The op records xprof makes of GPU planes: the same rules, odd ones included.

Rules as in xprof 2.24 (``xplane_to_op_metrics_db``): every kernel counts as an occurrence of its op and costs what the
whole op costs; kernels of streams that overlap count in full; what is found in no HLO is left out, unless TensorFlow
named it; kernels of one op name in a row within a step belong to the program of the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.op_identity import described_keys, readable_program
from xprof_nb.analysis.ops import COSTS, OpTable
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.analysis.xprof.gpu_costs import GpuCost, gpu_costs
from xprof_nb.analysis.xprof.tpu import MEASURED
from xprof_nb.model.columns import words
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program

_SHAPES = {"kLoop": "loop fusion", "kInput": "input fusion", "kOutput": "output fusion", "kCustom": "custom fusion"}
_NVIDIA_RATES = (
    *((10, 0, 8192), (9, 0, 4096), (8, 9, 1024), (8, 6, 1024), (8, 0, 2048), (7, 5, 1024), (7, 0, 1024)),
    *((6, 1, 256), (6, 0, 256), (5, 0, 256), (3, 0, 384), (2, 0, 64)),
)
_AMD_RATES = {(9, 0): 1024, (9, 4): 2048, (9, 5): 4096}
_AMD_SHARED = {(9, 0): 128, (9, 4): 128, (9, 5): 256}
_FERMI = 2
_SOURCE = "as xprof computes it"
_NO_ARITHMETIC = {"compute_dtype": None, "compute_unit": None, "compute_passes": 1.0}
"""xprof measures everything against one roof."""
_costs: WeakKeyDictionary[Program, dict[str, GpuCost]] = WeakKeyDictionary()


def has_gpus(profile: ProfileData) -> bool:
    """Return whether xprof would take the profile for one of GPUs."""
    return any(device.backend == "gpu" for device in profile.devices)


def op_table(profile: ProfileData, selection: Selection) -> OpTable:
    """Return xprof's op records of the chosen part, summed over devices, in the form of our op table."""
    parts = [part for part in chosen_parts(profile, selection) if len(part.trace.kernels)]
    frames = [_records(profile, part) for part in parts if len(part.rows)]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if not len(frame):
        frame = pd.DataFrame(columns=["host", "device", *described_columns(), "occurrences", "time_ps", *COSTS])
        frame = frame.assign(self_time_ps=0.0, transfer_ps=0.0, is_container=False, **_NO_ARITHMETIC)
        frame = frame.assign(hlo_text=None, provenance=None, **dict.fromkeys(MEASURED, 0.0))
    devices = [part.trace.devices[row] for part in parts for row in part.devices]
    if selection.device is None:
        devices += _silent_devices(parts)
    shown = tuple(replace(device, peaks=xprof_peaks(device)) for device in devices)
    columns = {name: frame[name].to_numpy() for name in frame}
    return OpTable(columns, sum(sum(part.total_ps.tolist()) for part in parts), shown)


def _silent_devices(parts: list[HostPart]) -> list[Device]:
    """Return a stand-in for each GPU of the hosts that ran nothing: xprof divides by the number of planes."""
    found: list[Device] = []
    for part in parts:
        first = part.trace.devices[0]
        found += [first] * (int(first.stated.get("host_gpu_count", 0)) - len(part.trace.devices))
    return found


def described_columns() -> list[str]:
    """Return the columns that say what an op is."""
    return ["program_id", "program", "op", "category", "work_kind", "framework_op", "source", "duplicate_of"]


def _records(profile: ProfileData, part: HostPart) -> pd.DataFrame:
    """Return one row per program and op of one host."""
    trace, table = part.trace, part.trace.kernels
    described = described_keys(profile, trace)
    ops = zip(described["program_id"].tolist(), described["op"], strict=True)
    found = [_instruction(profile, program_id, op) for program_id, op in ops]
    in_hlo = np.array([*(item is not None for item in found), False])
    rows = part.rows[np.lexsort((table.start_ps[part.rows], table.stream[part.rows], table.device[part.rows]))]
    of_xla = in_hlo[trace.ops.key[rows]]
    of_tensorflow = (table.framework_op[rows] >= 0) & (described["program"] == "")[trace.ops.key[rows]]
    rows, of_xla = rows[of_xla | of_tensorflow], of_xla[of_xla | of_tensorflow]
    if not len(rows):
        return pd.DataFrame()
    key = _key_of_the_first(part, rows, of_xla, described["op"])
    texts = [_tensorflow_op(text) for text in table.framework_ops]
    events = pd.DataFrame(
        {
            "key": np.where(of_xla, key, -1),
            "name": np.where(of_xla, -1, table.name[rows]),
            "tf": np.where(of_xla, -1, table.framework_op[rows]),
            "time_ps": table.duration_ps[rows],
        }
    )
    sums = events.groupby(["key", "name", "tf"], sort=False).agg(
        occurrences=("time_ps", "size"), time_ps=("time_ps", "sum")
    )
    lines = []
    for (of_key, name, text), occurrences, time_ps in sums.itertuples():
        if of_key >= 0:
            op = {name: values[of_key] for name, values in described.items()}
            line = _xla_row(profile, op, found[of_key], occurrences)
        else:
            path, kind = texts[text]
            line = _other_row(f"{path}/{table.names[name]}", kind, path)
        lines.append({**line, "occurrences": occurrences, "time_ps": time_ps, "self_time_ps": float(time_ps)})
    frame = pd.DataFrame(lines).assign(host=trace.host, device="all", transfer_ps=0.0, is_container=False)
    frame = frame.assign(**dict.fromkeys(MEASURED, 0.0))
    for column in (*described_columns()[1:], "provenance", "hlo_text", "compute_dtype", "compute_unit"):
        frame[column] = words(frame[column])
    return frame


def _key_of_the_first(
    part: HostPart, rows: NDArray[np.int64], of_xla: NDArray[np.bool_], names: NDArray[np.object_]
) -> NDArray[np.int32]:
    """Return the op each event is counted for: the first in a row of one name in one group and stream."""
    trace, table = part.trace, part.trace.kernels
    key = trace.ops.key[rows]
    group = pd.Series(table.group).where(table.group >= 0).groupby(table.device).ffill().to_numpy()[rows]
    line = pd.MultiIndex.from_arrays([table.device[rows], table.stream[rows]]).factorize()[0]
    name = pd.factorize(names[key])[0]
    follows = np.zeros(len(rows), np.bool_)
    follows[1:] = np.logical_and.reduce([each[1:] == each[:-1] for each in (line, name, group)])
    follows[1:] &= of_xla[1:] & of_xla[:-1]
    first = np.maximum.accumulate(np.where(follows, 0, np.arange(len(rows))))
    return key[first]


def _instruction(profile: ProfileData, program_id: int, op: str) -> Instruction | None:
    program = readable_program(profile, program_id)
    return None if program is None else program.instruction(op)


def _xla_row(
    profile: ProfileData, described: Mapping[str, Any], instruction: Instruction | None, occurrences: int
) -> dict[str, object]:
    program = readable_program(profile, int(described["program_id"]))
    assert program is not None
    assert instruction is not None
    if program not in _costs:
        _costs[program] = gpu_costs(program)
    cost = _costs[program].get(instruction.name, GpuCost(0.0, 0.0, 0.0, 0.0))
    kind = _SHAPES.get(instruction.fusion_kind, "fusion") if instruction.opcode == "fusion" else None
    counted = {
        "flops": cost.flops,
        "model_flops": cost.model_flops or cost.flops,
        "bytes_accessed": cost.bytes_accessed,
        "hbm_bytes": cost.hbm_bytes,
    }
    return {
        **{name: described[name] for name in described_columns()},
        "category": kind or category(instruction, program),
        "provenance": f"{instruction.op_name}:{instruction.op_type}" if instruction.op_name else None,
        "framework_op": instruction.op_name or None,
        "hlo_text": program.text(instruction.name),
        **dict.fromkeys(COSTS, 0.0),
        **{name: value * occurrences for name, value in counted.items()},
        **_NO_ARITHMETIC,
    }


def _other_row(op: str, kind: str, path: str) -> dict[str, object]:
    unknown = dict.fromkeys(("source", "duplicate_of", "hlo_text"))
    identity = {"program_id": np.uint64(0), "program": "", "op": op, "category": kind, "framework_op": path}
    identity["provenance"] = f"{path}:{kind}"
    return {**identity, "work_kind": work_kind(kind), **unknown, **dict.fromkeys(COSTS, 0.0), **_NO_ARITHMETIC}


def _tensorflow_op(text: str) -> tuple[str, str]:
    """Return path and type of ``a/b/MatMul_1:MatMul``; without a type, the last part of the path less its number."""
    path, _, kind = text.partition(":")
    return path, kind or re.sub(r"_\d+$", "", path.rpartition("/")[2])


def xprof_peaks(device: Device) -> Peaks:
    """Return the roofs xprof measures against: the best of all types, and the bandwidth as the runtime states it."""
    stated = device.stated
    units, clock_hz = stated.get("core_count", 0.0), stated.get("clock_rate", 0.0) * 1000
    version = (int(stated.get("compute_cap_major", 0)), int(stated.get("compute_cap_minor", 0)))
    rate = 0
    if device.vendor == "AMD":
        rate = _AMD_RATES.get(version, 0)
    elif device.vendor == "NVIDIA":
        rate = next((rate for major, minor, rate in _NVIDIA_RATES if (major, minor) <= version), 0)
    peak = Peak(units * clock_hz * rate, "computed", _SOURCE)
    bandwidth = Peak(stated.get("memory_bandwidth", 0.0), "profile", _SOURCE)
    shared = Peak(units * clock_hz * _shared_bytes_per_clock(device.vendor, version), "computed", _SOURCE)
    speeds = {"hbm": bandwidth, "sram_read": shared, "sram_write": shared}
    return Peaks(
        flops_per_s={"any": peak} if peak.value > 0 else {},
        reference_dtype="any",
        bytes_per_s={memory: speed for memory, speed in speeds.items() if speed.value > 0},
    )


def _shared_bytes_per_clock(vendor: str, version: tuple[int, int]) -> int:
    """Return what a processor's shared memory moves a clock cycle."""
    if vendor == "NVIDIA":
        return 64 if version[0] <= _FERMI else 256
    return _AMD_SHARED.get(version, 0) if vendor == "AMD" else 0
