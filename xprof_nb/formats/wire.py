"""Compiled walks over the protobuf wire format of an XSpace.

Every walk checks what it passes: lengths stay inside their parent, varints end within ten bytes, wire types exist,
strings are UTF-8. At the first fault it writes ``fault`` (see `FAULTS`) and returns -1. As in protobuf a known
field with another wire type is an unknown field, and unknown fields are skipped; of a repeated scalar or oneof the
last one wins. A walk over bytes that passed before checks again: the file below the map may have been rewritten.
"""

from __future__ import annotations

import numpy as np

from xprof_nb.formats.jit import njit

OVERRUN, CUT_NUMBER, LONG_NUMBER, BAD_TAG, BAD_WIRE, NOT_UTF8, TWO_VALUES = range(1, 8)
CODE, POSITION, MISSING = range(3)
"""Columns of ``fault`` (int64[3]): what, where, and for `OVERRUN` the bytes that lack."""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

SEGMENT_EVENTS = 65536
"""Events that are walked at once; a long line is cut so that threads can share it."""

ABSENT, DOUBLE, UINT64, INT64, STR, BYTES, REF = range(7)
"""Kinds of a stat's value."""


@njit
def _fail(fault, code, position, missing):
    fault[CODE] = code
    fault[POSITION] = position
    fault[MISSING] = missing
    return -1


@njit
def _long_varint(buf, pos, end, fault):
    value = np.int64(0)
    for i in range(10):
        if pos + i >= end:
            return value, _fail(fault, CUT_NUMBER, pos, 1)
        byte = np.int64(buf[pos + i])
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, pos + i + 1
    return value, _fail(fault, LONG_NUMBER, pos, 0)


@njit
def varint(buf, pos, end, fault):
    """Return the 64 bits as a signed number, and the next position."""
    if pos < end and buf[pos] < 0x80:
        return np.int64(buf[pos]), pos + 1
    return _long_varint(buf, pos, end, fault)


@njit
def tag(buf, pos, end, fault):
    """Return field number, wire type, next position."""
    value, after = varint(buf, pos, end, fault)
    if after < 0:
        return value, value, after
    number = value >> 3
    wire = value & 7
    if number < 1 or value > 0xFFFFFFFF or after - pos > 5:
        return number, wire, _fail(fault, BAD_TAG, pos, 0)
    if wire in (3, 4, 6, 7):
        return number, wire, _fail(fault, BAD_WIRE, pos, 0)
    return number, wire, after


@njit
def _length(buf, pos, end, fault):
    """Return the size of a length-delimited field, and the position of its first byte."""
    size, after = varint(buf, pos, end, fault)
    if after >= 0 and (size < 0 or size > end - after):
        return size, _fail(fault, OVERRUN, pos, size - (end - after) if size >= 0 else -1)
    return size, after


@njit
def _skip(buf, pos, end, wire, fault):
    if wire == VARINT:
        return varint(buf, pos, end, fault)[1]
    if wire == LENGTH:
        size, body = _length(buf, pos, end, fault)
        return body + size if body >= 0 else body
    size = 8 if wire == FIXED64 else 4
    if pos + size > end:
        return _fail(fault, OVERRUN, pos, pos + size - end)
    return pos + size


@njit
def _utf8(buf, pos, end, fault):
    """Return ``end``, or -1 where the bytes are no UTF-8 (surrogates and overlong forms are none)."""
    while pos < end:
        first = buf[pos]
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
        if more == 0 or pos + more >= end or not low <= buf[pos + 1] <= high:
            return _fail(fault, NOT_UTF8, pos, 0)
        for i in range(2, more + 1):
            if buf[pos + i] & 0xC0 != 0x80:
                return _fail(fault, NOT_UTF8, pos, 0)
        pos += more + 1
    return end


@njit
def _text(buf, pos, end, fault):
    """Return where a string field's first and next bytes are."""
    size, body = _length(buf, pos, end, fault)
    if body < 0:
        return body, body
    return body, _utf8(buf, body, body + size, fault)


@njit
def _stat(buf, pos, end, fault):
    """Return stat id, kind, value and next position.

    The value is a number's 64 bits, or where the length of a text or bytes is written.
    """
    stat_id, kind, value = np.int64(0), ABSENT, np.int64(0)
    while 0 <= pos < end:
        number, wire, pos = tag(buf, pos, end, fault)
        if pos < 0:
            break
        if wire == VARINT and number in (1, 3, 4, 7):
            raw, pos = varint(buf, pos, end, fault)
            if number == 1:
                stat_id = raw
            else:
                kind, value = (REF if number == 7 else number - 1), raw
        elif wire == FIXED64 and number == 2 and pos + 8 <= end:
            kind, value = DOUBLE, np.int64(0)
            for i in range(8):
                value |= np.int64(buf[pos + i]) << (8 * i)
            pos += 8
        elif wire == LENGTH and number in (5, 6):
            kind, value = number - 1, pos
            pos = _text(buf, pos, end, fault)[1] if number == 5 else _skip(buf, pos, end, wire, fault)
        else:
            pos = _skip(buf, pos, end, wire, fault)
    return stat_id, kind, value, pos


@njit
def find(ids, wanted):
    """Return the row of ``wanted`` in the ascending ``ids``, or -1. Ids mostly run 1, 2, 3 …: look there first."""
    if len(ids) == 0:
        return -1
    guess = wanted - ids[0]
    if 0 <= guess < len(ids) and ids[guess] == wanted:
        return guess
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if ids[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ids) and ids[low] == wanted else -1


@njit
def scan(buf, pos, end, table, fault):
    """List the fields of one message: rows ``number, wire, first byte, next byte`` (of a varint: value, next byte).

    Returns how many there are; rows beyond the size of ``table`` are only counted.
    """
    n = 0
    while pos < end:
        number, wire, pos = tag(buf, pos, end, fault)
        if pos < 0:
            return pos
        first = pos
        if wire == VARINT:
            first, pos = varint(buf, pos, end, fault)
        elif wire == LENGTH:
            size, first = _length(buf, pos, end, fault)
            pos = first + size if first >= 0 else first
        else:
            pos = _skip(buf, pos, end, wire, fault)
        if pos < 0:
            return pos
        if n < len(table):
            table[n, 0], table[n, 1], table[n, 2], table[n, 3] = number, wire, first, pos
        n += 1
    return n


@njit
def check_texts(buf, spans, fault):
    """Check that each span of bytes is UTF-8."""
    for i in range(len(spans)):
        if _utf8(buf, spans[i, 0], spans[i, 1], fault) < 0:
            return -1
    return 0


@njit
def survey_lines(buf, spans, table, first_event, segments, fault):
    """Read what lines say of themselves, and count their events.

    ``table`` rows: ``id, timestamp_ns, duration_ps, display_id``, then first and next byte of name and display name.
    ``segments`` rows: line, position, end of the line, first event, count. Returns how many segments there are.
    """
    n = 0
    for line in range(len(spans)):
        pos, end = spans[line]
        count = 0
        while pos < end:
            start = pos
            number, wire, pos = tag(buf, pos, end, fault)
            if pos < 0:
                return pos
            if wire == LENGTH and number == 4:
                if count % SEGMENT_EVENTS == 0:
                    segments[n, 0], segments[n, 1], segments[n, 2] = line, start, end
                    segments[n, 3], segments[n, 4] = first_event[line] + count, 0
                    n += 1
                segments[n - 1, 4] += 1
                count += 1
                pos = _skip(buf, pos, end, wire, fault)
            elif wire == VARINT and number in (1, 3, 9, 10):
                value, pos = varint(buf, pos, end, fault)
                table[line, 0 if number == 1 else 1 if number == 3 else number - 7] = value
            elif wire == LENGTH and number in (2, 11):
                column = 4 if number == 2 else 6
                table[line, column], pos = _text(buf, pos, end, fault)
                table[line, column + 1] = pos
            else:
                pos = _skip(buf, pos, end, wire, fault)
            if pos < 0:
                return pos
        first_event[line + 1] = first_event[line] + count
    return n


@njit
def walk_events(buf, segments, metadata_ids, where, metadata, place, duration, positioned, fault):
    """Fill the columns of the events in ``segments``.

    ``where`` is where an event's length is written, ``place`` the offset of a positioned event and the number of
    occurrences of an aggregated one: they are one oneof.
    """
    for segment in range(len(segments)):
        pos, end, row = segments[segment, 1], segments[segment, 2], segments[segment, 3]
        stop = row + segments[segment, 4]
        while row < stop:
            number, wire, pos = tag(buf, pos, end, fault)
            if pos < 0:
                return pos
            if wire != LENGTH or number != 4:
                pos = _skip(buf, pos, end, wire, fault)
                if pos < 0:
                    return pos
                continue
            where[row] = pos
            size, pos = _length(buf, pos, end, fault)
            if pos < 0:
                return pos
            event_end = pos + size
            metadata_id, at, lasts, is_positioned = np.int64(0), np.int64(0), np.int64(0), True
            while 0 <= pos < event_end:
                number, wire, pos = tag(buf, pos, event_end, fault)
                if pos < 0:
                    return pos
                if wire == LENGTH and number == 4:
                    size, pos = _length(buf, pos, event_end, fault)
                    if pos >= 0:
                        pos = _stat(buf, pos, pos + size, fault)[3]
                elif wire == VARINT and number in (1, 2, 3, 5):
                    value, pos = varint(buf, pos, event_end, fault)
                    if number == 1:
                        metadata_id = value
                    elif number == 3:
                        lasts = value
                    else:
                        at, is_positioned = value, number == 2
                else:
                    pos = _skip(buf, pos, event_end, wire, fault)
            if pos < 0:
                return pos
            metadata[row] = find(metadata_ids, metadata_id)
            place[row], duration[row], positioned[row] = at, lasts, is_positioned
            row += 1
    return 0


@njit
def walk_entries(buf, spans, table, fault):
    """Split map entries: rows ``key``, where the value's length is written (-1 without a value)."""
    for entry in range(len(spans)):
        pos, end = spans[entry]
        table[entry, 0], table[entry, 1] = 0, -1
        while pos < end:
            number, wire, pos = tag(buf, pos, end, fault)
            if pos < 0:
                return pos
            if wire == VARINT and number == 1:
                table[entry, 0], pos = varint(buf, pos, end, fault)
            else:
                if wire == LENGTH and number == 2:
                    if table[entry, 1] >= 0:
                        return _fail(fault, TWO_VALUES, pos, 0)
                    table[entry, 1] = pos
                pos = _skip(buf, pos, end, wire, fault)
            if pos < 0:
                return pos
    return 0


@njit
def walk_metadata(buf, where, second_text, stats, numbers, table, fault):
    """Check metadata values: rows of ``table`` are first and next byte of the name and of the second text.

    ``second_text``, ``stats`` and ``numbers`` (a list of numbers) are field numbers, 0 when the message has none.
    """
    for row in range(len(where)):
        if where[row] < 0:
            continue
        size, pos = _length(buf, where[row], len(buf), fault)
        end = pos + size
        while 0 <= pos < end:
            number, wire, pos = tag(buf, pos, end, fault)
            if pos < 0:
                break
            if wire == LENGTH and number in (2, second_text):
                column = 0 if number == 2 else 2
                table[row, column], pos = _text(buf, pos, end, fault)
                table[row, column + 1] = pos
            elif wire == LENGTH and number in (stats, numbers):
                size, pos = _length(buf, pos, end, fault)
                field_end = pos + size
                if number == stats and pos >= 0:
                    pos = _stat(buf, pos, field_end, fault)[3]
                while number == numbers and 0 <= pos < field_end:
                    pos = varint(buf, pos, field_end, fault)[1]
            else:
                pos = _skip(buf, pos, end, wire, fault)
        if pos < 0:
            return -1
    return 0


@njit
def walk_stats(buf, spans, table, fault):
    """Read stats one by one: rows ``stat id, kind, value``."""
    for i in range(len(spans)):
        stat_id, kind, value, pos = _stat(buf, spans[i, 0], spans[i, 1], fault)
        if pos < 0:
            return -1
        table[i, 0], table[i, 1], table[i, 2] = stat_id, kind, value
    return 0


@njit
def gather_stats(buf, where, field, stat_ids, column_of, kinds, values, seen, fault):
    """Fill columns of stats from the messages at ``where``, whose stats are field number ``field``.

    ``column_of`` gives the column of a row of ``stat_ids``, or -1. The first stat of a name with a value is taken.
    The value of a `REF` becomes the row of ``stat_ids`` it refers to, or -1. ``seen`` marks the kinds of a column.
    """
    for row in range(len(where)):
        if where[row] < 0:
            continue
        size, pos = _length(buf, where[row], len(buf), fault)
        end = pos + size
        while 0 <= pos < end:
            number, wire, pos = tag(buf, pos, end, fault)
            if pos < 0:
                break
            if wire != LENGTH or number != field:
                pos = _skip(buf, pos, end, wire, fault)
                continue
            size, pos = _length(buf, pos, end, fault)
            if pos < 0:
                break
            stat_id, kind, value, pos = _stat(buf, pos, pos + size, fault)
            stat = find(stat_ids, stat_id)
            column = column_of[stat] if stat >= 0 else -1
            if column >= 0 and kinds[column, row] == ABSENT:
                kinds[column, row] = kind
                seen[column, kind] = True
                values[column, row] = find(stat_ids, value) if kind == REF else value
        if pos < 0:
            return -1
    return 0
