"""XLA on a CPU: op events on host threads to op executions, program runs and step marks.

A CPU profile has no device plane. An op event (it carries `hlo_op`) lasts only as long as the call that launched
it; an op that goes on asynchronously ends with the event ``end: <op>`` whose `_c` equals the op's `_p`, often on
another thread. Devices share threads, so (process, `device_ordinal`) is the device.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import nesting, step_marks
from xprof_nb.formats.cpu_launches import steps_of_ops
from xprof_nb.formats.extents import extents
from xprof_nb.formats.factors import factorized, matched, numbered, rows_where
from xprof_nb.formats.host_ops import HostOps
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.device import Device
from xprof_nb.model.trace import OpEvents, OpKeys, ProgramRuns, StepMarks

Ints = NDArray[np.int64]
Rows = NDArray[np.int64]

_NEITHER = ("end: ", "ThreadpoolListener::", "ThunkExecutor::", "$")
MARKER = "xprof_nb_marker"
"""A program of our own captures, run to wait for what was dispatched before it; no work of the user's."""
_OP_STATS = ("hlo_op", "program_id", "run_id", "device_ordinal", "_p")


def read_host_ops(plane: XPlane, host: str) -> HostOps:
    """Return ops, program runs and step marks of a host whose processor ran the program."""
    rows, ends = _may_be_ops(plane), _ends(plane)
    stats = plane.stats_of(rows, *_OP_STATS, *step_marks.STATS)
    events = plane.events
    marks = step_marks.marks_among(plane, rows, *stats[len(_OP_STATS) :])
    present = stats[0].present
    rows = rows[present]
    hlo_op, program, run, ordinal_stat, serial = (stat.keep(present) for stat in stats[: len(_OP_STATS)])
    key, keys = _keys(plane, rows, hlo_op, program)
    foreign = (keys.program != f"jit_{MARKER}")[key]
    if not foreign.all():
        rows = rows[foreign]
        hlo_op, program, run, ordinal_stat, serial = (
            stat.keep(foreign) for stat in (hlo_op, program, run, ordinal_stat, serial)
        )
        key, keys = _keys(plane, rows, hlo_op, program)
    ordinal_code, ordinals = factorized(ordinal_stat.ints())
    by_number = np.argsort(ordinals)
    device = np.argsort(by_number).astype(np.int32)[ordinal_code]
    devices = tuple(Device(host, "cpu", int(number), f"CPU:{number}") for number in ordinals[by_number])

    host_start_ps, host_duration_ps = events.starts_of(rows), events.duration_ps[rows]
    host_end_ps = host_start_ps + host_duration_ps
    end_ps = _asynchronous_ends(plane, ends, serial)
    np.maximum(host_end_ps, end_ps, out=end_ps)
    parent = nesting.parents(events.lines_of(rows), host_start_ps, host_end_ps)
    run_id = run.ints().copy()  # the other stats lie in the same block of memory, which can go then
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
        step=steps_of_ops(plane, rows, host_start_ps, run_id, marks),
        occurrences=_occurrences(plane, rows),
        contains=nesting.containers(parent),
    )
    return HostOps(devices, keys, ops, partial(_program_runs, ops, keys), marks)


def read_step_marks(plane: XPlane) -> StepMarks:
    """Return the steps that were marked on a host."""
    rows = _may_be_ops(plane)
    return step_marks.marks_among(plane, rows, *plane.stats_of(rows, *step_marks.STATS))


def _may_be_ops(plane: XPlane) -> Rows:
    """Return the events that may be ops or annotations."""
    return rows_where(
        np.array([*(not name.startswith(_NEITHER) for name in plane.metadata.name), True]), plane.events.metadata
    )


def _ends(plane: XPlane) -> Rows:
    """Return the events that say an op has ended."""
    return rows_where(
        np.array([*(name.startswith("end: ") for name in plane.metadata.name), False]), plane.events.metadata
    )


def _asynchronous_ends(plane: XPlane, ends: Rows, serial: StatColumn) -> Ints:
    """Return where the ``end:`` event of each op begins, 0 for an op without one."""
    (consumer,) = plane.stats_of(ends, "_c")
    consumer, ends = consumer.take(consumer.present), ends[consumer.present]
    end_ps = matched(serial.ints(), consumer.ints(), plane.events.starts_of(ends))
    if not serial.present.all():
        end_ps[~serial.present] = 0
    return end_ps


def _keys(plane: XPlane, rows: Rows, hlo_op: StatColumn, program: StatColumn) -> tuple[NDArray[np.int32], OpKeys]:
    """Return each event's row of the distinct (program, op) pairs, and the pairs.

    An op whose `hlo_op` is empty goes by its event's name.
    """
    op_code, op_names = hlo_op.texts()
    named = op_code.astype(np.int64)
    if "" in op_names:
        nameless = named == op_names.index("")
        named[nameless] = len(op_names) + plane.events.metadata[rows[nameless]]
    names = np.array([*op_names, *plane.metadata.name], object)
    program_code, programs = factorized(program.ints())
    if len(programs) > 1:
        named = named * len(programs) + program_code
    key, example = numbered(named, len(names) * max(len(programs), 1))
    module_code, module_names = plane.stats_of(rows[example], "hlo_module")[0].texts()
    return key, _bare_keys(
        program_id=programs[program_code[example]].astype(np.int64).view(np.uint64),
        program=np.array([*module_names, ""], object)[module_code],
        op=names[named[example] // max(len(programs), 1)],
    )


def _occurrences(plane: XPlane, rows: Rows) -> Ints:
    """Return how often each event stands for; almost always once, which takes no memory to say."""
    if plane.events.positioned.all():
        return np.broadcast_to(np.int64(1), len(rows))
    return np.maximum(plane.events.occurrences[rows], 1)


def _bare_keys(program_id: NDArray[np.uint64], program: NDArray[Any], op: NDArray[Any]) -> OpKeys:
    """Return keys with an identity alone; a CPU profile states nothing else of an op."""
    unknown = np.full(len(op), None, dtype=object)
    nan = np.full(len(op), np.nan)
    words = dict.fromkeys(("category", "framework_op", "source", "hlo_text", "duplicate_of"), unknown)
    costs = ("flops", "model_flops", "bytes_accessed", "hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes")
    return OpKeys(program_id=program_id, program=program, op=op, **words, **dict.fromkeys(costs, nan))


def _stretches(ops: OpEvents, first: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when the ops from each of some rows to the next begin, and how long until the last of them ends."""
    if not len(first):
        return first, first
    begin_ps = np.minimum.reduceat(ops.start_ps, first)
    return begin_ps, np.maximum.reduceat(ops.start_ps + ops.duration_ps, first) - begin_ps


def _program_runs(ops: OpEvents, keys: OpKeys) -> ProgramRuns:
    """Return one run per (device, program, run id), from its first op's start to its last op's end."""
    program_code, programs = factorized(keys.program_id.view(np.int64))
    program = program_code[ops.key]
    # The ops of a run mostly follow one another: only the stretches of them are grouped.
    begins = ops.device[1:] != ops.device[:-1]
    begins |= ops.run_id[1:] != ops.run_id[:-1]
    begins |= program[1:] != program[:-1]
    first = np.append(np.zeros(min(len(ops), 1), np.int64), np.flatnonzero(begins) + 1)
    begin_ps, length_ps = _stretches(ops, first)
    run_code, run_ids = factorized(ops.run_id[first])
    combined = (ops.device[first].astype(np.int64) * max(len(programs), 1) + program[first]) * max(len(run_ids), 1)
    code, distinct = factorized(combined + run_code)
    start_ps, end_ps = extents(code, begin_ps, length_ps, len(distinct))
    _, example = numbered(code, len(distinct))
    example = first[example]
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
