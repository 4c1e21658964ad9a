"""The tables of an XSpace: lines, metadata and events of its planes, and stats gathered when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats import wire
from xprof_nb.formats.codes import SEGMENT_EVENTS
from xprof_nb.formats.source import Source
from xprof_nb.formats.stats import StatColumn, canonical
from xprof_nb.formats.walk import check, in_threads

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]

EVENT_STATS, METADATA_STATS = 4, 5
"""Field number of the stats in an event and in an event metadata."""
_SCRATCH_CELLS = 1 << 20
_LARGEST_START_NS = (2**63 - 1) // 2000


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a plane, a row each, in file order.

    Attributes
    ----------
    id, timestamp_ns, duration_ps, display_id
        int64[L].
    name, display_name
        Text, ``""`` where the file has none.
    first_event
        int64[L+1]: the events of line i are ``first_event[i]:first_event[i + 1]``.
    """

    id: Int64s
    name: list[str]
    display_name: list[str]
    timestamp_ns: Int64s
    duration_ps: Int64s
    display_id: Int64s
    first_event: Int64s

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Metadata:
    """What the events of a plane have in common, a row per id, ascending.

    Attributes
    ----------
    id
        int64[M].
    name, display_name
        Text, ``""`` where the file has none.
    where
        int64[M]: where the length of the entry's value is written, -1 for an entry without one.
    """

    id: Int64s
    name: list[str]
    display_name: list[str]
    where: Int64s = field(repr=False)

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Events:
    """The events of a plane, a row each, in file order.

    Attributes
    ----------
    metadata
        int32[N]: row in the plane's metadata, -1 when the id has no entry.
    duration_ps
        int64[N].
    positioned
        bool[N]: false for an aggregated event, which has a number of occurrences and no position in time.
    place
        int64[N]: the offset of a positioned event, the occurrences of an aggregated one.
    where
        int64[N]: where the length of the event is written.
    """

    lines: Lines = field(repr=False)
    metadata: Int32s
    duration_ps: Int64s
    positioned: npt.NDArray[np.bool_]
    place: Int64s
    where: Int64s = field(repr=False)

    def __len__(self) -> int:
        return len(self.metadata)

    @cached_property
    def line(self) -> Int32s:
        """int32[N]: row in the plane's lines."""
        return np.repeat(np.arange(len(self.lines), dtype=np.int32), np.diff(self.lines.first_event))

    @cached_property
    def offset_ps(self) -> Int64s:
        """int64[N]: start after the line's timestamp; 0 for an aggregated event."""
        return self.place if self._all_positioned else np.where(self.positioned, self.place, 0)

    @cached_property
    def occurrences(self) -> Int64s:
        """int64[N]: 1 for a positioned event."""
        if self._all_positioned:
            return np.broadcast_to(np.int64(1), len(self))
        return np.where(self.positioned, 1, self.place)

    @property
    def start_ps(self) -> Int64s:
        """int64[N]: start on the host's clock, computed at each use.

        Raises
        ------
        ProfileError
            A line starts more than 53 days from the clock's origin, which 64-bit picoseconds cannot hold.
        """
        starts_ps = self.line_starts_ps
        if len(starts_ps) and (starts_ps == starts_ps[0]).all():  # as most writers have it, and four times faster
            return self.offset_ps + starts_ps[0]
        out: Int64s = np.repeat(starts_ps, np.diff(self.lines.first_event))
        out += self.offset_ps
        return out

    def starts_of(self, rows: Int64s) -> Int64s:
        """Return `start_ps` of some events, without computing that of the others."""
        starts_ps = self.line_starts_ps
        if len(starts_ps) and (starts_ps == starts_ps[0]).all():
            return self.offset_ps[rows] + starts_ps[0]
        return self.offset_ps[rows] + starts_ps[self.lines_of(rows)]

    def lines_of(self, rows: Int64s) -> Int32s:
        """Return `line` of some events, without making that of the others."""
        return (np.searchsorted(self.lines.first_event, rows, side="right") - 1).astype(np.int32)

    @cached_property
    def line_starts_ps(self) -> Int64s:
        """int64[L]: where each line begins on the host's clock; raises as `start_ps`."""
        starts_ns = self.lines.timestamp_ns
        if len(starts_ns) and max(-int(starts_ns.min()), int(starts_ns.max())) > _LARGEST_START_NS:
            raise DamagedFileError("a line's timestamp is more than 53 days from the start of the clock")
        return starts_ns * 1000

    @cached_property
    def _all_positioned(self) -> bool:
        return bool(self.positioned.all())


@dataclass(frozen=True, eq=False)
class XPlane:
    """One plane: the events of a device, of the host, or facts about the run.

    Attributes
    ----------
    stats
        The plane's own stats; of a name that repeats the first.
    stat_names
        Names that stats of this plane may have.
    """

    id: int
    name: str
    lines: Lines
    metadata: Metadata
    events: Events
    stats: dict[str, int | float | str | bytes]
    source: Source = field(repr=False)
    _stat_ids: Int64s = field(repr=False)
    _stat_rows: tuple[str, ...] = field(repr=False)
    _columns: dict[tuple[int, str], StatColumn] = field(default_factory=dict, repr=False)

    @cached_property
    def stat_names(self) -> tuple[str, ...]:
        """Names that stats of this plane may have; ids that share a name are one stat."""
        return tuple(dict.fromkeys(self._canonical_rows))

    @cached_property
    def _canonical_rows(self) -> list[str]:
        return [canonical(name) for name in self._stat_rows]

    def event_stat(self, name: str) -> StatColumn:
        """Return a stat of the events, all rows absent when no event has it."""
        return self.event_stats(name)[0]

    def event_stats(self, *names: str) -> tuple[StatColumn, ...]:
        """Return several stats of the events: one walk over the file for all that are not yet known."""
        return self._stats(EVENT_STATS, names, self.events.where)

    def stats_of(self, rows: Int64s, *names: str) -> tuple[StatColumn, ...]:
        """Return several stats of some events, in one walk over those events alone; nothing is kept."""
        return tuple(self._gather(EVENT_STATS, [canonical(name) for name in names], self.events.where[rows]))

    def stats_at(self, owner: int, rows: Int64s, names: Sequence[str]) -> list[StatColumn]:
        """Return stats of some events (`EVENT_STATS`) or metadata entries (`METADATA_STATS`); nothing is kept."""
        return self._gather(owner, [canonical(name) for name in names], self._where(owner)[rows])

    def used_stats(self, owner: int, rows: Int64s) -> list[str]:
        """Return the names of the stats that some events or metadata entries have.

        A plane's interned texts share a table with the names of its stats, so most of `stat_names` are none.
        """
        where, count = self._where(owner)[rows], len(self._stat_rows)
        step = max(1, min(_SCRATCH_CELLS // max(count, 1), len(where)))
        kinds, raw = np.zeros((count, step), np.int8), np.zeros((count, step), np.int64)  # what is in them is not read
        seen, column_of = np.zeros((count, 7), np.bool_), np.arange(count)
        for first in range(0, len(where), step):
            part = where[first : first + step]
            place = f"plane {self.name!r}"
            check(wire.gather_stats, self.source, place, part, owner, self._stat_ids, column_of, kinds, raw, seen)
        return list(dict.fromkeys(self._canonical_rows[row] for row in np.flatnonzero(seen.any(axis=1))))

    def _where(self, owner: int) -> Int64s:
        return self.events.where if owner == EVENT_STATS else self.metadata.where

    def stats_at_positions(self, where: Int64s, *names: str) -> tuple[StatColumn, ...]:
        """Return several stats of events known by `Events.where` alone; nothing is kept."""
        return tuple(self._gather(EVENT_STATS, [canonical(name) for name in names], where))

    def metadata_stat(self, name: str) -> StatColumn:
        """Return a stat of the event metadata, all rows absent when no entry has it."""
        return self.metadata_stats(name)[0]

    def metadata_stats(self, *names: str) -> tuple[StatColumn, ...]:
        """Return several stats of the event metadata, in one walk for all that are not yet known."""
        return self._stats(METADATA_STATS, names, self.metadata.where)

    def _stats(self, owner: int, names: Sequence[str], where: Int64s) -> tuple[StatColumn, ...]:
        wanted = [canonical(name) for name in names]
        unknown = [name for name in dict.fromkeys(wanted) if (owner, name) not in self._columns]
        if unknown:
            for name, column in zip(unknown, self._gather(owner, unknown, where), strict=True):
                self._columns[owner, name] = column
        return tuple(self._columns[owner, name] for name in wanted)

    def _gather(self, owner: int, names: Sequence[str], where: Int64s) -> list[StatColumn]:
        number = {name: column for column, name in reversed([*enumerate(names)])}
        column_of = np.array([number.get(name, -1) for name in self._canonical_rows], np.int64)
        # Pages of zeros cost nothing until a kernel writes them: a rare stat stays small.
        kinds = np.zeros((len(names), len(where)), np.int8)
        raw = np.zeros((len(names), len(where)), np.int64)
        seen = np.zeros((len(names), 7), np.bool_)

        def gather(first: int, last: int) -> None:
            part = slice(first, last)
            columns = (kinds[:, part], raw[:, part], seen)
            place = f"plane {self.name!r}"
            check(wire.gather_stats, self.source, place, where[part], owner, self._stat_ids, column_of, *columns)
            self.source.let_go_of(where[part])

        if (column_of >= 0).any():
            steps = range(0, len(where), SEGMENT_EVENTS)
            in_threads(gather, [(first, min(first + SEGMENT_EVENTS, len(where))) for first in steps])
        of_column = [frozenset(kind for kind, occurs in enumerate(row) if occurs) for row in seen.tolist()]
        return [StatColumn(kinds[i], raw[i], of_column[i], self._stat_rows, self.source) for i in range(len(of_column))]


@dataclass(frozen=True, eq=False)
class XSpace:
    """What one host wrote of one run; ``notes`` are ours, of what the format it was read from leaves out."""

    source: str
    size_bytes: int
    hostnames: tuple[str, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    planes: tuple[XPlane, ...]
    notes: tuple[str, ...] = ()

    def plane(self, name: str) -> XPlane | None:
        """Return the first plane of that name."""
        return next((plane for plane in self.planes if plane.name == name), None)
