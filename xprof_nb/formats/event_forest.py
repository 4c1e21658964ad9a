"""Which events belong together, as XLA's profiler groups them: everything a root event leads to.

Rules as in XLA's ``group_events``: an event leads to those inside it on its line, to those that consume the context it
produces, and a call that launches to the kernels with its correlation id. Events are grouped by root, higher levels
first, then by time; the first root to reach an event has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.jit import njit, warm_up

Ints = NDArray[np.int64]
Pairs = tuple[Ints, Ints]

MOST_IN_CONTEXT = 64
"""A context that this many events produce and as many consume connects nothing."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """N events of all planes, line after line, in the order of the file.

    Attributes
    ----------
    line
        Number of the line, over all planes.
    is_async
        Whether the event is left out when it comes to what contains what.
    root_level
        0 for an event that is no root, negative for one that leads no group of its own.
    """

    line: Ints
    start_ps: Ints
    end_ps: Ints
    is_async: NDArray[np.bool_]
    root_level: Ints


def inside(nodes: Nodes) -> Ints:
    """Return for each event the one it is directly inside of on its line, -1 for none."""
    return np.asarray(_inside(nodes.line, nodes.start_ps, nodes.end_ps, nodes.is_async), np.int64)


def context_edges(first: int, produced: Pairs, consumed: Pairs) -> tuple[Pairs, int]:
    """Return edges from producers to consumers over nodes of their own, one a context, and how many these are.

    Parameters
    ----------
    first
        Number of the first such node.
    produced, consumed
        Events and the context of each, as one number.
    """
    contexts = np.intersect1d(produced[1], consumed[1])
    (by, makes), (to, takes) = (_of_contexts(pairs, contexts) for pairs in (produced, consumed))
    made, taken = (np.bincount(codes, minlength=len(contexts)) for codes in (makes, takes))
    connects = (made < MOST_IN_CONTEXT) | (taken < MOST_IN_CONTEXT)
    by, makes, to, takes = by[connects[makes]], makes[connects[makes]], to[connects[takes]], takes[connects[takes]]
    return (np.concatenate([by, takes + first]), np.concatenate([makes + first, to])), len(contexts)


def _of_contexts(pairs: Pairs, contexts: Ints) -> Pairs:
    event, context = pairs
    known = np.isin(context, contexts)
    return event[known], np.searchsorted(contexts, context[known])


def groups(nodes: Nodes, edges: Pairs, node_count: int) -> tuple[Ints, Ints]:
    """Return the group of each event, -1 for none, and the root of each group.

    Parameters
    ----------
    edges
        From whom to whom; nodes beyond the events only connect.
    """
    is_root = np.flatnonzero(nodes.root_level > 0)
    order = np.lexsort((-nodes.end_ps[is_root], nodes.start_ps[is_root], -nodes.root_level[is_root]))
    level = np.zeros(node_count, np.int64)
    level[: len(nodes.line)] = np.abs(nodes.root_level)
    down = adjacency(edges[0], edges[1], node_count)
    up = adjacency(edges[1], edges[0], node_count)
    group, roots = _groups(is_root[order], level, *down, *up)
    return np.asarray(group[: len(nodes.line)], np.int64), np.asarray(roots, np.int64)


def adjacency(begin: Ints, end: Ints, count: int) -> Pairs:
    """Return where the neighbours of each node begin in a list of neighbours, and the list."""
    first = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(begin, minlength=count), out=first[1:])
    return first, end[np.argsort(begin, kind="stable")]


@njit
def _inside(line: Any, start: Any, end: Any, is_async: Any) -> Any:
    found = np.full(len(line), -1, np.int64)
    stack = np.empty(len(line), np.int64)
    top = 0
    for row in range(len(line)):
        if row > 0 and line[row] != line[row - 1]:
            top = 0
        if is_async[row]:
            continue
        while top > 0 and not (start[stack[top - 1]] <= start[row] and end[row] <= end[stack[top - 1]]):
            top -= 1
        if top > 0:
            found[row] = stack[top - 1]
        stack[top] = row
        top += 1
    return found


@njit
def _groups(roots: Any, level: Any, down_first: Any, down: Any, up_first: Any, up: Any) -> Any:
    group = np.full(len(level), -1, np.int64)
    seen = np.full(len(level), -1, np.int64)
    queue = np.empty(len(level), np.int64)
    kept = np.empty(len(roots), np.int64)
    count = 0
    for number in range(len(roots)):
        root = roots[number]
        if group[root] >= 0:
            continue
        queue[0], tail, head = root, 1, 0
        seen[root] = number
        below = False
        while head < tail and not below:
            node = queue[head]
            head += 1
            for at in range(up_first[node], up_first[node + 1]):
                above = up[at]
                if seen[above] == number:
                    continue
                if level[above] == level[root]:
                    below = True
                    break
                seen[above] = number
                queue[tail] = above
                tail += 1
        if below:
            continue
        group[root] = count
        queue[0], tail, head = root, 1, 0
        while head < tail:
            node = queue[head]
            head += 1
            for at in range(down_first[node], down_first[node + 1]):
                if group[down[at]] < 0:
                    group[down[at]] = count
                    queue[tail] = down[at]
                    tail += 1
        kept[count] = root
        count += 1
    return group, kept[:count]


@warm_up
def _warm() -> None:
    zeros = np.zeros(2, np.int64)
    nodes = Nodes(zeros, zeros, np.array([9, 5], np.int64), np.zeros(2, np.bool_), np.array([1, 0], np.int64))
    groups(nodes, (np.array([0], np.int64), np.array([1], np.int64)), 2)
    inside(nodes)
