"""Which kernels and copies did the GPUs run, how were they launched, what did they move? A row per kernel and op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.kernel_traits import is_collective, uses_tensor_cores
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, coded, heaviest_first, number, stacked, summed_by, taken, texts
from xprof_nb.model.kernels import GRAPH, KERNEL, KINDS
from xprof_nb.model.profile import ProfileData

_LAUNCH = [
    "grid",
    "block",
    "registers_per_thread",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "occupancy_fraction",
]
MOST_TOP = 10
_OF_OP = ("program", "program_id", "op", "category", "work_kind", "framework_op")
COLUMNS = [
    "host",
    "device",
    "kernel",
    "kind",
    "program",
    "program_id",
    "op",
    "category",
    "work_kind",
    "framework_op",
    "occurrences",
    "time_ps",
    "mean_time_ps",
    "min_time_ps",
    "max_time_ps",
    "time_fraction",
    *_LAUNCH,
    "uses_tensor_cores",
    "is_collective",
    "bytes",
    "bytes_per_s",
    "streams",
]


def kernels(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return one row per host, device, kernel, op and launch shape, the most expensive first.

    Kernels need no HLO: without it their op is the kernel itself. Times are the kernels' own, so those of streams
    that overlap add up to more than the device was busy; ``time_fraction`` is the share of the sum of kernel times.
    ``bytes_per_s`` of copies and fills is bytes over time, where every one of them states its size.
    """
    parts = [part for part in chosen_parts(profile, selection) if len(part.trace.kernels)]
    if like_xprof:
        from xprof_nb.analysis.xprof.kernels import kernel_stats  # noqa: PLC0415

        return kernel_stats(profile, parts, _why_empty(profile, parts))
    tables = [_grouped(part, described_keys(profile, part.trace)) for part in parts if len(part.rows)]
    said = [*profile.all_notes, *_why_empty(profile, parts)]
    if not tables:
        return Answer(pd.DataFrame(columns=COLUMNS), _summary({}), tuple(said))
    columns = stacked(tables)
    columns["time_fraction"] = columns["time_ps"] / (columns["time_ps"].sum() or np.nan)
    columns = taken(columns, heaviest_first(columns["time_ps"], columns["kernel"]))
    told = {"uses_tensor_cores": pd.array(columns["uses_tensor_cores"], "boolean")}
    frame = as_frame({name: told.get(name, columns[name]) for name in COLUMNS})
    return Answer(frame, _summary(columns), tuple(said))


def _grouped(part: HostPart, described: Columns) -> Columns:
    """Return the sums of the chosen kernels of one host."""
    trace, table, rows = part.trace, part.trace.kernels, part.rows
    identity = (table.device, table.name, table.kind, table.launch, trace.ops.key)
    code = coded(*(values[rows] for values in identity))
    example = rows[np.unique(code, return_index=True)[1]]
    count = len(example)
    duration_ps, size = table.duration_ps[rows], table.bytes[rows]
    occurrences, time_ps, longest_ps = (np.zeros(count, np.int64) for _ in range(3))
    np.add.at(occurrences, code, np.maximum(trace.ops.occurrences[rows], 1))
    np.add.at(time_ps, code, duration_ps)
    np.maximum.at(longest_ps, code, duration_ps)
    shortest_ps = longest_ps.copy()
    np.minimum.at(shortest_ps, code, duration_ps)
    moved = np.bincount(code, size, minlength=count)  # NaN where one of them does not say
    launch, key = table.launch[example], trace.ops.key[example]
    names, kinds = _named(table.names, table.name[example]), _named(KINDS, table.kind[example])
    of_op = {name: described[name][key] for name in _OF_OP}
    runs_code = np.isin(kinds, [KERNEL, GRAPH])
    return {
        "host": np.full(count, trace.host, object),
        "device": _named([device.name for device in trace.devices], table.device[example]),
        "kernel": names,
        "kind": kinds,
        **of_op,
        "occurrences": occurrences,
        "time_ps": time_ps,
        "mean_time_ps": time_ps / occurrences,
        "min_time_ps": shortest_ps,
        "max_time_ps": longest_ps,
        **{column: _of_launch(getattr(table.launches, column), launch) for column in _LAUNCH},
        "uses_tensor_cores": uses_tensor_cores(names, runs_code, {device.vendor for device in trace.devices}),
        "is_collective": is_collective(names, of_op["category"]),
        "bytes": moved,
        "bytes_per_s": moved / (np.where(time_ps > 0, time_ps, np.nan) * 1e-12),
        "streams": _streams(code, table.stream[rows], table.streams, count),
    }


def _named(names: Any, codes: NDArray[np.int32]) -> NDArray[np.object_]:
    return np.array([*names, None], object)[codes]


def _of_launch(values: NDArray[Any], launch: NDArray[np.int32]) -> NDArray[Any]:
    return np.array([*values, None if values.dtype == object else np.nan], values.dtype)[launch]


def _streams(
    group: NDArray[np.int64], stream: NDArray[np.int32], names: Sequence[str], count: int
) -> NDArray[np.object_]:
    """Return for each group the streams it ran on."""
    first = np.sort(np.unique(coded(group, stream), return_index=True)[1])
    found: list[list[str]] = [[] for _ in range(count)]
    for row, code in zip(group[first].tolist(), stream[first].tolist(), strict=True):
        found[row].append(names[code])
    return texts(", ".join(each) for each in found)


def _summary(columns: Columns) -> dict[str, Any]:
    if not columns:
        return {"kernel_count": 0, "launch_count": 0, "kernel_time_ps": 0, "sentence": "No kernel was recorded."}
    times = columns["time_ps"]
    time_ps, launches = int(times.sum()), int(columns["occurrences"].sum())
    copied = ~np.isin(columns["kind"], [KERNEL, GRAPH])
    copied_bytes = float(columns["bytes"][copied].sum())
    by_name = summed_by(columns["kernel"], times)
    by_kind = summed_by((kind or "control" for kind in columns["work_kind"]), times)
    top = max(sorted(by_name), key=lambda name: by_name[name])
    share = by_name[top] / time_ps if time_ps else None
    shown = top if len(top) <= 60 else f"{top[:59]}…"
    return {
        "kernel_count": len(by_name),
        "launch_count": launches,
        "kernel_time_ps": time_ps,
        "copy_time_ps": int(times[copied].sum()),
        "copied_bytes": number(copied_bytes),
        "tensor_core_time_ps": int(times[columns["uses_tensor_cores"] == True].sum()),  # noqa: E712 - None is unknown
        "top_kernel": top,
        "top_kernels": _top(columns, by_name),
        "kind_times": [{"work_kind": kind, "time_ps": time} for kind, time in sorted(by_kind.items())],
        "sentence": (
            f"{units.counted(len(by_name), 'kernel or copy', 'kernels and copies')} in "
            f"{units.counted(launches, 'launch', 'launches')} took "
            f"{units.duration(time_ps)}; the most expensive is {shown} ({units.percent(share)})."
        ),
    }


def _top(columns: Columns, by_name: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the most expensive kernels over all devices, ops and launches, with the kind of work most of each is."""
    largest = sorted(by_name, key=lambda name: (-by_name[name], name))[:MOST_TOP]
    mine = {name: columns["kernel"] == name for name in largest}
    return [
        {
            "kernel": name,
            "time_ps": int(columns["time_ps"][rows].sum()),
            "launches": int(columns["occurrences"][rows].sum()),
            "work_kind": columns["work_kind"][rows][np.argmax(columns["time_ps"][rows])],
        }
        for name, rows in mine.items()
    ]


def _why_empty(profile: ProfileData, parts: list[HostPart]) -> tuple[str, ...]:
    if any(len(part.rows) for part in parts):
        return ()
    if any(len(host.kernels) for host in profile.hosts):
        return ("No kernel ran in the chosen part of the profile.",)
    backends = {device.backend for device in profile.devices}
    if backends and "gpu" not in backends:
        kinds = " and ".join(sorted(backend.upper() for backend in backends))
        return (f"Kernels are what GPUs run; this profile is of {kinds}, whose ops have none. See ops().",)
    return (
        "No GPU kernel was recorded: nothing ran on a GPU during the capture, or it could not be traced. Capture again "
        "while it works; %xprof doctor says whether it can be.",
    )
