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
    step = _steps_of_runs(plane, rows, run_id, start_ps, marks)

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


def _steps_of_runs(plane: XPlane, rows: Rows, run_id: Ints, start_ps: Ints, marks: StepMarks) -> NDArray[np.int32]:
    """Return the marked step that launched the run of each op, -1 for none."""
    if not len(marks) or not len(rows):
        return np.full(len(rows), -1, np.int32)
    runs, code = np.unique(run_id, return_inverse=True)
    launched_ps = _launch_times(plane, rows, runs, code, start_ps)
    row = np.searchsorted(marks.start_ps, launched_ps, side="right") - 1
    inside = (row >= 0) & (launched_ps < marks.start_ps[row] + marks.duration_ps[row])
    return np.where(inside, row, -1).astype(np.int32)[code]


def _launch_times(plane: XPlane, rows: Rows, runs: Ints, code: NDArray[np.intp], start_ps: Ints) -> Ints:
    """Return when the program's own thread launched each run.

    With several devices the launching call carries the run id. With one device it leaves a thread-pool record
    whose number reappears where the pool's thread begins the run. Failing both, it is when the first op began.
    """
    order = np.lexsort((start_ps, code))
    first = order[np.searchsorted(code[order], np.arange(len(runs)))]
    launched_ps = start_ps[first].copy()

    recorded_ps = _record_times(plane, rows[first])
    launched_ps = np.where(recorded_ps >= 0, recorded_ps, launched_ps)

    calls = [name.startswith("CommonPjRtLoadedExecutable::Execute (") for name in plane.metadata.name]
    run_stat = plane.event_stat("run_id")
    call_rows = np.flatnonzero(np.array([*calls, False])[plane.events.metadata] & run_stat.present)
    call_order = np.argsort(plane.events.start_ps[call_rows], kind="stable")[::-1]
    call_rows = call_rows[call_order]  # latest first, so that the earliest call of a run is written last
    call_run = np.searchsorted(runs, run_stat.ints()[call_rows])
    known = (call_run < len(runs)) & (runs[np.minimum(call_run, len(runs) - 1)] == run_stat.ints()[call_rows])
    launched_ps[call_run[known]] = plane.events.start_ps[call_rows[known]]
    return launched_ps


def _record_times(plane: XPlane, rows: Rows) -> Ints:
    """Return when the thread-pool region around each event was enqueued, -1 if it runs in none.

    A region enqueued from within another region is followed back to the one outside the pool.
    """
    names = plane.metadata.name
    events = plane.events
    kind = np.array([_REGION.get(name, 0) for name in names] + [0])[events.metadata]
    starts = np.flatnonzero(kind == _START)
    records = np.flatnonzero(kind == _RECORD)
    region_line, region_start = events.line[starts], events.start_ps[starts]
    region_serial = plane.event_stat("_c").ints()[starts]
    stops = np.flatnonzero(kind == _STOP)
    record_serial = plane.event_stat("_p").ints()[records]
    record_order = np.argsort(record_serial, kind="stable")
    record_serial, records = record_serial[record_order], records[record_order]

    region_order = np.lexsort((region_start, region_line))
    starts, region_serial = starts[region_order], region_serial[region_order]
    stop_order = np.lexsort((events.start_ps[stops], events.line[stops]))
    stops = stops[stop_order]

    found_ps = np.full(len(rows), -1, np.int64)
    at = rows.copy()
    active = np.arange(len(rows))
    while len(active):
        begun = _last_before(events.line, events.start_ps, starts, at[active])
        stopped = _last_before(events.line, events.start_ps, stops, at[active])
        inside = begun >= 0
        begun_ps = np.where(inside, events.start_ps[starts[begun]] if len(starts) else 0, -1)
        stopped_ps = np.where(stopped >= 0, events.start_ps[stops[stopped]] if len(stops) else 0, -1)
        inside &= begun_ps >= stopped_ps
        active, begun = active[inside], begun[inside]
        if not len(active) or not len(records):
            break
        where = np.minimum(np.searchsorted(record_serial, region_serial[begun]), len(records) - 1)
        known = record_serial[where] == region_serial[begun]
        active, where = active[known], where[known]
        earlier = events.start_ps[records[where]] < events.start_ps[at[active]]
        active, where = active[earlier], where[earlier]
        at[active] = records[where]
        found_ps[active] = events.start_ps[records[where]]
    return found_ps


_RECORD, _START, _STOP = 1, 2, 3
_REGION = {
    "ThreadpoolListener::Record": _RECORD,
    "ThreadpoolListener::StartRegion": _START,
    "ThreadpoolListener::StopRegion": _STOP,
}


def _last_before(line: NDArray[np.int32], start_ps: Ints, sorted_rows: Rows, rows: Rows) -> NDArray[np.int64]:
    """Return, per row, where in `sorted_rows` (by line, time) the last one on its line not after it is, or -1."""
    if not len(sorted_rows):
        return np.full(len(rows), -1, np.int64)
    lines = line[sorted_rows]
    found = np.full(len(rows), -1, np.int64)
    for number in np.unique(line[rows]):
        low, high = np.searchsorted(lines, [number, number + 1])
        mine = line[rows] == number
        position = low + np.searchsorted(start_ps[sorted_rows[low:high]], start_ps[rows[mine]], side="right") - 1
        found[mine] = np.where(position >= low, position, -1)
    return found
