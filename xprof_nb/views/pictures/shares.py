"""Shares on paper: bars of the largest ops and kernels, of where the time of steps went, of what moved data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from xprof_nb.model import units
from xprof_nb.views.pictures.svg import KINDS, Bar, Picture, bars

MOST_BARS = 10
_PARTS = {
    "compute": "matrix",
    "collective": "collective",
    "device_copy": "data",
    "idle": "idle",
}


def overview(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:  # noqa: ARG001
    """Return the utilisations, and the ops that took most."""
    used = [
        ("device busy", summary.get("device_busy_fraction"), "matrix"),
        ("of the FLOP/s peak", summary.get("flops_utilization"), "matrix"),
        ("of memory bandwidth", summary.get("hbm_utilization"), "data"),
    ]
    rows = [
        Bar(name, units.utilization(value), ((value, KINDS[kind]),)) for name, value, kind in used if value is not None
    ]
    top = [one for one in summary.get("top_ops", ()) if one.get("busy_fraction") is not None]
    rows += [
        Bar(
            str(one["op"]),
            f"{units.percent(one['busy_fraction'])}, {units.duration(one['self_time_ps'])}",
            ((one["busy_fraction"], KINDS.get(one.get("work_kind") or "", KINDS["control"])),),
        )
        for one in top
    ]
    return bars("How well the device is used, and the ops with the most of its busy time", rows) if rows else None


def kernels(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:  # noqa: ARG001
    """Return the kernels that took most, all their launches together."""
    if frame.empty or not {"kernel", "time_ps", "work_kind"} <= set(frame):
        return None
    sums = frame.groupby("kernel", sort=False).agg(time_ps=("time_ps", "sum"), kind=("work_kind", "first"))
    top = sums.nlargest(MOST_BARS, "time_ps")
    longest = float(top["time_ps"].max()) if len(top) else 0.0
    if not longest > 0:
        return None
    rows = [
        Bar(
            str(row.Index),
            units.duration(row.time_ps),
            ((row.time_ps / longest, KINDS.get(str(row.kind), KINDS["control"])),),
        )
        for row in top.itertuples()
    ]
    return bars("Kernels and copies with the most time", rows)


def input_pipeline(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:  # noqa: ARG001
    """Return where the time of the steps went, all of them together."""
    fractions = {name: value for name, value in (summary.get("fractions") or {}).items() if value}
    rows = [
        Bar(name.replace("_", " "), units.percent(value), ((value, KINDS[_PARTS.get(name, "host")]),))
        for name, value in sorted(fractions.items(), key=lambda item: -item[1])
    ]
    return bars("Where the time of the steps went", rows) if rows else None


def collectives(frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:  # noqa: ARG001
    """Return the time in which each kind moved data, hidden and exposed."""
    kinds = [kind for kind in summary.get("by_kind", ()) if kind.get("time_ps")]
    longest = max((float(kind["time_ps"]) for kind in kinds), default=0.0)
    rows = []
    for kind in kinds:
        exposed = min(kind.get("exposed_time_ps") or 0.0, kind["time_ps"])
        link = f", {units.utilization(kind['link_utilization'])} of link" if kind.get("link_utilization") else ""
        rows.append(
            Bar(
                str(kind["kind"]),
                f"{units.duration(exposed)} of {units.duration(kind['time_ps'])}{link}",
                (
                    (exposed / longest, KINDS["collective"]),
                    ((kind["time_ps"] - exposed) / longest, KINDS["idle"]),
                ),
            )
        )
    legend = [(KINDS["collective"], "exposed"), (KINDS["idle"], "hidden by computing")]
    return bars("What moved data, by kind", rows, legend) if rows else None
