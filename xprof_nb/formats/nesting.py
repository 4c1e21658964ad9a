"""Who contains whom, and how much of the device each op accounts for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]


def parents(line: NDArray[np.int32], start_ps: Ints, end_ps: Ints) -> NDArray[np.int32]:
    """Return for each event the row of the innermost event of its line that includes it, -1 if none.

    Parameters
    ----------
    line, start_ps, end_ps
        N events in any order; equal spans nest in the order given.
    """
    return _parents(_nesting_order(line, start_ps, end_ps), line, start_ps, end_ps)


def containers(parent: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which events have others inside."""
    found = np.zeros(len(parent), np.bool_)
    found[parent[parent >= 0]] = True
    return found


def self_times(parent: NDArray[np.int32], duration_ps: Ints) -> Ints:
    """Return each event's duration less that of its direct children."""
    left = duration_ps.copy()
    _take_from_parents(parent, duration_ps, left)
    return left


@njit
def _take_from_parents(parent: Any, duration: Any, left: Any) -> None:
    for row in range(len(parent)):
        if parent[row] >= 0:
            left[parent[row]] -= duration[row]


def shared_times(
    device: NDArray[np.int32], parent: NDArray[np.int32], start_ps: Ints, end_ps: Ints
) -> NDArray[np.float64]:
    """Divide every busy moment of a device equally among the ops running in it.

    An op that contains running ops does not run itself. The result sums, by device, to the length of the
    union of the spans: overlapping ops neither count twice nor hide each other.

    Returns
    -------
    ndarray of float64, N
        Picoseconds of the device each op accounts for.
    """
    order = _nesting_order(device, start_ps, end_ps)
    if _only_nest(order, device, parent, start_ps, end_ps):
        return self_times(parent, end_ps - start_ps).astype(np.float64)
    n = len(device)
    time = np.concatenate([start_ps, end_ps])
    row = np.concatenate([np.arange(n), np.arange(n)])
    # At one instant ends come before starts, except that a zero-length op has to start before it ends.
    phase = np.concatenate([np.where(end_ps > start_ps, 1, 0), np.where(end_ps > start_ps, 0, 1)])
    # Among starts of one instant the containing op first; among ends the contained one.
    depth = _depths(parent)
    rank = np.concatenate([depth, -depth])
    boundaries = np.lexsort((rank, phase, time, np.concatenate([device, device])))
    return _shared_times(boundaries, time, row, device, parent, n)


def _nesting_order(group: NDArray[np.int32], start_ps: Ints, end_ps: Ints) -> NDArray[np.int64]:
    """Return the rows by group, start and, the longest first, end; none if they are so, as profilers mostly write."""
    if _is_in_order(group, start_ps, end_ps):
        return np.empty(0, np.int64)
    return np.lexsort((-end_ps, start_ps, group))


@njit
def _is_in_order(group: Any, start: Any, end: Any) -> Any:
    for row in range(1, len(group)):
        if group[row] == group[row - 1]:
            if start[row] < start[row - 1] or (start[row] == start[row - 1] and end[row] > end[row - 1]):
                return False
        elif group[row] < group[row - 1]:
            return False
    return True


@njit
def _only_nest(order: Any, group: Any, parent: Any, start: Any, end: Any) -> Any:
    """Whether ops of a group overlap only where one contains the other."""
    stack = np.empty(len(group), np.int64)
    top = 0
    for at in range(len(group)):
        row = order[at] if len(order) > 0 else at
        while top > 0 and (group[stack[top - 1]] != group[row] or end[stack[top - 1]] <= start[row]):
            top -= 1
        if parent[row] != (stack[top - 1] if top > 0 else -1):
            return False
        if top > 0 and end[row] > end[stack[top - 1]]:
            return False
        stack[top] = row
        top += 1
    return True


@njit
def _parents(order: Any, line: Any, start: Any, end: Any) -> Any:
    found = np.full(len(line), -1, np.int32)
    stack = np.empty(len(line), np.int64)
    top = 0
    for at in range(len(line)):
        row = order[at] if len(order) > 0 else at
        while top > 0:
            above = stack[top - 1]
            if line[above] == line[row] and end[above] >= end[row] and end[above] > start[row]:
                break
            if line[above] == line[row] and end[above] == end[row] and start[above] == start[row]:
                break
            top -= 1
        if top > 0:
            found[row] = stack[top - 1]
        stack[top] = row
        top += 1
    return found


@njit
def _depths(parent: Any) -> Any:
    depth = np.zeros(len(parent), np.int64)
    for row in range(len(parent)):
        above = parent[row]
        while above >= 0:
            depth[row] += 1
            above = parent[above]
    return depth


@njit
def _shared_times(order: Any, time: Any, row_of: Any, device: Any, parent: Any, n: int) -> Any:
    share = np.zeros(n, np.float64)
    since = np.zeros(n, np.float64)
    open_children = np.zeros(n, np.int64)
    is_open = np.zeros(n, np.bool_)
    runs = np.zeros(n, np.bool_)
    progress = 0.0  # integral of dt / (ops running)
    running = 0
    now = np.int64(0)
    current = np.int64(-1)
    for boundary in order:
        row = row_of[boundary]
        if device[row] != current:
            current, running, progress, now = device[row], 0, 0.0, time[boundary]
        if running > 0:
            progress += (time[boundary] - now) / running
        now = time[boundary]
        above = parent[row]
        if boundary < n:  # a start
            if above >= 0:
                open_children[above] += 1
                if runs[above]:
                    share[above] += progress - since[above]
                    runs[above] = False
                    running -= 1
            is_open[row] = True
            runs[row] = True
            since[row] = progress
            running += 1
        else:
            if runs[row]:
                share[row] += progress - since[row]
                runs[row] = False
                running -= 1
            is_open[row] = False
            if above >= 0:
                open_children[above] -= 1
                if open_children[above] == 0 and is_open[above]:
                    runs[above] = True
                    since[above] = progress
                    running += 1
    return share


@warm_up
def _warm() -> None:
    group = np.zeros(3, np.int32)
    start, end = np.array([4, 0, 2], np.int64), np.array([8, 6, 3], np.int64)
    parent = parents(group, start, end)
    shared_times(group, parent, start, end)
