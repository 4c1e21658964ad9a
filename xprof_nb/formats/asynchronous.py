"""Asynchronous ops of accelerator planes: which done half belongs to which start half, and how long it took."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.jit import njit, warm_up
from xprof_nb.formats.tpu.lines import device_times, rows_of
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.columns import Columns, stacked
from xprof_nb.model.program import Program
from xprof_nb.model.trace import AsyncSpans, OpEvents, OpKeys

Rows = NDArray[np.int64]

LINE = ("Async XLA Ops",)
_DONE = re.compile(r"-done(?=$|[.\d])|^(?:send|recv)-done")
_OPERAND = re.compile(r"%([^\s,()%]+)\)")


def spans_of(
    planes: Sequence[XPlane], keys: OpKeys, ops: OpEvents, programs: Mapping[int, Program]
) -> tuple[AsyncSpans, NDArray[np.float64]]:
    """Return the asynchronous ops, and by op event the time since its start half began (NaN but for done halves).

    A span is put together from the halves; one that the profile records as a whole, and of which no pair is
    found, is taken as it is.
    """
    start_key = start_keys(keys, programs)
    begun, done = paired(ops, start_key)
    transfer_ps = np.full(len(ops), np.nan)
    end_ps = ops.start_ps + ops.duration_ps
    transfer_ps[done] = end_ps[done] - ops.start_ps[begun]
    host_end_ps = ops.host_start_ps + ops.host_duration_ps
    pairs: Columns = {
        "key": ops.key[begun],
        "done": ops.key[done],
        "device": ops.device[begun],
        "start_ps": ops.start_ps[begun],
        "duration_ps": end_ps[done] - ops.start_ps[begun],
        "host_start_ps": ops.host_start_ps[begun],
        "host_duration_ps": host_end_ps[done] - ops.host_start_ps[begun],
        "recorded": np.zeros(len(begun), np.bool_),
    }
    stated = stacked([_stated(plane, row, keys) for row, plane in enumerate(planes)])
    dones = np.flatnonzero(start_key >= 0)[::-1]
    done_of = np.full(len(keys), -1, np.int32)
    done_of[start_key[dones]] = dones
    return AsyncSpans(**stacked([pairs, {**stated, "done": done_of[stated["key"]]}])), transfer_ps


def start_keys(keys: OpKeys, programs: Mapping[int, Program]) -> NDArray[np.int64]:
    """Return for each key that is a done half the key of its start half, -1 for others.

    The half it completes is its operand: in the program, or in the HLO text the profile has; only without either
    is it the op whose name differs in that word.
    """
    found = np.full(len(keys), -1, np.int64)
    number = {
        (int(program), str(op)): row for row, (program, op) in enumerate(zip(keys.program_id, keys.op, strict=True))
    }
    for (program, op), row in number.items():
        if "done" not in op and "-done" not in str(keys.category[row]):
            continue
        found[row] = number.get((program, _start_of(op, keys.hlo_text[row], programs.get(program))), -1)
    return found


def _start_of(done: str, text: str | None, program: Program | None) -> str:
    try:
        instruction = program.instruction(done) if program is not None else None
    except DamagedFileError:
        instruction = None
    if instruction is not None:
        return instruction.operands[0] if instruction.operands and "done" in instruction.opcode else ""
    operands = _OPERAND.findall((text or "").partition("-done(")[2])
    if operands:
        return str(operands[-1])
    if done.startswith(("send-done", "recv-done")):
        return done.replace("-done", "", 1)
    return _DONE.sub("-start", done, count=1) if _DONE.search(done) else ""


def paired(ops: OpEvents, start_key: NDArray[np.int64], by_run: bool = True) -> tuple[Rows, Rows]:
    """Return rows of start halves and of the done halves that complete them.

    Within a program run the n-th done half completes the n-th start half: pairs of one name do not overtake.
    A half whose other one was not recorded stays out.
    """
    pair_of = np.full(len(start_key), -1, np.int64)
    dones = np.flatnonzero(start_key >= 0)
    pair_of[start_key[dones]] = start_key[dones]
    pair_of[dones] = start_key[dones]
    rows = np.flatnonzero(pair_of[ops.key] >= 0)
    key = ops.key[rows].astype(np.int64)
    run = ops.run_id[rows] if by_run else np.zeros(len(rows), np.int64)
    order = np.lexsort((ops.start_ps[rows], run, ops.device[rows], pair_of[key]))
    rows, key, run = rows[order], key[order], run[order]
    group = np.cumsum(
        np.diff(pair_of[key], prepend=-1).astype(bool)
        | np.diff(ops.device[rows], prepend=-1).astype(bool)
        | np.diff(run, prepend=0).astype(bool)
    )
    partner = first_in_first_out(group, start_key[key] < 0)
    done = np.flatnonzero(partner >= 0)
    return rows[partner[done]], rows[done]


def _stated(plane: XPlane, device: int, keys: OpKeys) -> Columns:
    """Return the spans of the plane's line of asynchronous ops, known by the start half in their HLO text."""
    rows = rows_of(plane, LINE)
    metadata = plane.metadata
    program = plane.metadata_stat("program_id").ints().view(np.uint64)
    number = {(int(of), str(op)): row for row, (of, op) in enumerate(zip(keys.program_id, keys.op, strict=True))}
    key_of = np.full(len(metadata) + 1, -1, np.int64)
    for row in np.unique(plane.events.metadata[rows]).tolist():
        key_of[row] = number.get((int(program[row]), metadata.name[row].partition(" = ")[0].removeprefix("%")), -1)
    key = key_of[plane.events.metadata[rows]]
    rows, key = rows[key >= 0], key[key >= 0]
    start_ps, duration_ps = device_times(plane, rows)
    return {
        "key": key.astype(np.int32),
        "device": np.full(len(rows), device, np.int32),
        "start_ps": start_ps,
        "duration_ps": duration_ps,
        "host_start_ps": plane.events.starts_of(rows),
        "host_duration_ps": plane.events.duration_ps[rows],
        "recorded": np.ones(len(rows), np.bool_),
    }


@njit
def first_in_first_out(group: Any, is_start: Any) -> Any:
    """Return for each done half the row of its start half, -1 for others; rows are by group and time."""
    partner = np.full(len(group), -1, np.int64)
    open_rows = np.empty(len(group), np.int64)
    first = last = 0
    for row in range(len(group)):
        if row > 0 and group[row] != group[row - 1]:
            first = last = 0
        if is_start[row]:
            open_rows[last] = row
            last += 1
        elif last > first:
            partner[row] = open_rows[first]
            first += 1
    return partner


@warm_up
def _warm() -> None:
    first_in_first_out(np.zeros(2, np.int64), np.array([True, False]))
