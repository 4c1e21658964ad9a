"""What each step took and did: FLOPs and bytes summed over its ops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.device_clock import lengths_by_device
from xprof_nb.analysis.link_traffic import link_bytes
from xprof_nb.analysis.ops import COSTS, costs_of_keys
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.analysis.step_spans import step_spans, steps_of_ops
from xprof_nb.model.columns import Columns, stacked, taken
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

_SUMMED = [*COSTS, "compute_ps", "link_bytes"]


def step_costs(profile: ProfileData, selection: Selection, peaks: Peaks) -> Columns:
    """Return one row per whole step: ``step, name, time_ps, busy_ps``, the costs and ``compute_ps``.

    ``time_ps`` is the step's time summed over the chosen devices, as all device times are; partial steps are left out.
    A cost that no op of the step knows is NaN.
    """
    parts = [_of_host(part, _costs_of_keys(profile, part.trace, peaks)) for part in chosen_parts(profile, selection)]
    return _joined(parts, ["time_ps", "busy_ps", *_SUMMED])


def step_times_and_busy(profile: ProfileData, selection: Selection) -> Columns:
    """Return the same rows with ``step, name, time_ps, busy_ps`` alone."""
    return _joined([_of_host(part, {}) for part in chosen_parts(profile, selection)], ["time_ps", "busy_ps"])


def _joined(parts: list[Columns], numbers: list[str]) -> Columns:
    """Return the steps of all hosts by number, those in which an op ran."""
    table = stacked(parts)
    step, first, row = np.unique(table["step"], return_index=True, return_inverse=True)
    columns: Columns = {"step": step, "name": table["name"][first]}
    for name in numbers:
        known = ~np.isnan(table[name])
        total = np.bincount(row[known], table[name][known], minlength=len(step))
        columns[name] = np.where(np.bincount(row[known], minlength=len(step)) > 0, total, np.nan)
    return taken(columns, columns["busy_ps"] > 0)


def _of_host(part: HostPart, costs: Mapping[str, NDArray[np.float64]]) -> Columns:
    trace, ops = part.trace, part.trace.ops
    spans = step_spans(trace)
    row = steps_of_ops(trace)[part.rows]
    inside = row >= 0
    row, rows = row[inside], part.rows[inside]
    count = len(spans["step"])
    busy_ps = np.bincount(row, ops.self_ps[rows], minlength=count).astype(np.float64)
    sums: dict[str, NDArray[np.float64]] = {"busy_ps": busy_ps}
    if costs:
        step, key, times = _counted(row, ops.key[rows], ops.occurrences[rows], len(trace.keys))
    for name, cost in costs.items():
        each = cost[key]
        total = np.bincount(step, np.nan_to_num(each) * times, minlength=count)
        known = np.bincount(step, np.isfinite(each), minlength=count) > 0
        sums[name] = np.where(known, total, np.nan)
    time_ps = lengths_by_device(trace)[1].astype(np.float64)
    columns = {"step": spans["step"], "name": spans["name"], "time_ps": time_ps, **sums}
    return taken(columns, np.isin(spans["device_row"], part.devices) & ~spans["is_partial"])


def _counted(
    step: NDArray[np.int64], key: NDArray[np.int32], times: NDArray[np.int64], key_count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return each pair of step and op that occurs, and how often it ran: costs are a matter of pairs, not of events."""
    pair, at = np.unique(step * max(key_count, 1) + key, return_inverse=True)
    counts = np.bincount(at, times, minlength=len(pair)).astype(np.float64)
    return pair // max(key_count, 1), pair % max(key_count, 1), counts


def _costs_of_keys(profile: ProfileData, trace: HostTrace, peaks: Peaks) -> dict[str, NDArray[np.float64]]:
    columns = costs_of_keys(profile, trace, peaks)
    columns["link_bytes"] = link_bytes(profile, trace)
    return {name: columns[name] for name in _SUMMED}
