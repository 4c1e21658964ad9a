"""XLA on a CPU: op events on host threads to op executions, program runs and step marks.

A CPU profile has no device plane. An op event (it carries `hlo_op`) lasts only as long as the call that launched
it; an op that goes on asynchronously ends with the event ``end: <op>`` whose `_c` equals the op's `_p`, often on
another thread. Devices share threads, so (process, `device_ordinal`) is the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting
from xprof_nb.formats.cpu_launches import steps_of_ops
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.device import Device
from xprof_nb.model.trace import OpEvents, OpKeys, ProgramRuns, StepMarks

Ints = NDArray[np.int64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HostOps:
    """What the host plane of a CPU profile says."""

    devices: tuple[Device, ...]
    keys: OpKeys
    ops: OpEvents
    runs: ProgramRuns


def read_host_ops(plane: XPlane, host: str, marks: StepMarks) -> HostOps:
    """Return ops and program runs of XLA's CPU backend."""
    module = plane.event_stat("hlo_module")
    hlo_op = plane.event_stat("hlo_op")
    rows = np.flatnonzero(hlo_op.present)
    ordinal = plane.event_stat("device_ordinal").ints()[rows]
    ordinals = np.unique(ordinal)
    devices = tuple(Device(host, "cpu", int(number), f"CPU:{number}") for number in ordinals)
    run_id = plane.event_stat("run_id").ints()[rows]
    start_ps = plane.events.start_ps[rows]
    host_duration_ps = plane.events.duration_ps[rows]
    end_ps = np.maximum(start_ps + host_duration_ps, _asynchronous_ends(plane, rows))
    parent = nesting.parents(plane.events.line[rows], start_ps, start_ps + host_duration_ps)
    device = np.searchsorted(ordinals, ordinal).astype(np.int32)

    names = plane.metadata.name
    op_code, op_names = _op_names(hlo_op.texts(), rows, plane.events.metadata[rows], names)
    module_code, module_names = module.texts()
    program_id = plane.event_stat("program_id").ints()[rows]
    key, distinct = _keys(program_id, op_code)
    keys = _named_keys(program_id[distinct], module_code[rows][distinct], module_names, op_code[distinct], op_names)
    step = steps_of_ops(plane, rows, run_id, marks)

    order = np.lexsort((start_ps, device))
    ops = OpEvents(
        key=key,
        device=device,
        start_ps=start_ps,
        duration_ps=end_ps - start_ps,
        host_duration_ps=host_duration_ps,
        self_ps=nesting.shared_times(device, parent, start_ps, end_ps),
        transfer_ps=np.full(len(rows), np.nan),
        host_start_ps=start_ps,
        run_id=run_id,
        step=step,
        occurrences=np.maximum(plane.events.occurrences[rows], 1),
        contains=nesting.containers(parent),
    ).take(order)
    return HostOps(devices, keys, ops, _program_runs(ops, keys))


def read_step_marks(plane: XPlane) -> StepMarks:
    """Return the events that `StepTraceAnnotation` left: root events with a step number."""
    number = plane.event_stat("step_num")
    rows = np.flatnonzero(number.present & plane.event_stat("_r").present)
    rows = rows[np.argsort(plane.events.start_ps[rows], kind="stable")]
    names = np.array(plane.metadata.name, object)
    return StepMarks(
        name=names[plane.events.metadata[rows]],
        number=number.ints()[rows],
        start_ps=plane.events.start_ps[rows],
        duration_ps=plane.events.duration_ps[rows],
    )


def _asynchronous_ends(plane: XPlane, rows: Rows) -> Ints:
    """Return where the ``end:`` event of each op begins, 0 for an op without one."""
    is_end = np.array([name.startswith("end: ") for name in plane.metadata.name] + [False])[plane.events.metadata]
    consumer = plane.event_stat("_c")
    ends = np.flatnonzero(is_end & consumer.present)
    serial = consumer.ints()[ends]
    order = np.argsort(serial, kind="stable")
    serial, ends = serial[order], ends[order]
    producer = plane.event_stat("_p")
    wanted = producer.ints()[rows]
    found = np.minimum(np.searchsorted(serial, wanted), max(len(serial) - 1, 0))
    end_ps = np.zeros(len(rows), np.int64)
    if len(serial):
        matches = (serial[found] == wanted) & producer.present[rows]
        end_ps[matches] = plane.events.start_ps[ends[found[matches]]]
    return end_ps


def _op_names(
    texts: tuple[NDArray[np.int32], list[str]], rows: Rows, metadata: NDArray[np.int32], names: list[str]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return a code per op event and the names; an event whose `hlo_op` is empty goes by its own name."""
    codes, labels = texts
    code = codes[rows].astype(np.int64)
    if "" in labels:
        nameless = code == labels.index("")
        code[nameless] = len(labels) + metadata[nameless]
    return code, [*labels, *names]


def _keys(program_id: Ints, op_code: NDArray[np.int64]) -> tuple[NDArray[np.int32], Rows]:
    """Return each event's number among the distinct (program, op) pairs, and one event of each pair."""
    programs, program_code = np.unique(program_id, return_inverse=True)
    combined = op_code * len(programs) + program_code
    _, distinct, key = np.unique(combined, return_index=True, return_inverse=True)
    return key.astype(np.int32), distinct


def _named_keys(
    program_id: Ints,
    module_code: NDArray[np.int32],
    module_names: list[str],
    op_code: NDArray[np.int64],
    op_names: list[str],
) -> OpKeys:
    count = len(program_id)
    unknown = np.full(count, None, dtype=object)
    nan = np.full(count, np.nan)
    return OpKeys(
        program_id=program_id.astype(np.int64).view(np.uint64),
        program=np.array([*module_names, ""], object)[module_code],
        op=np.array(op_names, object)[op_code] if count else np.empty(0, object),
        category=unknown,
        framework_op=unknown,
        source=unknown,
        hlo_text=unknown,
        duplicate_of=unknown,
        flops=nan,
        model_flops=nan,
        bytes_accessed=nan,
        hbm_bytes=nan,
        on_chip_read_bytes=nan,
        on_chip_write_bytes=nan,
    )


def _program_runs(ops: OpEvents, keys: OpKeys) -> ProgramRuns:
    """Return one run per (device, program, run id), from its first op's start to its last op's end."""
    frame = pd.DataFrame(
        {
            "device": ops.device,
            "program": ops.key,
            "run_id": ops.run_id,
            "start_ps": ops.start_ps,
            "end_ps": ops.start_ps + ops.duration_ps,
        }
    )
    programs, code = np.unique(keys.program_id, return_inverse=True)
    frame["program"] = code[ops.key] if len(ops) else np.empty(0, np.int64)
    runs = frame.groupby(["device", "program", "run_id"], sort=False).agg({"start_ps": "min", "end_ps": "max"})
    runs = runs.reset_index().sort_values(["device", "start_ps"], kind="stable")
    first_key = np.unique(code, return_index=True)[1]
    program = runs["program"].to_numpy(np.int64)
    return ProgramRuns(
        device=runs["device"].to_numpy(np.int32),
        program_id=programs[program],
        program=keys.program[first_key[program]],
        run_id=runs["run_id"].to_numpy(np.int64),
        start_ps=runs["start_ps"].to_numpy(np.int64),
        duration_ps=(runs["end_ps"] - runs["start_ps"]).to_numpy(np.int64),
    )
