"""A plane whose columns were made in memory, for formats other than XSpace: everything that reads planes reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from xprof_nb.formats.codes import ABSENT
from xprof_nb.formats.planes import EVENT_STATS, METADATA_STATS, Events, Int64s, Lines, Metadata, XPlane
from xprof_nb.formats.source import Source
from xprof_nb.formats.stats import StatColumn

Owner = int
_KINDS = 7


@dataclass(frozen=True, eq=False)
class SomeValues:
    """A stat of some rows.

    Attributes
    ----------
    rows
        int64[n], ascending, each once.
    kind, raw
        As in `StatColumn`; a text is a row of the plane's texts.
    """

    rows: Int64s
    kind: npt.NDArray[np.int8]
    raw: Int64s

    def of(self, rows: Int64s) -> tuple[npt.NDArray[np.int8], Int64s]:
        """Return kind and raw value of rows, absent where there is none."""
        if not len(self.rows):
            return np.zeros(len(rows), np.int8), np.zeros(len(rows), np.int64)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        found = self.rows[at] == rows
        return np.where(found, self.kind[at], ABSENT).astype(np.int8), np.where(found, self.raw[at], 0)


@dataclass(frozen=True, eq=False)
class MemoryPlane(XPlane):
    """A plane from columns; ``where`` of its events and metadata are their rows."""

    values: Mapping[tuple[Owner, str], SomeValues] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    def used_stats(self, owner: int, rows: Int64s) -> list[str]:
        """Return the names of the stats that some events or metadata entries have."""
        return [
            name for (of, name), values in self.values.items() if of == owner and (values.of(rows)[0] != ABSENT).any()
        ]

    def _gather(self, owner: int, names: Sequence[str], where: Int64s) -> list[StatColumn]:
        return [self._column(self.values.get((owner, name)), where) for name in names]

    def _column(self, values: SomeValues | None, rows: Int64s) -> StatColumn:
        if values is None:
            kind, raw = np.zeros(len(rows), np.int8), np.zeros(len(rows), np.int64)
        else:
            kind, raw = values.of(rows)
        kinds = np.flatnonzero(np.bincount(kind, minlength=_KINDS)[1:]) + 1
        return StatColumn(kind, raw, frozenset(kinds.tolist()), self.texts, self.source)


def memory_plane(
    number: int,
    name: str,
    lines: Lines,
    names: Sequence[tuple[str, str]],
    columns: tuple[npt.NDArray[np.int32], Int64s, Int64s],
    values: Mapping[tuple[Owner, str], SomeValues],
    texts: tuple[str, ...],
    stats: Mapping[str, int | float | str | bytes] | None = None,
) -> MemoryPlane:
    """Return a plane.

    Parameters
    ----------
    names
        Name and display name of each metadata entry.
    columns
        Metadata row, start and duration in ps of each event, in the order of the lines.
    """
    metadata, start_ps, duration_ps = columns
    count = len(metadata)
    return MemoryPlane(
        id=number,
        name=name,
        lines=lines,
        metadata=Metadata(
            id=np.arange(1, len(names) + 1),
            name=[name for name, _ in names],
            display_name=[shown for _, shown in names],
            where=np.arange(len(names)),
        ),
        events=Events(lines, metadata, duration_ps, np.ones(count, np.bool_), start_ps, np.arange(count)),
        stats=dict(stats or {}),
        source=Source(b"\0", name),
        _stat_ids=np.empty(0, np.int64),
        _stat_rows=tuple(dict.fromkeys(stat for _, stat in values)),
        values=values,
        texts=texts,
    )


__all__ = ["EVENT_STATS", "METADATA_STATS", "MemoryPlane", "SomeValues", "memory_plane"]
