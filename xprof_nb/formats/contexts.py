"""What leads to what across threads, as XLA's profiler has it: the contexts that events produce and consume.

An event may state them (``_pt``, ``_p``; ``_ct``, ``_c``), a call that launches shares a correlation id with its
kernels, and events of some runtimes belong together by name and stats. Rules as in XLA's ``preprocess_xplane`` and
``group_events``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats.event_forest import Nodes
from xprof_nb.formats.gpu.device import GPU
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.columns import coded

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Contexts = tuple[Nodes, pd.DataFrame, pd.DataFrame]
"""Events, and ``event, type, id`` of the contexts they produce and consume."""

EXECUTOR = "ExecutorState::Process"
UNNAMED_ROOTS = frozenset({"FunctionRun", "SessionRun", "RunGraph", EXECUTOR})
ROOT_LEVELS = {"TraceContext": 1, "ProcessBatch": 2, "BatchingSessionRun": 1}
LOOP_OPS = frozenset({"WhileOp-EvalCond", "WhileOp-StartBody", "ForOp", "ParallelForOp", "ForeverOp"})
"""Where an event of one of these names exists, nothing is grouped."""
_INPUT_RUNS = frozenset(f"InstantiatedCapturedFunction::Run{how}" for how in ("", "Async", "Instantiated",
                                                                              "WithBorrowedArgs"))  # fmt: skip
_LAUNCHES = -1
"""Stands for the context type of correlation ids."""
_FIRST_LINK = -10
"""Stands for the context type of the first of `_LINKS`; further ones count down."""
_NODE_STATS = ("_r", "_a", "id", "_pt", "_p", "_ct", "_c", "correlation_id")
_RUN_BITS = 27


class _Link(NamedTuple):
    """Events that lead to others with the same stats; ``is_stated`` if it takes the place of what they state."""

    producer: str
    consumers: frozenset[str]
    stats: tuple[str, ...]
    is_stated: bool


_REQUESTS = frozenset(
    {
        *("RunProgramRequest", "HostCallbackRequest", "TransferH2DRequest", "TransferPreprocessedH2DRequest"),
        *("TransferD2HRequest", "OnDeviceSendRequest", "OnDeviceRecvRequest", "OnDeviceSendRecvLocalRequest"),
        *("CustomWait", "OnDeviceSendRequestMulti", "OnDeviceRecvRequestMulti", "PjrtAsyncWait"),
    }
)
_NEXT = frozenset({"IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute"})
_LINKS = (
    _Link(EXECUTOR, _NEXT, ("id", "iter_num"), False),
    _Link(EXECUTOR, frozenset({"TpuExecuteOp"}), ("id", "iter_num"), True),
    _Link("EnqueueRequestLocked", _REQUESTS, ("request_id", "queue_addr"), True),
    _Link("DoEnqueueProgram", frozenset({"CompleteCallbacks"}), ("device_ordinal", "queue_id", "run_id", "core_type"),
          True),
)  # fmt: skip
_OPTIONAL = "core_type"


@dataclass(frozen=True, eq=False)
class Part:
    """Events of one plane in the order of its lines: their rows, -1 for a region put together, and their groups."""

    rows: Ints
    line: Ints
    start_ps: Ints
    end_ps: Ints
    group: Ints


def named(plane: XPlane, holds: Callable[[str], bool]) -> Mask:
    """Return by row of the metadata whether its name is one of some; at -1, for events without any, false."""
    return np.array([*(holds(name) for name in plane.metadata.name), False])


def has_loop_ops(space: XSpace) -> bool:
    """Return whether the file knows TensorFlow's loop ops, with which XLA's profiler groups nothing."""
    return any(not LOOP_OPS.isdisjoint(plane.metadata.name) for plane in space.planes)


def contexts(plane: XPlane, part: Part) -> Contexts:
    """Return the events of a plane with their contexts."""
    known = np.flatnonzero(part.rows >= 0)
    rows = part.rows[known]
    root, is_async, step_id, *context = plane.stats_of(rows, *_NODE_STATS)
    produces, produced, consumes, consumed, correlation = context
    metadata = plane.events.metadata[rows]
    by_name = np.array([*(ROOT_LEVELS.get(name, 0) for name in plane.metadata.name), 0], np.int64)
    level, apart = np.zeros(len(part.rows), np.int64), np.zeros(len(part.rows), np.bool_)
    level[known] = np.where(root.present, root.ints(), by_name[metadata])
    apart[known] = is_async.ints() != 0
    level[known] *= np.where(step_id.present & np.isin(step_id.ints(), _input_ids(plane)), -1, 1)

    makes, takes = produces.present & produced.present, consumes.present & consumed.present
    links = list(_linked(plane, rows))
    for link in links:
        makes[link.made] &= not link.is_stated
        takes[link.taken] &= not link.is_stated
    is_launch = correlation.present & ~named(plane, lambda name: name in ROOT_LEVELS or name in UNNAMED_ROOTS)[metadata]
    launch = _table(known[is_launch], _LAUNCHES, correlation.ints()[is_launch])
    is_host = not GPU.match(plane.name)
    makes_of = [_table(known[makes], produces.ints()[makes], produced.ints()[makes]), *([launch] if is_host else [])]
    takes_of = [_table(known[takes], consumes.ints()[takes], consumed.ints()[takes]), *([] if is_host else [launch])]
    makes_of += [_table(known[link.made], link.kind, link.made_id) for link in links]
    takes_of += [_table(known[link.taken], link.kind, link.taken_id) for link in links]
    nodes = Nodes(part.line, part.start_ps, part.end_ps, apart, level)
    return nodes, pd.concat(makes_of), pd.concat(takes_of)


def one_producer_each(produced: pd.DataFrame) -> pd.DataFrame:
    """Return the contexts produced, of calls with one correlation id, and of what asks for input, the last alone."""
    repeated = produced.duplicated(["type", "id"], keep="last") & produced["type"].isin((_LAUNCHES, _FIRST_LINK))
    return produced[~repeated]


def iterations(plane: XPlane, part: Part) -> list[Ints]:
    """Return the events of each iteration of TensorFlow's loops, the first first; empty where no loop is executed.

    An executor states which run it works on (``id``) and its iteration; a run with no other iteration than 0 is no
    loop, nor is one of an input pipeline.
    """
    known = np.flatnonzero(part.rows >= 0)
    known = known[named(plane, EXECUTOR.__eq__)[plane.events.metadata[part.rows[known]]]]
    run, number = plane.stats_of(part.rows[known], "id", "iter_num")
    counted = run.present & number.present & ~np.isin(run.ints(), _input_ids(plane))
    table = pd.DataFrame({"event": known, "run": run.ints(), "number": number.ints(),
                          "start_ps": part.start_ps[known], "end_ps": -part.end_ps[known]})[counted]  # fmt: skip
    loops = table.groupby("run")["number"].transform(lambda numbers: bool((numbers != 0).any())).astype(bool)
    ordered = table[loops].sort_values(["start_ps", "end_ps"], kind="stable")
    return [each["event"].to_numpy(np.int64) for _, each in ordered.groupby(["run", "number"], sort=False)]


def _input_ids(plane: XPlane) -> Ints:
    """Return the runs that input pipelines made."""
    rows = np.flatnonzero(named(plane, _INPUT_RUNS.__contains__)[plane.events.metadata])
    (run,) = plane.stats_of(rows, "id")
    return np.unique(run.ints()[run.present])


class _Linked(NamedTuple):
    """Rows that a link makes produce and consume contexts, and which."""

    kind: int
    is_stated: bool
    made: Ints
    made_id: Ints
    taken: Ints
    taken_id: Ints


def _linked(plane: XPlane, rows: Ints) -> Iterator[_Linked]:
    metadata = plane.events.metadata[rows]
    for number, link in enumerate(_LINKS):
        makes = named(plane, link.producer.__eq__)[metadata]
        takes = named(plane, link.consumers.__contains__)[metadata]
        which = np.flatnonzero(makes | takes)
        if not makes.any():
            continue
        stats = dict(zip(link.stats, plane.stats_of(rows[which], *link.stats), strict=True))
        whole = np.logical_and.reduce([stat.present for name, stat in stats.items() if name != _OPTIONAL])
        values = [stat.ints() % 2**_RUN_BITS if name == "run_id" else stat.ints() for name, stat in stats.items()]
        ids, which = coded(*values)[whole], which[whole]
        made, taken = makes[which], takes[which]
        yield _Linked(_FIRST_LINK - number, link.is_stated, which[made], ids[made], which[taken], ids[taken])


def _table(event: Ints, kind: object, number: Ints) -> pd.DataFrame:
    return pd.DataFrame({"event": event, "type": np.broadcast_to(np.asarray(kind), len(event)), "id": number})
