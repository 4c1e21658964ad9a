"""What the allocators of each host recorded, as one table in time order: every allocation and every free."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.selection import Selection, chosen_hosts, refuse
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.model.allocations import NO_ADDRESS, Allocations
from xprof_nb.model.columns import Columns
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.tensorflow import dtype_names
from xprof_nb.model.trace import HostTrace

COLUMNS = [
    "host",
    "device",
    "allocator",
    "start_ps",
    "kind",
    "bytes",
    "requested_bytes",
    "lifetime_ps",
    "heap_bytes",
    "stack_bytes",
    "free_bytes",
    "total_bytes",
    "capacity_bytes",
    "fragmentation_fraction",
    "framework_op",
    "shape",
    "dtype",
    "region",
    "caller",
]
_GPU = re.compile(r"GPU_(\d{1,6})_")
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Timeline:
    """The allocator events of one host.

    Attributes
    ----------
    columns
        `COLUMNS`, a row per event, in time order.
    end_row
        The row at which what was allocated here is gone; the number of rows if never in the capture.
    chosen
        The rows a question is about.
    """

    trace: HostTrace
    columns: Columns
    end_row: Rows
    chosen: Rows


def chosen_timelines(profile: ProfileData, selection: Selection) -> list[Timeline]:
    """Return the events of each chosen host, and which of them the selection leaves."""
    timelines = []
    for trace in chosen_hosts(profile, selection):
        table = trace.allocations
        columns, end_row = _table(trace, table)
        devices = [device_of_allocator(trace, name) for name in table.allocators]
        keep = is_chosen_time(trace, selection, table.start_ps)
        keep &= on_device(selection.device, devices)[table.allocator]
        timelines.append(Timeline(trace, columns, end_row, np.flatnonzero(keep)))
    return timelines


def check_selection(profile: ProfileData, selection: Selection) -> None:
    """Raise UsageError if the selection names a host, a device or a step that the profile does not have."""
    traces = chosen_hosts(profile, selection)
    if selection.device is not None:
        devices = {device.name for trace in traces for device in trace.devices}
        devices |= {device for trace in traces for device in _devices_of_allocators(trace) if device is not None}
        devices |= {device for trace in traces for device in trace.live_arrays.devices}
        if not any(is_device(selection.device, name) for name in devices):
            refuse("device", selection.device, sorted(devices))
    if selection.step is not None:
        steps = {int(number) for trace in traces for number in step_spans(trace)["step"]}
        if selection.step not in steps:
            refuse("step", selection.step, map(str, sorted(steps)))


def is_chosen_time(trace: HostTrace, selection: Selection, start_ps: Rows) -> NDArray[np.bool_]:
    """Return which of a host's times, which ascend, lie in the chosen window and step."""
    keep = np.ones(len(start_ps), np.bool_)
    if selection.window_ps is not None:
        begin, end = selection.window_ps
        keep &= (start_ps >= begin) & (start_ps < end)
    if selection.step is not None:
        spans = step_spans(trace)
        mine = spans["step"] == selection.step
        keep &= _within(start_ps, spans["start_ps"][mine], spans["duration_ps"][mine])
    return keep


def _devices_of_allocators(trace: HostTrace) -> list[str | None]:
    return [device_of_allocator(trace, name) for name in trace.allocations.allocators]


def _table(trace: HostTrace, table: Allocations) -> tuple[Columns, Rows]:
    end_row, source = _pairs(table)
    size = table.allocation_bytes.copy()
    from_its_allocation = np.isnan(size) & table.is_free
    size[from_its_allocation] = table.allocation_bytes[source[from_its_allocation]]
    lifetime_ps = np.full(len(table), np.nan)
    freed = ~table.is_free & (end_row < len(table))
    lifetime_ps[freed] = table.start_ps[end_row[freed]] - table.start_ps[freed]
    total = table.heap_bytes + table.stack_bytes
    devices = np.array([*(device_of_allocator(trace, name) for name in table.allocators), None], object)
    columns: Columns = {
        "host": np.full(len(table), trace.host, object),
        "device": devices[table.allocator],
        "allocator": np.array([*table.allocators, None], object)[table.allocator],
        "start_ps": table.start_ps,
        "kind": np.array(["allocation", "free"], object)[table.is_free.astype(np.int8)],
        "bytes": size,
        "requested_bytes": table.requested_bytes,
        "lifetime_ps": lifetime_ps,
        "heap_bytes": table.heap_bytes,
        "stack_bytes": table.stack_bytes,
        "free_bytes": table.free_bytes,
        "total_bytes": total,
        "capacity_bytes": total + table.free_bytes,
        "fragmentation_fraction": table.fragmentation_fraction,
        "framework_op": table.framework_op[source],
        "shape": table.shape[source],
        "dtype": dtype_names(table.data_type[source], table.shape[source]),
        "region": table.region[source],
        "caller": table.caller,
    }
    return columns, end_row


def _pairs(table: Allocations) -> tuple[Rows, Rows]:
    """Return when each allocation ends, and where each row's description is: a free's is with its allocation.

    An address that is allocated again without a free in between was freed unseen.
    """
    count = len(table)
    end_row, source = np.full(count, count, np.int64), np.arange(count, dtype=np.int64)
    order = np.lexsort((table.address, table.allocator))  # stable: rows of one address stay in time order
    before, after = order[:-1], order[1:]
    same = (table.allocator[before] == table.allocator[after]) & (table.address[before] == table.address[after])
    same &= (table.address[after] != NO_ADDRESS) & ~table.is_free[before]
    end_row[before[same]] = after[same]
    matched = same & table.is_free[after]
    source[after[matched]] = before[matched]
    return end_row, source


def device_of_allocator(trace: HostTrace, allocator: str) -> str | None:
    """Return the device an allocator's memory is on, None for memory of the host."""
    found = _GPU.match(allocator)
    if found:
        return f"GPU:{found[1]}"
    if not allocator.isdecimal():
        return None
    named = (device.name for device in trace.devices if str(device.ordinal) == allocator)
    return next(named, f"TPU:{allocator}")


def is_device(wanted: str | int, name: str | None) -> bool:
    """Whether a device goes by a name or a number."""
    return name is not None and str(wanted) in (name, name.partition(":")[2])


def on_device(wanted: str | int | None, devices: Sequence[str | None]) -> NDArray[np.bool_]:
    """Return which devices are the wanted one."""
    return np.array([wanted is None or is_device(wanted, name) for name in devices], np.bool_)


def _within(at_ps: Rows, begin_ps: Rows, length_ps: Rows) -> NDArray[np.bool_]:
    inside = np.zeros(len(at_ps), np.bool_)
    for span in zip(begin_ps, begin_ps + length_ps, strict=True):
        low, high = np.searchsorted(at_ps, span)
        inside[low:high] = True
    return inside
