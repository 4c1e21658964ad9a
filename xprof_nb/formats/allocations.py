"""Allocator events of an XSpace's host plane to one table in time order.

TPU runtimes and the BFC allocators of GPUs write a `MemoryAllocation` or `MemoryDeallocation` event, with the state it
left, for every allocation; XLA on a CPU writes none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import nesting, plausible
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.allocations import NO_ADDRESS, Allocations, no_allocations

ALLOCATION, FREE = "MemoryAllocation", "MemoryDeallocation"
_HOST_PLANE = "/host:CPU"
_NUMBERS = ("allocation_bytes", "requested_bytes", "bytes_allocated", "bytes_reserved", "bytes_available",
            "peak_bytes_in_use", "fragmentation")  # fmt: skip
_TEXTS = ("tf_op", "region_type", "shape")
_NUMBERED = ("device_ordinal", "index_on_host")
Rows = NDArray[np.int64]


def has_allocations(space: XSpace) -> bool:
    """Return whether the host plane knows allocator events, without looking at any event."""
    plane = space.plane(_HOST_PLANE)
    return plane is not None and (ALLOCATION in plane.metadata.name or FREE in plane.metadata.name)


def read_allocations(read_space: Callable[[], XSpace]) -> Allocations:
    """Return the allocator events of a host.

    Raises
    ------
    ProfileError
        The file has changed since it was opened.
    """
    space = read_space()
    plane = space.plane(_HOST_PLANE)
    if plane is None:
        return no_allocations()
    plausible.mend(space)
    # An event without metadata has row -1: the False at the end.
    is_allocation = np.array([*(name == ALLOCATION for name in plane.metadata.name), False], np.bool_)
    is_free = np.array([*(name == FREE for name in plane.metadata.name), False], np.bool_)
    rows = np.flatnonzero((is_allocation | is_free)[plane.events.metadata] & plane.events.positioned)
    start_ps = plane.events.starts_of(rows)
    by_time = np.argsort(start_ps, kind="stable")
    rows, start_ps = rows[by_time], start_ps[by_time]
    names = (*_NUMBERS, *_TEXTS, *_NUMBERED, "allocator_name", "addr", "group_id", "data_type")
    stats = dict(zip(names, plane.stats_of(rows, *names), strict=True))
    allocators, allocator = _allocators(stats)
    taken, requested, heap, stack, free, lifetime, fragmentation = (stats[name].floats() for name in _NUMBERS)
    framework_op, region, shape = (_texts(stats[name]) for name in _TEXTS)
    return Allocations(
        allocators=allocators,
        allocator=allocator,
        start_ps=start_ps,
        offset_ps=plane.events.offset_ps[rows],
        order=by_time,
        is_free=is_free[plane.events.metadata[rows]],
        address=stats["addr"].ints(missing=NO_ADDRESS),
        allocation_bytes=taken,
        requested_bytes=requested,
        heap_bytes=heap,
        stack_bytes=stack,
        free_bytes=free,
        lifetime_peak_bytes=lifetime,
        fragmentation_fraction=fragmentation,
        group=stats["group_id"].ints(missing=-1),
        data_type=stats["data_type"].ints(missing=-1),
        framework_op=framework_op,
        region=region,
        shape=shape,
        caller=_callers(plane, rows),
    )


def _allocators(stats: dict[str, StatColumn]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the names of the allocators and the row of each event's; a GPU's has a name, a TPU's a number."""
    labels = [""]
    found = np.zeros(len(stats["addr"].kind), np.int64)
    for name in _NUMBERED:
        stated = stats[name].present
        values, value_of = np.unique(stats[name].ints()[stated], return_inverse=True)
        found[stated] = value_of + len(labels)
        labels += map(str, values.tolist())
    codes, names = stats["allocator_name"].texts()
    found[codes >= 0] = codes[codes >= 0] + len(labels)
    labels += names
    distinct, rows = np.unique(np.array(labels, object)[np.unique(found)].astype(str), return_inverse=True)
    row_of = np.zeros(len(labels), np.int32)
    row_of[np.unique(found)] = rows
    return tuple(distinct.tolist()), row_of[found]


def _texts(column: StatColumn) -> NDArray[np.object_]:
    codes, labels = column.texts()
    return np.array([*(label or None for label in labels), None], dtype=object)[codes]


def _callers(plane: XPlane, rows: Rows) -> NDArray[np.object_]:
    """Return the name of the innermost event around each of ``rows`` on its line."""
    events = plane.events
    lines = np.unique(events.lines_of(rows))
    first = plane.lines.first_event
    parts = [np.arange(first[line], first[line + 1]) for line in lines]
    nearby = np.concatenate(parts) if parts else np.empty(0, np.int64)
    nearby = nearby[events.positioned[nearby]]
    start_ps = events.starts_of(nearby)
    parent = nesting.parents(events.lines_of(nearby), start_ps, start_ps + events.duration_ps[nearby])
    around = parent[np.searchsorted(nearby, rows)]
    names = np.array([*(name or None for name in plane.metadata.name), None], dtype=object)
    metadata = np.append(events.metadata[nearby], -1)
    return names[metadata[around]]
