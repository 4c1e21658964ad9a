"""Ops that follow one another and have something in common, a scope or a source line, as one stretch of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
Stretches = tuple[NDArray[np.int32], Ints, Ints, Ints]


def stretches(code: NDArray[np.int32], begin_ps: Ints, end_ps: Ints, run: Ints) -> Stretches:
    """Return code, start, duration and first row of each stretch of equal code within a run.

    Parameters
    ----------
    code
        What each op has in common with its neighbours, -1 for nothing; ops in time order.
    run
        What no stretch reaches across.
    """
    count = _stretches(code, begin_ps, end_ps, run, *(np.empty(0, kind) for kind in _KINDS))
    columns = tuple(np.empty(count, kind) for kind in _KINDS)
    _stretches(code, begin_ps, end_ps, run, *columns)
    return columns  # type: ignore[return-value]


_KINDS = (np.int32, np.int64, np.int64, np.int64)


@njit
def _stretches(
    code: Any, begin: Any, end: Any, run: Any, out_code: Any, out_start: Any, out_duration: Any, out_row: Any
) -> Any:
    """Count the stretches; write them where there is room."""
    n = -1
    for row in range(len(code)):
        if row == 0 or code[row] != code[row - 1] or run[row] != run[row - 1]:
            if code[row] < 0:
                continue
            n += 1
            if n < len(out_code):
                out_code[n], out_start[n], out_row[n] = code[row], begin[row], row
                out_duration[n] = end[row] - begin[row]
        elif code[row] >= 0 and n < len(out_code):
            out_duration[n] = max(out_duration[n], end[row] - out_start[n])
    return n + 1


@warm_up
def _warm() -> None:
    whole = np.zeros(1, np.int64)
    stretches(np.zeros(1, np.int32), whole, whole, whole)
