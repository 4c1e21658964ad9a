"""Who held the memory, and when was it fullest? The allocators' own record: every allocation, every free.

xprof's memory profile differs, see `xprof_nb.analysis.xprof.memory`: it looks for the peak in the order of threads
instead of time, forgets what an earlier step allocated, and calls the rest unused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.environment import environment
from xprof_nb.analysis.selection import Selection, chosen_hosts, not_applied, refuse
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.model import units
from xprof_nb.model.allocations import NO_ADDRESS, Allocations
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, coded, number, stacked, taken
from xprof_nb.model.known_gaps import known_gaps
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
HELD_BEFORE, STACK, UNACCOUNTED = "held before the capture", "stack of running programs", "not accounted for"
_DESCRIPTION = ["framework_op", "caller", "shape", "dtype", "region"]
_MOST_HOLDERS = 30
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


def memory(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return every allocation and free in time order; the summary says the peak of each allocator and who held it.

    ``heap_bytes`` is what is allocated, ``stack_bytes`` what running programs have reserved, ``total_bytes`` both,
    ``capacity_bytes`` that and what is free. A free carries what its allocation was for.

    Raises
    ------
    UsageError
        The selection names a host, device or step the profile does not have.
    """
    if like_xprof:
        from xprof_nb.analysis.xprof import memory as xprof_memory  # noqa: PLC0415  (it needs this module)

        return xprof_memory.memory(profile, selection)
    timelines = chosen_timelines(profile, selection)
    columns = stacked([taken(timeline.columns, timeline.chosen) for timeline in timelines])
    if len(timelines) > 1:
        columns = taken(columns, np.argsort(columns["start_ps"], kind="stable"))
    allocators = [peak for timeline in timelines for peak in _peaks(timeline)]
    return Answer(as_frame(columns), _summary(allocators), _notes(profile, selection, columns))


def peak_holders(profile: ProfileData, selection: Selection) -> pd.DataFrame:
    """Return who held the memory of each allocator at its peak, in full: the rows of an allocator sum to its peak.

    Returns
    -------
    DataFrame
        ``host, device, allocator, holder, bytes, count, peak_fraction`` and what the runtime knows of the
        allocations; ``holder`` is ``"allocation"``, or a sum that no allocation of the capture explains.
    """
    timelines = chosen_timelines(profile, selection)
    tables = [
        as_frame(holders).assign(host=each.trace.host, device=device_of_allocator(each.trace, name), allocator=name)
        for each in timelines
        for name, row in _peak_rows(each)
        if len((holders := _holders(each, row))["holder"])
    ]
    identity = ["host", "device", "allocator"]
    if not tables:
        return pd.DataFrame(columns=[*identity, "holder", "bytes", "count", "peak_fraction", *_DESCRIPTION])
    table = pd.concat(tables, ignore_index=True)
    return table[[*identity, *(name for name in table.columns if name not in identity)]]


def chosen_timelines(profile: ProfileData, selection: Selection) -> list[Timeline]:
    """Return the events of each chosen host, and which of them the selection leaves."""
    timelines = []
    known_devices, step_found = set(), selection.step is None
    for trace in chosen_hosts(profile, selection):
        table = trace.allocations
        columns, end_row = _table(trace, table)
        devices = [device_of_allocator(trace, name) for name in table.allocators]
        known_devices |= {*devices, *(device.name for device in trace.devices)} - {None}
        keep = _on_device(selection.device, devices)[table.allocator]
        if selection.window_ps is not None:
            begin, end = selection.window_ps
            keep &= (table.start_ps >= begin) & (table.start_ps < end)
        if selection.step is not None:
            spans = step_spans(trace)
            mine = spans["step"] == selection.step
            step_found |= bool(mine.any())
            keep &= _within(table.start_ps, spans["start_ps"][mine], spans["duration_ps"][mine])
        timelines.append(Timeline(trace, columns, end_row, np.flatnonzero(keep)))
    if selection.device is not None and not any(_is_device(selection.device, name) for name in known_devices):
        refuse("device", selection.device, sorted(map(str, known_devices)))
    if not step_found:
        numbers = {int(number) for trace in chosen_hosts(profile, selection) for number in step_spans(trace)["step"]}
        refuse("step", selection.step, map(str, sorted(numbers)))
    return timelines


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


def _is_device(wanted: str | int, name: str | None) -> bool:
    return name is not None and str(wanted) in (name, name.partition(":")[2])


def _on_device(wanted: str | int | None, devices: list[str | None]) -> NDArray[np.bool_]:
    return np.array([wanted is None or _is_device(wanted, name) for name in devices], np.bool_)


def _within(at_ps: Rows, begin_ps: Rows, length_ps: Rows) -> NDArray[np.bool_]:
    inside = np.zeros(len(at_ps), np.bool_)
    for span in zip(begin_ps, begin_ps + length_ps, strict=True):
        low, high = np.searchsorted(at_ps, span)
        inside[low:high] = True
    return inside


def _peak_rows(timeline: Timeline) -> list[tuple[str, int]]:
    """Return each allocator with the row at which the chosen time first sees its largest total."""
    totals = timeline.columns["total_bytes"][timeline.chosen]
    codes = timeline.trace.allocations.allocator[timeline.chosen]
    found = []
    for code, name in enumerate(timeline.trace.allocations.allocators):
        rows = np.flatnonzero((codes == code) & ~np.isnan(totals))
        if len(rows):
            found.append((name, int(timeline.chosen[rows[np.argmax(totals[rows])]])))
    return found


def _peaks(timeline: Timeline) -> list[dict[str, Any]]:
    """Return the headline values of each allocator of a host."""
    table = timeline.trace.allocations
    codes = table.allocator[timeline.chosen]
    found = []
    for name, row in _peak_rows(timeline):
        mine = timeline.chosen[codes == table.allocators.index(name)]
        at_peak = {column: values[row] for column, values in timeline.columns.items()}
        lifetime = table.lifetime_peak_bytes[mine]
        capacity = number(at_peak["capacity_bytes"])
        holders = _holders(timeline, row)
        found.append(
            {
                "host": timeline.trace.host,
                "device": at_peak["device"],
                "allocator": name,
                "peak_bytes": float(at_peak["total_bytes"]),
                "peak_ps": int(at_peak["start_ps"]),
                "peak_heap_bytes": number(at_peak["heap_bytes"]),
                "peak_stack_bytes": number(at_peak["stack_bytes"]),
                "peak_free_bytes": number(at_peak["free_bytes"]),
                "capacity_bytes": capacity,
                "capacity_fraction": float(at_peak["total_bytes"]) / capacity if capacity else None,
                "fragmentation_fraction": number(at_peak["fragmentation_fraction"]),
                "lifetime_peak_bytes": number(np.nanmax(lifetime)) if (~np.isnan(lifetime)).any() else None,
                "allocation_count": int((~table.is_free[mine]).sum()),
                "free_count": int(table.is_free[mine].sum()),
                "holder_count": len(holders["holder"]),
                "held": _bounded(holders),
            }
        )
    return found


def _holders(timeline: Timeline, row: int) -> Columns:
    """Return who held the memory of the row's allocator just after it, the largest first; sums to its total."""
    table, columns = timeline.trace.allocations, timeline.columns
    before = slice(0, row + 1)
    live = (table.allocator[before] == table.allocator[row]) & ~table.is_free[before]
    live &= timeline.end_row[before] > row
    rows = np.flatnonzero(live)
    size = np.nan_to_num(columns["bytes"][rows])
    described = {name: columns[name][rows] for name in _DESCRIPTION}
    code = coded(size, *described.values())
    first, count = np.unique(code, return_index=True)[1], np.bincount(code)
    heap, stack = float(columns["heap_bytes"][row]), float(columns["stack_bytes"][row])
    rest = heap - float(size.sum())
    sums = {STACK: stack, HELD_BEFORE if rest > 0 else UNACCOUNTED: rest}
    others = {name: size for name, size in sums.items() if size}
    missing = [None] * len(others)
    held = np.append(size[first] * count, list(others.values()))
    order = np.argsort(-held, kind="stable")
    holders: Columns = {
        "holder": np.array([*(["allocation"] * len(first)), *others, None], object)[:-1],
        "bytes": held,
        **{name: np.array([*values[first], *missing, None], object)[:-1] for name, values in described.items()},
        "count": np.append(count, np.ones(len(others), np.int64)),
        "peak_fraction": held / ((heap + stack) or np.nan),
    }
    return taken(holders, order)


def _bounded(holders: Columns) -> list[dict[str, Any]]:
    """Return the largest holders, and the rest as one; they still add up."""
    names = ["holder", "bytes", "count", *_DESCRIPTION]
    rows = zip(*(holders[name][:_MOST_HOLDERS].tolist() for name in names), strict=True)
    shown = [dict(zip(names, row, strict=True)) for row in rows]
    rest = {name: holders[name][_MOST_HOLDERS:] for name in ("bytes", "count")}
    if len(rest["count"]):
        sums = {"bytes": float(rest["bytes"].sum()), "count": int(rest["count"].sum())}
        left = f"{units.count(len(rest['count']))} smaller ones"
        shown.append({"holder": left, **sums, **dict.fromkeys(_DESCRIPTION)})
    return shown


def _summary(allocators: list[dict[str, Any]]) -> dict[str, Any]:
    largest = max(allocators, key=lambda peak: peak["peak_bytes"], default=None)
    names = ["host", "device", "allocator", "peak_bytes", "peak_ps", "capacity_bytes", "capacity_fraction"]
    names += ["lifetime_peak_bytes", "fragmentation_fraction"]
    return {
        **{name: largest[name] if largest else None for name in names},
        "allocators": allocators,
        "sentence": _sentence(largest) if largest else "No allocator event was recorded.",
    }


def _sentence(peak: dict[str, Any]) -> str:
    where = peak["device"] or f"the host ({peak['allocator']})"
    of = f" of {units.size(peak['capacity_bytes'])} ({units.percent(peak['capacity_fraction'])})"
    text = f"Peak {units.size(peak['peak_bytes'])}{of if peak['capacity_fraction'] else ''} on {where}, "
    text += f"{units.duration(peak['peak_ps'])} into the capture"
    if not peak["held"]:
        return text + "."
    largest = peak["held"][0]
    name = largest["holder"]
    if name == "allocation":
        many = f"{units.count(largest['count'])} allocations" if largest["count"] > 1 else "one allocation"
        known = largest["framework_op"] or largest["shape"] or largest["caller"]
        name = f"{many} ({known})" if known else many
    return f"{text}; {units.size(largest['bytes'])} of it is {name}."


def _notes(profile: ProfileData, selection: Selection, columns: Columns) -> tuple[str, ...]:
    notes = program_not_applied(selection)
    if not len(columns["start_ps"]):
        notes.append(why_empty(profile))
    elif (columns["stack_bytes"] > 0).any():
        notes.append("The stack is what running programs reserve for their temporaries; buffers() names those.")
    return tuple(notes)


def program_not_applied(selection: Selection) -> list[str]:
    """Say so where a program was asked for."""
    return not_applied(selection, ("program",), "allocator events do not say which program they are for")


def _known_gaps(profile: ProfileData) -> list[str]:
    """Return what releases that took part are known not to record of memory."""
    versions = environment(profile)["versions"]
    gaps = [gap for name in sorted({item.backend for item in profile.devices}) for gap in known_gaps(versions, name)]
    return [gap.text for gap in gaps if gap.question == "memory"]


def why_empty(profile: ProfileData) -> str:
    """Return why there is no allocator event, and what would give some."""
    if any(len(trace.allocations) for trace in profile.hosts):
        return "No allocator event lies in the chosen part of the profile; leave out filters to see the others."
    lacking = _known_gaps(profile)
    if lacking:
        return ". ".join((*lacking, "buffers() shows what each program was planned to use."))
    if any(device.backend == "cpu" for device in profile.devices):
        return (
            "XLA on a CPU reports no allocator events, so there is no memory over time: buffers() shows what each "
            "program was planned to use, and %%xprof_mem samples the arrays that a notebook cell holds."
        )
    return (
        "No allocator event was recorded: no memory was allocated or freed during the capture, or the profile was "
        "taken with host_tracer_level=0. Capture with host_tracer_level=2, and from before the first step; "
        "buffers() shows what each program was planned to use."
    )
