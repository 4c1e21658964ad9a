"""What the streams of a host's GPUs ran, as columns: the events of all GPU planes with the stats that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.gpu.device import GPU
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.columns import Columns, stacked

Ints = NDArray[np.int64]
Codes = NDArray[np.int64]

_DERIVED_IDS = (0xDEADBEEF, 290)
"""First number and count of the ids of lines made from other lines, of their low 32 bits."""
_DERIVED_NAMES = frozenset(
    {
        *("Steps", "XLA Modules", "XLA Ops", "XLA TraceMe", "Framework Ops", "Framework Name Scope", "Source code"),
        *("Launch Stats", "TensorFlow Ops", "TensorFlow Name Scope", "_counters_"),
    }
)
_BOOKKEEPING = ("memalloc_details", "MemFree_details", "MemoryResidency_details", "counter_value")
"""Stats of events that take no time of the device."""
_TEXT_STATS = {
    "hlo_op": "hlo_op",
    "hlo_module": "hlo_module",
    "tf_op": "tf_op",
    "path": "name",
    "annotation": "annotation",
    "level": "level 0",
    "kernel_details": "kernel_details",
    "copy_details": "memcpy_details",
    "fill_details": "Memset_details",
}
_NUMBER_STATS = {
    "program_id": "program_id",
    "correlation_id": "correlation_id",
    "group_id": "group_id",
    "graph": "cuda_graph_exec_id",
    "graph_node": "cuda_graph_id",
}
ABSENT = -(2**63)


@dataclass(frozen=True, eq=False)
class Streams:
    """The events of all streams, ordered by device and start.

    Attributes
    ----------
    events
        ``device, stream, line, start_ps, duration_ps, occurrences, name``, the text stats as codes, -1 where absent,
        and the number stats, `ABSENT` where absent. ``line`` numbers the streams of all devices, ``stream`` their
        names.
    texts
        What the codes of a column mean.
    derived_count
        Events on lines made from other lines, which are left out.
    """

    events: Columns
    texts: dict[str, list[str]]
    derived_count: int

    def __len__(self) -> int:
        return len(self.events["name"])

    def codes(self, column: str) -> Codes:
        """Return a column of codes."""
        return self.events[column]

    def column(self, column: str) -> Ints:
        """Return a column of numbers."""
        return self.events[column]


def gpu_planes(space: XSpace) -> list[XPlane]:
    """Return the planes of GPUs in order of their number."""
    found = [(int(match[1]), plane) for plane in space.planes if (match := GPU.match(plane.name))]
    return [plane for _, plane in sorted(found, key=lambda item: item[0])]


def is_derived(line_id: int, name: str) -> bool:
    """Return whether a line was made from other lines; their ids may be sign-extended from 32 bits."""
    first, count = _DERIVED_IDS
    return (line_id - first) % 2**32 < count or name in _DERIVED_NAMES


def read_streams(planes: Sequence[XPlane]) -> Streams:
    """Return what the streams of some GPU planes ran; ``device`` is the row of the plane."""
    vocabulary: dict[str, dict[str, int]] = {name: {} for name in ("name", "stream", *_TEXT_STATS)}
    parts = []
    line_count = derived_count = 0
    for device, plane in enumerate(planes):
        derived = np.array([is_derived(*line) for line in zip(plane.lines.id.tolist(), plane.lines.name, strict=True)])
        lines = plane.events.line
        on_stream = ~derived[lines] if len(derived) else np.zeros(0, np.bool_)
        derived_count += int((~on_stream).sum())
        rows = np.flatnonzero(on_stream & (plane.events.metadata >= 0))
        columns = _plane_events(plane, rows, vocabulary)
        columns["device"] = np.full(len(columns["row"]), device, np.int64)
        columns["line"] = lines[columns["row"]].astype(np.int64) + line_count
        line_count += len(plane.lines)
        parts.append(columns)
    events = stacked(parts)
    order = np.lexsort((events["start_ps"], events["device"]))
    events = {name: values[order] for name, values in events.items()}
    return Streams(events, {column: list(codes) for column, codes in vocabulary.items()}, derived_count)


def traced(streams: Streams) -> tuple[Streams, Ints]:
    """Return the streams with the devices that have events numbered anew, and the planes those are of."""
    planes, device = np.unique(streams.codes("device"), return_inverse=True)
    return replace(streams, events={**streams.events, "device": device}), planes


def _plane_events(plane: XPlane, rows: Ints, vocabulary: dict[str, dict[str, int]]) -> Columns:
    stats = plane.stats_of(rows, *_TEXT_STATS.values(), *_NUMBER_STATS.values(), *_BOOKKEEPING)
    idle = np.logical_or.reduce([stat.present for stat in stats[-len(_BOOKKEEPING) :]])
    busy = np.flatnonzero(~idle)
    rows, stats = rows[busy], tuple(stat.take(busy) for stat in stats)
    events = plane.events
    columns: Columns = {
        "row": rows,
        "start_ps": events.starts_of(rows),
        "duration_ps": events.duration_ps[rows],
        "occurrences": np.maximum(events.occurrences[rows], 1),
        "name": _shared_codes(events.metadata[rows], plane.metadata.name, vocabulary["name"]),
        "stream": _shared_codes(events.lines_of(rows), plane.lines.name, vocabulary["stream"]),
    }
    for column, stat in zip(_TEXT_STATS, stats, strict=False):
        columns[column] = _shared_codes(*stat.texts(), vocabulary[column])
    for column, stat in zip(_NUMBER_STATS, stats[len(_TEXT_STATS) :], strict=False):
        columns[column] = _numbers(stat)
    return columns


def _shared_codes(codes: NDArray[np.int32], texts: Sequence[str], vocabulary: dict[str, int]) -> Codes:
    """Return codes of one plane as codes of all planes; only texts in use get one. -1 stays."""
    used = np.unique(codes)
    shared = np.full(len(texts) + 1, -1, np.int64)
    for code in used[used >= 0].tolist():
        shared[code] = vocabulary.setdefault(texts[code], len(vocabulary))
    return shared[codes]


def _numbers(stat: StatColumn) -> Ints:
    """Return whole numbers, `ABSENT` where there is none; some writers put them in text."""
    return stat.ints(ABSENT)
