"""The groups that xprof makes steps of: as a file states them, else as XLA's profiler would make them.

Rules as in xprof 2.24 (``preprocess_single_host_xplane``, ``xplane_to_step_events``, ``derived_timeline``). Where a GPU
plane exists, xprof looks at GPUs alone; else at the host's threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import event_forest, plausible
from xprof_nb.formats.event_forest import Nodes
from xprof_nb.formats.framework_events import split_framework_op
from xprof_nb.formats.gpu.device import GPU
from xprof_nb.formats.gpu.streams import gpu_planes, is_derived
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.step_groups import (
    COLLECTIVE,
    COMPUTE_16,
    COMPUTE_32,
    DEVICE_TO_DEVICE,
    DEVICE_TO_HOST,
    HOST_COMPUTE,
    HOST_TO_DEVICE,
    HOST_TO_HOST,
    UNKNOWN,
    WAIT_INPUT,
    Grouped,
    StepGroups,
    no_grouped,
    no_step_groups,
)

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Contexts = tuple[Nodes, pd.DataFrame, pd.DataFrame]
"""Events, and ``event, type, id`` of the contexts they produce and consume."""

_MARKERS = ("train", "test", "TraceContext")
_NO_COMPUTE = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun")
_GROUPED = ("/host:CPU", "/device:", "/host:metadata")
"""Planes that grouping adds a stat to: where one lacks it, xprof groups anew, over the groups that are stated."""
_ROOT_LEVELS = {"TraceContext": 1, "ProcessBatch": 2, "BatchingSessionRun": 1}
_UNNAMED_ROOTS = frozenset({"FunctionRun", "SessionRun", "RunGraph", "ExecutorState::Process"})
_POOL = "ThreadpoolListener::"
_COPIES = {
    "MemcpyHToD": HOST_TO_DEVICE,
    "MemcpyDToH": DEVICE_TO_HOST,
    "MemcpyDToD": DEVICE_TO_DEVICE,
    "MemcpyHToH": HOST_TO_HOST,
}
_STEPS_LINE = 0xDEADBEEF - 2**32
"""Id of the line of steps; xprof knows it in this form alone, sign-extended from 32 bits."""
_LAUNCHES = -1
"""Stands for the context type of correlation ids."""
_NODE_STATS = ("_r", "_a", "_pt", "_p", "_ct", "_c", "correlation_id")


def read_step_groups(read_space: Callable[[], XSpace]) -> StepGroups:
    """Return the groups of a host from its file."""
    space = read_space()
    plausible.mend(space)
    host, gpus = space.plane("/host:CPU"), gpu_planes(space)
    planes = [plane for plane in (host, *gpus) if plane is not None]
    if is_grouped(space):
        return _of_gpus(gpus, [_stated(plane) for plane in gpus], True) if gpus else of_stated_host(host)
    if not any(_grouped_planes(space)) and not any(map(_may_have_roots, planes)):
        return no_step_groups()
    parts = [with_regions(plane) for plane in planes]
    found = made(parts, [contexts(plane, part) for plane, part in zip(planes, parts, strict=True)])
    if gpus:
        return _of_gpus(gpus, found.parts[len(planes) - len(gpus) :], False)
    return no_step_groups() if host is None else of_host(host, found.parts[0], found)


def is_grouped(space: XSpace) -> bool:
    """Return whether xprof takes the groups as the file states them."""
    grouped = _grouped_planes(space)
    return bool(grouped) and all(grouped)


def _grouped_planes(space: XSpace) -> list[bool]:
    return ["group_id" in plane.stat_names for plane in space.planes if plane.name.startswith(_GROUPED)]


@dataclass(frozen=True, eq=False)
class Part:
    """Events of one plane in the order of its lines: their rows, -1 for a region put together, and their groups."""

    rows: Ints
    line: Ints
    start_ps: Ints
    end_ps: Ints
    group: Ints


@dataclass(frozen=True, eq=False)
class Made:
    """Groups made here: the planes' events, and by group its root and what that is inside of."""

    parts: list[Part]
    roots: Ints
    inside: Ints


def _stated(plane: XPlane) -> Part:
    events = plane.events
    start_ps = events.start_ps
    group = plane.event_stat("group_id").ints(-1)
    line = events.line.astype(np.int64)
    return Part(np.arange(len(events)), line, start_ps, start_ps + events.duration_ps, group)


def _may_have_roots(plane: XPlane) -> bool:
    return "_r" in plane.stat_names or bool(_ROOT_LEVELS.keys() & set(plane.metadata.name))


def made(parts: Sequence[Part], tables: Sequence[Contexts]) -> Made:
    """Return the groups of events of several planes, given their `contexts`."""
    firsts = np.cumsum([0, *(len(part.rows) for part in parts)])
    columns, makes, takes, line_count = [], [], [], 0
    for (nodes, produced, consumed), first in zip(tables, firsts.tolist(), strict=False):
        columns.append(replace(nodes, line=nodes.line + line_count))
        line_count += int(nodes.line.max(initial=-1)) + 1
        makes.append(produced.assign(event=produced["event"] + first))
        takes.append(consumed.assign(event=consumed["event"] + first))
    names = ("line", "start_ps", "end_ps", "is_async", "root_level")
    nodes = Nodes(*(np.concatenate([getattr(each, name) for each in columns]) for name in names))
    inside = event_forest.inside(nodes)
    produced, consumed = _one_launch_each(pd.concat(makes)), pd.concat(takes)
    count = len(nodes.line)
    context = pd.concat([produced, consumed]).groupby(["type", "id"]).ngroup().to_numpy(np.int64)
    pairs = (
        (produced["event"].to_numpy(np.int64), context[: len(produced)]),
        (consumed["event"].to_numpy(np.int64), context[len(produced) :]),
    )
    edges, extra = event_forest.context_edges(count, *pairs)
    nested = np.flatnonzero(inside >= 0)
    everyone = (np.concatenate([inside[nested], edges[0]]), np.concatenate([nested, edges[1]]))
    group, roots = event_forest.groups(nodes, everyone, count + extra)
    cut = np.split(group, firsts[1:-1])
    grouped = [
        replace(part, group=np.where(mine >= 0, mine, part.group)) for part, mine in zip(parts, cut, strict=True)
    ]
    return Made(grouped, roots, inside)


def with_regions(plane: XPlane) -> Part:
    """Return the events of a plane with what its thread pools ran, as spans from start to stop, which lead nowhere."""
    part = _stated(plane)
    starts, stops = (_meta_mask(plane, (_POOL + end).__eq__) for end in ("StartRegion", "StopRegion"))
    begins, ends = (np.flatnonzero(mask[plane.events.metadata]) for mask in (starts, stops))
    (consumed,) = plane.stats_of(begins, "_c")
    begins = begins[consumed.present]
    if not len(begins) or not len(ends):
        return part
    last = begins[np.searchsorted(begins, ends) - 1]
    paired = (last < ends) & (part.line[last] == part.line[ends]) & (part.start_ps[last] != 0)
    last, ends = last[paired], ends[paired]
    rows = np.concatenate([part.rows, np.full(len(ends), -1)])
    line = np.concatenate([part.line, part.line[ends]])
    start_ps = np.concatenate([part.start_ps, part.start_ps[last]])
    end_ps = np.concatenate([part.end_ps, part.start_ps[ends]])
    has_region = np.isin(line, part.line[ends])  # only the lines that get one are put in order
    order = np.lexsort((np.where(has_region, -end_ps, 0), np.where(has_region, start_ps, 0), line))
    group = np.concatenate([part.group, np.full(len(ends), -1)])
    return Part(rows[order], line[order], start_ps[order], end_ps[order], group[order])


def contexts(plane: XPlane, part: Part) -> Contexts:
    """Return the events of a plane with their contexts."""
    is_host = not GPU.match(plane.name)
    known = np.flatnonzero(part.rows >= 0)
    rows = part.rows[known]
    root, is_async, *context = plane.stats_of(rows, *_NODE_STATS)
    produces, produced, consumes, consumed, correlation = context
    level = np.zeros(len(part.rows), np.int64)
    by_name = np.array([*(_ROOT_LEVELS.get(name, 0) for name in plane.metadata.name), 0], np.int64)
    level[known] = np.where(root.present, root.ints(), by_name[plane.events.metadata[rows]])
    apart = np.zeros(len(part.rows), np.bool_)
    apart[known] = is_async.ints() != 0

    def table(type_of: object, which: Ints, number: Ints) -> pd.DataFrame:
        return pd.DataFrame({"event": which, "type": np.broadcast_to(np.asarray(type_of), len(which)), "id": number})

    makes, takes = produces.present & produced.present, consumes.present & consumed.present
    known_kind = _meta_mask(plane, lambda name: name in _ROOT_LEVELS or name in _UNNAMED_ROOTS)
    launch = np.flatnonzero(correlation.present & ~known_kind[plane.events.metadata[rows]])
    makes_of = [table(produces.ints()[makes], known[makes], produced.ints()[makes])]
    takes_of = [table(consumes.ints()[takes], known[takes], consumed.ints()[takes])]
    (makes_of if is_host else takes_of).append(table(_LAUNCHES, known[launch], correlation.ints()[launch]))
    nodes = Nodes(part.line, part.start_ps, part.end_ps, apart, level)
    return nodes, pd.concat(makes_of), pd.concat(takes_of)


def _one_launch_each(produced: pd.DataFrame) -> pd.DataFrame:
    """Return the contexts produced, of the calls with one correlation id the last alone."""
    repeated = produced.duplicated(["type", "id"], keep="last") & (produced["type"] == _LAUNCHES)
    return produced[~repeated]


def of_stated_host(host: XPlane | None) -> StepGroups:
    """Return the groups that the file states of a host without devices."""
    if host is None:
        return no_step_groups()
    part = _stated(host)
    codes, texts = host.event_stat("step_name").texts()
    named = np.flatnonzero((codes >= 0) & (part.group >= 0))
    names = {int(part.group[row]): texts[codes[row]] for row in named[::-1].tolist()}
    marks = np.zeros(len(part.rows), np.bool_)
    marks[named] = True
    return replace(_host_groups(host, part, marks, event_forest.inside(_bare(part))), names=names)


def _bare(part: Part) -> Nodes:
    nothing = np.zeros(len(part.rows), np.int64)
    return Nodes(part.line, part.start_ps, part.end_ps, nothing.astype(np.bool_), nothing)


def of_host(host: XPlane, part: Part, made: Made) -> StepGroups:
    """Return the groups of a host without devices; a root marks its group unless it is one of the unnamed kinds."""
    names, numbers = {}, {}
    names_of = [*host.metadata.name, ""]  # an event whose metadata is missing has row -1
    marks = np.zeros(len(part.rows), np.bool_)
    for group, root in enumerate(made.roots.tolist()):
        name = names_of[host.events.metadata[part.rows[root]]]
        numbers[group] = number = _step_number(host, part, made.inside, root, group)
        is_named = name != "" and name not in _UNNAMED_ROOTS
        marks[root] = is_named
        if is_named:
            names[group] = f"{name} {number}"
    return replace(_host_groups(host, part, marks, made.inside), names=names, numbers=numbers)


def _step_number(host: XPlane, part: Part, inside: Ints, root: int, group: int) -> int:
    """Return the number an event or one around it states, else that of the group."""
    around = [root]
    while inside[around[-1]] >= 0:
        around.append(int(inside[around[-1]]))
    for stat in host.stats_of(part.rows[np.array(around)], "iter_num", "step_num"):
        if stat.present.any():
            return int(stat.ints()[np.flatnonzero(stat.present)[0]])
    return group


def _host_groups(host: XPlane, part: Part, marks: Mask, inside: Ints) -> StepGroups:
    metadata = np.where(part.rows >= 0, host.events.metadata[part.rows], -1)  # of a region the last entry: compute
    explicit = _meta_mask(host, lambda name: name.startswith(_MARKERS) and "/" not in name)
    marks = (marks | explicit[metadata]) & (part.group >= 0)
    kind_of = np.array([*(_host_kind(name) for name in host.metadata.name), HOST_COMPUTE], np.int8)
    kind = kind_of[metadata]
    if "_ipl_stage_name" in host.stat_names:
        kind[_input_stages(host, part, inside) & (kind == HOST_COMPUTE)] = WAIT_INPUT
    counted = (part.group >= 0) & ~marks & (kind != UNKNOWN)
    return StepGroups(_grouped(part, counted, kind, -1), _grouped(part, marks, np.zeros_like(kind), -1), {}, {})


def _host_kind(name: str) -> int:
    """Return what an event of a host thread is, `UNKNOWN` for one that does not count."""
    kind = split_framework_op(name)[1] or ""
    if name.startswith(_NO_COMPUTE):
        return UNKNOWN
    if kind.startswith("InfeedEnqueue") or kind in {"MemcpyHToD", "MemcpyHToH"}:
        return _COPIES.get(kind, HOST_TO_DEVICE)
    return WAIT_INPUT if name.lower().startswith("iteratorgetnext") else HOST_COMPUTE


def _input_stages(host: XPlane, part: Part, inside: Ints) -> Mask:
    """Return the outermost stages of an input pipeline: in no other, and not called from another thread."""
    known = part.rows >= 0
    stage, produces, produced, consumes, consumed = host.stats_of(
        part.rows[known], "_ipl_stage_name", "_pt", "_p", "_ct", "_c"
    )
    made = pd.MultiIndex.from_arrays([produces.ints(), produced.ints()])[produces.present & produced.present]
    called = pd.MultiIndex.from_arrays([consumes.ints(), consumed.ints()]).isin(made)
    stages, follows = np.zeros(len(known), np.bool_), np.zeros(len(known), np.bool_)
    stages[known] = stage.present
    follows[known] = called & consumes.present & consumed.present
    outermost = np.zeros(len(known), np.bool_)
    for row in np.flatnonzero(stages & ~follows).tolist():
        above = inside[row]
        while above >= 0 and not (stages[above] or follows[above]):
            above = inside[above]
        outermost[row] = above < 0
    return outermost


def _of_gpus(gpus: Sequence[XPlane], parts: Sequence[Part], is_stated: bool) -> StepGroups:
    events, markers = [no_grouped()], [no_grouped()]
    for plane, part in zip(gpus, parts, strict=True):
        device = int(named[1]) if (named := GPU.match(plane.name)) else -1
        is_stream = np.array([not is_derived(number, "") for number in plane.lines.id.tolist()], np.bool_)
        is_step = plane.lines.id == _STEPS_LINE
        markers.append(_grouped(part, is_step[part.line] & (part.group >= 0), None, device))
        worked = _in_time_order(part, is_stream[part.line])
        if not is_stated:
            worked = _with_latest_group(worked)
            markers.append(_stretches(worked, device))
        correlation = plane.stats_of(worked.rows, "correlation_id")[0].ints(-1)
        kinds = _gpu_kinds(plane, worked.rows)
        events.append(_grouped(worked, (worked.group >= 0) & (correlation >= 0), kinds, device))
    grouped, marking = _joined(events), _joined(markers)
    # What no step of its own device spans is left out.
    known = pd.MultiIndex.from_arrays([marking.device, marking.group])
    spanned = pd.MultiIndex.from_arrays([grouped.device, grouped.group]).isin(known)
    at_work = pd.MultiIndex.from_arrays([marking.device, marking.group]).isin(
        pd.MultiIndex.from_arrays([grouped.device, grouped.group])
    )
    return StepGroups(_taken(grouped, spanned), _taken(marking, at_work), {}, {})


def _gpu_kinds(plane: XPlane, rows: Ints) -> NDArray[np.int8]:
    by_name = np.array([*(_gpu_kind(name) for name in plane.metadata.name), COMPUTE_32], np.int8)
    kind = by_name[plane.events.metadata[rows]]
    codes, texts = plane.stats_of(rows, "shape")[0].texts()
    has_shapes = np.array([*(bool(text) for text in texts), False], np.bool_)[codes]
    is_half = np.array([*("half" in text for text in texts), False], np.bool_)[codes]
    computes = kind >= COMPUTE_32
    return np.where(computes & has_shapes, np.where(is_half, COMPUTE_16, COMPUTE_32), kind).astype(np.int8)


def _gpu_kind(name: str) -> int:
    copied = _COPIES.get(split_framework_op(name)[1] or "", HOST_TO_HOST)
    if copied != HOST_TO_HOST:
        return copied
    if name.lower().startswith("nccl"):
        return COLLECTIVE
    return COMPUTE_16 if "half" in name or "fp16" in name else COMPUTE_32


def _in_time_order(part: Part, own: Mask) -> Part:
    rows = np.flatnonzero(own)
    rows = rows[np.lexsort((part.end_ps[rows], part.start_ps[rows]))]
    return Part(part.rows[rows], part.line[rows], part.start_ps[rows], part.end_ps[rows], part.group[rows])


def _with_latest_group(part: Part) -> Part:
    """Give an event without a group that of the one before it."""
    latest = np.maximum.accumulate(np.where(part.group >= 0, np.arange(len(part.group)), -1))
    return replace(part, group=np.append(part.group, -1)[latest])


def _stretches(part: Part, device: int) -> Grouped:
    """Return the spans in which events of one group follow each other."""
    rows = np.flatnonzero(part.group >= 0)
    group = part.group[rows]
    if not len(rows):
        return no_grouped()
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    end_ps = np.maximum.reduceat(part.end_ps[rows], first)
    kind, devices = np.zeros(len(first), np.int8), np.full(len(first), device, np.int32)
    return Grouped(group[first], kind, devices, part.start_ps[rows[first]], end_ps)


def _meta_mask(plane: XPlane, holds: Callable[[str], bool]) -> Mask:
    return np.array([*(holds(name) for name in plane.metadata.name), False], np.bool_)


def _grouped(part: Part, which: Mask, kind: NDArray[np.int8] | None, device: int) -> Grouped:
    rows = np.flatnonzero(which)
    kinds = np.zeros(len(rows), np.int8) if kind is None else kind[rows]
    devices = np.full(len(rows), device, np.int32)
    return Grouped(part.group[rows], kinds, devices, part.start_ps[rows], part.end_ps[rows])


def _joined(tables: Sequence[Grouped]) -> Grouped:
    names = Grouped.__dataclass_fields__
    return Grouped(*(np.concatenate([getattr(table, name) for table in tables]) for name in names))


def _taken(table: Grouped, which: Mask) -> Grouped:
    return Grouped(*(getattr(table, name)[which] for name in Grouped.__dataclass_fields__))
