"""Lines of an accelerator plane: op executions, program runs, steps the runtime recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting, plausible
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.columns import Columns, numbered, stacked, texts
from xprof_nb.model.trace import OpEvents, OpKeys, ProgramRuns, StepMarks

OPS = ("XLA Ops", "Sparse Core Ops")
MODULES = ("XLA Modules", "Sparse Core Modules")
STEPS = ("Steps", "Sparse Core Steps")


def rows_of(plane: XPlane, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the events of every line of these names; one whose metadata is missing has no name and is left out."""
    first = plane.lines.first_event
    wanted = [
        np.arange(first[row], first[row + 1], dtype=np.int64)
        for row, name in enumerate(plane.lines.name)
        if name in names
    ]
    rows = np.concatenate(wanted) if wanted else np.empty(0, np.int64)
    return rows[plane.events.metadata[rows] >= 0]


def device_times(plane: XPlane, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return start and duration on the device's clock, on the host's where the runtime does not give them."""
    events = plane.events
    offset, duration = plane.stats_of(rows, "device_offset_ps", "device_duration_ps")
    has_offset = offset.present & (np.abs(offset.ints()) <= plausible.LARGEST_SPAN_PS)
    has_duration = duration.present & (duration.ints() >= 0) & (duration.ints() <= plausible.LONGEST_PS)
    start_ps = np.where(has_offset, offset.ints(), events.starts_of(rows))
    return start_ps, np.where(has_duration, duration.ints(), events.duration_ps[rows])


def op_events(plane: XPlane, device: int) -> Columns:
    """Return the events of the plane's op line, self times by inclusion of device time.

    An aggregated event has no place in time: it contains nothing and nothing contains it.
    """
    rows = rows_of(plane, OPS)
    events = plane.events
    start_ps, duration_ps = device_times(plane, rows)
    end_ps = start_ps + duration_ps
    # A group of its own for each aggregated event.
    group = np.where(events.positioned[rows], 0, np.arange(1, len(rows) + 1)).astype(np.int32)
    parent = nesting.parents(group, start_ps, end_ps)
    return {
        "row": rows,
        "metadata": events.metadata[rows],
        "device": np.full(len(rows), device, np.int32),
        "start_ps": start_ps,
        "duration_ps": duration_ps,
        "self_ps": nesting.shared_times(group, parent, start_ps, end_ps),
        "host_start_ps": events.starts_of(rows),
        "host_duration_ps": events.duration_ps[rows],
        "occurrences": np.maximum(events.occurrences[rows], 1),
        "contains": nesting.containers(parent),
    }


def program_runs(planes: Sequence[XPlane]) -> ProgramRuns:
    """Return the program runs of the planes, which are the devices in order."""
    parts: list[Columns] = []
    for device, plane in enumerate(planes):
        rows = rows_of(plane, MODULES)
        events = plane.events
        entries, entry = np.unique(events.metadata[rows], return_inverse=True)
        named = [split_program_label(plane.metadata.name[row]) for row in entries]
        (run_id,) = plane.stats_of(rows, "run_id")
        parts.append(
            {
                "device": np.full(len(rows), device, np.int32),
                "program_id": np.array([program_id for _, program_id in named], np.uint64)[entry],
                "program": texts(name for name, _ in named)[entry],
                "run_id": run_id.ints(),
                "start_ps": events.starts_of(rows),
                "duration_ps": events.duration_ps[rows],
            }
        )
    runs = stacked(parts)
    order = np.lexsort((runs["start_ps"], runs["device"]))
    return ProgramRuns(**{name: values[order] for name, values in runs.items()})


def step_marks(planes: Sequence[XPlane]) -> StepMarks:
    """Return the steps the runtime recorded for each plane, by the number that is the event's name."""
    parts: list[Columns] = []
    for device, plane in enumerate(planes):
        rows = rows_of(plane, STEPS)
        names = [plane.metadata.name[row] for row in plane.events.metadata[rows]]
        numbers = [int(name) if re.fullmatch(r"\d{1,15}", name) else np.nan for name in names]
        parts.append(
            {
                "name": np.array([*names, None], object)[:-1],
                "number": plausible.step_numbers(numbers),
                "start_ps": plane.events.starts_of(rows),
                "duration_ps": plane.events.duration_ps[rows],
                "device": np.full(len(rows), device, np.int32),
            }
        )
    marks = stacked(parts)
    order = np.lexsort((marks["device"], marks["start_ps"]))
    return StepMarks(**{name: values[order] for name, values in marks.items()})


def joined(keys: Columns, events: Columns, programs: Mapping[int, str]) -> tuple[OpKeys, OpEvents]:
    """Give ops of equal (program id, name) one key and drop what is no op; events come as `in_order` says."""
    identity, _ = numbered(keys["program_id"].tolist(), keys["op"])
    rows = in_order(keys, events)
    key = events["key"][rows]
    codes, _ = pd.factorize(identity[key])
    distinct = key[_first_of(codes)]
    n = len(rows)
    ops = OpEvents(
        key=codes.astype(np.int32),
        device=events["device"][rows],
        start_ps=events["start_ps"][rows],
        duration_ps=events["duration_ps"][rows],
        host_duration_ps=events["host_duration_ps"][rows],
        self_ps=events["self_ps"][rows],
        transfer_ps=np.full(n, np.nan),
        host_start_ps=events["host_start_ps"][rows],
        run_id=np.zeros(n, np.int64),
        step=np.full(n, -1, np.int32),
        occurrences=events["occurrences"][rows],
        contains=events["contains"][rows],
    )
    columns = {name: keys[name][distinct] for name in OpKeys.__dataclass_fields__ if name in keys}
    number = columns["program_id"].tolist()
    columns["program"] = np.array([*(programs.get(each, "") for each in number), None], object)[:-1]
    for name in ("op", "category", "framework_op", "source", "hlo_text", "duplicate_of"):
        columns[name] = texts(columns[name])
    return OpKeys(**columns), ops


def in_order(keys: Columns, events: Columns) -> NDArray[np.int64]:
    """Return which events are executions of ops, by device and start."""
    rows = np.flatnonzero(keys["is_op"][events["key"]])
    return rows[np.lexsort((events["start_ps"][rows], events["device"][rows]))]


def _first_of(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for codes numbered by first appearance, where each appears first."""
    return np.unique(codes, return_index=True)[1]


def split_program_label(label: str) -> tuple[str, int]:
    """Return module name and program id of ``jit_f(123)``; the id is 0 where there is none."""
    found = re.fullmatch(r"(.*)\((-?\d{1,20})\)", label, re.DOTALL)
    return (found[1], int(found[2]) % 2**64) if found else (label, 0)


def last_begun(
    group: NDArray[Any], start_ps: NDArray[np.int64], of: NDArray[Any], at_ps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each moment of a group, the row of the last interval of the group that has begun, -1 if none.

    Parameters
    ----------
    group, start_ps
        Intervals in any order.
    of, at_ps
        Moments.
    """
    found = np.full(len(at_ps), -1, np.int64)
    order = np.lexsort((start_ps, group))
    groups, starts = group[order], start_ps[order]
    moments = np.argsort(of, kind="stable")
    numbers, begins = np.unique(of[moments], return_index=True)
    for number, mine in zip(numbers.tolist(), np.split(moments, begins[1:]), strict=False):
        low, high = np.searchsorted(groups, [number, number + 1])
        position = low + np.searchsorted(starts[low:high], at_ps[mine], side="right") - 1
        known = position >= low
        found[mine[known]] = order[position[known]]
    return found


def inside(
    row: NDArray[np.int64], start_ps: NDArray[np.int64], duration_ps: NDArray[np.int64], at_ps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows of `last_begun` whose interval has not ended by then, else -1."""
    if not len(start_ps):
        return row
    return np.where((row >= 0) & (at_ps < start_ps[row] + duration_ps[row]), row, -1)
