"""The steps of TPU cores as xprof has them: recorded by the runtime, numbered as the host marked them, or in turn.

Rules as in XLA's ``group_events`` and xprof 2.24 (``xplane_to_step_events``). Of a core only its steps, else its
program runs, take part in grouping; what happens within one consumes and produces contexts in its name. Without a
group from the host, the steps of every core are counted alike. An op belongs to the first step it touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import plausible, step_groups
from xprof_nb.formats.contexts import Contexts, Part, iterations
from xprof_nb.formats.contexts import contexts as contexts_of
from xprof_nb.formats.event_forest import Nodes
from xprof_nb.formats.tpu.lines import MODULES, STEPS, device_times, in_order, rows_of
from xprof_nb.formats.tpu.planes import CORE, keys_and_events, tpu_cores
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.core_steps import CoreSteps, no_core_steps
from xprof_nb.model.step_groups import HOST_TO_DEVICE, WAIT_INPUT, Grouped, StepGroups

Ints = NDArray[np.int64]
_LAUNCHES = "DoEnqueueProgram"
_TPU_LAUNCH = -2
"""Stands for the context type of a program's launch."""
_CONTEXT = ("_pt", "_p", "_ct", "_c")
_RUN_BITS, _QUEUE_BITS, _DEVICE_BITS = 28, 16, 12


def read_core_steps(read_space: Callable[[], XSpace]) -> CoreSteps:
    """Return the steps of a host's cores from its file."""
    space = read_space()
    plausible.mend(space)
    planes, host = tpu_cores(space), space.plane("/host:CPU")
    if not any(len(rows_of(plane, STEPS)) for plane in planes):
        return no_core_steps()
    parts = [_grouping_events(plane, number) for number, plane in enumerate(planes)]
    groups: StepGroups | None
    if step_groups.is_grouped(space):
        found = [Part(part.rows, part.line, part.start_ps, part.end_ps, _stated(plane, part.rows))
                 for plane, part in zip(planes, parts, strict=True)]  # fmt: skip
        groups = step_groups.of_stated_host(host)
    else:
        of_cores = [_contexts(plane, part) for plane, part in zip(planes, parts, strict=True)]
        of_host = [] if host is None else [step_groups.with_regions(host)]
        contexts = [] if host is None else [_with_launches(host, of_host[0], contexts_of(host, of_host[0]))]
        loops = [] if host is None else iterations(host, of_host[0])
        made = step_groups.made([*of_host, *parts], [*contexts, *of_cores], loops)
        found = _in_turn(planes, made.parts[len(of_host) :], len(made.roots))
        groups = step_groups.of_host(host, made.parts[0], made) if host is not None else None
    return _core_steps(planes, [_merged(part) for part in found], {} if groups is None else _input_times(groups))


def _input_times(groups: StepGroups) -> dict[int, int]:
    """Return how long events of the host waited for or sent input, by group."""
    events = groups.events
    is_input = np.isin(events.kind, (WAIT_INPUT, HOST_TO_DEVICE))
    group, number = np.unique(events.group[is_input], return_inverse=True)
    total = np.zeros(len(group), np.int64)
    np.add.at(total, number, (events.end_ps - events.start_ps)[is_input])
    return dict(zip(group.tolist(), total.tolist(), strict=True))


def _grouping_events(plane: XPlane, number: int) -> Part:
    rows = rows_of(plane, STEPS)
    rows = rows if len(rows) else rows_of(plane, MODULES)
    start_ps = plane.events.starts_of(rows)
    order = np.argsort(start_ps, kind="stable")
    rows, start_ps = rows[order], start_ps[order]
    line, group = np.full(len(rows), number, np.int64), np.full(len(rows), -1, np.int64)
    return Part(rows, line, start_ps, start_ps + plane.events.duration_ps[rows], group)


def _stated(plane: XPlane, rows: Ints) -> Ints:
    return plane.stats_of(rows, "group_id")[0].ints(-1)


def _contexts(plane: XPlane, part: Part) -> Contexts:
    """Return the grouping events as nodes apart from each other, and the contexts of all that happens within them."""
    events = plane.events
    at = np.searchsorted(np.maximum.accumulate(part.end_ps), events.start_ps, side="right")
    within = np.append(part.start_ps, 2**62)[at] <= events.start_ps
    within &= events.start_ps + events.duration_ps <= np.append(part.end_ps, -1)[at]
    at[part.rows], within[part.rows] = np.arange(len(part.rows)), True
    rows = np.flatnonzero(within)
    produces, produced, consumes, consumed, run, queue = plane.stats_of(rows, *_CONTEXT, "run_id", "queue_id")
    named = CORE.match(plane.name)
    is_run = np.isin(rows, rows_of(plane, MODULES)) & run.present & queue.present
    core = int(named[1]) if named is not None and named[2] is None else -1
    launched = np.flatnonzero(is_run) if core >= 0 else np.empty(0, np.int64)
    place, kind = np.full(len(launched), core), np.zeros(len(launched), np.int64)
    launch = _launch(place, queue.ints()[launched], run.ints()[launched], kind)
    made, taken = (np.flatnonzero(kind.present & number.present) for kind, number in
                   ((produces, produced), (consumes, consumed)))  # fmt: skip
    tables = [
        _table(at[rows[made]], produces.ints()[made], produced.ints()[made]),
        _table(at[rows[taken]], consumes.ints()[taken], consumed.ints()[taken]),
        _table(at[rows[launched]], _TPU_LAUNCH, launch),
    ]
    apart = np.ones(len(part.rows), np.bool_)
    nodes = Nodes(part.line, part.start_ps, part.end_ps, apart, np.zeros(len(part.rows), np.int64))
    return nodes, tables[0], pd.concat(tables[1:])


def _table(event: Ints, kind: object, number: Ints) -> pd.DataFrame:
    return pd.DataFrame({"event": event, "type": np.broadcast_to(np.asarray(kind), len(event)), "id": number})


def _with_launches(host: XPlane, part: Part, contexts: Contexts) -> Contexts:
    nodes, produced, consumed = contexts
    wanted = np.array([*(name == _LAUNCHES for name in host.metadata.name), False], np.bool_)
    known = np.flatnonzero(part.rows >= 0)
    known = known[wanted[host.events.metadata[part.rows[known]]]]
    stats = host.stats_of(part.rows[known], "device_ordinal", "queue_id", "run_id", "core_type")
    complete = np.logical_and.reduce([stat.present for stat in stats[:3]])
    launch = _launch(*(stat.ints()[complete] for stat in stats))
    return nodes, pd.concat([produced, _table(known[complete], _TPU_LAUNCH, launch)]), consumed


def _launch(device: Ints, queue: Ints, run: Ints, core_type: Ints) -> Ints:
    """Return what a launch is known by, as one number."""
    parts = ((run, _RUN_BITS), (queue, _QUEUE_BITS), (device, _DEVICE_BITS), (core_type, 4))
    number, shift = np.int64(0), 0
    for value, bits in parts:
        number, shift = number + ((value % 2**bits) << shift), shift + bits
    return np.asarray(number, np.int64)


def _in_turn(planes: Sequence[XPlane], parts: Sequence[Part], count: int) -> list[Part]:
    """Return the grouping events as the host grouped them, or if it grouped none, those of every core in turn."""
    if any((part.group >= 0).any() for part in parts):
        return list(parts)
    return [
        part if "SparseCore" in plane.name
        else Part(part.rows, part.line, part.start_ps, part.end_ps, count + np.arange(len(part.rows)))
        for plane, part in zip(planes, parts, strict=True)
    ]  # fmt: skip


def _merged(part: Part) -> Part:
    """Return the events that are grouped, those of one group in a row as one."""
    kept = np.flatnonzero(part.group >= 0)
    if not len(kept):
        return Part(*(getattr(part, name)[kept] for name in Part.__dataclass_fields__))
    first = np.append(True, (part.group[kept][1:] != part.group[kept][:-1]) | (np.diff(kept) > 1))
    rows = kept[first]
    end_ps = np.maximum.reduceat(part.end_ps[kept], np.flatnonzero(first))
    return Part(part.rows[rows], part.line[rows], part.start_ps[rows], end_ps, part.group[rows])


def _core_steps(planes: Sequence[XPlane], parts: Sequence[Part], input_ps: dict[int, int]) -> CoreSteps:
    keys, events = keys_and_events(planes)
    rows = in_order(keys, events)
    group_of_op = np.full(len(rows), -1, np.int64)
    marks: list[list[Ints]] = []
    reduces: list[list[Ints]] = []
    for number, (plane, part) in enumerate(zip(planes, parts, strict=True)):
        mine = np.flatnonzero(events["device"][rows] == number)
        of_plane = events["row"][rows[mine]]
        group_of_op[mine] = group = _groups_at(plane, part, of_plane)
        step_rows = part.rows if len(rows_of(plane, STEPS)) else part.rows[:0]
        start_ps, duration_ps = device_times(plane, step_rows)
        host_ps = (part.end_ps - part.start_ps)[: len(step_rows)]
        end_ps = start_ps + np.maximum(duration_ps, host_ps)
        marks.append([np.full(len(step_rows), number), part.group[: len(step_rows)], start_ps, end_ps])
        stated = plane.stats_of(of_plane, "all_reduce_unique_id")[0]
        numbered = np.flatnonzero(stated.present & (group >= 0))
        length_ps = events["duration_ps"][rows[mine]][numbered]
        reduces.append([np.full(len(numbered), number), group[numbered], stated.ints()[numbered], length_ps])
    core, group, start_ps, end_ps = (np.concatenate(column) for column in zip(*marks, strict=True))
    steps = Grouped(group, np.zeros(len(group), np.int8), core.astype(np.int32), start_ps, end_ps)
    of, group, unique, length_ps = (np.concatenate(column) for column in zip(*reduces, strict=True))
    return CoreSteps(group_of_op, steps, of, group, unique, length_ps, input_ps)


def _groups_at(plane: XPlane, part: Part, rows: Ints) -> Ints:
    """Return the group of each op: stated, else that of the first grouping event that it touches."""
    start_ps = plane.events.starts_of(rows)
    at = np.searchsorted(np.maximum.accumulate(part.end_ps), start_ps, side="left")
    touches = np.append(part.start_ps, 2**62)[at] <= start_ps + plane.events.duration_ps[rows]
    stated = _stated(plane, rows)
    return np.where(stated >= 0, stated, np.where(touches, np.append(part.group, -1)[at], -1))
