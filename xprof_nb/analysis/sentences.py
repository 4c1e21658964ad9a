"""One sentence made from the numbers: what a view says first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from xprof_nb.model import units
from xprof_nb.model.columns import summed_by

_KINDS = {
    "matrix": "matrix work",
    "elementwise": "elementwise work",
    "data": "data movement",
    "collective": "collectives",
    "custom": "custom kernels",
    "host": "waiting for the host",
    "control": "control flow and other ops",
}
_SEVERAL = frozenset({"collectives", "custom kernels", "control flow and other ops"})
BOUND_FRACTION = 0.3
_BOUND = {
    "compute": "compute-bound",
    "memory": "memory-bound",
    "link": "bound by the link",
    "host": "waiting for the host",
}


def op_profile_sentence(frame: pd.DataFrame, summary: Mapping[str, Any]) -> str:
    """Return how busy the devices were, on what, and the largest op with its bound.

    Parameters
    ----------
    frame
        Nodes of the op profile with rates.
    """
    ops = frame[frame["kind"] == "op"]
    if not len(ops) or not summary["total_time_ps"]:
        return "No op was recorded."
    busy = 1 - (summary["idle_fraction"] or 0.0)
    kind, time_ps = max(summed_by(ops["work_kind"], ops["self_time_ps"]).items(), key=lambda item: item[1])
    share = time_ps / max(summary["busy_time_ps"], 1)
    subject = _KINDS.get(str(kind), str(kind))
    devices = summary["device_count"]
    on = units.counted(devices, "device")
    return (
        f"Busy {units.percent(busy)} of {units.duration(summary['total_time_ps'] / max(devices, 1))} on {on}; "
        f"{subject} {'take' if subject in _SEVERAL else 'takes'} {units.percent(share)} of the busy time. "
        f"Largest: {_largest(ops)}."
    )


def _largest(ops: pd.DataFrame) -> str:
    top = ops.loc[ops["self_time_ps"].idxmax()]
    text = f"{top['op']}, {units.percent(top['time_fraction'])} of the time"
    bound = _BOUND.get(str(top["bound_by"]))
    if bound is None:
        return text
    if top["bound_by"] == "compute" and pd.notna(top["flops_utilization"]):
        return f"{text}, {_used(bound, top['flops_utilization'])} of the FLOP/s peak"
    if top["bound_by"] == "memory" and pd.notna(top["hbm_utilization"]):
        return f"{text}, {_used(bound, top['hbm_utilization'])} of the memory bandwidth"
    return f"{text}, {bound}"


def _used(bound: str, fraction: float) -> str:
    """Return how much of its nearest roof an op uses; far below it, nothing is bound by that roof."""
    used = units.percent(fraction)
    return f"{bound} at {used}" if fraction >= BOUND_FRACTION else f"at {used}"
