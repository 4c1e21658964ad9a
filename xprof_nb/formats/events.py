"""Every event of an XSpace in one table, and their stats when asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.codes import BYTES, DOUBLE, INT64, REF, STR, UINT64
from xprof_nb.formats.planes import EVENT_STATS, METADATA_STATS, XPlane, XSpace
from xprof_nb.formats.stats import StatColumn
from xprof_nb.model.events import EventLine, Events, no_events

_DEVICE = re.compile(r"/device:(TPU|GPU):(\d{1,9})(.*)$")
MOST_STATS = 200
"""Columns of stats in one answer; a file with more names of stats than that is damaged or hostile."""


def read_events(read_space: Callable[[], XSpace], devices: Sequence[str]) -> Events:
    """Return every event of a host's file.

    Parameters
    ----------
    read_space
        Decodes the file.
    devices
        Names of the host's devices, ``"TPU:0"``.
    """
    space = read_space()
    plausible.mend(space)
    planes = [plane for plane in space.planes if len(plane.events)]
    if not planes:
        return no_events()
    lines = [EventLine(plane.name, line, _device(plane.name, devices)) for plane in planes for line in plane.lines.name]
    codes: dict[str, int] = {}
    names = [_name_codes(plane, codes) for plane in planes]
    first_line = np.cumsum([0, *(len(plane.lines) for plane in planes)])
    return Events(
        lines=tuple(lines),
        names=tuple(codes),
        name=_joined(names),
        line=_joined([plane.events.line + np.int32(first) for plane, first in zip(planes, first_line, strict=False)]),
        start_ps=_joined([plane.events.start_ps for plane in planes]),
        duration_ps=_joined([plane.events.duration_ps for plane in planes]),
        occurrences=_joined([plane.events.occurrences for plane in planes]),
        positioned=_joined([plane.events.positioned for plane in planes]),
        find_stats=partial(_stats, planes),
    )


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _device(plane: str, devices: Sequence[str]) -> int:
    found = _DEVICE.match(plane)
    name = f"{found[1]}:{int(found[2])}{found[3]}" if found else ""
    return devices.index(name) if name in devices else -1


def _name_codes(plane: XPlane, codes: dict[str, int]) -> NDArray[np.int32]:
    metadata = plane.metadata
    shown = [display or name for name, display in zip(metadata.name, metadata.display_name, strict=True)]
    code_of = np.array([*(codes.setdefault(name, len(codes)) for name in shown), -1], np.int32)
    return code_of[plane.events.metadata]


def _stats(planes: Sequence[XPlane], rows: NDArray[np.int64], names: tuple[str, ...] | None) -> Mapping[str, Any]:
    """Return a column a stat, in rows missing where an event has none; an event's own value goes before its kind's."""
    first = np.cumsum([0, *(len(plane.events) for plane in planes)])
    pieces: dict[str, list[pd.Series[Any]]] = {}
    for plane, begin, end in zip(planes, first[:-1], first[1:], strict=True):
        low, high = np.searchsorted(rows, [begin, end])
        if low == high:
            continue
        for name, values in _plane_stats(plane, rows[low:high] - begin, names).items():
            if name in pieces or len(pieces) < MOST_STATS:
                values.index = pd.RangeIndex(low, high)
                pieces.setdefault(name, []).append(values)
    return {name: _whole_column(parts, len(rows)) for name, parts in pieces.items()}


def _plane_stats(plane: XPlane, rows: NDArray[np.int64], names: tuple[str, ...] | None) -> dict[str, pd.Series[Any]]:
    kind_of = plane.events.metadata[rows]
    kinds = np.unique(kind_of[kind_of >= 0]).astype(np.int64)
    row_of_kind = np.searchsorted(kinds, kind_of)
    row_of_kind[kind_of < 0] = -1
    found: dict[str, pd.Series[Any]] = {}
    for owner, where in ((METADATA_STATS, kinds), (EVENT_STATS, rows)):
        wanted = plane.used_stats(owner, where) if names is None else list(names)
        for name, column in zip(wanted, plane.stats_at(owner, where, wanted[:MOST_STATS]), strict=False):
            values = _values(column)
            if values is None:
                continue
            if owner == METADATA_STATS:
                values = values.reindex(row_of_kind).reset_index(drop=True)  # row -1 is missing
            before = found.get(name)
            found[name] = values if before is None else _first_known(values, before)
    return found


def _first_known(values: pd.Series[Any], others: pd.Series[Any]) -> pd.Series[Any]:
    if values.dtype != others.dtype:
        values, others = values.astype(object), others.astype(object)
    return values.where(values.notna(), others)


def _whole_column(parts: list[pd.Series[Any]], count: int) -> pd.Series[Any]:
    kinds = {part.dtype for part in parts}
    joined = pd.concat([part.astype(object) for part in parts] if len(kinds) > 1 else parts)
    return joined.reindex(pd.RangeIndex(count))


def _values(column: StatColumn) -> pd.Series[Any] | None:
    """Return a stat as whole numbers, floats or text, by what it holds; None if that is nothing, or bytes alone."""
    kinds = column.kinds - {BYTES}
    if not kinds:
        return None
    missing = ~np.isin(column.kind, list(kinds))
    if kinds <= {INT64, UINT64}:
        values = column.ints()
        if UINT64 in kinds and (values[column.kind == UINT64] < 0).any():
            values = values.view(np.uint64)
        return pd.Series(pd.arrays.IntegerArray(values.copy(), missing))
    if kinds <= {INT64, UINT64, DOUBLE}:
        return pd.Series(column.floats())
    if kinds <= {STR, REF}:
        codes, texts = column.texts()
        return pd.Series(np.array([*texts, None], object)[codes], dtype=object)
    return pd.Series([None if gone else str(column.value(row)) for row, gone in enumerate(missing)], dtype=object)
