"""xprof's own memory profile: the same events by its rules, odd ones included.

Rules as in xprof 2.24 (`xplane_to_memory_profile`): events are in the order of their offset in the line; the peak is
the last one, in the order of the file, to reach the largest total; an event without a step gets the last step seen
plus one; the breakdown of the peak counts what was allocated and freed in the peak's step alone, and calls the rest
of the heap unused. What an event does not say is 0 or empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.allocator_events import Timeline, check_selection, chosen_timelines
from xprof_nb.analysis.memory import why_empty
from xprof_nb.analysis.memory_holders import program_not_applied
from xprof_nb.analysis.selection import Selection
from xprof_nb.model.allocations import Allocations
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.tensorflow import tensorflow_names

UNUSED, STACK = "unused preallocated device memory", "stack"
_DESCRIPTION = ["framework_op", "region", "dtype", "shape"]
_NUMBERS = ["requested_bytes", "bytes", "heap_bytes", "stack_bytes", "free_bytes", "lifetime_peak_bytes",
            "fragmentation_fraction"]  # fmt: skip
COLUMNS = ["host", "allocator", "start_ps", "kind", "step", *_NUMBERS, *_DESCRIPTION]


def memory(profile: ProfileData, selection: Selection) -> Answer:
    """Return xprof's snapshots, and in the summary its peak of each allocator and the breakdown of it."""
    check_selection(profile, selection)
    frames, allocators = [], []
    for timeline in chosen_timelines(profile, selection):
        snapshots = _snapshots(timeline)
        for name, events in snapshots.groupby("allocator", sort=True):
            mine = _described(events.reset_index(drop=True))
            frames.append(mine)
            allocators.append({"host": timeline.trace.host, "allocator": name, **_profile(mine)})
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    notes = [*program_not_applied(selection), "Numbers as xprof computes them."]
    if not len(frame):
        notes.append(why_empty(profile))
    return Answer(frame[COLUMNS], {"allocators": allocators}, tuple(notes))


def _snapshots(timeline: Timeline) -> pd.DataFrame:
    table: Allocations = timeline.trace.allocations
    numbers = [table.requested_bytes, table.allocation_bytes, table.heap_bytes, table.stack_bytes, table.free_bytes,
               table.lifetime_peak_bytes, table.fragmentation_fraction]  # fmt: skip
    columns = (table.framework_op, table.region, tensorflow_names(table.data_type), table.shape)
    described = dict(zip(_DESCRIPTION, columns, strict=True))
    frame = pd.DataFrame(
        {
            "host": timeline.trace.host,
            "allocator": np.array([*table.allocators, ""], object)[table.allocator],
            "start_ps": table.offset_ps,
            "kind": np.where(table.is_free, "free", "allocation"),
            **{name: np.nan_to_num(values) for name, values in zip(_NUMBERS, numbers, strict=True)},
            **{name: pd.Series(texts, dtype=object).fillna("") for name, texts in described.items()},
            "group": table.group,
            "order": table.order,
            "address": table.address,
            "is_free": table.is_free,
        }
    )
    return frame.iloc[timeline.chosen].sort_values(["start_ps", "order"], kind="stable")


def _described(snapshots: pd.DataFrame) -> pd.DataFrame:
    """Give events their step, and frees the description of the allocation that opened their address."""
    group = snapshots["group"]
    last_valid = group.where(group >= 0).ffill().shift(fill_value=-1).fillna(-1).astype(np.int64)
    frees_before = snapshots["is_free"].groupby(snapshots["address"]).cumsum() - snapshots["is_free"]
    opening = snapshots.index.to_series().where(~snapshots["is_free"])
    first = opening.groupby([snapshots["address"], frees_before]).transform("first")
    freed = (snapshots["is_free"] & first.notna()).to_numpy()
    described = snapshots.assign(step=group.where(group >= 0, last_valid + 1))
    for name in _DESCRIPTION:
        values = snapshots[name].to_numpy(object).copy()
        values[freed] = values[first[freed].astype(np.int64)]
        described[name] = pd.Series(values, dtype=object)
    return described


def _profile(snapshots: pd.DataFrame) -> dict[str, Any]:
    total = snapshots["heap_bytes"] + snapshots["stack_bytes"]
    at_largest = snapshots[total == total.max()]
    peak = at_largest.loc[at_largest["order"].idxmax()]
    return {
        "peak_bytes": float(total.max()),
        "peak_ps": int(peak["start_ps"]),
        "peak_heap_bytes": float(peak["heap_bytes"]),
        "peak_stack_bytes": float(peak["stack_bytes"]),
        "peak_free_bytes": float(peak["free_bytes"]),
        "capacity_bytes": float(total.max() + peak["free_bytes"]),
        "fragmentation_fraction": float(peak["fragmentation_fraction"]),
        "lifetime_peak_bytes": float(snapshots.loc[snapshots["order"].idxmax(), "lifetime_peak_bytes"]),
        "held": _breakdown(snapshots, peak, int(at_largest["step"].iloc[-1])),
    }


def _breakdown(snapshots: pd.DataFrame, peak: pd.Series[Any], step: int) -> list[dict[str, Any]]:
    """Return the rows of xprof's table of the peak: allocations of its step still open, the unexplained, the stack."""
    counted = snapshots[(snapshots["start_ps"] <= peak["start_ps"]) & (snapshots["step"] == step)]
    of_address = counted.groupby("address")
    was_open = ~of_address["is_free"].shift(fill_value=True).astype(bool)
    is_free = counted["is_free"]
    unmatched = float(counted["bytes"][is_free & ~was_open].sum())
    changed = counted["bytes"].where(~is_free, -counted["bytes"])
    unexplained = float(peak["heap_bytes"]) - float(changed.sum()) - unmatched
    still_open = counted[~is_free & _is_last(counted["address"])]
    rows = [still_open[["bytes", "requested_bytes", *_DESCRIPTION]]]
    sums = {UNUSED: (unexplained, "persist/dynamic"), STACK: (float(peak["stack_bytes"]), "stack")}
    for name, (size, region) in sums.items():
        if size > 0:
            special = {"bytes": size, "requested_bytes": size, "framework_op": name, "region": region}
            rows.append(pd.DataFrame([{**special, "dtype": "INVALID", "shape": "unknown"}]))
    held = pd.concat(rows, ignore_index=True)
    names = ["bytes", "requested_bytes", *_DESCRIPTION]
    merged = held.groupby(names, sort=False).size().rename("count").reset_index()
    merged = merged.sort_values(names, ascending=[False, False, True, True, True, True], ignore_index=True)
    return [
        {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
        for row in merged.to_dict("records")
    ]


def _is_last(values: pd.Series[Any]) -> NDArray[np.bool_]:
    return ~values.duplicated(keep="last").to_numpy()
