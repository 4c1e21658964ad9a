"""The roofline on paper: roofs, ridges and the points of ops, coloured by what bounds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.model import units
from xprof_nb.views.pictures.svg import INK, KINDS, Axis, Picture, Plot

MOST_POINTS = 150
_BOUNDS = {
    "compute": ("matrix", "compute"),
    "hbm": ("data", "HBM"),
    "link": ("collective", "links"),
    "host": ("host", "host"),
    "latency": ("control", "latency"),
}
_ON_CHIP = ("elementwise", "on-chip memory")


def picture(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:
    """Return it, None where no row has FLOPs and traffic."""
    if "hbm_arithmetic_intensity" not in frame:
        return None
    column = "hbm_arithmetic_intensity" if (frame["hbm_arithmetic_intensity"] > 0).any() else "arithmetic_intensity"
    placed = frame[(frame[column] > 0) & (frame["flops_per_s"] > 0)]
    if placed.empty:
        return None
    ops = placed[placed["level"] == "op"].nlargest(MOST_POINTS, "time_ps")
    roofs = summary.get("roofs", [])
    memory = next((roof["value"] for roof in roofs if roof["name"] == "hbm"), None)
    compute = _highest(roofs)
    xs = [*placed[column], *([roof["value"] / memory for roof in compute] if memory else [])]
    ys = [*placed["flops_per_s"], *(roof["value"] for roof in compute)]
    x = Axis(min(xs) / 2, max(xs) * 3, "arithmetic intensity, FLOP/B", units.significant, is_log=True)
    y = Axis(min(ys) / 2, max(ys) * 2, "FLOP/s", units.flops_per_s, is_log=True)
    plot = Plot(x, y)
    for roof in compute:
        start = roof["value"] / memory if memory else x.low
        plot.line([(start, roof["value"]), (x.high, roof["value"])])
        ridge = f", ridge {units.significant(start)} FLOP/B" if memory else ""
        peak = f"{roof['name']} {units.flops_per_s(roof['value'])} ({roof['label']}){ridge}"
        plot.say(x.high, roof["value"], peak, "end")
    if memory:
        end = compute[0]["value"] if compute else y.high
        left = max(x.low, y.low / memory)
        plot.line([(left, left * memory), (end / memory, end)])
        plot.say(left, left * memory, f"HBM {units.bytes_per_s(memory)}", down_px=16)
    longest = float(ops["time_ps"].max()) if len(ops) else 1.0
    for row in ops.itertuples():
        colour, edge = _colour(row.bound_by), INK if row.bound_by is None else "#ffffff"
        radius = max(3.0, 14 * float(np.sqrt(row.time_ps / longest)))
        plot.dot(getattr(row, column), row.flops_per_s, radius, colour, edge)
    for row in placed[placed["level"] == "program"].itertuples():
        plot.diamond(getattr(row, column), row.flops_per_s, 7)
    found = dict.fromkeys(_class(bound) for bound in ops["bound_by"] if bound is not None)
    legend = [(KINDS[kind], f"bound by {words}") for kind, words in found if words]
    return plot.drawn("Roofline: points are ops, their area is time; the diamond is the whole profile", legend)


def _highest(roofs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the compute roofs from the highest, as far apart as their labels need."""
    kept: list[dict[str, Any]] = []
    for roof in sorted((one for one in roofs if one["kind"] == "compute"), key=lambda one: -one["value"]):
        if not kept or kept[-1]["value"] / roof["value"] > 3:
            kept.append(roof)
    return kept


def _class(bound: str | None) -> tuple[str, str]:
    known = _BOUNDS.get(str(bound))
    return known or (_ON_CHIP if str(bound)[:4] in {"vmem", "cmem"} else ("idle", ""))


def _colour(bound: str | None) -> str:
    return KINDS[_class(bound)[0]]
