"""How much of the time chips worked, by xprof's definition of a duty cycle."""

from __future__ import annotations

import numpy as np

from xprof_nb.analysis.selection import Selection, chosen_parts
from xprof_nb.model.intervals import union
from xprof_nb.model.profile import ProfileData

_OFF_DUTY = {
    "infeed",
    "outfeed",
    "host send",
    "host send-done",
    "host recv",
    "host recv-done",
    "async-done",
    "megacore fusion",
}


def duty_cycle(profile: ProfileData, selection: Selection) -> float:
    """Return the share of the time of `duty_times` that chips were on duty, NaN without any."""
    busy_ps, span_ps = duty_times(profile, selection)
    return busy_ps / span_ps if span_ps else np.nan


def duty_times(profile: ProfileData, selection: Selection) -> tuple[int, int]:
    """Return for how long chips were busy, and for how long in all, on the host's clock; waiting for it is not busy.

    Definition of xprof's ``device_duty_cycle_percent``: per chip the union over its cores of op intervals,
    within the hull of its ops and program runs, summed over chips.
    """
    busy = span = 0
    for part in chosen_parts(profile, selection):
        trace, ops = part.trace, part.trace.ops
        off_duty = np.isin(trace.keys.category.astype(str), list(_OFF_DUTY))
        chips = np.array([row if item.chip is None else item.chip for row, item in enumerate(trace.devices)])
        for chip in np.unique(chips[part.devices]):
            rows = part.rows[chips[ops.device[part.rows]] == chip]
            runs = np.isin(trace.runs.device, np.flatnonzero(chips == chip))
            if not len(rows):
                continue
            start, end = ops.host_start_ps[rows], ops.host_start_ps[rows] + ops.host_duration_ps[rows]
            run_start = trace.runs.start_ps[runs]
            run_end = run_start + trace.runs.duration_ps[runs]
            on_duty = ~off_duty[ops.key[rows]]
            busy += union(start[on_duty], end[on_duty]).length_ps
            span += max(end.max(), run_end.max(initial=0)) - min(start.min(), run_start.min(initial=start.min()))
    return int(busy), int(span)
