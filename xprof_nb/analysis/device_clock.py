"""When was it by the device's own clock? Runs, steps and what the host did are given on the host's.

A TPU's runtime states ops by both clocks. It sets one against the other anew every few seconds, by as much as a tenth
of a second: a length taken on the host's clock may be longer or shorter than it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.model.kept import kept_with_first
from xprof_nb.model.trace import HostTrace

Ints = NDArray[np.int64]


def by_device(trace: HostTrace, device: int, host_ps: Ints) -> Ints:
    """Return moments of the host's clock on the clock of a device; they are the same where there is one clock.

    Begins and ends of ops tie the clocks together; between two of them time passes evenly.
    """
    at_ps, lead_ps = _leads(trace).get(device, (host_ps[:0], host_ps[:0]))
    if not len(at_ps):
        return host_ps
    return host_ps + np.rint(np.interp(host_ps, at_ps, lead_ps)).astype(np.int64)


@kept_with_first
def lengths_by_device(trace: HostTrace) -> tuple[Ints, Ints]:
    """Return start and duration of each of `step_spans` on the clock of its device; not to be changed."""
    spans = step_spans(trace)
    begin, end = spans["start_ps"].copy(), spans["start_ps"] + spans["duration_ps"]
    for device in np.unique(spans["device_row"]).tolist():
        rows = np.flatnonzero(spans["device_row"] == device)
        begin[rows], end[rows] = by_device(trace, device, begin[rows]), by_device(trace, device, end[rows])
    return begin, np.maximum(end - begin, 0)


@kept_with_first
def _leads(trace: HostTrace) -> dict[int, tuple[Ints, Ints]]:
    """Return for devices with a clock of their own moments of the host's, and by how much theirs is ahead then."""
    ops = trace.ops
    leads = {}
    for device in np.unique(ops.device[ops.start_ps != ops.host_start_ps]).tolist():
        mine = np.flatnonzero(ops.device == device)
        begin, host_begin = ops.start_ps[mine], ops.host_start_ps[mine]
        end, host_end = begin + ops.duration_ps[mine], host_begin + ops.host_duration_ps[mine]
        at_ps, lead_ps = np.append(host_begin, host_end), np.append(begin - host_begin, end - host_end)
        order = np.argsort(at_ps, kind="stable")
        leads[device] = _changes(at_ps[order], lead_ps[order])
    return leads


def _changes(at_ps: Ints, lead_ps: Ints) -> tuple[Ints, Ints]:
    """Return the points of a curve without those inside a level part of it."""
    level = np.diff(lead_ps) == 0
    keep = ~(np.append(False, level) & np.append(level, False))
    return at_ps[keep], lead_ps[keep]
