"""The steps a program marked on its host: annotations of JAX and of TensorFlow, numbered or not."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.trace import StepMarks

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

STATS = ("step_num", "_r")
_ELSEWHERE = ("iter_num", "step_name", "graph_type")
_LEGACY_ROOT = "TraceContext"
_NO_STEPS = frozenset({"FunctionRun", "SessionRun", "RunGraph", "ExecutorState::Process", "ProcessBatch"})
"""Roots that a framework sets around each of its calls, of which a step has many."""
_LAST_NUMBER = re.compile(r"(\d{1,18})$")


def marks_among(plane: XPlane, rows: Rows, number: StatColumn, root: StatColumn) -> StepMarks:
    """Return the marks among some events, in time order.

    Marked are events that root a group and have a step number, as `jax.profiler.StepTraceAnnotation` and TensorFlow's
    ``TraceContext`` leave them. Where none has one, every root counts, and every event that states the name of a step;
    they are numbered as their name says, else in order.

    Parameters
    ----------
    number, root
        The `STATS` of the events.
    """
    is_root = root.present | _named(plane, rows, _LEGACY_ROOT.__eq__)
    marked = is_root & number.present
    if marked.any():
        return _marks(plane, rows[marked], number.ints()[marked])
    named = plane.stats_of(rows, "step_name")[0].present if "step_name" in plane.stat_names else np.zeros_like(is_root)
    unnumbered = (is_root | named) & ~_named(plane, rows, _NO_STEPS.__contains__)
    return _marks(plane, rows[unnumbered], None)


def _named(plane: XPlane, rows: Rows, holds: Callable[[str], bool]) -> Mask:
    by_name = np.array([*(holds(name) for name in plane.metadata.name), False], np.bool_)
    return by_name[plane.events.metadata[rows]] if by_name.any() else np.zeros(len(rows), np.bool_)


def _marks(plane: XPlane, rows: Rows, number: Rows | None) -> StepMarks:
    order = np.argsort(plane.events.starts_of(rows), kind="stable")
    rows = rows[order]
    iteration, step_name, graph = plane.stats_of(rows, *_ELSEWHERE)
    shown = np.array([*plane.metadata.name, ""], object)[plane.events.metadata[rows]]
    graphs = _texts(graph)
    numbers = _numbers(iteration, _texts(step_name)) if number is None else number[order]
    names = np.where((shown == _LEGACY_ROOT) & (graphs != ""), graphs, shown)
    return StepMarks(
        name=names,
        number=plausible.step_numbers(numbers),
        start_ps=plane.events.starts_of(rows),
        duration_ps=plane.events.duration_ps[rows],
    )


def _numbers(iteration: StatColumn, step_names: NDArray[np.object_]) -> Rows:
    in_name = [_LAST_NUMBER.search(text) for text in step_names]
    is_named = np.array([found is not None for found in in_name], np.bool_)
    if not (iteration.present | is_named).all():
        return np.arange(len(step_names))
    named = np.array([int(found[1]) if found is not None else 0 for found in in_name], np.int64)
    return np.where(iteration.present, iteration.ints(), named)


def _texts(stat: StatColumn) -> NDArray[np.object_]:
    codes, texts = stat.texts()
    return np.array([*texts, ""], object)[codes]
