"""The most memory a run needed: recorded by allocators, sampled of live arrays, or planned by the compiler."""

from __future__ import annotations

from dataclasses import dataclass

from xprof_nb.analysis import live_arrays
from xprof_nb.analysis.allocator_events import chosen_timelines
from xprof_nb.analysis.buffers import memory_capacity_bytes
from xprof_nb.analysis.memory import why_empty
from xprof_nb.analysis.memory_holders import peak_rows
from xprof_nb.analysis.memory_plan import largest_plan, planned_programs
from xprof_nb.analysis.programs import matching_programs
from xprof_nb.analysis.selection import Selection
from xprof_nb.model.columns import number
from xprof_nb.model.profile import ProfileData

RECORDED, SAMPLED, PLANNED = "recorded", "sampled", "planned"
_MEANS = {
    RECORDED: "the most that one device's allocator held at once during the capture",
    SAMPLED: "the most that the arrays Python held took, of the samples during the capture",
}
_MAIN_MEMORY = 0


@dataclass(frozen=True)
class PeakMemory:
    """The peak of one device's memory.

    Attributes
    ----------
    peak_bytes, capacity_bytes
        None if unknown.
    source
        How it is known: `RECORDED`, `SAMPLED` or `PLANNED`; None if it is not.
    of
        The device, or the host's allocator, that held it; the program it is planned for.
    definition
        What the number means, or why there is none.
    """

    peak_bytes: float | None
    capacity_bytes: float | None
    source: str | None
    of: str | None
    definition: str


def peak_memory(profile: ProfileData, selection: Selection) -> PeakMemory:
    """Return the largest peak: of what allocators recorded, else of sampled arrays, else of the largest plan."""
    observed = [*_recorded(profile, selection), *_sampled(profile, selection)]
    if observed:
        return max(observed, key=lambda peak: peak.peak_bytes or 0.0)
    why = why_empty(profile)
    programs = planned_programs(profile, matching_programs(profile, selection.program), _MAIN_MEMORY)
    if not programs:
        return PeakMemory(None, None, None, None, why)
    plan = largest_plan(profile, programs, _MAIN_MEMORY)
    name, capacity = plan.program.name, memory_capacity_bytes(profile, _MAIN_MEMORY)
    means = f"what the compiler planned for {name}, the program that needs most. {why}"
    return PeakMemory(float(plan.peak_bytes), None if capacity is None else float(capacity), PLANNED, name, means)


def _recorded(profile: ProfileData, selection: Selection) -> list[PeakMemory]:
    return [
        PeakMemory(
            float(columns["total_bytes"][row]),
            number(columns["capacity_bytes"][row]),
            RECORDED,
            columns["device"][row] or allocator,
            _MEANS[RECORDED],
        )
        for timeline in chosen_timelines(profile, selection)
        for columns in [timeline.columns]
        for allocator, row in peak_rows(timeline)
    ]


def _sampled(profile: ProfileData, selection: Selection) -> list[PeakMemory]:
    return [
        PeakMemory(peak["peak_bytes"], None, SAMPLED, peak["device"], _MEANS[SAMPLED])
        for peak in live_arrays.peaks(profile, selection)
    ]
