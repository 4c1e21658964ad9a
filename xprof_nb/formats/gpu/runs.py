"""Kernels to program runs and executions of ops: by the host's calls where those were traced, else by what recurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.gpu.launches import Launched
from xprof_nb.formats.gpu.streams import Streams
from xprof_nb.formats.jit import njit, warm_up
from xprof_nb.model.columns import coded
from xprof_nb.model.program import Program
from xprof_nb.model.trace import OpKeys, ProgramRuns

Ints = NDArray[np.int64]

_LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Executions:
    """Of the N events of the streams.

    Attributes
    ----------
    run
        Number of the program run on one device, -1 for what belongs to none.
    run_id
        What the runs of one call on several devices share; 0 for none.
    occurrences
        1 for the first kernel of an execution of an op, 0 for its further kernels; n for an aggregated event.
    """

    run: Ints
    run_id: Ints
    occurrences: Ints


def find_executions(
    streams: Streams, key: NDArray[np.int32], keys: OpKeys, launched: Launched, programs: Mapping[int, Program]
) -> Executions:
    """Return which run and execution every event belongs to.

    Without the host's calls a run ends where an op of the program's entry computation begins again, and an execution
    of an op where the kernel it began with comes again.
    """
    order = _in_order_of_launch(streams, launched)
    in_program = streams.codes("hlo_module") >= 0
    run = launched.call.copy()
    lone = order[(run[order] < 0) & in_program[order]]
    begins = np.zeros(len(run), np.bool_)
    begins[_begins(lone, streams, key, np.full(len(lone), -1, np.int64))] = True
    if len(lone):
        program = pd.factorize(keys.program_id.view(np.int64))[0]
        group = streams.codes("device")[lone] * (program.max() + 1) + program[key[lone]]
        entry = _of_entry(streams, key[lone], keys, programs, lone)
        by_group = np.argsort(group, kind="stable")
        boundary = (begins[lone] & entry)[by_group]
        numbers = _runs_by_recurrence(group[by_group], key[lone][by_group].astype(np.int64), boundary, len(keys))
        run[lone[by_group]] = numbers + len(launched.calls["run"])
    seen = order[(launched.call[order] >= 0) & in_program[order]]
    begins[_first_of_executions(seen, streams, key, launched)] = True
    begins |= ~in_program
    ids = launched.calls["run"]
    of_call = ids[np.minimum(run, len(ids) - 1)] if len(ids) else run
    run_id = np.where(run < 0, 0, np.where(run < len(ids), of_call, run + 1))
    stated = streams.column("occurrences")
    return Executions(run, run_id, np.where(stated > 1, stated, begins.astype(np.int64)))


def program_runs(streams: Streams, key: NDArray[np.int32], keys: OpKeys, executions: Executions) -> ProgramRuns:
    """Return the program runs, from the start of their first kernel to the end of their last."""
    rows = np.flatnonzero(executions.run >= 0)
    start_ps = streams.column("start_ps")[rows]
    run, first, row_of = np.unique(executions.run[rows], return_index=True, return_inverse=True)
    device, of_key = streams.codes("device")[rows[first]].astype(np.int32), key[rows[first]]
    begin_ps, end_ps = np.full(len(run), _LATEST), np.full(len(run), -_LATEST)
    np.minimum.at(begin_ps, row_of, start_ps)
    np.maximum.at(end_ps, row_of, start_ps + streams.column("duration_ps")[rows])
    order = np.lexsort((begin_ps, device))
    return ProgramRuns(
        device=device[order],
        program_id=keys.program_id[of_key[order]],
        program=keys.program[of_key[order]],
        run_id=executions.run_id[rows[first]][order],
        start_ps=begin_ps[order],
        duration_ps=(end_ps - begin_ps)[order],
    )


def _in_order_of_launch(streams: Streams, launched: Launched) -> Ints:
    return np.lexsort((streams.column("start_ps"), launched.launch_ps, streams.codes("device")))


def _first_of_executions(rows: Ints, streams: Streams, key: NDArray[np.int32], launched: Launched) -> Ints:
    """Return the first event of each execution, of events whose run is known, in order of launch."""
    by_host = launched.execution[rows] >= 0
    seen = rows[by_host]
    first = seen[~pd.Series(launched.execution[seen]).duplicated().to_numpy()]
    rest = rows[~by_host]
    return np.concatenate([first, _begins(rest, streams, key, launched.call[rest])])


def _begins(rows: Ints, streams: Streams, key: NDArray[np.int32], run: Ints) -> Ints:
    """Return the events, of those given in order of launch, at which an op begins: its first kernel comes again.

    An op may begin with one kernel launched twice, so of neighbours of one name only the first counts, except in an
    op that launches no other kernel.
    """
    if not len(rows):
        return rows
    group = coded(streams.codes("device")[rows], run, key[rows])
    order = np.argsort(group, kind="stable")
    group, name = group[order], streams.codes("name")[rows[order]]
    begins = np.append(True, group[1:] != group[:-1])
    is_first = name == name[np.flatnonzero(begins)][group]
    follows = ~begins & (name == np.roll(name, 1))
    alone = (np.bincount(group, ~is_first) == 0)[group]
    chosen = np.zeros(len(rows), np.bool_)
    chosen[order] = is_first & (~follows | alone)
    return rows[chosen]


def _of_entry(
    streams: Streams, key: NDArray[np.int32], keys: OpKeys, programs: Mapping[int, Program], rows: Ints
) -> NDArray[np.bool_]:
    """Return whether events are of ops that run once a run of their program: neither nested nor in a loop's body."""
    nested = np.array(["::" in text for text in streams.texts["hlo_op"]] + [False])[streams.codes("hlo_op")[rows]]
    once = np.ones(len(keys), np.bool_)
    for one in np.unique(key):
        once[one] = _is_of_entry(programs.get(int(keys.program_id[one])), str(keys.op[one]))
    return once[key] & ~nested


def _is_of_entry(program: Program | None, op: str) -> bool:
    if program is None:
        return True
    try:
        instruction = program.instruction(op)
        return instruction is None or instruction.computation == program.entry
    except DamagedFileError:
        return True


@njit
def _runs_by_recurrence(group: Any, key: Any, boundary: Any, key_count: int) -> Any:
    """Return the number of each event's run: one ends where an op that begins has begun in it before."""
    last_run = np.full(key_count, -1, np.int64)
    found = np.empty(len(group), np.int64)
    run = -1
    for row in range(len(group)):
        again = boundary[row] and last_run[key[row]] == run
        if row == 0 or group[row] != group[row - 1] or again:
            run += 1
        found[row] = run
        if boundary[row]:
            last_run[key[row]] = run
    return found


@warm_up
def _warm() -> None:
    whole = np.zeros(2, np.int64)
    _runs_by_recurrence(whole, whole, np.ones(2, np.bool_), 1)
