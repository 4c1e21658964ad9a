"""Ops that follow one another and have something in common, a scope or a source line, as one stretch of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Stretches:
    """N stretches by level and time; those of level i are ``first[i]:first[i + 1]``.

    Attributes
    ----------
    row
        The first op of each.
    are_apart
        Whether no stretch of a level begins before the one ahead of it has ended.
    """

    first: Ints
    code: Codes
    start_ps: Ints
    duration_ps: Ints
    row: Ints
    are_apart: bool


def stretches(code_of_key: NDArray[np.int32], key: Codes, begin_ps: Ints, end_ps: Ints, run: Ints) -> Stretches:
    """Return the stretches of each level.

    Parameters
    ----------
    code_of_key
        int32[L, K]: what ops of each key have in common with their neighbours on each level, -1 for nothing.
    key, begin_ps, end_ps
        Ops in time order.
    run
        What no stretch reaches across.
    """
    levels = len(code_of_key)
    ops = code_of_key, key, begin_ps, end_ps, run
    counts = np.zeros(levels, np.int64)
    _stretches(*ops, counts, *_columns(0))
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    code, start_ps, duration_ps, row = _columns(int(first[-1]))
    apart = _stretches(*ops, first[:-1].copy(), code, start_ps, duration_ps, row)
    return Stretches(first, code, start_ps, duration_ps, row, bool(apart))


def _columns(rows: int) -> tuple[Codes, Ints, Ints, Ints]:
    return np.empty(rows, np.int32), np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)


@njit
def _stretches(
    code_of_key: Any, key: Any, begin: Any, end: Any, run: Any, at: Any,
    out_code: Any, out_start: Any, out_duration: Any, out_row: Any,
) -> Any:  # fmt: skip
    """Move ``at`` past the stretches of each level; write them where there is room; tell whether they are apart."""
    levels = len(code_of_key)
    last = np.full(levels, -1, np.int32)
    reached = np.full(levels, np.iinfo(np.int64).min, np.int64)
    apart = True
    for row in range(len(key)):
        is_new_run = row == 0 or run[row] != run[row - 1]
        for level in range(levels):
            code = code_of_key[level, key[row]]
            if is_new_run or code != last[level]:
                last[level] = code
                if code < 0:
                    continue
                apart = apart and begin[row] >= reached[level]
                at[level] += 1
                if len(out_code) > 0:
                    to = at[level] - 1
                    out_code[to], out_start[to], out_row[to] = code, begin[row], row
                    out_duration[to] = end[row] - begin[row]
            elif code >= 0 and len(out_code) > 0:
                to = at[level] - 1
                out_duration[to] = max(out_duration[to], end[row] - out_start[to])
            if code >= 0:
                reached[level] = max(reached[level], end[row])
    return apart


@warm_up
def _warm() -> None:
    whole = np.zeros(1, np.int64)
    stretches(np.zeros((1, 1), np.int32), np.zeros(1, np.int32), whole, whole, whole)
