"""Who held the memory at a moment: the allocations that were alive, and what no allocation of the capture explains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis import live_arrays
from xprof_nb.analysis.allocator_events import Timeline, check_selection, chosen_timelines, device_of_allocator
from xprof_nb.analysis.selection import Selection, not_applied
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, coded, stacked, taken
from xprof_nb.model.profile import ProfileData

HELD_BEFORE, STACK, UNACCOUNTED = "held before the capture", "stack of running programs", "not accounted for"
DESCRIPTION = ["framework_op", "caller", "shape", "dtype", "region"]
COLUMNS = [
    "host",
    "device",
    "allocator",
    "at_ps",
    "holder",
    "bytes",
    "count",
    "total_fraction",
    *DESCRIPTION,
    "sharding",
]


def memory_holders(profile: ProfileData, selection: Selection, at_ps: float | None) -> Answer:
    """Return who held the memory of each allocator, the largest first; the rows of an allocator sum to its total.

    Parameters
    ----------
    at_ps
        When, on the timeline's clock; each allocator's own peak if None.

    Returns
    -------
    Answer
        ``host, device, allocator, at_ps, holder, bytes, count, total_fraction``, what the runtime knows of the
        allocations, and the sharding of sampled arrays. ``at_ps`` is when the allocator came into that state;
        ``holder`` is ``"allocation"``, ``"arrays"``, or a sum that nothing of the capture explains.

    Raises
    ------
    UsageError
        The selection names a host, device or step the profile does not have.
    """
    check_selection(profile, selection)
    tables = [
        as_frame(held).assign(
            host=timeline.trace.host,
            device=device_of_allocator(timeline.trace, name),
            allocator=name,
            at_ps=timeline.columns["start_ps"][row],
        )
        for timeline in chosen_timelines(profile, selection)
        for name, row in (peak_rows(timeline) if at_ps is None else rows_at(timeline, at_ps))
        if len((held := holders(timeline, row))["holder"])
    ]
    tables += live_arrays.holders(profile, selection, at_ps)
    frame = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    return Answer(frame.reindex(columns=COLUMNS), _summary(frame, at_ps), _notes(selection, frame, at_ps))


def holders_of_points(profile: ProfileData, selection: Selection, points: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return who held the memory just after some events of `memory`, each in its own allocator.

    Parameters
    ----------
    points
        ``host, allocator, start_ps`` of each.
    most
        How many holders of a point, the largest; the others are one row.

    Returns
    -------
    DataFrame
        As of `memory_holders`, with ``at_ps`` that of the point.
    """
    times_of = dict(iter(points.groupby(["host", "allocator"])["start_ps"]))
    found: list[Columns] = []
    for timeline in chosen_timelines(profile, selection):
        host = timeline.trace.host
        for code, name in enumerate(timeline.trace.allocations.allocators):
            times = times_of.get((host, name), np.array([]))
            place = {"host": host, "device": device_of_allocator(timeline.trace, name), "allocator": name}
            for row in _rows_of(timeline, code, np.asarray(times)):
                held = _largest(holders(timeline, row), most)
                count = len(held["holder"])
                texts = {column: np.full(count, text, object) for column, text in place.items()}
                found.append({**texts, "at_ps": np.full(count, timeline.columns["start_ps"][row]), **held})
    return as_frame(stacked(found)) if found else pd.DataFrame(columns=COLUMNS)


def _rows_of(timeline: Timeline, code: int, times: NDArray[Any]) -> list[int]:
    """Return the last chosen row of an allocator at each of some times at which it has one."""
    table = timeline.trace.allocations
    mine = timeline.chosen[table.allocator[timeline.chosen] == code]
    rows: list[int] = mine[np.searchsorted(table.start_ps[mine], np.unique(times), side="right") - 1].tolist()
    return rows


def _largest(held: Columns, most: int) -> Columns:
    """Return the largest holders, and the others as one; they still add up."""
    others = len(held["holder"]) - most
    if others < 2:
        return held
    rest: Columns = {
        name: values[most:].sum(keepdims=True) if values.dtype != np.object_ else np.array([None], object)
        for name, values in held.items()
    }
    rest["holder"] = np.array([f"{others} smaller ones"], object)
    return {name: np.concatenate([values[:most], rest[name]]) for name, values in held.items()}


def peak_rows(timeline: Timeline) -> list[tuple[str, int]]:
    """Return each allocator with the row at which the chosen time first sees its largest total."""
    totals = timeline.columns["total_bytes"][timeline.chosen]
    codes = timeline.trace.allocations.allocator[timeline.chosen]
    found = []
    for code, name in enumerate(timeline.trace.allocations.allocators):
        rows = np.flatnonzero((codes == code) & ~np.isnan(totals))
        if len(rows):
            found.append((name, int(timeline.chosen[rows[np.argmax(totals[rows])]])))
    return found


def rows_at(timeline: Timeline, at_ps: float) -> list[tuple[str, int]]:
    """Return each allocator with the last chosen row that is not after a time."""
    table = timeline.trace.allocations
    before = timeline.chosen[: np.searchsorted(table.start_ps[timeline.chosen], at_ps, side="right")]
    latest = {code: row for row, code in zip(before.tolist(), table.allocator[before].tolist(), strict=True)}
    return [(table.allocators[code], latest[code]) for code in sorted(latest)]


def holders(timeline: Timeline, row: int) -> Columns:
    """Return who held the memory of the row's allocator just after it, the largest first; sums to its total."""
    table, columns = timeline.trace.allocations, timeline.columns
    before = slice(0, row + 1)
    live = (table.allocator[before] == table.allocator[row]) & ~table.is_free[before]
    live &= timeline.end_row[before] > row
    rows = np.flatnonzero(live)
    size = np.nan_to_num(columns["bytes"][rows])
    described = {name: columns[name][rows] for name in DESCRIPTION}
    code = coded(size, *described.values())
    first, count = np.unique(code, return_index=True)[1], np.bincount(code)
    heap, stack = float(columns["heap_bytes"][row]), float(columns["stack_bytes"][row])
    rest = heap - float(size.sum())
    sums = {STACK: stack, HELD_BEFORE if rest > 0 else UNACCOUNTED: rest}
    others = {name: size for name, size in sums.items() if size}
    missing = [None] * len(others)
    held = np.append(size[first] * count, list(others.values()))
    order = np.argsort(-held, kind="stable")
    found: Columns = {
        "holder": np.array([*(["allocation"] * len(first)), *others, None], object)[:-1],
        "bytes": held,
        **{name: np.array([*values[first], *missing, None], object)[:-1] for name, values in described.items()},
        "count": np.append(count, np.ones(len(others), np.int64)),
        "total_fraction": held / ((heap + stack) or np.nan),
    }
    return taken(found, order)


def _summary(frame: pd.DataFrame, at_ps: float | None) -> dict[str, Any]:
    keys = ["host", "device", "allocator"]
    totals = [
        {"host": host, "device": device, "allocator": name, "at_ps": int(mine["at_ps"].iat[0]),
         "total_bytes": float(mine["bytes"].sum()), "holder_count": len(mine)}
        for (host, device, name), mine in frame.groupby(keys, sort=False, dropna=False)
    ]  # fmt: skip
    for total in totals:
        total["device"] = total["device"] if isinstance(total["device"], str) else None
    return {"at_ps": at_ps, "allocators": totals, "sentence": _sentence(totals, at_ps)}


def _sentence(totals: list[dict[str, Any]], at_ps: float | None) -> str:
    if not totals:
        return "Who held the memory is not known."
    when = "at the peak" if at_ps is None else f"{units.duration(at_ps)} into the timeline"
    most = max(totals, key=lambda total: total["total_bytes"])
    return f"{units.size(most['total_bytes'])} were held on {most['device'] or most['allocator']} {when}."


def _notes(selection: Selection, frame: pd.DataFrame, at_ps: float | None) -> tuple[str, ...]:
    notes = program_not_applied(selection)
    if not len(frame) and at_ps is not None:
        notes.append(
            f"Nothing was recorded of memory up to {units.duration(at_ps)}: ask for a later time; memory() says when "
            "the first event was."
        )
    elif not len(frame):
        notes.append("No allocator event was recorded, so nobody is known to hold memory; memory() says why.")
    return tuple(notes)


def program_not_applied(selection: Selection) -> list[str]:
    """Say so where a program was asked for."""
    return not_applied(selection, ("program",), "allocator events do not say which program they are for")
