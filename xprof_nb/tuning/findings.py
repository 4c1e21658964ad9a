"""What the profile of a setting says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import ProfileError
from xprof_nb.model.units import PS_PER_S
from xprof_nb.tuning.point import Point

if TYPE_CHECKING:
    from xprof_nb.api import Profile


def added(point: Point, profile: Profile) -> Point:
    """Return a point with what its profile says; the times stay those measured without the tracer."""
    summary = profile.overview().summary
    steps = int(summary.get("step_count") or 0)
    times, largest = _by_kind(profile, steps)
    flops, hbm = _number(summary.get("flops")), _number(summary.get("hbm_bytes"))
    return replace(
        point,
        run=str(profile.path),
        bound_by=summary.get("bound_by"),
        flops_utilization=_number(summary.get("flops_utilization")),
        hbm_utilization=_number(summary.get("hbm_utilization")),
        flops_per_s=flops / steps / point.step_time_s if flops and steps and point.step_time_s else None,
        arithmetic_intensity=flops / hbm if flops and hbm else None,
        exposed_communication_fraction=_exposed(profile),
        kind_time_s=times,
        top_ops=largest,
    )


def _exposed(profile: Profile) -> float | None:
    try:
        return _number(profile.collectives().summary.get("exposed_step_fraction"))
    except ProfileError:
        return None


def _by_kind(profile: Profile, steps: int) -> tuple[Mapping[str, float], Mapping[str, str]]:
    """Return the self time of a step by kind of work, a mean over devices, and the largest op of each kind."""
    ops = profile.ops().frame
    if not steps or not len(ops):
        return {}, {}
    devices = ops.groupby(["host", "device"]).ngroups
    sums = ops.groupby("work_kind").self_time_ps.sum() / (devices * steps * PS_PER_S)
    largest = ops.loc[ops.groupby("work_kind").self_time_ps.idxmax()].set_index("work_kind").op
    return {str(kind): float(time) for kind, time in sums.items()}, {str(k): str(op)[:80] for k, op in largest.items()}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
