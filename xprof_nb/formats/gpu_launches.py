"""Which call on the host launched what a GPU ran: program runs, executions of ops, steps.

A kernel has no run of its own. Its correlation id leads to the driver call that launched it, the time of that call to
the call of XLA's executor around it, and that one's consumer id to the call of the program's own thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats.gpu_streams import ABSENT, Streams
from xprof_nb.formats.xspace import XPlane
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
    calls: pd.DataFrame
    made_count: int
    lost_count: int

    def steps(self, marks: StepMarks) -> NDArray[np.int32]:
        """Return the row of the marked step each event was asked for in, -1 for none."""
        dispatch = self.calls["dispatch_ps"].to_numpy(np.int64)
        asked_ps = np.where(self.call >= 0, dispatch[self.call], self.launch_ps) if len(dispatch) else self.launch_ps
        if not len(marks):
            return np.full(len(asked_ps), -1, np.int32)
        row = np.searchsorted(marks.start_ps, asked_ps, side="right") - 1
        inside = (row >= 0) & (asked_ps < marks.start_ps[row] + marks.duration_ps[row])
        return np.where(inside, row, -1).astype(np.int32)


def find_launches(streams: Streams, host: XPlane | None) -> Launched:
    """Return what the host plane tells of the launches."""
    events = streams.events
    unknown = np.full(len(events), -1, np.int64)
    nothing = Launched(unknown, unknown, streams.column("start_ps"), unknown, (), unknown, _executor_calls(None), 0, 0)
    if host is None or not len(events):
        return nothing
    launches = _driver_calls(host).drop_duplicates("correlation_id")
    at = pd.Index(launches["correlation_id"]).get_indexer(streams.column("correlation_id"))
    if not len(launches):
        return nothing

    def of_launch(column: str, otherwise: Ints) -> Ints:
        return np.where(at >= 0, launches[column].to_numpy(np.int64)[at], otherwise)

    launch_ps, line = of_launch("start_ps", streams.column("start_ps")), of_launch("line", unknown)
    calls = _executor_calls(host)
    call = _calls_of(streams, calls, np.where(at >= 0, launch_ps, -1), line)
    kernels = np.array([*(name.startswith(GPU_WORK) for name in host.metadata.name), False])[launches["name"]]
    lost = kernels & ~np.isin(launches["correlation_id"].to_numpy(), streams.column("correlation_id"))
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
    marks = pd.DataFrame(
        {
            "line": host.events.lines_of(rows).astype(np.int64),
            "time_ps": begun,
            "until_ps": begun + host.events.duration_ps[rows],
            "group": rows,
        }
    ).sort_values("time_ps", kind="stable")
    asked = pd.DataFrame({"line": launched.line, "time_ps": launched.launch_ps, "row": np.arange(len(stated))})
    held = pd.merge_asof(asked.sort_values("time_ps", kind="stable"), marks, on="time_ps", by="line").sort_values("row")
    inside = (held["until_ps"] > held["time_ps"]).to_numpy()
    return np.where(stated != ABSENT, stated, np.where(inside, held["group"].fillna(-1).to_numpy(np.int64), -1))


def _driver_calls(host: XPlane) -> pd.DataFrame:
    """Return the events of the host that have a correlation id."""
    rows = _rows_named(host, lambda name: not name.startswith("$"))
    (correlation,) = host.stats_of(rows, "correlation_id")
    rows, correlation = rows[correlation.present], correlation.take(correlation.present)
    return pd.DataFrame(
        {
            "correlation_id": correlation.ints(),
            "start_ps": host.events.starts_of(rows),
            "line": host.events.lines_of(rows).astype(np.int64),
            "name": host.events.metadata[rows].astype(np.int64),
        }
    )


def _rows_named(host: XPlane, wanted: Callable[[str], bool]) -> Ints:
    is_wanted = np.array([*(wanted(name) for name in host.metadata.name), False])
    return np.flatnonzero(is_wanted[host.events.metadata])


def _executor_calls(host: XPlane | None) -> pd.DataFrame:
    """Return the calls that execute a program on one device, ordered by line and start."""
    columns = ["line", "start_ps", "end_ps", "module", "dispatch_ps", "run"]
    if host is None:
        return pd.DataFrame({name: np.empty(0, object if name == "module" else np.int64) for name in columns})
    rows = _rows_named(host, lambda name: name == _EXECUTOR_CALL)
    code, names = host.stats_of(rows, "module_name")[0].texts()
    module = np.array([*names, None], object)[code]
    if not len(rows):
        rows = _rows_named(host, lambda name: name.endswith(_MODULE_SCOPE))
        names = [name.removesuffix(_MODULE_SCOPE) for name in host.metadata.name]
        module = np.array(names, object)[host.events.metadata[rows]] if len(rows) else np.empty(0, object)
    start_ps = host.events.starts_of(rows)
    calls = pd.DataFrame(
        {
            "line": host.events.lines_of(rows).astype(np.int64),
            "start_ps": start_ps,
            "end_ps": start_ps + host.events.duration_ps[rows],
            "module": module,
        }
    ).sort_values(["line", "start_ps"], kind="stable", ignore_index=True)
    calls["dispatch_ps"], calls["run"] = _dispatches(host, calls)
    return calls


def _dispatches(host: XPlane, calls: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return when the program's own thread asked for each call, and a number that calls it asked for at once share."""
    dispatch_ps, run = calls["start_ps"].to_numpy(np.int64).copy(), -np.arange(1, len(calls) + 1, dtype=np.int64)
    rows = _rows_named(host, lambda name: not name.startswith(("$", "ThreadpoolListener", "end: ")))
    consumer, consumer_type, producer, producer_type = host.stats_of(rows, "_c", "_ct", "_p", "_pt")
    events = host.events
    took = np.flatnonzero(consumer.present & np.isin(events.lines_of(rows), calls["line"].unique()))
    gave = np.flatnonzero(producer.present)
    if not len(took) or not len(gave) or not len(calls):
        return dispatch_ps, run
    begun = events.starts_of(rows[took])
    around = pd.DataFrame(
        {
            "line": events.lines_of(rows[took]).astype(np.int64),
            "start_ps": begun,
            "until_ps": begun + events.duration_ps[rows[took]],
            "id": consumer.ints()[took],
            "type": consumer_type.ints()[took],
        }
    ).sort_values("start_ps", kind="stable")
    asked = calls[["line", "start_ps"]].assign(call=np.arange(len(calls))).sort_values("start_ps", kind="stable")
    held = pd.merge_asof(asked, around, on="start_ps", by="line").sort_values("call")
    givers = pd.DataFrame(
        {
            "id": producer.ints()[gave],
            "type": producer_type.ints()[gave],
            "given_ps": events.starts_of(rows[gave]),
        }
    ).drop_duplicates(["id", "type"])
    held = held.merge(givers, on=["id", "type"], how="left").sort_values("call")
    known = (held["until_ps"] > held["start_ps"]).to_numpy() & held["given_ps"].notna().to_numpy()
    dispatch_ps[known] = held["given_ps"].to_numpy()[known].astype(np.int64)
    run[known] = held["id"].to_numpy()[known].astype(np.int64)
    return dispatch_ps, run


def _calls_of(streams: Streams, calls: pd.DataFrame, launch_ps: Ints, own_line: Ints) -> Ints:
    """Return the executor's call around each launch of an XLA kernel, -1 for none.

    Driver calls lie on lines of their own, so that threads of several devices can be meant. The thread of a device
    is the one whose calls are around most of its launches.
    """
    found = np.full(len(launch_ps), -1, np.int64)
    modules = pd.Index(streams.texts["hlo_module"])
    wanted = streams.codes("hlo_module")
    lines = calls["line"].to_numpy(np.int64)
    module = modules.get_indexer(calls["module"])
    start_ps, end_ps = calls["start_ps"].to_numpy(np.int64), calls["end_ps"].to_numpy(np.int64)
    device = streams.codes("device")
    for one in np.unique(device):
        rows = np.flatnonzero((device == one) & (launch_ps >= 0) & (wanted >= 0))
        candidates = []
        for line in np.unique(lines):
            first, last = np.searchsorted(lines, [line, line + 1])
            at = first + np.searchsorted(start_ps[first:last], launch_ps[rows], side="right") - 1
            inside = (at >= first) & (launch_ps[rows] < end_ps[at]) & (module[at] == wanted[rows])
            own = own_line[rows] == line
            candidates.append((int(inside.sum()) + len(rows) * int((inside & own).sum()), np.where(inside, at, -1)))
        for _, at in sorted(candidates, key=lambda candidate: -candidate[0]):
            found[rows] = np.where(found[rows] < 0, at, found[rows])
    return found


def _executions(streams: Streams, host: XPlane, calls: pd.DataFrame, call: Ints, launch_ps: Ints) -> Ints:
    """Return the host's event of the op around each launch, as a number; -1 where there is none."""
    found = np.full(len(call), -1, np.int64)
    launched = np.flatnonzero(call >= 0)
    ops = [text.rpartition("::")[2] for text in streams.texts["hlo_op"]]
    rows = _rows_named(host, set(ops).__contains__)
    if not len(launched) or not len(rows):
        return found
    names = pd.Index(dict.fromkeys(ops))
    begun = host.events.starts_of(rows)
    thunks = pd.DataFrame(
        {
            "line": host.events.lines_of(rows).astype(np.int64),
            "op": names.get_indexer(pd.Index(host.metadata.name))[host.events.metadata[rows]],
            "time_ps": begun,
            "until_ps": begun + host.events.duration_ps[rows],
            "execution": np.arange(len(rows)),
        }
    ).sort_values("time_ps", kind="stable")
    asked = pd.DataFrame(
        {
            "line": calls["line"].to_numpy(np.int64)[call[launched]],
            "op": names.get_indexer(pd.Index(ops))[streams.codes("hlo_op")[launched]],
            "time_ps": launch_ps[launched],
            "row": launched,
        }
    ).sort_values("time_ps", kind="stable")
    held = pd.merge_asof(asked, thunks, on="time_ps", by=["line", "op"])
    inside = (held["until_ps"] > held["time_ps"]).to_numpy()
    found[held["row"].to_numpy()[inside]] = held["execution"].to_numpy()[inside].astype(np.int64)
    return found
