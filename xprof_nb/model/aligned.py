"""Hosts of one profile in one frame of reference: one origin of time, one meaning of a program id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from xprof_nb.model.trace import HostTrace

_PLACES = ("start_ps", "end_ps")
_LATER = "find_"


def shifted(trace: HostTrace, offset_ps: int) -> HostTrace:
    """Return a host whose clock begins ``offset_ps`` earlier: every start and end is that much later.

    A column of a table is a time on a clock if its name ends in ``start_ps`` or ``end_ps``.
    """
    if offset_ps == 0:
        return trace
    begin, end = trace.window_ps
    moved = _with_tables(trace, partial(_shift, offset_ps))
    return replace(moved, window_ps=(begin + offset_ps, end + offset_ps))


def renumbered(trace: HostTrace, numbers: Mapping[int, int]) -> HostTrace:
    """Return a host whose program ids, where they are keys of ``numbers``, are replaced."""
    return _with_tables(trace, partial(_renumber, dict(numbers))) if numbers else trace


def _with_tables(trace: HostTrace, change: Callable[[Any], Any]) -> HostTrace:
    """Return a host with a change made to each of its tables, to those found later when they are found."""
    changed: dict[str, Any] = {}
    for field in fields(trace):
        value = getattr(trace, field.name)
        if field.name.startswith(_LATER):
            changed[field.name] = partial(_then, value, change)  # no lambda: hosts cross process boundaries
        elif is_dataclass(value):
            changed[field.name] = change(value)
    return replace(trace, **changed)


def _then(find: Callable[[], Any], change: Callable[[Any], Any]) -> Any:
    return change(find())


def _shift(offset_ps: int, table: Any) -> Any:
    names = [field.name for field in fields(table) if field.name.endswith(_PLACES)]
    moved: dict[int, Any] = {}  # a CPU's op events name one column twice
    columns = {name: getattr(table, name) for name in names}
    for column in columns.values():
        if id(column) not in moved:
            moved[id(column)] = column + offset_ps
    return replace(table, **{name: moved[id(column)] for name, column in columns.items()})


def _renumber(numbers: dict[int, int], table: Any) -> Any:
    column = getattr(table, "program_id", None)
    if not isinstance(column, np.ndarray):
        return table
    given = column.copy()
    for old, new in numbers.items():
        given[column == np.uint64(old)] = new
    return replace(table, program_id=given)
