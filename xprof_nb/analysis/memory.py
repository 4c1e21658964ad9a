"""Who held the memory, and when was it fullest? The allocators' own record: every allocation, every free.

xprof's memory profile differs, see `xprof_nb.analysis.xprof.memory`: it looks for the peak in the order of threads
instead of time, forgets what an earlier step allocated, and calls the rest unused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xprof_nb.analysis import live_arrays
from xprof_nb.analysis.allocator_events import Timeline, check_selection, chosen_timelines
from xprof_nb.analysis.environment import environment
from xprof_nb.analysis.memory_holders import DESCRIPTION, holders, peak_rows, program_not_applied
from xprof_nb.analysis.selection import Selection
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, number, stacked, taken
from xprof_nb.model.known_gaps import known_gaps
from xprof_nb.model.profile import ProfileData

_MOST_HOLDERS = 30


def memory(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return every allocation and free in time order; the summary says the peak of each allocator and who held it.

    ``heap_bytes`` is what is allocated, ``stack_bytes`` what running programs have reserved, ``total_bytes`` both,
    ``capacity_bytes`` that and what is free. A free carries what its allocation was for. Where a runtime reports
    nothing, the rows are samples of the arrays that Python held, if the capture took some.

    Raises
    ------
    UsageError
        The selection names a host, device or step the profile does not have.
    """
    if like_xprof:
        from xprof_nb.analysis.xprof import memory as xprof_memory  # noqa: PLC0415  (it needs this module)

        return xprof_memory.memory(profile, selection)
    check_selection(profile, selection)
    timelines = chosen_timelines(profile, selection)
    parts = [taken(timeline.columns, timeline.chosen) for timeline in timelines]
    parts += live_arrays.rows(profile, selection)
    columns = stacked(parts)
    if len(parts) > 1:
        columns = taken(columns, np.argsort(columns["start_ps"], kind="stable"))
    allocators = [peak for timeline in timelines for peak in _peaks(timeline)]
    allocators += live_arrays.peaks(profile, selection)
    return Answer(as_frame(columns), _summary(allocators), _notes(profile, selection, columns))


def _peaks(timeline: Timeline) -> list[dict[str, Any]]:
    """Return the headline values of each allocator of a host."""
    table = timeline.trace.allocations
    codes = table.allocator[timeline.chosen]
    found = []
    for name, row in peak_rows(timeline):
        mine = timeline.chosen[codes == table.allocators.index(name)]
        at_peak = {column: values[row] for column, values in timeline.columns.items()}
        lifetime = table.lifetime_peak_bytes[mine]
        capacity = number(at_peak["capacity_bytes"])
        held = holders(timeline, row)
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
                "holder_count": len(held["holder"]),
                "held": _bounded(held),
            }
        )
    return found


def _bounded(held: Columns) -> list[dict[str, Any]]:
    """Return the largest held, and the rest as one; they still add up."""
    names = ["holder", "bytes", "count", *DESCRIPTION]
    rows = zip(*(held[name][:_MOST_HOLDERS].tolist() for name in names), strict=True)
    shown = [dict(zip(names, row, strict=True)) for row in rows]
    rest = {name: held[name][_MOST_HOLDERS:] for name in ("bytes", "count")}
    if len(rest["count"]):
        sums = {"bytes": float(rest["bytes"].sum()), "count": int(rest["count"].sum())}
        left = f"{units.count(len(rest['count']))} smaller ones"
        shown.append({"holder": left, **sums, **dict.fromkeys(DESCRIPTION)})
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
    what = " of live arrays (sampled)" if peak["allocator"] == live_arrays.ALLOCATOR else ""
    text = f"Peak {units.size(peak['peak_bytes'])}{of if peak['capacity_fraction'] else what} on {where}, "
    text += f"{units.duration(peak['peak_ps'])} into the capture"
    if not peak["held"]:
        return text + "."
    largest = peak["held"][0]
    name = largest["holder"]
    if name == "allocation":
        many = f"{units.count(largest['count'])} allocations" if largest["count"] > 1 else "one allocation"
        known = largest["framework_op"] or largest["shape"] or largest["caller"]
        name = f"{many} ({known})" if known else many
    elif name == live_arrays.HOLDER:
        name = f"{units.counted(largest['count'], 'array')} ({largest['dtype']}{largest['shape']})"
    return f"{text}; {units.size(largest['bytes'])} of it is {name}."


def _notes(profile: ProfileData, selection: Selection, columns: Columns) -> tuple[str, ...]:
    notes = program_not_applied(selection)
    if not len(columns["start_ps"]) and any(len(trace.live_arrays) for trace in profile.hosts):
        notes.append("No sample of live arrays lies in the chosen part of the profile; leave out filters.")
    elif not len(columns["start_ps"]):
        notes.append(why_empty(profile))
    elif (columns["stack_bytes"] > 0).any():
        notes.append("The stack is what running programs reserve for their temporaries; buffers() names those.")
    return (*notes, *live_arrays.notes(profile, selection))


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
            "XLA on a CPU reports no allocator events, so there is no memory over time: a capture with xprof_nb "
            "samples the arrays that Python holds meanwhile, as %%xprof_mem does for a notebook cell, and buffers() "
            "shows what each program was planned to use."
        )
    return (
        "No allocator event was recorded: no memory was allocated or freed during the capture, or the profile was "
        "taken with host_tracer_level=0. Capture with host_tracer_level=2, and from before the first step; "
        "buffers() shows what each program was planned to use."
    )
