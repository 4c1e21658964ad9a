"""Bytes on paper: memory over time and over program order, with the capacity and the peak; and the length of steps."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pandas as pd

from xprof_nb.model import units
from xprof_nb.model.thinning import largest_of_stretches
from xprof_nb.views.pictures.svg import INK, KINDS, Axis, Picture, Plot

MOST_POINTS = 160
MOST_STEPS = 120
_NEAR = 0.25
"""From this share of the capacity on it is drawn too: below, the curve would lie on the floor."""


def memory(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:
    """Return heap and stack of the allocator with the highest peak, over the time of the capture."""
    allocators = [one for one in summary.get("allocators", ()) if one.get("peak_bytes")]
    if not allocators or "heap_bytes" not in frame:
        return None
    fullest = max(allocators, key=lambda one: float(one["peak_bytes"]))
    mine = frame[
        (frame["host"] == fullest["host"])
        & (frame["allocator"] == fullest["allocator"])
        & (frame["device"].isna() if fullest["device"] is None else frame["device"] == fullest["device"])
    ].sort_values("start_ps", kind="stable")
    if mine.empty:
        return None
    rows = mine[["start_ps", "heap_bytes", "stack_bytes"]].fillna(0.0)
    rows["live"] = rows["heap_bytes"] + rows["stack_bytes"]
    kept = largest_of_stretches(rows.to_dict("records"), "live", MOST_POINTS)
    times = [float(row["start_ps"]) for row in kept]
    heap, live = [float(row["heap_bytes"]) for row in kept], [float(row["live"]) for row in kept]
    peak, capacity = float(fullest["peak_bytes"]), fullest.get("capacity_bytes")
    top, is_near = _top(peak, capacity)
    plot = Plot(
        Axis(times[0], max(times[-1], times[0] + 1), "time into the capture", units.duration),
        Axis(0, top, "bytes", units.size, base=1024),
    )
    xs, lows, highs = _stairs(times, heap, live)
    plot.area(xs, [0.0] * len(xs), lows, KINDS["matrix"])
    plot.area(xs, lows, highs, KINDS["elementwise"])
    _capacity(plot, (times[0], times[-1]), capacity, is_near)
    if fullest.get("peak_ps") is not None:
        plot.dot(float(fullest["peak_ps"]), peak, 4, INK)
        plot.say(float(fullest["peak_ps"]), peak, f"peak {units.size(peak)}")
    where = fullest["device"] or fullest["allocator"]
    return plot.drawn(
        f"Memory of {where} over time: peak {units.size(peak)}" + _of(capacity),
        [(KINDS["matrix"], "heap"), (KINDS["elementwise"], "stack of programs")],
    )


def buffers(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:  # noqa: ARG001
    """Return the live bytes of a program over its order."""
    curve = largest_of_stretches(summary.get("curve", []), "live_bytes", MOST_POINTS)
    if not curve:
        return None
    places = [float(row["position"]) for row in curve]
    live = [float(row["live_bytes"]) for row in curve]
    end = float(max(summary.get("position_count") or 0, places[-1] + 1))
    peak, capacity = float(summary["peak_bytes"]), summary.get("capacity_bytes")
    top, is_near = _top(peak, capacity)
    plot = Plot(
        Axis(0, end, "position in the program", lambda at: units.count(round(at))),
        Axis(0, top, "live bytes", units.size, base=1024),
    )
    xs, _, highs = _stairs([*places, end], [*live, live[-1]], [*live, live[-1]])
    plot.area(xs, [0.0] * len(xs), highs, KINDS["elementwise"])
    _capacity(plot, (0, end), capacity, is_near)
    plot.dot(float(summary["peak_position"]), peak, 4, INK)
    plot.say(float(summary["peak_position"]), peak, f"peak {units.size(peak)} at {summary['peak_op']}")
    return plot.drawn(f"Live bytes of {summary['program']} in {summary['memory']}: peak {units.size(peak)}")


def steps(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:  # noqa: ARG001
    """Return the steps as bars of busy and idle time, means of their devices."""
    if frame.empty or "busy_time_ps" not in frame:
        return None
    means = frame.groupby("step", sort=True)[["step_time_ps", "busy_time_ps", "duration_ps"]].mean().reset_index()
    means["length"] = means["step_time_ps"].fillna(means["duration_ps"])
    shown = largest_of_stretches(means.to_dict("records"), "length", MOST_STEPS)
    longest = max(float(row["length"]) for row in shown)
    if not longest > 0:
        return None
    plot = Plot(
        Axis(0, len(shown), "step", lambda at: _step(shown, at)), Axis(0, longest * 1.05, "time", units.duration)
    )
    for at, row in enumerate(shown):
        busy = min(float(row["busy_time_ps"]), float(row["length"]))
        plot.bar(at + 0.1, at + 0.9, 0, busy, KINDS["matrix"])
        plot.bar(at + 0.1, at + 0.9, busy, float(row["length"]), KINDS["idle"])
    thinned = f", the longest of each stretch of {len(means)}" if len(shown) < len(means) else ""
    return plot.drawn(f"Length of each step{thinned}", [(KINDS["matrix"], "device busy"), (KINDS["idle"], "idle")])


def _step(shown: list[dict[str, Any]], at: float) -> str:
    return units.count(shown[int(at)]["step"]) if at == int(at) and int(at) < len(shown) else ""


def _stairs(xs: list[float], lows: list[float], highs: list[float]) -> tuple[list[float], list[float], list[float]]:
    """Return curves that keep each value until the next."""
    at = [x for pair in pairwise(xs) for x in pair] or xs
    low = [value for value in lows[:-1] for _ in range(2)] or lows
    high = [value for value in highs[:-1] for _ in range(2)] or highs
    return at, low, high


def _top(peak: float, capacity: float | None) -> tuple[float, bool]:
    is_near = capacity is not None and peak >= _NEAR * capacity
    return (max(peak, float(capacity)) if capacity is not None and is_near else peak) * 1.12 or 1.0, is_near


def _capacity(plot: Plot, ends: tuple[float, float], capacity: float | None, is_near: bool) -> None:
    if capacity is not None and is_near:
        plot.line([(end, float(capacity)) for end in ends], dash="6 4")
        plot.say(ends[1], float(capacity), f"capacity {units.size(capacity)}", "end")


def _of(capacity: float | None) -> str:
    return "" if capacity is None else f" of {units.size(capacity)}"
