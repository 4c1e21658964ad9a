"""How a run went, in a few dozen numbers: for a row of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb import queries
from xprof_nb.errors import ProfileError

if TYPE_CHECKING:
    from xprof_nb.model.profile import ProfileData

MOST_STEPS = 24


def thumbnail(profile: ProfileData) -> dict[str, Any]:
    """Return ``busy``, the share of each stretch of the run that its devices ran ops, and ``step_time_ps``.

    The shares, 0 to 1, are means over the hosts; the step times are those of the first whole steps of the first device,
    start to start. Either is empty where the profile does not say.
    """
    stretches = queries.ask(profile, "trace_busy").frame
    shares = stretches.groupby(stretches.groupby("host").cumcount()).busy_fraction.mean()
    return {"busy": shares.round(4).tolist(), "step_time_ps": _step_times(profile)}


def _step_times(profile: ProfileData) -> list[float]:
    try:
        steps = queries.ask(profile, "steps").frame
    except ProfileError:
        return []
    first = steps[steps.device == steps.device.iloc[0]] if len(steps) else steps
    times = first.step_time_ps[~first.is_partial.astype(bool)].dropna()
    return [float(time) for time in times[:MOST_STEPS]]
