"""How the time of each row of the op profile is divided over the devices, and what share of a step it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.op_nodes import Shown
from xprof_nb.analysis.op_profile import op_profile
from xprof_nb.analysis.ops import ops
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.analysis.step_spans import steps_of_ops
from xprof_nb.analysis.steps import chosen_steps, measured
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, number, stacked, words
from xprof_nb.model.grouping import By
from xprof_nb.model.profile import ProfileData

Floats = NDArray[np.float64]

COLUMNS = [
    *("key", "program_id", "op", "time_per_step_ps", "step_fraction", "device_min_time_ps", "device_mean_time_ps"),
    *("device_max_time_ps", "device_imbalance_fraction", "slowest_device"),
]
_NO_STEPS = "No share of a step: no step was marked and no program ran twice."


def op_spread(profile: ProfileData, by: By, selection: Selection) -> Answer:
    """Return one row per node of the op profile that took time, in its order.

    ``device_*_time_ps`` are over the chosen devices, of the self time on each, 0 where the node did not run; missing
    when there is one device. ``device_imbalance_fraction`` is ``max / mean - 1``. ``time_per_step_ps`` is the self time
    in whole steps per step and device, ``step_fraction`` its share of the mean time of those steps, from start to
    start where several follow each other.
    """
    nodes = op_profile(profile, by, selection, Shown(), like_xprof=False).frame
    parts = chosen_parts(profile, selection)
    devices = [(part.trace.host, part.trace.devices[row].name) for part in parts for row in part.devices]
    on_devices = _by_device(nodes, ops(profile, selection).frame, devices)
    in_steps, steps = _in_steps(nodes, parts, selection)
    step_count, step_ps = _count(steps), _mean_step_ps(steps)
    per_step = in_steps / (step_count or np.nan)
    frame = nodes[["key", "program_id", "op"]].assign(
        time_per_step_ps=per_step, step_fraction=per_step / step_ps, **_over_devices(on_devices, devices)
    )
    frame = frame[(nodes["self_time_ps"] > 0) & (nodes["kind"] != "idle")].reset_index(drop=True)
    summary = {
        "by": by,
        "device_count": len(devices),
        "step_count": step_count,
        "step_time_mean_ps": number(step_ps),
        "sentence": _sentence(frame, len(devices)),
    }
    said = [*profile.all_notes, *([] if step_count else [_NO_STEPS])]
    if not len(frame):
        said.append("No op ran in the chosen part of the profile.")
    return Answer(frame[COLUMNS], summary, tuple(said))


def _by_device(nodes: pd.DataFrame, table: pd.DataFrame, devices: list[tuple[str, str]]) -> Floats:
    """Return the self time below each node on each device."""
    column = {device: at for at, device in enumerate(devices)}
    at = np.array([column[device] for device in zip(table["host"], table["device"], strict=True)], np.int64)
    node = _node_of(nodes, table["program_id"], table["op"])
    times = np.zeros((len(nodes), len(devices)))
    known = node >= 0
    np.add.at(times, (node[known], at[known]), table["self_time_ps"].to_numpy(np.float64)[known])
    return _upwards(nodes, times)


def _in_steps(nodes: pd.DataFrame, parts: list[HostPart], selection: Selection) -> tuple[Floats, Columns]:
    """Return the self time below each node in whole steps, and those steps."""
    times, counted = np.zeros((len(nodes), 1)), []
    for part in parts:
        trace = part.trace
        steps = measured(chosen_steps(trace, selection))
        rows = part.rows[np.isin(steps_of_ops(trace)[part.rows], steps["row"])]
        spent = np.bincount(trace.ops.key[rows], trace.ops.self_ps[rows], minlength=len(trace.keys.op))
        node = _node_of(nodes, trace.keys.program_id, trace.keys.op)
        np.add.at(times[:, 0], node[node >= 0], spent[node >= 0])
        counted.append({name: steps[name].astype(np.float64) for name in ("step_time_ps", "duration_ps")})
    return _upwards(nodes, times)[:, 0], stacked(counted)


def _node_of(nodes: pd.DataFrame, program_id: Iterable[Any], op: Iterable[Any]) -> NDArray[np.int64]:
    """Return the row of the node of each op, -1 where it has none."""
    own = nodes[nodes["kind"] == "op"]
    row_of = {(number, name): row for row, number, name in zip(own.index, own["program_id"], own["op"], strict=True)}
    return np.array(
        [row_of.get((str(number), name), -1) for number, name in zip(program_id, op, strict=True)], np.int64
    )


def _upwards(nodes: pd.DataFrame, values: Floats) -> Floats:
    """Add the values of every node to those of the nodes above it."""
    depth, parent = nodes["depth"].to_numpy(), nodes["parent"].to_numpy()
    for level in range(int(depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero(depth == level)
        np.add.at(values, parent[rows], values[rows])
    return values


def _over_devices(times: Floats, devices: list[tuple[str, str]]) -> dict[str, Any]:
    if len(devices) < 2:
        times = np.full((len(times), 1), np.nan)
    longest, mean = times.max(axis=1), times.mean(axis=1)
    several = len({host for host, _ in devices}) > 1
    labels = [f"{host} {device}" if several else device for host, device in devices]
    slowest = np.argmax(times, axis=1)
    return {
        "device_min_time_ps": times.min(axis=1),
        "device_mean_time_ps": mean,
        "device_max_time_ps": longest,
        "device_imbalance_fraction": longest / np.where(mean > 0, mean, np.nan) - 1,
        "slowest_device": words(labels[at] if value > 0 else None for at, value in zip(slowest, longest, strict=True)),
    }


def _mean_step_ps(steps: Columns) -> float:
    """Return the mean from start to start, else that of the steps alone; NaN without steps."""
    if not _count(steps):
        return np.nan
    to_next = steps["step_time_ps"][~np.isnan(steps["step_time_ps"])]
    return float(np.mean(to_next if len(to_next) else steps["duration_ps"]))


def _count(steps: Columns) -> int:
    return len(steps.get("duration_ps", ()))


def _sentence(frame: pd.DataFrame, device_count: int) -> str:
    excess_ps = (frame["device_max_time_ps"] - frame["device_mean_time_ps"]).where(frame["op"].notna())
    if device_count < 2 or not excess_ps.notna().any():
        return "One device: nothing to compare." if device_count == 1 else "No op ran."
    row = frame.loc[excess_ps.idxmax()]
    return (
        f"Most uneven: {row['op']}, {units.duration(row['device_max_time_ps'])} on {row['slowest_device']}, "
        f"{units.duration(row['device_mean_time_ps'])} on average of {device_count} devices."
    )
