"""Compiled walks over the protobuf wire format of an XSpace.

Every walk checks what it passes: lengths stay inside their parent, varints end within ten bytes, wire types exist,
strings are UTF-8. It ends at the first fault with a negative number that `codes.fault` takes apart; in place of a
position a negative number is a fault too. As in protobuf a known field with another wire type is an unknown field,
unknown fields are skipped, and of a repeated scalar or oneof the last one counts. A walk over bytes that passed
before checks again: the file below the map may have been rewritten.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from xprof_nb.formats import codes
from xprof_nb.formats.jit import byte_at, int64_at, njit

Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@njit
def _address(array: Bytes | Int64s) -> int:
    return int(array.ctypes.data)


@njit
def _fail(code: int, position: int) -> int:
    return -(position * codes.FAULTS + code)


@njit
def _long_varint(data: int, pos: int, end: int) -> tuple[int, int]:
    value = 0
    for i in range(10):
        if pos + i >= end:
            return value, _fail(codes.CUT_NUMBER, pos)
        byte = byte_at(data + pos + i)
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, pos + i + 1
    return value, _fail(codes.LONG_NUMBER, pos)


@njit
def _varint(data: int, pos: int, end: int) -> tuple[int, int]:
    """Return the 64 bits as a signed number, and the next position."""
    if pos < end and byte_at(data + pos) < 0x80:
        return byte_at(data + pos), pos + 1
    return _long_varint(data, pos, end)


@njit
def _tag(data: int, pos: int, end: int) -> tuple[int, int, int]:
    """Return field number, wire type, next position."""
    value, after = _varint(data, pos, end)
    if after < 0:
        return 0, 0, after
    if value < 8 or value > 0xFFFFFFFF or after - pos > 5:
        return 0, 0, _fail(codes.BAD_TAG, pos)
    if not codes.WIRE_TYPES >> (value & 7) & 1:
        return 0, 0, _fail(codes.BAD_WIRE, pos)
    return value >> 3, value & 7, after


@njit
def _length(data: int, pos: int, end: int) -> tuple[int, int]:
    """Return the size of a length-delimited field, in five bytes as protobuf has it, and its first byte's position."""
    size, after = _varint(data, pos, end)
    if after - pos > 5:
        return size, _fail(codes.LONG_SIZE, pos)
    if after >= 0 and (size < 0 or size > end - after):
        return size, _fail(codes.OVERRUN, pos)
    return size, after


@njit
def _skip(data: int, pos: int, end: int, wire: int) -> int:
    if wire == codes.VARINT:
        return _varint(data, pos, end)[1]
    if wire == codes.LENGTH:
        size, body = _length(data, pos, end)
        return body + size if body >= 0 else body
    size = 8 if wire == codes.FIXED64 else 4
    if pos + size > end:
        return _fail(codes.OVERRUN, pos)
    return pos + size


@njit
def _utf8(data: int, pos: int, end: int) -> int:
    """Return ``end``, or -1 where the bytes are no UTF-8 (surrogates and overlong forms are none)."""
    while pos < end:
        first = byte_at(data + pos)
        if first < 0x80:
            pos += 1
            continue
        low, high, more = 0x80, 0xBF, 0
        if 0xC2 <= first <= 0xDF:
            more = 1
        elif 0xE0 <= first <= 0xEF:
            more = 2
            low = 0xA0 if first == 0xE0 else 0x80
            high = 0x9F if first == 0xED else 0xBF
        elif 0xF0 <= first <= 0xF4:
            more = 3
            low = 0x90 if first == 0xF0 else 0x80
            high = 0x8F if first == 0xF4 else 0xBF
        if more == 0 or pos + more >= end or not low <= byte_at(data + pos + 1) <= high:
            return _fail(codes.NOT_UTF8, pos)
        for i in range(2, more + 1):
            if byte_at(data + pos + i) & 0xC0 != 0x80:
                return _fail(codes.NOT_UTF8, pos)
        pos += more + 1
    return end


@njit
def _text(data: int, pos: int, end: int) -> tuple[int, int]:
    """Return where a string field's first and next bytes are."""
    size, body = _length(data, pos, end)
    if body < 0:
        return body, body
    return body, _utf8(data, body, body + size)


@njit
def _stat(data: int, pos: int, end: int) -> tuple[int, int, int, int]:
    """Return stat id, kind, value and next position.

    The value is a number's 64 bits, or where the length of a text or bytes is written.
    """
    stat_id, kind, value = 0, codes.ABSENT, 0
    while 0 <= pos < end:
        number, wire, pos = _tag(data, pos, end)
        if pos < 0:
            break
        if wire == codes.VARINT and number in (1, 3, 4, 7):
            raw, pos = _varint(data, pos, end)
            if number == 1:
                stat_id = raw
            else:
                kind, value = (codes.REF if number == 7 else number - 1), raw
        elif wire == codes.FIXED64 and number == 2 and pos + 8 <= end:
            kind, value, pos = codes.DOUBLE, int64_at(data + pos), pos + 8
        elif wire == codes.LENGTH and number in (5, 6):
            kind, value = number - 1, pos
            pos = _text(data, pos, end)[1] if number == 5 else _skip(data, pos, end, wire)
        else:
            pos = _skip(data, pos, end, wire)
    return stat_id, kind, value, pos


@njit
def _find(ids: int, n: int, wanted: int) -> int:
    """Return where ``wanted`` is in the n ascending ids, or -1. Ids mostly run 1, 2, 3 …: look there first."""
    if n == 0:
        return -1
    guess = wanted - int64_at(ids)
    if 0 <= guess < n and int64_at(ids + 8 * guess) == wanted:
        return guess
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if int64_at(ids + 8 * middle) < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < n and int64_at(ids + 8 * low) == wanted else -1


@njit
def scan(buf: Bytes, pos: int, end: int, table: Int64s) -> int:
    """List the fields of one message: rows ``number, wire, first byte, next byte`` (of a varint: value, next byte).

    Returns how many there are; rows beyond the size of ``table`` are only counted.
    """
    data = _address(buf)
    n = 0
    while pos < end:
        number, wire, pos = _tag(data, pos, end)
        if pos < 0:
            return pos
        first = pos
        if wire == codes.VARINT:
            first, pos = _varint(data, pos, end)
        elif wire == codes.LENGTH:
            size, first = _length(data, pos, end)
            pos = first + size if first >= 0 else first
        else:
            pos = _skip(data, pos, end, wire)
        if pos < 0:
            return pos
        if n < len(table):
            table[n, 0], table[n, 1], table[n, 2], table[n, 3] = number, wire, first, pos
        n += 1
    return n


@njit
def survey_lines(buf: Bytes, spans: Int64s, table: Int64s, first_event: Int64s, segments: Int64s) -> int:
    """Read what lines say of themselves, and count their events.

    ``table`` rows: ``id, timestamp_ns, duration_ps, display_id``, then first and next byte of name and display name.
    ``segments`` rows: line, position, end of the line, first event, count. Returns how many segments there are.
    """
    data = _address(buf)
    n = 0
    for line in range(len(spans)):
        pos, end = spans[line]
        count = 0
        while pos < end:
            start = pos
            number, wire, pos = _tag(data, pos, end)
            if pos < 0:
                return pos
            if wire == codes.LENGTH and number == 4:
                if count % codes.SEGMENT_EVENTS == 0:
                    segments[n, 0], segments[n, 1], segments[n, 2] = line, start, end
                    segments[n, 3], segments[n, 4] = first_event[line] + count, 0
                    n += 1
                segments[n - 1, 4] += 1
                count += 1
                pos = _skip(data, pos, end, wire)
            elif wire == codes.VARINT and number in (1, 3, 9, 10):
                value, pos = _varint(data, pos, end)
                table[line, 0 if number == 1 else 1 if number == 3 else number - 7] = value
            elif wire == codes.LENGTH and number in (2, 11):
                column = 4 if number == 2 else 6
                table[line, column], pos = _text(data, pos, end)
                table[line, column + 1] = pos
            else:
                pos = _skip(data, pos, end, wire)
            if pos < 0:
                return pos
        first_event[line + 1] = first_event[line] + count
    return n


@njit
def _event(data: int, pos: int, end: int) -> tuple[int, int, int, bool, int]:
    """Return metadata id, place, duration, whether the place is an offset, and next position."""
    metadata_id, place, duration, positioned = 0, 0, 0, True
    while 0 <= pos < end:
        number, wire, pos = _tag(data, pos, end)
        if pos < 0:
            break
        if wire == codes.LENGTH and number == 4:
            size, pos = _length(data, pos, end)
            if pos >= 0:
                pos = _stat(data, pos, pos + size)[3]
        elif wire == codes.VARINT and number in (1, 2, 3, 5):
            value, pos = _varint(data, pos, end)
            if number == 1:
                metadata_id = value
            elif number == 3:
                duration = value
            else:
                place, positioned = value, number == 2
        else:
            pos = _skip(data, pos, end, wire)
    return metadata_id, place, duration, positioned, pos


@njit
def walk_events(
    buf: Bytes,
    segments: Int64s,
    metadata_ids: Int64s,
    where: Int64s,
    metadata: Int32s,
    place: Int64s,
    duration: Int64s,
    positioned: Bools,
) -> int:
    """Fill the columns of the events in ``segments``.

    ``where`` is where an event's length is written, ``place`` the offset of a positioned event and the number of
    occurrences of an aggregated one: they are one oneof.
    """
    data, ids = _address(buf), _address(metadata_ids)
    for segment in range(len(segments)):
        pos, end, row = segments[segment, 1], segments[segment, 2], segments[segment, 3]
        stop = row + segments[segment, 4]
        while row < stop:
            number, wire, pos = _tag(data, pos, end)
            if pos < 0:
                return pos
            if wire != codes.LENGTH or number != 4:
                pos = _skip(data, pos, end, wire)
                if pos < 0:
                    return pos
                continue
            where[row] = pos
            size, pos = _length(data, pos, end)
            if pos < 0:
                return pos
            metadata_id, at, lasts, is_positioned, pos = _event(data, pos, pos + size)
            if pos < 0:
                return pos
            metadata[row] = _find(ids, len(metadata_ids), metadata_id)
            place[row], duration[row], positioned[row] = at, lasts, is_positioned
            row += 1
    return 0


@njit
def _entry(data: int, pos: int, end: int) -> tuple[int, int, int]:
    """Return key of a map entry, where its value's length is written (-1: no value), and next position."""
    key, where = 0, -1
    while 0 <= pos < end:
        number, wire, pos = _tag(data, pos, end)
        if pos >= 0 and wire == codes.VARINT and number == 1:
            key, pos = _varint(data, pos, end)
        elif pos >= 0 and wire == codes.LENGTH and number == 2:
            pos, where = (_fail(codes.TWO_VALUES, pos) if where >= 0 else _skip(data, pos, end, wire)), pos
        elif pos >= 0:
            pos = _skip(data, pos, end, wire)
    return key, where, pos


@njit
def walk_metadata(buf: Bytes, spans: Int64s, second_text: int, stats: int, numbers: int, table: Int64s) -> int:
    """Check the entries of a map of metadata.

    ``second_text``, ``stats`` and ``numbers`` (a list of numbers) are field numbers of the values, 0 when they have
    none. ``table`` rows: key, where the value's length is written (-1: no value), first and next byte of name and of
    second text.
    """
    data = _address(buf)
    for row in range(len(spans)):
        end = spans[row, 1]
        table[row, 0], where, pos = _entry(data, spans[row, 0], end)
        table[row, 1] = where
        if pos >= 0 and where >= 0:
            size, pos = _length(data, where, end)
            end = pos + size
        while 0 <= pos < end:
            number, wire, pos = _tag(data, pos, end)
            if pos < 0:
                return pos
            if wire == codes.LENGTH and number in (2, second_text):
                column = 2 if number == 2 else 4
                table[row, column], pos = _text(data, pos, end)
                table[row, column + 1] = pos
            elif wire == codes.LENGTH and number in (stats, numbers):
                size, pos = _length(data, pos, end)
                field_end = pos + size
                if number == stats and pos >= 0:
                    pos = _stat(data, pos, field_end)[3]
                while number == numbers and 0 <= pos < field_end:
                    pos = _varint(data, pos, field_end)[1]
            else:
                pos = _skip(data, pos, end, wire)
        if pos < 0:
            return pos
    return 0


@njit
def walk_stats(buf: Bytes, spans: Int64s, table: Int64s) -> int:
    """Read stats one by one: rows ``stat id, kind, value``."""
    data = _address(buf)
    for i in range(len(spans)):
        stat_id, kind, value, pos = _stat(data, spans[i, 0], spans[i, 1])
        if pos < 0:
            return pos
        table[i, 0], table[i, 1], table[i, 2] = stat_id, kind, value
    return 0


@njit
def gather_stats(
    buf: Bytes,
    where: Int64s,
    field: int,
    stat_ids: Int64s,
    column_of: Int64s,
    kinds: Int8s,
    values: Int64s,
    seen: Bools,
) -> int:
    """Fill columns of stats from the messages at ``where``, whose stats are field number ``field``.

    ``column_of`` gives the column of a row of ``stat_ids``, or -1. The first stat of a name with a value is taken.
    The value of a `REF` becomes the row of ``stat_ids`` it refers to; to refer to nothing is no value. ``seen`` marks
    the kinds of a column.
    """
    data, ids = _address(buf), _address(stat_ids)
    for row in range(len(where)):
        if where[row] < 0:
            continue
        size, pos = _length(data, where[row], len(buf))
        end = pos + size
        while 0 <= pos < end:
            number, wire, pos = _tag(data, pos, end)
            if pos < 0:
                break
            if wire != codes.LENGTH or number != field:
                pos = _skip(data, pos, end, wire)
                continue
            size, pos = _length(data, pos, end)
            if pos < 0:
                break
            stat_id, kind, value, pos = _stat(data, pos, pos + size)
            stat = _find(ids, len(stat_ids), stat_id)
            column = column_of[stat] if stat >= 0 else -1
            if column < 0 or kind == codes.ABSENT or kinds[column, row] != codes.ABSENT:
                continue
            if kind == codes.REF:
                value = _find(ids, len(stat_ids), value)
                if value < 0:
                    continue
            kinds[column, row], values[column, row], seen[column, kind] = kind, value, True
        if pos < 0:
            return pos
    return 0
