"""XSpace files (``*.xplane.pb``) as columns, in one checked walk over the mapped bytes.

The walk accepts what protobuf accepts, with these stricter rules:

* groups, which no profile has, are refused instead of skipped;
* a metadata entry holds one value (protobuf would merge two);
* bytes without any plane content, error or warning are no profile, though protobuf reads them as an empty one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats import wire
from xprof_nb.formats.damage import SPACE, damage, not_a_profile
from xprof_nb.formats.jit import warm_up
from xprof_nb.formats.source import Source, open_source
from xprof_nb.formats.stats import StatColumn, canonical, python_value

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]

_EVENT_STATS, _METADATA_STATS = 4, 5
"""Field number of the stats in an event and in an event metadata."""
_LARGEST_START_NS = (2**63 - 1) // 2000
_THREADS = min(8, os.cpu_count() or 1)


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
        starts_ns = self.lines.timestamp_ns
        if len(starts_ns) and max(-int(starts_ns.min()), int(starts_ns.max())) > _LARGEST_START_NS:
            raise DamagedFileError("a line's timestamp is more than 53 days from the start of the clock")
        out: Int64s = np.repeat(starts_ns * 1000, np.diff(self.lines.first_event))
        out += self.offset_ps
        return out

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
        return tuple(dict.fromkeys(canonical(name) for name in self._stat_rows))

    def event_stat(self, name: str) -> StatColumn:
        """Return a stat of the events, all rows absent when no event has it."""
        return self.event_stats(name)[0]

    def event_stats(self, *names: str) -> tuple[StatColumn, ...]:
        """Return several stats of the events: one walk over the file for all that are not yet known."""
        return self._stats(_EVENT_STATS, names, self.events.where)

    def stats_of(self, rows: Int64s, *names: str) -> tuple[StatColumn, ...]:
        """Return several stats of some events, in one walk over those events alone; nothing is kept."""
        return tuple(self._gather(_EVENT_STATS, [canonical(name) for name in names], self.events.where[rows]))

    def metadata_stat(self, name: str) -> StatColumn:
        """Return a stat of the event metadata, all rows absent when no entry has it."""
        return self._stats(_METADATA_STATS, (name,), self.metadata.where)[0]

    def forget_stats(self) -> None:
        """Let go of the columns handed out so far; they are gathered again when asked for."""
        self._columns.clear()

    def _stats(self, owner: int, names: Sequence[str], where: Int64s) -> tuple[StatColumn, ...]:
        wanted = [canonical(name) for name in names]
        unknown = [name for name in dict.fromkeys(wanted) if (owner, name) not in self._columns]
        if unknown:
            for name, column in zip(unknown, self._gather(owner, unknown, where), strict=True):
                self._columns[owner, name] = column
        return tuple(self._columns[owner, name] for name in wanted)

    def _gather(self, owner: int, names: Sequence[str], where: Int64s) -> list[StatColumn]:
        column_of = np.array(
            [names.index(name) if name in names else -1 for name in map(canonical, self._stat_rows)], np.int64
        )
        # Pages of zeros cost nothing until a kernel writes them: a rare stat stays small.
        kinds = np.zeros((len(names), len(where)), np.int8)
        raw = np.zeros((len(names), len(where)), np.int64)
        seen = np.zeros((len(names), 7), np.bool_)

        def gather(first: int, last: int) -> None:
            part = slice(first, last)
            columns = (kinds[:, part], raw[:, part], seen)
            place = f"plane {self.name!r}"
            _check(wire.gather_stats, self.source, place, where[part], owner, self._stat_ids, column_of, *columns)
            self.source.let_go(*_hull(where[part]))

        if (column_of >= 0).any():
            steps = range(0, len(where), wire.SEGMENT_EVENTS)
            _in_threads(gather, [(first, min(first + wire.SEGMENT_EVENTS, len(where))) for first in steps])
        return [
            StatColumn(kinds[i], raw[i], frozenset(np.flatnonzero(seen[i]).tolist()), self._stat_rows, self.source)
            for i in range(len(names))
        ]


@dataclass(frozen=True, eq=False)
class XSpace:
    """What one host wrote of one run."""

    source: str
    size_bytes: int
    hostnames: tuple[str, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    planes: tuple[XPlane, ...]

    def plane(self, name: str) -> XPlane | None:
        """Return the first plane of that name."""
        return next((plane for plane in self.planes if plane.name == name), None)


def read(source: str | os.PathLike[str] | bytes | bytearray | memoryview, *, name: str | None = None) -> XSpace:
    """Read an XSpace from a file or from bytes; ``name`` is what errors call the bytes.

    Raises
    ------
    NotFoundError
        No such file.
    NotAProfileError
        The bytes are something else.
    DamagedFileError
        The bytes began as a profile but are cut or changed.
    """
    opened = open_source(source, name)
    fields = _scan(opened, 0, len(opened), SPACE)
    texts = {number: fields[_is_field(fields, number), 2:] for number in (2, 3, 4)}
    for spans in texts.values():
        _check(wire.check_texts, opened, SPACE, np.ascontiguousarray(spans))
    planes = tuple(_read_plane(opened, start, end) for start, end in fields[_is_field(fields, 1), 2:].tolist())
    errors, warnings, hostnames = (
        tuple(opened.text(start, end) for start, end in texts[number].tolist()) for number in (2, 3, 4)
    )
    if not (errors or warnings or any(map(_has_content, planes))):
        raise not_a_profile(opened, why=": no plane is in them")
    return XSpace(opened.name, len(opened), hostnames, errors, warnings, planes)


def _has_content(plane: XPlane) -> bool:
    return bool(plane.name or plane.stats or len(plane.lines) or len(plane.metadata) or plane.stat_names)


def _read_plane(source: Source, start: int, end: int) -> XPlane:
    fields = _scan(source, start, end, "a plane")
    name = _last_text(source, fields)
    place = f"plane {name!r}"
    ids = fields[(fields[:, 0] == 1) & (fields[:, 1] == wire.VARINT), 2]
    stat_metadata = _read_metadata(source, _spans(fields, 5), (3, 0, 0), f"the stat metadata of {place}")
    stat_ids, stat_rows = stat_metadata.id, tuple(stat_metadata.name)
    metadata = _read_metadata(source, _spans(fields, 4), (4, _METADATA_STATS, 6), f"the event metadata of {place}")
    lines, segments = _survey(source, _spans(fields, 3), place)
    plane = XPlane(
        id=int(ids[-1]) if len(ids) else 0,
        name=name,
        lines=lines,
        metadata=metadata,
        events=_read_events(source, lines, segments, metadata.id, place),
        stats=_read_stats(source, _spans(fields, 6), stat_ids, stat_rows, place),
        source=source,
        _stat_ids=stat_ids,
        _stat_rows=stat_rows,
    )
    source.let_go(start, end)
    return plane


def _last_text(source: Source, fields: Int64s) -> str:
    spans = _spans(fields, 2)
    _check(wire.check_texts, source, "a plane's name", spans)
    return source.text(*spans[-1].tolist()) if len(spans) else ""


def _read_metadata(source: Source, spans: Int64s, numbers: tuple[int, int, int], place: str) -> Metadata:
    """Read a map of metadata; ``numbers`` are those `wire.walk_metadata` asks for."""
    entries = np.empty((len(spans), 2), np.int64)
    texts = np.zeros((len(spans), 4), np.int64)
    _check(wire.walk_entries, source, place, spans, entries)
    _check(wire.walk_metadata, source, place, np.ascontiguousarray(entries[:, 1]), *numbers, texts)
    order = np.argsort(entries[:, 0], kind="stable")
    ids = entries[order, 0]
    order = order[np.append(ids[1:] != ids[:-1], True)[: len(ids)]]  # of an id that repeats the last entry counts
    spans_of_texts = texts[order].tolist()
    return Metadata(
        id=entries[order, 0],
        name=[source.text(start, end) for start, end, _, _ in spans_of_texts],
        display_name=[source.text(start, end) for _, _, start, end in spans_of_texts],
        where=entries[order, 1],
    )


def _survey(source: Source, spans: Int64s, place: str) -> tuple[Lines, Int64s]:
    """Return the lines and the segments that their events are walked in."""
    table = np.zeros((len(spans), 8), np.int64)
    first_event = np.zeros(len(spans) + 1, np.int64)
    span_bytes = int((spans[:, 1] - spans[:, 0]).sum())
    segments = np.empty((len(spans) + span_bytes // (2 * wire.SEGMENT_EVENTS), 5), np.int64)  # an event is 2 bytes up
    n = _check(wire.survey_lines, source, f"a line of {place}", spans, table, first_event, segments)
    texts = table[:, 4:].tolist()
    lines = Lines(
        id=table[:, 0].copy(),
        name=[source.text(start, end) for start, end, _, _ in texts],
        display_name=[source.text(start, end) for _, _, start, end in texts],
        timestamp_ns=table[:, 1].copy(),
        duration_ps=table[:, 2].copy(),
        display_id=table[:, 3].copy(),
        first_event=first_event,
    )
    return lines, segments[:n]


def _read_events(source: Source, lines: Lines, segments: Int64s, metadata_ids: Int64s, place: str) -> Events:
    n = int(lines.first_event[-1])
    where, at, duration_ps = (np.empty(n, np.int64) for _ in range(3))
    metadata, positioned = np.empty(n, np.int32), np.empty(n, np.bool_)

    def walk(first: int, last: int) -> None:
        part = segments[first:last]
        columns = (where, metadata, at, duration_ps, positioned)
        _check(wire.walk_events, source, f"an event of {place}", part, metadata_ids, *columns)
        begin = int(part[0, 3])
        source.let_go(*_hull(where[begin : int(part[-1, 3] + part[-1, 4])]))

    _in_threads(walk, _even_parts(segments[:, 4]))
    return Events(lines, metadata, duration_ps, positioned, at, where)


def _even_parts(counts: Int64s) -> list[tuple[int, int]]:
    """Cut a list of counts where about `wire.SEGMENT_EVENTS` have come together."""
    if not len(counts):
        return []
    part = (np.cumsum(counts) - counts) // wire.SEGMENT_EVENTS
    firsts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(counts)]
    return list(zip(firsts[:-1], firsts[1:], strict=True))


def _read_stats(
    source: Source, spans: Int64s, stat_ids: Int64s, stat_rows: tuple[str, ...], place: str
) -> dict[str, int | float | str | bytes]:
    table = np.empty((len(spans), 3), np.int64)
    _check(wire.walk_stats, source, f"a stat of {place}", spans, table)
    row_of = dict(zip(stat_ids.tolist(), range(len(stat_ids)), strict=True))
    stats: dict[str, int | float | str | bytes] = {}
    for stat_id, kind, raw in table.tolist():
        row = row_of.get(stat_id)
        refers_to = row_of.get(raw) if kind == wire.REF else raw
        if row is None or refers_to is None:
            continue
        value = python_value(kind, refers_to, stat_rows, source)
        if value is not None:
            stats.setdefault(canonical(stat_rows[row]), value)
    return stats


def _scan(source: Source, start: int, end: int, place: str) -> Int64s:
    """Return the fields of one message as `wire.scan` lists them."""
    table = np.empty((1024, 4), np.int64)
    n = _check(wire.scan, source, place, start, end, table)
    if n > len(table):
        table = np.empty((n, 4), np.int64)
        _check(wire.scan, source, place, start, end, table)
    return table[:n]


def _is_field(fields: Int64s, number: int) -> npt.NDArray[np.bool_]:
    is_field: npt.NDArray[np.bool_] = (fields[:, 0] == number) & (fields[:, 1] == wire.LENGTH)
    return is_field


def _spans(fields: Int64s, number: int) -> Int64s:
    return np.ascontiguousarray(fields[_is_field(fields, number), 2:])


def _check(kernel: Callable[..., int], source: Source, place: str, *arguments: Any) -> int:
    """Run a kernel, raise what it found."""
    result = kernel(source.buf, *arguments)
    if result < 0:
        raise damage(source, result, place)
    return result


def _hull(where: Int64s) -> tuple[int, int]:
    return (int(where.min()), int(where.max())) if len(where) else (0, 0)


def _in_threads(work: Callable[[int, int], None], parts: Iterable[tuple[int, int]]) -> None:
    parts = list(parts)
    if len(parts) == 1:
        work(*parts[0])
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(lambda part: work(*part), parts):
            pass


@warm_up
def _warm() -> None:
    """Read a space that has one of everything."""
    line = b"\x12\x01l\x22\x0a\x08\x01\x10\x01\x22\x04\x08\x01\x20\x01"
    plane = (
        b"\x12\x01p\x1a" + bytes([len(line)]) + line
        + b"\x22\x07\x08\x01\x12\x03\x12\x01e\x2a\x07\x08\x01\x12\x03\x12\x01s\x32\x04\x08\x01\x20\x01"
    )  # fmt: skip
    space = read(b"\x0a" + bytes([len(plane)]) + plane)
    space.planes[0].event_stat("s").ints()
