"""Which call on the host launched what a GPU ran: program runs, executions of ops, steps.

A kernel has no run of its own. Its correlation id leads to the driver call that launched it, the time of that call to
the call of XLA's executor around it, and that one's consumer id to the call of the program's own thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.gpu.streams import ABSENT, Streams
from xprof_nb.formats.tpu.lines import inside, last_begun
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.columns import Columns, coded
from xprof_nb.model.kept import kept_with_first
from xprof_nb.model.trace import StepMarks

Ints = NDArray[np.int64]

_EXECUTOR_CALL = "GpuExecutable::ExecuteThunks"
_MODULE_SCOPE = ":XLA GPU module"
GPU_WORK = (
    "cuLaunchKernel",
    "cudaLaunchKernel",
    "hipModuleLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipLaunchKernel",
)
"""What the calls that launch kernels are called."""


@dataclass(frozen=True, eq=False)
class Launched:
    """How the N events of the streams came about.

    Attributes
    ----------
    call
        Row of `calls`, -1 if unknown.
    execution
        Events of one execution of an op have one number; -1 if unknown.
    launch_ps
        When the host asked for it; its start on the device if unknown.
    driver_call, driver_names
        The driver call as a row of names, -1 if unknown.
    line
        The line of the driver call, -1 if unknown.
    calls
        Calls of XLA's executor: ``line, start_ps, end_ps, module, dispatch_ps, run``.
    made_count, lost_count
        Kernels the host launched, and those of them that are on no stream.
    """

    call: Ints
    execution: Ints
    launch_ps: Ints
    driver_call: Ints
    driver_names: tuple[str, ...]
    line: Ints
    calls: Columns
    made_count: int
    lost_count: int

    def steps(self, marks: StepMarks) -> NDArray[np.int32]:
        """Return the row of the marked step each event was asked for in, -1 for none."""
        dispatch = self.calls["dispatch_ps"]
        asked_ps = np.where(self.call >= 0, dispatch[self.call], self.launch_ps) if len(dispatch) else self.launch_ps
        if not len(marks):
            return np.full(len(asked_ps), -1, np.int32)
        row = np.searchsorted(marks.start_ps, asked_ps, side="right") - 1
        return inside(row, marks.start_ps, marks.duration_ps, asked_ps).astype(np.int32)


@kept_with_first
def find_launches(streams: Streams, host: XPlane | None) -> Launched:
    """Return what the host plane tells of the launches."""
    unknown = np.full(len(streams), -1, np.int64)
    launches = _driver_calls(host) if host is not None and len(streams) else None
    if host is None or launches is None or not len(launches["correlation_id"]):
        return Launched(unknown, unknown, streams.column("start_ps"), unknown, (), unknown, _executor_calls(None), 0, 0)
    number = launches["correlation_id"]
    at = np.minimum(np.searchsorted(number, streams.column("correlation_id")), len(number) - 1)
    at = np.where(number[at] == streams.column("correlation_id"), at, -1)

    def of_launch(column: str, otherwise: Ints) -> Ints:
        return np.where(at >= 0, launches[column][at], otherwise)

    launch_ps, line = of_launch("start_ps", streams.column("start_ps")), of_launch("line", unknown)
    calls = _executor_calls(host)
    call = _calls_of(streams, calls, np.where(at >= 0, launch_ps, -1), line)
    kernels = np.array([*(name.startswith(GPU_WORK) for name in host.metadata.name), False])[launches["name"]]
    lost = kernels & ~np.isin(number, streams.column("correlation_id"))
    return Launched(
        call=call,
        execution=_executions(streams, host, calls, call, launch_ps),
        launch_ps=launch_ps,
        driver_call=of_launch("name", unknown),
        driver_names=tuple(host.metadata.name),
        line=line,
        calls=calls,
        made_count=int(kernels.sum()),
        lost_count=int(lost.sum()),
    )


def root_groups(streams: Streams, launched: Launched, host: XPlane | None) -> Ints:
    """Return what a step annotation groups each event into as xprof has it, -1 for none.

    The stated group; else the annotated event, by row, that is around the launch on the same thread. What is launched
    from another thread than it was asked for on belongs to none.
    """
    stated = streams.column("group_id")
    if host is None or not len(launched.driver_names):
        return np.where(stated == ABSENT, -1, stated)
    rows = _rows_named(host, lambda name: not name.startswith("$"))
    (root,) = host.stats_of(rows, "_r")
    rows = rows[root.present]
    begun = host.events.starts_of(rows)
    held = last_begun(host.events.lines_of(rows), begun, launched.line, launched.launch_ps)
    around = np.append(rows, -1)[inside(held, begun, host.events.duration_ps[rows], launched.launch_ps)]
    return np.where(stated != ABSENT, stated, around)


def _driver_calls(host: XPlane) -> Columns:
    """Return the first event of the host of each correlation id, in their order."""
    rows = _rows_named(host, lambda name: not name.startswith("$"))
    (correlation,) = host.stats_of(rows, "correlation_id")
    has_one = np.flatnonzero(correlation.present)
    number, first = np.unique(correlation.ints()[has_one], return_index=True)
    rows = rows[has_one[first]]
    return {
        "correlation_id": number,
        "start_ps": host.events.starts_of(rows),
        "line": host.events.lines_of(rows).astype(np.int64),
        "name": host.events.metadata[rows].astype(np.int64),
    }


def _rows_named(host: XPlane, wanted: Callable[[str], bool]) -> Ints:
    is_wanted = np.array([*(wanted(name) for name in host.metadata.name), False])
    return np.flatnonzero(is_wanted[host.events.metadata])


def _executor_calls(host: XPlane | None) -> Columns:
    """Return the calls that execute a program on one device, ordered by line and start."""
    columns = ["line", "start_ps", "end_ps", "module", "dispatch_ps", "run"]
    if host is None:
        return {name: np.empty(0, object if name == "module" else np.int64) for name in columns}
    rows = _rows_named(host, lambda name: name == _EXECUTOR_CALL)
    code, names = host.stats_of(rows, "module_name")[0].texts()
    module = np.array([*names, None], object)[code]
    if not len(rows):
        rows = _rows_named(host, lambda name: name.endswith(_MODULE_SCOPE))
        names = [name.removesuffix(_MODULE_SCOPE) for name in host.metadata.name]
        module = np.array([*names, None], object)[host.events.metadata[rows]]
    line, start_ps = host.events.lines_of(rows).astype(np.int64), host.events.starts_of(rows)
    calls = {
        "line": line,
        "start_ps": start_ps,
        "end_ps": start_ps + host.events.duration_ps[rows],
        "module": module,
    }
    order = np.lexsort((start_ps, line))
    calls = {name: values[order] for name, values in calls.items()}
    dispatch_ps, run = _dispatches(host, calls)
    return {**calls, "dispatch_ps": dispatch_ps, "run": run}


def _dispatches(host: XPlane, calls: Columns) -> tuple[Ints, Ints]:
    """Return when the program's own thread asked for each call, and a number that calls it asked for at once share."""
    line, start_ps = calls["line"], calls["start_ps"]
    dispatch_ps, run = start_ps.copy(), -np.arange(1, len(line) + 1, dtype=np.int64)
    rows = _rows_named(host, lambda name: not name.startswith(("$", "ThreadpoolListener", "end: ")))
    consumer, consumer_type, producer, producer_type = host.stats_of(rows, "_c", "_ct", "_p", "_pt")
    events = host.events
    took = np.flatnonzero(consumer.present & np.isin(events.lines_of(rows), line))
    gave = np.flatnonzero(producer.present)
    if not len(took) or not len(gave) or not len(line):
        return dispatch_ps, run
    begun = events.starts_of(rows[took])
    around = last_begun(events.lines_of(rows[took]), begun, line, start_ps)
    around = inside(around, begun, events.duration_ps[rows[took]], start_ps)
    held = np.flatnonzero(around >= 0)
    taken = took[around[held]]
    ids = np.concatenate([producer.ints()[gave], consumer.ints()[taken]])
    code = coded(ids, np.concatenate([producer_type.ints()[gave], consumer_type.ints()[taken]]))
    giver_of = np.full(len(ids), -1, np.int64)
    giver_of[code[: len(gave)][::-1]] = gave[::-1]  # the first of several
    giver = giver_of[code[len(gave) :]]
    known = held[giver >= 0]
    dispatch_ps[known] = events.starts_of(rows[giver[giver >= 0]])
    run[known] = consumer.ints()[taken[giver >= 0]]
    return dispatch_ps, run


def _calls_of(streams: Streams, calls: Columns, launch_ps: Ints, own_line: Ints) -> Ints:
    """Return the executor's call around each launch of an XLA kernel, -1 for none.

    Driver calls lie on lines of their own, so that threads of several devices can be meant. The thread of a device
    is the one whose calls are around most of its launches.
    """
    found = np.full(len(launch_ps), -1, np.int64)
    modules = {name: number for number, name in enumerate(streams.texts["hlo_module"])}
    wanted = streams.codes("hlo_module")
    lines, start_ps, end_ps = calls["line"], calls["start_ps"], calls["end_ps"]
    module = np.array([modules.get(name, -1) for name in calls["module"]], np.int64)
    device = streams.codes("device")
    for one in np.unique(device):
        rows = np.flatnonzero((device == one) & (launch_ps >= 0) & (wanted >= 0))
        candidates = []
        for line in np.unique(lines):
            first, last = np.searchsorted(lines, [line, line + 1])
            at = first + np.searchsorted(start_ps[first:last], launch_ps[rows], side="right") - 1
            within = (at >= first) & (launch_ps[rows] < end_ps[at]) & (module[at] == wanted[rows])
            own = own_line[rows] == line
            candidates.append((int(within.sum()) + len(rows) * int((within & own).sum()), np.where(within, at, -1)))
        for _, at in sorted(candidates, key=lambda candidate: -candidate[0]):
            found[rows] = np.where(found[rows] < 0, at, found[rows])
    return found


def _executions(streams: Streams, host: XPlane, calls: Columns, call: Ints, launch_ps: Ints) -> Ints:
    """Return the host's event of the op around each launch, as a number; -1 where there is none."""
    found = np.full(len(call), -1, np.int64)
    launched = np.flatnonzero(call >= 0)
    ops = [text.rpartition("::")[2] for text in streams.texts["hlo_op"]]
    rows = _rows_named(host, set(ops).__contains__)
    if not len(launched) or not len(rows):
        return found
    number = {op: row for row, op in enumerate(dict.fromkeys(ops))}
    op_of = np.array([*(number.get(name, -1) for name in host.metadata.name), -1], np.int64)
    group = host.events.lines_of(rows).astype(np.int64) * len(number) + op_of[host.events.metadata[rows]]
    op = np.array([number[op] for op in ops], np.int64)[streams.codes("hlo_op")[launched]]
    asked = calls["line"][call[launched]] * len(number) + op
    begun = host.events.starts_of(rows)
    held = last_begun(group, begun, asked, launch_ps[launched])
    found[launched] = inside(held, begun, host.events.duration_ps[rows], launch_ps[launched])
    return found
