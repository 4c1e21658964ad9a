"""What xprof's overview page says besides: shares of op counts, idle hosts, its top framework ops."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xprof_nb.analysis.ops import OpTable
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.xprof_framework_ops import framework_ops
from xprof_nb.model.profile import ProfileData

TOP = 10


def rows(profile: ProfileData, selection: Selection, table: OpTable) -> dict[str, tuple[float | None, str, str]]:
    """Return xprof's values under our names, as ``value, unit, definition``."""
    frame = framework_ops(profile, selection, table).frame
    host, device = (frame[frame["on"] == on] for on in ("Host", "Device"))
    counts = host["occurrences"].sum() + device["occurrences"].sum()
    idle = host.loc[host["type"] == "IDLE", "self_time_ps"].sum()
    total = host["self_time_ps"].sum()
    return {
        "device_op_count_fraction": (_share(device["occurrences"].sum(), counts), "fraction", "of executions of ops"),
        "host_op_count_fraction": (_share(host["occurrences"].sum(), counts), "fraction", "of executions of ops"),
        "host_idle_fraction": (_share(idle, total), "fraction", "time of threads between framework ops"),
    }


def top_ops(profile: ProfileData, selection: Selection, table: OpTable) -> list[dict[str, Any]]:
    """Return the framework ops xprof puts first; ``busy_fraction`` is of the time of all ops."""
    frame = framework_ops(profile, selection, table).frame
    top = frame[(frame["on"] == "Device") & (frame["type"] != "IDLE")].head(TOP)
    names = {"name": "op", "type": "category"}
    wanted = [
        "name",
        "type",
        "occurrences",
        "self_time_ps",
        "busy_fraction",
        "time_fraction",
        "flops_per_s",
        "bound_by",
    ]
    return [
        {str(name): (None if pd.isna(value) else value) for name, value in row.items()}
        for row in top[wanted].rename(columns=names).to_dict("records")
    ]


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None
