"""XSpace files (``*.xplane.pb``) as columns, in one checked walk over the mapped bytes.

The walk accepts what protobuf accepts, with these stricter rules:

* groups, which no profile has, are refused instead of skipped;
* a metadata entry holds one value (protobuf would merge two);
* bytes without any plane content, error or warning are no profile, though protobuf reads them as an empty one.
"""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np

from xprof_nb.formats import wire
from xprof_nb.formats.codes import LENGTH, NOT_UTF8, REF, SEGMENT_EVENTS, VARINT
from xprof_nb.formats.damage import SPACE, damage, not_a_profile
from xprof_nb.formats.jit import warm_up
from xprof_nb.formats.planes import METADATA_STATS, Events, Int64s, Lines, Metadata, XPlane, XSpace
from xprof_nb.formats.source import Source, open_source
from xprof_nb.formats.stats import StatColumn, canonical, python_value
from xprof_nb.formats.walk import check, in_threads

_NONE = np.empty(0, np.int64)

__all__ = ["Events", "Lines", "Metadata", "StatColumn", "XPlane", "XSpace", "read"]


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
    planes = tuple(_read_plane(opened, start, end) for start, end in _spans(fields, 1).tolist())
    errors, warnings, hostnames = (tuple(_texts(opened, fields, number, SPACE)) for number in (2, 3, 4))
    if not (errors or warnings or any(map(_has_content, planes))):
        raise not_a_profile(opened, why=": no plane is in them")
    return XSpace(opened.name, len(opened), hostnames, errors, warnings, planes)


def _has_content(plane: XPlane) -> bool:
    return bool(plane.name or plane.stats or len(plane.lines) or len(plane.metadata) or plane.stat_names)


def _read_plane(source: Source, start: int, end: int) -> XPlane:
    fields = _scan(source, start, end, "a plane")
    name = ["", *_texts(source, fields, 2, "the name of a plane")][-1]
    place = f"plane {name!r}"
    ids = fields[(fields[:, 0] == 1) & (fields[:, 1] == VARINT), 2]
    stat_metadata = _read_metadata(source, _spans(fields, 5), (3, 0, 0), f"the stat metadata of {place}")
    stat_ids, stat_rows = stat_metadata.id, tuple(stat_metadata.name)
    metadata = _read_metadata(source, _spans(fields, 4), (4, METADATA_STATS, 6), f"the event metadata of {place}")
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


def _texts(source: Source, fields: Int64s, number: int, place: str) -> list[str]:
    texts = []
    for start, end in _spans(fields, number).tolist():
        try:
            texts.append(str(source.view[start:end], "utf-8"))
        except UnicodeDecodeError as error:
            raise damage(source, NOT_UTF8, start + error.start, place) from None
    return texts


def _read_metadata(source: Source, spans: Int64s, numbers: tuple[int, int, int], place: str) -> Metadata:
    """Read a map of metadata; ``numbers`` are those `wire.walk_metadata` asks for."""
    if not len(spans):
        return Metadata(_NONE, [], [], _NONE)
    table = np.zeros((len(spans), 6), np.int64)
    check(wire.walk_metadata, source, place, spans, *numbers, table)
    table = table[np.argsort(table[:, 0], kind="stable")]
    ids = table[:, 0]
    table = table[np.append(ids[1:] != ids[:-1], True)]  # of an id that repeats the last entry counts
    texts = table[:, 2:].tolist()
    return Metadata(
        id=table[:, 0].copy(),
        name=[source.text(start, end) for start, end, _, _ in texts],
        display_name=[source.text(start, end) for _, _, start, end in texts],
        where=table[:, 1].copy(),
    )


def _survey(source: Source, spans: Int64s, place: str) -> tuple[Lines, Int64s]:
    """Return the lines and the segments that their events are walked in."""
    table = np.zeros((len(spans), 8), np.int64)
    first_event = np.zeros(len(spans) + 1, np.int64)
    span_bytes = int((spans[:, 1] - spans[:, 0]).sum())
    segments = np.empty((len(spans) + span_bytes // (2 * SEGMENT_EVENTS), 5), np.int64)  # an event is 2 bytes up
    n = check(wire.survey_lines, source, f"a line of {place}", spans, table, first_event, segments)
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
        check(wire.walk_events, source, f"an event of {place}", part, metadata_ids, *columns)
        begin = int(part[0, 3])
        source.let_go_of(where[begin : int(part[-1, 3] + part[-1, 4])])

    in_threads(walk, _even_parts(segments[:, 4]))
    return Events(lines, metadata, duration_ps, positioned, at, where)


def _even_parts(counts: Int64s) -> list[tuple[int, int]]:
    """Cut a list of counts where about `SEGMENT_EVENTS` have come together."""
    if not len(counts):
        return []
    part = (np.cumsum(counts) - counts) // SEGMENT_EVENTS
    firsts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(counts)]
    return list(pairwise(firsts))


def _read_stats(
    source: Source, spans: Int64s, stat_ids: Int64s, stat_rows: tuple[str, ...], place: str
) -> dict[str, int | float | str | bytes]:
    table = np.empty((len(spans), 3), np.int64)
    check(wire.walk_stats, source, f"a stat of {place}", spans, table)
    row_of = dict(zip(stat_ids.tolist(), range(len(stat_ids)), strict=True))
    stats: dict[str, int | float | str | bytes] = {}
    for stat_id, kind, raw in table.tolist():
        row = row_of.get(stat_id)
        refers_to = row_of.get(raw) if kind == REF else raw
        if row is None or refers_to is None:
            continue
        value = python_value(kind, refers_to, stat_rows, source)
        if value is not None:
            stats.setdefault(canonical(stat_rows[row]), value)
    return stats


def _scan(source: Source, start: int, end: int, place: str) -> Int64s:
    """Return the fields of one message as `wire.scan` lists them."""
    table = np.empty((1024, 4), np.int64)
    n = check(wire.scan, source, place, start, end, table)
    if n > len(table):
        table = np.empty((n, 4), np.int64)
        check(wire.scan, source, place, start, end, table)
    return table[:n]


def _spans(fields: Int64s, number: int) -> Int64s:
    """Return first and next byte of the length-delimited fields of a number."""
    is_field = (fields[:, 0] == number) & (fields[:, 1] == LENGTH)
    return np.ascontiguousarray(fields[is_field, 2:])


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
