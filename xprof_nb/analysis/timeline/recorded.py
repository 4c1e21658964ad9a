"""Tracks a file has: threads, streams, engines and counters of one host, laid out when somebody looks at one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.timeline.curves import Samples
from xprof_nb.analysis.timeline.lanes import Lanes, lay_out
from xprof_nb.formats.factors import numbered
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace
from xprof_nb.model.tracks import RecordedEvents

_NO_WORK = ("ThreadpoolListener::", "ThunkExecutor::", "end: ")
_BY_WORD = (
    ("collective", ("nccl", "rccl", "allreduce", "all-reduce", "allgather", "all-gather", "reducescatter")),
    ("matrix", ("gemm", "cutlass", "cublas", "conv", "dot", "matmul")),
    ("data", ("memcpy", "memset", "copy", "transpose", "infeed", "outfeed")),
)


@dataclass(frozen=True, eq=False)
class Recorded:
    """The lines of a host: lanes of each, and the samples of each counter by line and name."""

    lanes: tuple[Lanes, ...]
    counters: Mapping[tuple[int, str], Samples]
    events: RecordedEvents


_KEPT: WeakKeyDictionary[HostTrace, Recorded] = WeakKeyDictionary()
_LOCK = Lock()


def recorded(profile: ProfileData, trace: HostTrace) -> Recorded:
    """Return the lines of a host, read from its file the first time."""
    with _LOCK:
        if trace not in _KEPT:
            _KEPT[trace] = _laid_out(profile, trace)
        return _KEPT[trace]


def _laid_out(profile: ProfileData, trace: HostTrace) -> Recorded:
    events = trace.find_recorded()
    described = described_keys(profile, trace)
    kind_of_op = dict(zip(described["op"], described["work_kind"], strict=True))
    counters: dict[tuple[int, str], Samples] = {}
    lanes = []
    for line, plane in enumerate(trace.lines.plane):
        here = slice(events.first[line], events.first[line + 1])
        code, examples = numbered(events.name[here].astype(np.int64), len(events.names))
        names = [events.names[row] for row in events.name[here][examples]]
        other = "elementwise" if trace.lines.name[line].startswith("Stream") else "control"
        kinds = [_work_kind(name, kind_of_op, plane, other) for name in names]
        start_ps, duration_ps = events.start_ps[here], events.duration_ps[here]
        lanes.append(lay_out(names, kinds, code, start_ps, duration_ps, events.position[here]))
        if line in events.values:
            numbers = np.array([names.index(name) for name in names], np.int64)[code]
            for name in dict.fromkeys(names):
                mine = numbers == names.index(name)
                counters[line, name] = Samples(start_ps[mine], events.values[line][mine])
    return Recorded(tuple(lanes), counters, _without_columns(events))


def _without_columns(events: RecordedEvents) -> RecordedEvents:
    """Return what gives the stats of single events: the lanes hold their times."""
    none = np.empty(0, np.int64)
    columns: dict[str, Any] = {"name": none.astype(np.int32), "start_ps": none, "duration_ps": none, "position": none}
    return RecordedEvents(events.first, events.names, **columns, values={}, stats=events.stats)


def _work_kind(name: str, kind_of_op: Mapping[Any, Any], plane: str, other: str) -> str:
    """Return the kind of work a recorded event is: that of the op it names, else what its name says."""
    kind = kind_of_op.get(name)
    if isinstance(kind, str):
        return kind
    if not plane.startswith("/device:"):
        return "control" if name.startswith(_NO_WORK) else "host"
    lower = name[:500].lower()
    return next((kind for kind, found in _BY_WORD if any(word in lower for word in found)), other)
