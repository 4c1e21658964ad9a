"""How long each step did what, where every moment counts as the event of highest class then running, as in xprof.

xprof walks over the begins and ends of a step's events. An event without length ends, there, before it begins, and so
stays the highest until an event of its class ends: `class_times` does the same, since its numbers are to be xprof's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up
from xprof_nb.model.step_groups import CLASSES, UNKNOWN, Grouped, no_grouped

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassTimes:
    """Of G groups: time by class, in ps.

    Attributes
    ----------
    within_ps
        int64[G, C]: inside the span of the group.
    all_ps
        int64[G, C]: wherever its events are.
    seen
        bool[G, C]: whether any moment was of the class, be it without length.
    """

    within_ps: Ints
    all_ps: Ints
    seen: NDArray[np.bool_]


def class_times(events: Grouped, groups: Ints, begin_ps: Ints, end_ps: Ints) -> ClassTimes:
    """Return the time by class of some groups; what of a span no event is in is of the class unknown.

    Parameters
    ----------
    groups, begin_ps, end_ps
        Ascending numbers of groups, and the span of each.
    """
    known = np.isin(events.group, groups)
    row = np.searchsorted(groups, events.group[known])
    kind = events.kind[known].astype(np.int64)
    time_ps = np.concatenate([events.start_ps[known], events.end_ps[known]])
    is_start = np.repeat([1, 0], len(row))
    row, kind = np.tile(row, 2), np.tile(kind, 2)
    order = np.lexsort((-kind, is_start, time_ps, row))
    found = _class_times(row[order], time_ps[order], is_start[order], kind[order], begin_ps, end_ps, len(CLASSES))
    within_ps, all_ps, seen = found
    rest_ps = np.maximum(end_ps - begin_ps - within_ps.sum(axis=1), 0)
    within_ps[:, UNKNOWN] += rest_ps
    return ClassTimes(within_ps, all_ps, seen)


@njit
def _class_times(row: Any, time: Any, is_start: Any, kind: Any, begin: Any, end: Any, classes: int) -> Any:
    within = np.zeros((len(begin), classes), np.int64)
    total = np.zeros((len(begin), classes), np.int64)
    seen = np.zeros((len(begin), classes), np.bool_)
    running = np.zeros(classes, np.int64)
    highest = 0
    for at in range(len(row)):
        if at == 0 or row[at] != row[at - 1]:
            running[:] = 0
            highest = 0
        mine = kind[at]
        if is_start[at]:
            running[mine] += 1
            highest = max(highest, mine)
        else:
            running[mine] -= 1
            if mine == highest and running[mine] == 0:
                highest = mine - 1
                while highest > 0 and running[highest] <= 0:
                    highest -= 1
                highest = max(highest, 0)
        if at + 1 < len(row) and row[at + 1] == row[at]:
            group = row[at]
            seen[group, highest] = True
            total[group, highest] += time[at + 1] - time[at]
            inside = min(time[at + 1], end[group]) - max(time[at], begin[group])
            if inside > 0:
                within[group, highest] += inside
    return within, total, seen


@warm_up
def _warm() -> None:
    one = np.zeros(1, np.int64)
    class_times(no_grouped(), one, one, one + 1)
