"""How a run went, in a few dozen numbers: for a row of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xprof_nb import queries
from xprof_nb.analysis.timeline.derived import op_times
from xprof_nb.errors import ProfileError
from xprof_nb.model.intervals import union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xprof_nb.model.profile import ProfileData
    from xprof_nb.model.trace import HostTrace

STRETCHES = 24
MOST_STEPS = 24


def thumbnail(profile: ProfileData) -> dict[str, Any]:
    """Return ``busy``, the share of each stretch of the run that its devices ran ops (0 to 1), and ``step_time_ps``.

    The stretches are equally long, from the first op of a host to its last; the shares are means over the devices that
    ran any. The step times are those of the first whole steps of the first device, start to start.
    """
    shares = [share for trace in profile.hosts for share in _shares(trace)]
    busy = np.mean(shares, axis=0).round(4).tolist() if shares else []
    return {"busy": busy, "step_time_ps": _step_times(profile)}


def _shares(trace: HostTrace) -> list[NDArray[np.float64]]:
    start_ps, duration_ps = op_times(trace)
    end_ps = start_ps + duration_ps
    if not len(start_ps):
        return []
    edges = np.linspace(start_ps.min(), end_ps.max(), STRETCHES + 1).astype(np.int64)
    lengths = np.maximum(np.diff(edges), 1)
    found = []
    for device in np.unique(trace.ops.device):
        mine = trace.ops.device == device
        found.append(union(start_ps[mine], end_ps[mine]).covered_ps(edges[:-1], edges[1:]) / lengths)
    return found


def _step_times(profile: ProfileData) -> list[float]:
    try:
        steps = queries.ask(profile, "steps").frame
    except ProfileError:
        return []
    first = steps[steps.device == steps.device.iloc[0]] if len(steps) else steps
    times = first.step_time_ps[~first.is_partial.astype(bool)].dropna()
    return [float(time) for time in times[:MOST_STEPS]]
