"""From when until when each group of events lasts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
NEVER_YET = np.iinfo(np.int64).max
NEVER_AGAIN = np.iinfo(np.int64).min


def extents(group: Ints, start_ps: Ints, duration_ps: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the first start and the last end of each group, int64[count].

    Parameters
    ----------
    group
        That of each event, -1 if it is in none.

    Returns
    -------
    tuple
        A group without events begins at `NEVER_YET` and ends at `NEVER_AGAIN`.
    """
    first_ps, last_ps = np.full(count, NEVER_YET), np.full(count, NEVER_AGAIN)
    _extend(group, start_ps, duration_ps, first_ps, last_ps)
    return first_ps, last_ps


@njit
def _extend(group: Ints, start_ps: Ints, duration_ps: Ints, first_ps: Ints, last_ps: Ints) -> None:
    for event in range(len(group)):
        at = group[event]
        if at >= 0:
            start = start_ps[event]
            first_ps[at] = min(first_ps[at], start)
            last_ps[at] = max(last_ps[at], start + duration_ps[event])


@warm_up
def _warm() -> None:
    two = np.array([1, 2], np.int64)
    extents(np.array([0, -1], np.int64), two, two, 1)
