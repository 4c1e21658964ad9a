"""Where steps begin and end on each device: as marked, as recorded, or as inferred from programs that repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.step_patterns import repetitions
from xprof_nb.formats.extents import extents
from xprof_nb.model.columns import Columns, stacked
from xprof_nb.model.kept import kept_with_first
from xprof_nb.model.trace import HostTrace

Rows = NDArray[np.int64]
Texts = NDArray[np.object_]
CUT = ("cut at the beginning of the capture", "cut at the end of the capture")
FEWEST_FOR_TYPICAL = 3
"""Steps from which on an outer one with fewer ops than the others is known to be cut."""


@kept_with_first
def step_spans(trace: HostTrace) -> Columns:
    """Return the steps of a host, one row per device and step, by device and time; not to be changed.

    A marked step begins with its mark, or when the device has finished the step before it, since work is launched
    ahead, or has begun this one, where steps overlap; it ends with its mark or its last op, whichever is later. A step
    the runtime recorded for a device, and an inferred one, last as long as recorded, or from the first to the last of
    its program runs.

    Returns
    -------
    Columns
        ``step``, ``name``, ``kind`` (marked, recorded, inferred), ``device_row`` (-1: no device is known), ``mark``
        (row of the host's marks, -1: none), ``start_ps``, ``duration_ps``, ``is_partial``, ``cut`` (one of `CUT`
        or None).
    """
    return _with_cuts(trace, _spans(trace))


@kept_with_first
def steps_of_ops(trace: HostTrace) -> Rows:
    """Return for each op of a host the row of `step_spans` it belongs to, -1 if none; not to be changed."""
    return _rows_of_ops(trace, step_spans(trace))


def _spans(trace: HostTrace) -> Columns:
    marks = trace.marks
    if not len(marks):
        return _inferred(trace)
    if marks.device is not None:
        return _columns(marks.number, marks.name, "recorded", marks.device, np.arange(len(marks)), marks.start_ps,
                        marks.start_ps + marks.duration_ps)  # fmt: skip
    return _marked(trace)


def _marked(trace: HostTrace) -> Columns:
    marks, ops = trace.marks, trace.ops
    inner = np.flatnonzero(~_around_others(marks.start_ps, marks.start_ps + marks.duration_ps))
    start, end = marks.start_ps[inner], (marks.start_ps + marks.duration_ps)[inner]
    devices = [row for row, device in enumerate(trace.devices) if not device.kind]
    by_mark = ops.step if (ops.step >= 0).any() else _marks_by_time(ops.host_start_ps, start, end, inner)
    group = np.where(by_mark >= 0, ops.device.astype(np.int64) * len(marks) + by_mark, -1)
    lasting = np.maximum(ops.host_duration_ps, ops.duration_ps)
    found = extents(group, ops.host_start_ps, lasting, len(trace.devices) * len(marks))
    worked_from, worked_until = (times.reshape(len(trace.devices), len(marks)) for times in found)
    parts = []
    for device in devices or [-1]:
        last = np.maximum(end, worked_until[device, inner]) if device >= 0 else end
        last = np.maximum.accumulate(last) if len(last) else last
        free = np.append(np.iinfo(np.int64).min, last[:-1])
        begun = np.maximum(start, np.minimum(free, worked_from[device, inner]) if device >= 0 else free)
        begun = np.maximum.accumulate(begun) if len(begun) else begun
        parts.append(_columns(marks.number[inner], marks.name[inner], "marked", np.full(len(inner), device), inner,
                              begun, np.maximum(last, begun)))  # fmt: skip
    return stacked(parts)


def _around_others(start: Rows, end: Rows) -> NDArray[np.bool_]:
    """Return which marks contain the one that begins next: an epoch around steps is no step."""
    following_end = np.append(end[1:], np.iinfo(np.int64).max)
    following_start = np.append(start[1:], np.iinfo(np.int64).max)
    return (following_end <= end) & (following_start < end) & (following_end - following_start < end - start)


def _marks_by_time(at_ps: Rows, start: Rows, end: Rows, inner: Rows) -> Rows:
    row = np.searchsorted(start, at_ps, side="right") - 1
    within = (row >= 0) & (at_ps < np.append(end, 0)[row])
    return np.where(within, np.append(inner, -1)[row], -1)


def _inferred(trace: HostTrace) -> Columns:
    kinds = np.array([bool(device.kind) for device in trace.devices], np.bool_)
    runs = trace.runs
    if kinds.any():
        runs = type(runs)(**{name: getattr(runs, name)[~kinds[runs.device]] for name in runs.__dataclass_fields__})
    found = repetitions(runs)
    count = len(found["step"])
    columns = _columns(found["step"], found["name"], "inferred", found["device_row"], np.full(count, -1),
                       found["start_ps"], found["end_ps"])  # fmt: skip
    return {**columns, "is_partial": found["is_cut"]}


def _columns(number: Rows, name: Texts, kind: str, device: NDArray[Any], mark: Rows, start: Rows, end: Rows) -> Columns:
    order = np.lexsort((start, device))
    whole = {"device_row": device, "mark": mark, "start_ps": start, "duration_ps": end - start}
    return {
        "step": number.astype(np.int64)[order],
        "name": name[order],
        **{key: values.astype(np.int64)[order] for key, values in whole.items()},
        "kind": np.full(len(order), kind, object),
        "is_partial": np.zeros(len(order), np.bool_),
    }


def _with_cuts(trace: HostTrace, spans: Columns) -> Columns:
    """Name the steps an edge of the capture cut: of a pattern only a part, or fewer ops than steps further inside.

    Marks and runs that were open at an edge are not recorded at all, so that no time tells.
    """
    counts = np.bincount(_rows_of_ops(trace, spans) + 1, minlength=len(spans["step"]) + 1)[1:]
    partial = spans["is_partial"]
    cut = np.full(len(partial), None, object)
    for _, rows in _by_device(spans):
        whole = np.flatnonzero(~(partial[rows] | _fewer_than_typical(counts[rows])))
        if len(whole):
            cut[rows[: whole[0]]] = CUT[0]
            cut[rows[whole[-1] + 1 :]] = CUT[1]
    is_cut = np.array([text is not None for text in cut], np.bool_)
    return {**spans, "is_partial": is_cut, "cut": cut}


def _by_device(spans: Columns) -> list[tuple[int, Rows]]:
    """Return the rows of each device; spans are ordered by device and time."""
    devices, begins = np.unique(spans["device_row"], return_index=True)
    parts = np.split(np.arange(len(spans["device_row"])), begins[1:])
    return list(zip(devices.tolist(), parts, strict=False))


def _fewer_than_typical(counts: Rows) -> NDArray[np.bool_]:
    """Return which steps have fewer ops than most have; nothing is known of steps that differ anyway."""
    typical = np.median(counts) if len(counts) else 0
    regular = len(counts) >= FEWEST_FOR_TYPICAL and (counts == typical).sum() * 2 > len(counts)
    return counts < typical if regular else np.zeros(len(counts), np.bool_)


def steps_at(trace: HostTrace, device: NDArray[np.int32], host_start_ps: Rows) -> Rows:
    """Return the row of `step_spans` in whose time something began on a device, -1 if in none."""
    return _rows_at(step_spans(trace), device, host_start_ps)


def _rows_of_ops(trace: HostTrace, spans: Columns) -> Rows:
    ops, mark = trace.ops, spans["mark"]
    if not (ops.step >= 0).any() or not (mark >= 0).any():
        return _rows_at(spans, ops.device, ops.host_start_ps)
    width = len(trace.marks) + 1
    row_of = np.full((len(trace.devices) + 1, width), -1, np.int64)
    row_of[spans["device_row"], mark] = np.arange(len(mark))
    row_of[:, -1] = -1
    step = np.where(ops.step < 0, width - 1, ops.step)
    return row_of.ravel().take(ops.device * np.int64(width) + step)


def _rows_at(spans: Columns, device: NDArray[np.int32], at_ps: Rows) -> Rows:
    found = np.full(len(device), -1, np.int64)
    for number, rows in _by_device(spans):
        mine = np.flatnonzero(device == number)
        starts = spans["start_ps"][rows]
        ends = starts + spans["duration_ps"][rows]
        at = np.searchsorted(starts, at_ps[mine], side="right") - 1
        within = (at >= 0) & (at_ps[mine] < ends[at])
        found[mine[within]] = rows[at[within]]
    return found
