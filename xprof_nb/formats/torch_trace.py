"""What PyTorch's profiler writes, in the terms of an XSpace: kernels on streams of GPU planes, steps, launch shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats.codes import DOUBLE, INT64, REF
from xprof_nb.formats.memory_plane import SomeValues

if TYPE_CHECKING:
    from xprof_nb.formats.trace_json import Trace

_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_STEP = re.compile(r"ProfilerStep#(\d{1,18})$")
_STEP_CATEGORIES = ("user_annotation", "cpu_op", "Operator")
_LAUNCH = {
    "registers per thread": "regs",
    "shared memory": "shm",
    "grid": "grid",
    "block": "block",
    "est. achieved occupancy %": "occ_pct",
}
"""How launch shapes are called here, and in ``kernel_details``."""
_PROPERTIES = {
    "name": "gpu_device_name",
    "totalGlobalMem": "memory_size",
    "numSms": "core_count",
    "computeMajor": "compute_cap_major",
    "computeMinor": "compute_cap_minor",
}
_MOST_DEVICES = 10_000
Rows = NDArray[np.int64]


def with_devices(trace: Trace, head: Mapping[str, Any]) -> Trace:
    """Return a trace whose kernels are on GPU planes; one without categories, which is not PyTorch's, as it is."""
    if "cat" not in trace.arguments:
        return trace
    category = np.full(len(trace.events), "", object)
    column = trace.arguments["cat"]
    named = column.kind == REF
    category[column.rows[named]] = np.array([*trace.texts, ""], object)[column.raw[named]]
    device, stream = _numbers(trace, "device"), _numbers(trace, "stream")
    on_device = np.isin(category, _ON_DEVICE) & (device >= 0) & (device < _MOST_DEVICES)
    trace = _with_steps(trace, np.flatnonzero(np.isin(category, _STEP_CATEGORIES)))
    if not on_device.any():
        return trace
    return _with_streams(_with_details(trace, np.flatnonzero(on_device)), head, on_device, device, stream)


def _with_streams(
    trace: Trace, head: Mapping[str, Any], on_device: NDArray[np.bool_], device: Rows, stream: Rows
) -> Trace:
    events = trace.events.copy()
    pair, pairs = pd.factorize(pd.Series(list(zip(device[on_device], stream[on_device], strict=True))))
    events.loc[on_device, "plane"] = np.array([f"/device:GPU:{number}" for number, _ in pairs], object)[pair]
    events.loc[on_device, "line"] = np.array([f"Stream #{number}" for _, number in pairs], object)[pair]
    events.loc[on_device, "thread"] = np.array([max(int(number), 0) for _, number in pairs], np.int64)[pair]
    events.loc[on_device, "track"] = (int(events["track"].max()) + 1 + pair).astype(np.int32)
    arguments = dict(trace.arguments)
    if "correlation" in arguments:
        arguments["correlation_id"] = arguments.pop("correlation")
    return replace(trace, events=events, arguments=arguments, stats=_properties(head))


def _properties(head: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the facts of each GPU's plane."""
    listed = head.get("deviceProperties")
    stats: dict[str, dict[str, Any]] = {}
    for found in listed if isinstance(listed, list) else []:
        if isinstance(found, dict) and isinstance(found.get("id"), int):
            known = {
                ours: found[theirs] for theirs, ours in _PROPERTIES.items() if isinstance(found.get(theirs), int | str)
            }
            stats[f"/device:GPU:{found['id']}"] = known
    return stats


def _with_details(trace: Trace, rows: Rows) -> Trace:
    """Say launch shapes and copied bytes as GPU runtimes do."""
    texts = list(trace.texts)
    arguments = dict(trace.arguments)
    for name, parts in (("kernel_details", _LAUNCH), ("memcpy_details", {"bytes": "size"})):
        values = pd.DataFrame({ours: _values(trace, theirs, rows) for theirs, ours in parts.items()})
        code = values.groupby(list(values.columns), sort=False, dropna=False).ngroup().to_numpy()
        example = values.iloc[np.unique(code, return_index=True)[1]]
        said = [_details(row, list(values.columns)) for row in example.itertuples(index=False)]
        has = np.array([text != "" for text in said], np.bool_)[code]
        raw = len(texts) + code[has]
        texts += said
        if has.any():
            arguments[name] = SomeValues(rows[has], np.full(int(has.sum()), REF, np.int8), raw.astype(np.int64))
    return replace(trace, texts=tuple(texts), arguments=arguments)


def _details(row: Sequence[Any], names: Sequence[str]) -> str:
    known = [(name, value) for name, value in zip(names, row, strict=True) if value is not None and value == value]  # noqa: PLR0124
    return " ".join(f"{name}:{str(value).strip('[]')}" for name, value in known)


def _values(trace: Trace, name: str, rows: Rows) -> NDArray[np.object_]:
    """Return an argument of some events, None where one lacks it."""
    column = trace.arguments.get(name)
    values = np.full(len(rows), None, object)
    if column is None:
        return values
    kind, raw = column.of(rows)
    values[kind == REF] = np.array([*trace.texts, None], object)[raw[kind == REF]]
    values[kind == INT64] = raw[kind == INT64]
    values[kind == DOUBLE] = raw[kind == DOUBLE].view(np.float64)
    return values


def _numbers(trace: Trace, name: str) -> Rows:
    """Return a whole number of every event, -1 where one lacks it."""
    values = np.full(len(trace.events), -1, np.int64)
    column = trace.arguments.get(name)
    if column is not None:
        whole = column.kind == INT64
        values[column.rows[whole]] = column.raw[whole]
    return values


def _with_steps(trace: Trace, rows: Rows) -> Trace:
    """Give the steps of PyTorch's schedule their number, as step annotations have it."""
    number = np.array([int(found[1]) if (found := _STEP.match(text)) else -1 for text in trace.texts], np.int64)
    of_row = number[trace.events["name"].to_numpy()[rows]]
    steps = rows[of_row >= 0]
    if not len(steps):
        return trace
    marks = SomeValues(steps, np.full(len(steps), INT64, np.int8), of_row[of_row >= 0])
    return replace(trace, arguments={**trace.arguments, "step_num": marks})
