"""Traces in Chrome's JSON (XProf's export, JAX, PyTorch) as an XSpace, which every reader of this package reads.

A process named ``/device:…`` or ``/host:…`` is a plane and its threads are lines, as XProf exports them. PyTorch names
no devices: its kernels say theirs, and become streams of GPU planes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.errors import NotAProfileError
from xprof_nb.formats.codes import INT64, REF, UINT64
from xprof_nb.formats.memory_plane import SomeValues, memory_plane
from xprof_nb.formats.planes import EVENT_STATS, METADATA_STATS, Lines, XPlane, XSpace
from xprof_nb.formats.source import open_source
from xprof_nb.formats.torch_trace import with_devices
from xprof_nb.formats.tpu.planes import split_program_label
from xprof_nb.formats.trace_events import TraceEvents, read_trace_events
from xprof_nb.formats.wall_clock import SESSION

EXPORT_LIMIT = 1_000_000
"""Events at which exports to JSON stop, the later ones missing."""
_HOST = "/host:CPU"
_DERIVED = re.compile(r".+ - from #\d+$")
_DERIVED_ID = 0xDEADBEEF
_OPS, _MODULES = ("XLA Ops", "Async XLA Ops"), "XLA Modules"
_OF_EXECUTION = ("device_offset_ps", "device_duration_ps", "run_id", "group_id", "flow", "_a", "cat")
"""Arguments of an op that are of one execution; the others are of the op."""
_LARGEST_RELATIVE_US = 1e9
_NS_PER_US, _PS_PER_US = 1000, 1_000_000
_LARGEST_PS = 2.0**60


@dataclass(frozen=True, eq=False)
class Trace:
    """A trace as columns, a row an event.

    Attributes
    ----------
    events
        ``plane, line, thread, name, start_ps, duration_ps``; names are codes in `texts`.
    arguments
        By name, the values of some rows.
    stats
        Facts of a plane, by its name.
    origin_ns
        Unix time of 0 ps, None if unknown.
    """

    events: pd.DataFrame
    arguments: Mapping[str, SomeValues]
    texts: tuple[str, ...]
    stats: Mapping[str, Mapping[str, Any]]
    origin_ns: int | None


def read(source: str | os.PathLike[str] | bytes, *, name: str | None = None) -> XSpace:
    """Read a trace in JSON, compressed or not, as an XSpace.

    Raises
    ------
    NotFoundError
        No such file.
    NotAProfileError
        It is no trace, or no event is in it.
    """
    opened = open_source(source, name)
    found = read_trace_events(opened)
    if not len(found):
        raise NotAProfileError(
            "the trace holds no event", file=opened.name, hint="Nothing ran while it was captured, or it was cut."
        )
    trace = with_devices(_columns(found), found.head)
    planes = [_plane(trace, number, str(plane)) for number, plane in enumerate(pd.unique(trace.events["plane"]), 1)]
    return XSpace(
        source=opened.name,
        size_bytes=len(opened),
        hostnames=(),
        errors=(),
        warnings=(),
        planes=(*planes, *_session(trace, len(planes) + 1)),
        notes=tuple(_notes(found)),
    )


def _notes(found: TraceEvents) -> list[str]:
    notes = [
        "Read from a trace in JSON: it has times, names and arguments of events, but no HLO, no memory plan and no "
        "peaks of the hardware, so what needs those is missing, and FLOPs are the model's. The *.xplane.pb of the same "
        "run has them."
    ]
    if found.trouble:
        notes.append(f"The trace could be read only up to event {len(found):,}: {found.trouble}.")
    if len(found) >= EXPORT_LIMIT:
        notes.append(
            f"The trace holds {len(found):,} events: exports to JSON stop at about {EXPORT_LIMIT:,}, so the end of the "
            "capture may be missing. The *.xplane.pb of the same run has all."
        )
    if found.unread:
        notes.append(f"{found.unread:,} flow and asynchronous events of the trace are not read.")
    return notes


def _columns(found: TraceEvents) -> Trace:
    process = [found.process_names.get(process, str(process)) for process, _ in found.tracks]
    thread = [found.thread_names.get(track, str(track[1])) for track in found.tracks]
    track = np.frombuffer(found.track, np.int32)
    start_us, duration_us = np.frombuffer(found.start_us), np.frombuffer(found.duration_us)
    first_us = float(start_us.min())
    base_us = float(np.floor(first_us)) if abs(first_us) > _LARGEST_RELATIVE_US else 0.0
    planes = [name if name.startswith(("/device:", "/host:", "/")) else _HOST for name in process]
    events = pd.DataFrame(
        {
            "plane": np.array(planes, object)[track],
            "line": np.array(thread, object)[track],
            "thread": np.array([_whole(thread) for _, thread in found.tracks], np.int64)[track],
            "track": track,
            "name": np.frombuffer(found.name, np.int32),
            "start_ps": _ps(start_us - base_us),
            "duration_ps": np.maximum(_ps(duration_us), 0),
        }
    )
    arguments = {
        name: SomeValues(
            np.frombuffer(column.rows, np.int64),
            np.frombuffer(column.kind, np.int8),
            np.frombuffer(column.raw, np.int64),
        )
        for name, column in found.arguments.items()
    }
    return Trace(events, arguments, tuple(found.texts), {}, _origin_ns(found.head, base_us))


def _ps(us: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(np.clip(us * _PS_PER_US, -_LARGEST_PS, _LARGEST_PS)).astype(np.int64)


def _whole(value: Any) -> int:
    """Return a thread's number, 0 for one that has none."""
    text = str(value)
    return int(text) % 2**62 if text.isdecimal() and len(text) <= 20 else 0


def _origin_ns(head: Mapping[str, Any], base_us: float) -> int | None:
    """Return the Unix time of the first moment where the writer says what its times count from."""
    base_ns = head.get("baseTimeNanoseconds")
    if isinstance(base_ns, int) and 0 < base_ns < 2**62:
        return base_ns + int(base_us * _NS_PER_US)
    return None


def _session(trace: Trace, number: int) -> list[XPlane]:
    """Return the plane that says when the capture was, where that is known."""
    if trace.origin_ns is None:
        return []
    ends = trace.events["start_ps"] + trace.events["duration_ps"]
    stats = {"profile_start_time": trace.origin_ns, "profile_stop_time": trace.origin_ns + int(ends.max()) // 1000}
    none = np.empty(0, np.int64)
    lines = Lines(none, [], [], none, none, none, np.zeros(1, np.int64))
    return [memory_plane(number, SESSION, lines, [], (none.astype(np.int32), none, none), {}, (), stats)]


def _plane(trace: Trace, number: int, name: str) -> XPlane:
    """Return one plane; its lines are the tracks in the order they first appear."""
    rows = np.flatnonzero((trace.events["plane"] == name).to_numpy())
    events = trace.events.iloc[rows]
    line_code, tracks = pd.factorize(events["track"])
    order = np.lexsort((events["start_ps"].to_numpy(), line_code))
    rows, events, line_code = rows[order], events.iloc[order], line_code[order]
    first = events.groupby(line_code, sort=True).first()
    counts = np.bincount(line_code, minlength=len(tracks))
    names = [str(line) for line in first["line"]]
    lines = Lines(
        id=np.array(
            [
                _DERIVED_ID if _DERIVED.match(line) else int(thread)
                for line, thread in zip(names, first["thread"], strict=True)
            ],
            np.int64,
        ),
        name=names,
        display_name=[""] * len(names),
        timestamp_ns=np.zeros(len(names), np.int64),
        duration_ps=np.zeros(len(names), np.int64),
        display_id=np.zeros(len(names), np.int64),
        first_event=np.cumsum([0, *counts]),
    )
    values = {key: _in_rows(column, rows) for key, column in trace.arguments.items()}
    values = {key: column for key, column in values.items() if len(column.rows)}
    kinds = _kinds_of_events(trace, events, values)
    stats = _stats(values, kinds)
    return memory_plane(
        number,
        name,
        lines,
        kinds.names,
        (kinds.row, events["start_ps"].to_numpy(np.int64), events["duration_ps"].to_numpy(np.int64)),
        stats,
        trace.texts,
        trace.stats.get(name),
    )


def _in_rows(values: SomeValues, rows: NDArray[np.int64]) -> SomeValues:
    """Return the values of some rows, numbered by their place among those."""
    kind, raw = values.of(rows)
    here = np.flatnonzero(kind)
    return SomeValues(here, kind[here], raw[here])


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of events of a plane: what runs again and again under one name.

    Attributes
    ----------
    row
        The kind of each event.
    example
        An event of each kind.
    names
        Name and display name of each kind.
    program
        The program of an op, 0 where there is none.
    is_op
        The kind is an op of a device.
    """

    row: NDArray[np.int32]
    example: NDArray[np.int64]
    names: list[tuple[str, str]]
    program: NDArray[np.uint64]
    is_op: NDArray[np.bool_]


def _kinds_of_events(trace: Trace, events: pd.DataFrame, values: Mapping[str, SomeValues]) -> Kinds:
    """Ops of one name are told apart by their program, which is the one that runs at the time."""
    is_op = events["line"].isin(_OPS).to_numpy() & ("hlo_category" in values or "long_name" in values)
    long_name = np.full(len(events), -1, np.int64)
    if "long_name" in values:
        column = values["long_name"]
        texts = column.kind == REF
        long_name[column.rows[texts]] = column.raw[texts]
    program = _programs_at(trace, events, is_op)
    identity = pd.DataFrame(
        {"name": events["name"].to_numpy(), "long": np.where(is_op, long_name, -1), "program": program, "is_op": is_op}
    )
    row = identity.groupby(list(identity.columns), sort=False).ngroup().to_numpy(np.int32)
    example = np.unique(row, return_index=True)[1]
    chosen = identity.iloc[example]
    names = [
        (trace.texts[long], trace.texts[short]) if long >= 0 else (trace.texts[short], "")
        for short, long in zip(chosen["name"], chosen["long"], strict=True)
    ]
    return Kinds(row, example, names, chosen["program"].to_numpy(np.uint64), chosen["is_op"].to_numpy(np.bool_))


def _programs_at(trace: Trace, events: pd.DataFrame, is_op: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the program each op of a plane ran in: the last one that began before it."""
    program = np.zeros(len(events), np.uint64)
    modules = events[events["line"] == _MODULES].sort_values("start_ps", kind="stable")
    if not len(modules) or not is_op.any():
        return program
    ids = np.array([split_program_label(trace.texts[name])[1] for name in modules["name"]], np.uint64)
    begun = np.searchsorted(modules["start_ps"].to_numpy(), events["start_ps"].to_numpy()[is_op], side="right") - 1
    program[is_op] = np.where(begun >= 0, ids[begun], np.uint64(0))
    return program


def _stats(values: Mapping[str, SomeValues], kinds: Kinds) -> dict[tuple[int, str], SomeValues]:
    """Return arguments as stats: those of an op on its kind, as TPU runtimes write them, the others on the event."""
    of_op = kinds.is_op[kinds.row]
    stats: dict[tuple[int, str], SomeValues] = {}
    for name, column in values.items():
        stays = ~of_op[column.rows] | (name in _OF_EXECUTION)
        if stays.any():
            stats[EVENT_STATS, name] = SomeValues(column.rows[stays], column.kind[stays], column.raw[stays])
        if not stays.all():
            described = _in_rows(column, kinds.example)
            on_ops = kinds.is_op[described.rows]
            stats[METADATA_STATS, name] = SomeValues(
                described.rows[on_ops], described.kind[on_ops], described.raw[on_ops]
            )
    if (METADATA_STATS, "flops") not in stats and (METADATA_STATS, "model_flops") in stats:
        stats[METADATA_STATS, "flops"] = stats[METADATA_STATS, "model_flops"]
    ops = np.flatnonzero(kinds.is_op)
    if len(ops):
        stats[METADATA_STATS, "program_id"] = _numbers(ops, kinds.program[ops].view(np.int64), UINT64)
        stats[METADATA_STATS, "symbol_id"] = _numbers(ops, ops + 1, INT64)
    return _with_root_marks(stats)


def _with_root_marks(stats: dict[tuple[int, str], SomeValues]) -> dict[tuple[int, str], SomeValues]:
    """Mark step annotations as the roots they are; exports leave that out."""
    steps = stats.get((EVENT_STATS, "step_num"))
    if steps is not None and (EVENT_STATS, "_r") not in stats:
        stats[EVENT_STATS, "_r"] = _numbers(steps.rows, np.ones(len(steps.rows), np.int64), INT64)
    return stats


def _numbers(rows: NDArray[np.int64], values: NDArray[np.int64], kind: int) -> SomeValues:
    return SomeValues(rows, np.full(len(rows), kind, np.int8), values)
