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
from xprof_nb.formats.contexts import (
    EXECUTOR,
    ROOT_LEVELS,
    UNNAMED_ROOTS,
    Contexts,
    Part,
    contexts,
    has_loop_ops,
    iterations,
    named,
    one_producer_each,
)
from xprof_nb.formats.event_forest import Nodes, Pairs
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

_MARKERS = ("train", "test", "TraceContext")
_NO_COMPUTE = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun")
_GROUPED = ("/host:CPU", "/device:", "/host:metadata")
"""Planes that grouping adds a stat to: where one lacks it, xprof groups anew, over the groups that are stated."""
_POOL = "ThreadpoolListener::"
_COPIES = {
    "MemcpyHToD": HOST_TO_DEVICE,
    "MemcpyDToH": DEVICE_TO_HOST,
    "MemcpyDToD": DEVICE_TO_DEVICE,
    "MemcpyHToH": HOST_TO_HOST,
}
_STEPS_LINE = 0xDEADBEEF - 2**32
"""Id of the line of steps; xprof knows it in this form alone, sign-extended from 32 bits."""


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
    if has_loop_ops(space):
        found = ungrouped(parts)
    else:
        tables = [contexts(plane, part) for plane, part in zip(planes, parts, strict=True)]
        found = made(parts, tables, [] if host is None else iterations(host, parts[0]))
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
class Made:
    """Groups made here: the planes' events, by group its root, and what events are inside of, and what led to them.

    Attributes
    ----------
    above
        Where what led to each node begins in a list of nodes, and the list; nodes beyond the events only connect.
    """

    parts: list[Part]
    roots: Ints
    inside: Ints
    above: Pairs


def ungrouped(parts: Sequence[Part]) -> Made:
    """Return the events as they are."""
    count = sum(len(part.rows) for part in parts)
    none = np.empty(0, np.int64)
    return Made(list(parts), none, np.full(count, -1, np.int64), (np.zeros(count + 1, np.int64), none))


def _stated(plane: XPlane) -> Part:
    events = plane.events
    start_ps = events.start_ps
    group = plane.event_stat("group_id").ints(-1)
    line = events.line.astype(np.int64)
    return Part(np.arange(len(events)), line, start_ps, start_ps + events.duration_ps, group)


def _may_have_roots(plane: XPlane) -> bool:
    return "_r" in plane.stat_names or not {*ROOT_LEVELS, EXECUTOR}.isdisjoint(plane.metadata.name)


def made(parts: Sequence[Part], tables: Sequence[Contexts], loops: Sequence[Ints] = ()) -> Made:
    """Return the groups of events of several planes, given their `contexts`, and `iterations` of the first.

    Where loops run, the first event of each iteration leads a group, and no other event does.
    """
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
    produced, consumed = one_producer_each(pd.concat(makes)), pd.concat(takes)
    count = len(nodes.line)
    context = pd.concat([produced, consumed]).groupby(["type", "id"]).ngroup().to_numpy(np.int64)
    pairs = (
        (produced["event"].to_numpy(np.int64), context[: len(produced)]),
        (consumed["event"].to_numpy(np.int64), context[len(produced) :]),
    )
    edges, extra = event_forest.context_edges(count, *pairs)
    nested = np.flatnonzero(inside >= 0)
    leads = np.repeat([each[0] for each in loops], [len(each) - 1 for each in loops]).astype(np.int64)
    led = np.concatenate([*(each[1:] for each in loops), np.empty(0, np.int64)])
    everyone = (np.concatenate([inside[nested], edges[0], leads]), np.concatenate([nested, edges[1], led]))
    if len(loops):
        nodes = replace(nodes, root_level=np.zeros(count, np.int64))
        nodes.root_level[[each[0] for each in loops]] = np.arange(len(loops), 0, -1)
    group, roots = event_forest.groups(nodes, everyone, count + extra)
    cut = np.split(group, firsts[1:-1])
    grouped = [
        replace(part, group=np.where(mine >= 0, mine, part.group)) for part, mine in zip(parts, cut, strict=True)
    ]
    return Made(grouped, roots, inside, event_forest.adjacency(everyone[1], everyone[0], count + extra))


def with_regions(plane: XPlane) -> Part:
    """Return the events of a plane with what its thread pools ran, as spans from start to stop, which lead nowhere."""
    part = _stated(plane)
    starts, stops = (named(plane, (_POOL + end).__eq__) for end in ("StartRegion", "StopRegion"))
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


def of_stated_host(host: XPlane | None) -> StepGroups:
    """Return the groups that the file states of a host without devices."""
    if host is None:
        return no_step_groups()
    part = _stated(host)
    codes, texts = host.event_stat("step_name").texts()
    labelled = np.flatnonzero((codes >= 0) & (part.group >= 0))
    names = {int(part.group[row]): texts[codes[row]] for row in labelled[::-1].tolist()}
    marks = np.zeros(len(part.rows), np.bool_)
    marks[labelled] = True
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
        graph, numbers[group] = _graph_and_number(host, part, made.above, root, group)
        is_named = name != "" and name not in UNNAMED_ROOTS
        marks[root] = is_named
        if is_named:
            names[group] = f"{graph or name} {numbers[group]}"
    return replace(_host_groups(host, part, marks, made.inside), names=names, numbers=numbers)


def _graph_and_number(host: XPlane, part: Part, above: Pairs, root: int, group: int) -> tuple[str, int]:
    """Return the graph and the number that an event, or the nearest that led to it, states; else that of the group."""
    rows = part.rows[np.array(_what_led_to(root, above, len(part.rows)))]
    graph, *numbers = host.stats_of(rows[rows >= 0], "graph_type", "iter_num", "step_num")
    codes, texts = graph.texts()
    stated = codes[codes >= 0]
    number = next((stat.ints()[np.argmax(stat.present)] for stat in numbers if stat.present.any()), group)
    return texts[stated[0]] if len(stated) else "", int(number)


def _what_led_to(root: int, above: Pairs, count: int) -> list[int]:
    """Return an event and those of the first ``count`` that led to it, the nearest first."""
    first, nodes = above
    found, seen = [root], {root}
    for node in found:
        nearest = nodes[first[node] : first[node + 1]].tolist()
        for each in nearest:
            if each in seen:
                continue
            seen.add(each)
            if each >= count:
                nearest += nodes[first[each] : first[each + 1]].tolist()
            else:
                found.append(each)
    return found


def _host_groups(host: XPlane, part: Part, marks: Mask, inside: Ints) -> StepGroups:
    metadata = np.where(part.rows >= 0, host.events.metadata[part.rows], -1)  # of a region the last entry: compute
    explicit = named(host, lambda name: name.startswith(_MARKERS) and "/" not in name)
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
        device = int(match[1]) if (match := GPU.match(plane.name)) else -1
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
