"""XLA on a CPU: op events on host threads to op executions, program runs and step marks.

A CPU profile has no device plane. An op event (it carries `hlo_op`) lasts only as long as the call that launched
it; an op that goes on asynchronously ends with the event ``end: <op>`` whose `_c` equals the op's `_p`, often on
another thread. Devices share threads, so (process, `device_ordinal`) is the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting
from xprof_nb.formats.cpu_launches import steps_of_ops
from xprof_nb.formats.host_ops import HostOps
from xprof_nb.formats.jit import njit, warm_up
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.device import Device
from xprof_nb.model.trace import OpEvents, OpKeys, ProgramRuns, StepMarks

Ints = NDArray[np.int64]
Codes = NDArray[np.int64]
Rows = NDArray[np.int64]

_NEITHER = ("end: ", "ThreadpoolListener::", "ThunkExecutor::", "$")
_OP_STATS = ("hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "_p")
_MARK_STATS = ("step_num", "_r")


def read_host_ops(plane: XPlane, host: str) -> HostOps:
    """Return ops, program runs and step marks of a host whose processor ran the program."""
    rows, stats = _events_with(plane, *_OP_STATS, *_MARK_STATS)
    start_ps = plane.events.start_ps
    marks = _step_marks(plane, start_ps, rows, *stats[len(_OP_STATS) :])
    present = stats[0].present
    rows = rows[present]
    hlo_op, module, program, run, ordinal_stat, serial = (stat.take(present) for stat in stats[: len(_OP_STATS)])
    ordinal_code, ordinals = _factorized(ordinal_stat.ints())
    by_number = np.argsort(ordinals)
    device = np.argsort(by_number)[ordinal_code].astype(np.int32)
    devices = tuple(Device(host, "cpu", int(number), f"CPU:{number}") for number in ordinals[by_number])

    host_start_ps, host_duration_ps = start_ps[rows], plane.events.duration_ps[rows]
    host_end_ps = host_start_ps + host_duration_ps
    end_ps = np.maximum(host_end_ps, _asynchronous_ends(plane, start_ps, serial))
    parent = nesting.parents(plane.events.line[rows], host_start_ps, host_end_ps)
    key, keys = _keys(plane, rows, hlo_op, module, program)
    run_id = run.ints()
    ops = OpEvents(
        key=key,
        device=device,
        start_ps=host_start_ps,
        duration_ps=end_ps - host_start_ps,
        host_start_ps=host_start_ps,
        host_duration_ps=host_duration_ps,
        self_ps=nesting.shared_times(device, parent, host_start_ps, end_ps),
        transfer_ps=np.broadcast_to(np.nan, len(rows)),
        run_id=run_id,
        step=steps_of_ops(plane, start_ps, rows, run_id, marks),
        occurrences=np.maximum(plane.events.occurrences[rows], 1),
        contains=nesting.containers(parent),
    )
    return HostOps(devices, keys, ops, _program_runs(ops, keys), marks)


def read_step_marks(plane: XPlane) -> StepMarks:
    """Return the events that `StepTraceAnnotation` left: root events with a step number."""
    rows, stats = _events_with(plane, *_MARK_STATS)
    return _step_marks(plane, plane.events.start_ps, rows, *stats)


def _step_marks(plane: XPlane, start_ps: Ints, rows: Rows, number: StatColumn, root: StatColumn) -> StepMarks:
    marked = number.present & root.present
    rows, numbers = rows[marked], number.ints()[marked]
    order = np.argsort(start_ps[rows], kind="stable")
    rows = rows[order]
    names = np.array([*plane.metadata.name, ""], object)
    return StepMarks(
        name=names[plane.events.metadata[rows]],
        number=numbers[order],
        start_ps=start_ps[rows],
        duration_ps=plane.events.duration_ps[rows],
    )


def _events_with(plane: XPlane, *names: str) -> tuple[Rows, tuple[StatColumn, ...]]:
    """Return the events that may be ops or annotations, and stats of them."""
    may_be = np.array([*(not name.startswith(_NEITHER) for name in plane.metadata.name), True])
    rows = np.flatnonzero(may_be[plane.events.metadata])
    return rows, plane.stats_of(rows, *names)


def _factorized(values: Ints) -> tuple[Codes, Ints]:
    """Return a code per value and the distinct values, without sorting."""
    codes, distinct = pd.factorize(values)
    return codes.astype(np.int64, copy=False), np.asarray(distinct)


def _asynchronous_ends(plane: XPlane, start_ps: Ints, serial: StatColumn) -> Ints:
    """Return where the ``end:`` event of each op begins, 0 for an op without one."""
    is_end = np.array([*(name.startswith("end: ") for name in plane.metadata.name), False])
    ends = np.flatnonzero(is_end[plane.events.metadata])
    (consumer,) = plane.stats_of(ends, "_c")
    consumer, ends = consumer.take(consumer.present), ends[consumer.present]
    consumed = consumer.ints()
    return _paired(np.argsort(consumed, kind="stable"), consumed, start_ps[ends], serial.ints(), serial.present)


def _keys(
    plane: XPlane, rows: Rows, hlo_op: StatColumn, module: StatColumn, program: StatColumn
) -> tuple[NDArray[np.int32], OpKeys]:
    """Return each event's row of the distinct (program, op) pairs, and the pairs.

    An op whose `hlo_op` is empty goes by its event's name.
    """
    op_code, op_names = hlo_op.texts()
    module_code, module_names = module.texts()
    named = op_code.astype(np.int64)
    if "" in op_names:
        nameless = named == op_names.index("")
        named[nameless] = len(op_names) + plane.events.metadata[rows[nameless]]
    names = np.array([*op_names, *plane.metadata.name], object)
    program_code, programs = _factorized(program.ints())
    key, distinct = _factorized(named * max(len(programs), 1) + program_code)
    example = _first_of_each(key, len(distinct))
    return key.astype(np.int32), _bare_keys(
        program_id=programs[program_code[example]].astype(np.int64).view(np.uint64),
        program=np.array([*module_names, ""], object)[module_code[example]],
        op=names[named[example]],
    )


def _first_of_each(code: Codes, count: int) -> Rows:
    """Return the first row of each code."""
    first = np.empty(count, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return first


def _bare_keys(program_id: NDArray[np.uint64], program: NDArray[Any], op: NDArray[Any]) -> OpKeys:
    """Return keys with an identity alone; a CPU profile states nothing else of an op."""
    unknown = np.full(len(op), None, dtype=object)
    nan = np.full(len(op), np.nan)
    words = dict.fromkeys(("category", "framework_op", "source", "hlo_text", "duplicate_of"), unknown)
    costs = ("flops", "model_flops", "bytes_accessed", "hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes")
    return OpKeys(program_id=program_id, program=program, op=op, **words, **dict.fromkeys(costs, nan))


def _program_runs(ops: OpEvents, keys: OpKeys) -> ProgramRuns:
    """Return one run per (device, program, run id), from its first op's start to its last op's end."""
    program_code, programs = _factorized(keys.program_id.view(np.int64))
    run_code, run_ids = _factorized(ops.run_id)
    combined = (ops.device.astype(np.int64) * max(len(programs), 1) + program_code[ops.key]) * max(len(run_ids), 1)
    code, distinct = _factorized(combined + run_code)
    start_ps, end_ps = _extents(code, ops.start_ps, ops.start_ps + ops.duration_ps, len(distinct))
    example = _first_of_each(code, len(distinct))
    device = ops.device[example]
    order = np.lexsort((start_ps, device))
    example = example[order]
    return ProgramRuns(
        device=device[order],
        program_id=keys.program_id[ops.key[example]],
        program=keys.program[ops.key[example]],
        run_id=ops.run_id[example],
        start_ps=start_ps[order],
        duration_ps=(end_ps - start_ps)[order],
    )


@njit
def _paired(order: Any, consumed: Any, end_start: Any, produced: Any, present: Any) -> Any:
    """Find each produced number among the consumed ones; serials mostly come in order, so look near the last first."""
    found = np.zeros(len(produced), np.int64)
    count = len(order)
    at = 0
    for row in range(len(produced)):
        if not present[row] or count == 0:
            continue
        wanted = produced[row]
        if not (at + 1 < count and consumed[order[at + 1]] == wanted):
            low, high = 0, count
            while low < high:
                middle = (low + high) // 2
                if consumed[order[middle]] < wanted:
                    low = middle + 1
                else:
                    high = middle
            at = low - 1
        if at + 1 < count and consumed[order[at + 1]] == wanted:
            at += 1
            found[row] = end_start[order[at]]
    return found


@njit
def _extents(code: Any, start: Any, end: Any, count: int) -> Any:
    first = np.full(count, np.iinfo(np.int64).max, np.int64)
    last = np.full(count, np.iinfo(np.int64).min, np.int64)
    for row in range(len(code)):
        first[code[row]] = min(first[code[row]], start[row])
        last[code[row]] = max(last[code[row]], end[row])
    return first, last


@warm_up
def _warm() -> None:
    one = np.zeros(1, np.int64)
    _extents(one, one, one, 1)
    _paired(one, one, one, one, np.ones(1, np.bool_))
