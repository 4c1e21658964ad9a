"""What the streams of a host's GPUs ran, as columns: the events of all GPU planes with the stats that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.gpu.device import GPU
from xprof_nb.formats.stats import StatColumn, joined
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.columns import Columns, stacked, taken
from xprof_nb.model.kept import kept_with_first

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


@kept_with_first
def read_streams(space: XSpace) -> Streams:
    """Return what the streams of a host's GPUs ran; ``device`` is the row of `gpu_planes`, of which there is one."""
    every_plane = gpu_planes(space)
    numbered = [(device, plane) for device, plane in enumerate(every_plane) if len(plane.events)]
    numbered = numbered or [(0, every_plane[0])]
    planes = [plane for _, plane in numbered]
    parts: list[Columns] = []
    tables = []
    line_count = name_count = derived_count = 0
    for device, plane in numbered:
        events = plane.events
        derived = [is_derived(*line) for line in zip(plane.lines.id.tolist(), plane.lines.name, strict=True)]
        on_stream = ~np.repeat(np.array(derived, np.bool_), np.diff(plane.lines.first_event))
        derived_count += int((~on_stream).sum())
        rows, stats = _busy(plane, np.flatnonzero(on_stream & (events.metadata >= 0)))
        part = {
            "device": np.full(len(rows), device, np.int64),
            "line": events.lines_of(rows).astype(np.int64) + line_count,
            "name": events.metadata[rows].astype(np.int64) + name_count,
            "start_ps": events.starts_of(rows),
            "duration_ps": events.duration_ps[rows],
            "occurrences": np.maximum(events.occurrences[rows], 1),
        }
        parts.append(part)
        tables.append(stats)
        line_count += len(plane.lines)
        name_count += len(plane.metadata)
    columns, texts = stacked(parts), {}
    columns["stream"], texts["stream"] = _in_use(columns["line"], [name for each in planes for name in each.lines.name])
    columns["name"], texts["name"] = _in_use(columns["name"], [name for each in planes for name in each.metadata.name])
    whole = joined(tables)
    for column, stat in zip(_TEXT_STATS, whole, strict=False):
        codes, texts[column] = stat.texts()
        columns[column] = codes.astype(np.int64)
    for column, stat in zip(_NUMBER_STATS, whole[len(_TEXT_STATS) :], strict=True):
        columns[column] = stat.ints(ABSENT)
    return Streams(taken(columns, np.lexsort((columns["start_ps"], columns["device"]))), texts, derived_count)


@kept_with_first
def traced(streams: Streams) -> tuple[Streams, Ints]:
    """Return the streams with the devices that have events numbered anew, and the planes those are of."""
    planes, device = np.unique(streams.codes("device"), return_inverse=True)
    return replace(streams, events={**streams.events, "device": device}), planes


def _busy(plane: XPlane, rows: Ints) -> tuple[Ints, tuple[StatColumn, ...]]:
    """Return the events that take time of the device, and the stats that tell what they are."""
    stats = plane.stats_of(rows, *_TEXT_STATS.values(), *_NUMBER_STATS.values(), *_BOOKKEEPING)
    wanted = len(stats) - len(_BOOKKEEPING)
    idle = np.logical_or.reduce([stat.present for stat in stats[wanted:]])
    if not idle.any():
        return rows, stats[:wanted]
    return rows[~idle], tuple(stat.take(~idle) for stat in stats[:wanted])


def _in_use(codes: Codes, texts: Sequence[str]) -> tuple[Codes, list[str]]:
    """Return codes of the distinct texts that occur, and those."""
    number: dict[str, int] = {}
    shared = np.empty(len(texts), np.int64)
    for code in np.flatnonzero(np.bincount(codes, minlength=len(texts))).tolist():
        shared[code] = number.setdefault(texts[code], len(number))
    return shared[codes], list(number)
