"""Made-up spaces, in any order and with anything in between, read as protobuf reads them."""

from __future__ import annotations

import struct

import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.xspace_messages import MESSAGES, parse, rows_of_columns, rows_of_messages
from xprof_nb.errors import ProfileError
from xprof_nb.formats import xspace

_IDS = st.sampled_from([0, 1, 2, 3, 5, 900, 2**31, 2**63, 2**64 - 1, 2**64 - 7])
_NUMBERS = st.one_of(_IDS, st.integers(0, 2**64 - 1))
_NAMES = st.sampled_from(["", "a", "b", "Hlo Proto", "HLO Proto", "größe", "名", "🙂"])


def _varint(value: int, padding: int = 0) -> bytes:
    """Encode, with ``padding`` bytes that add nothing to the value."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    padding = min(padding, 9 - len(out))
    return bytes(out) + (bytes([value | 0x80]) + b"\x80" * (padding - 1) + b"\0" if padding else bytes([value]))


def _field(number: int, wire: int, payload: bytes) -> bytes:
    return _varint(number << 3 | wire) + payload


def _chunk(number: int, payload: bytes) -> bytes:
    return _field(number, 2, _varint(len(payload)) + payload)


def _number(number: int, values=_NUMBERS):
    return st.builds(
        lambda value, pad: _field(number, 0, _varint(value, pad)), values, st.sampled_from([0, 0, 0, 1, 9])
    )


def _text(number: int):
    return _NAMES.map(lambda text: _chunk(number, text.encode()))


def _bytes(number: int):
    return st.binary(max_size=6).map(lambda data: _chunk(number, data))


def _double(number: int):
    return st.floats().map(lambda value: _field(number, 1, struct.pack("<d", value)))


_STRANGE = st.one_of(
    st.integers(12, 2**29 - 1).flatmap(_number),
    st.integers(12, 40).flatmap(_bytes),
    st.integers(12, 40).flatmap(_double),
    st.integers(1, 40).map(lambda number: _field(number, 5, b"four")),
)
"""Unknown fields, and known ones of a wire type they do not have."""


def _message(*fields, most: int = 5, strange=_STRANGE):
    return st.lists(st.one_of(*fields, strange) if strange is not None else st.one_of(*fields), max_size=most).map(
        b"".join
    )


def _inside(number: int, message):
    return message.map(lambda data: _chunk(number, data))


def _entry(number: int, value):
    """A map entry: key and value in any order, either missing."""
    key = _number(1, _IDS)
    whole = st.tuples(key, _inside(2, value)).flatmap(st.permutations).map(b"".join)
    return _inside(number, st.one_of(whole, whole, whole, key, _inside(2, value), st.just(b"")))


_STAT = _message(
    _number(1, _IDS),
    _number(1, _IDS),
    _double(2),
    _number(3),
    _number(4),
    _text(5),
    _bytes(6),
    _number(7, _IDS),
    most=4,
)
_EVENT = _message(_number(1, _IDS), _number(2), _number(3), _inside(4, _STAT), _inside(4, _STAT), _number(5), most=7)
_LINE = _message(
    _number(1), _text(2), _number(3), _inside(4, _EVENT), _inside(4, _EVENT), _number(9), _number(10), _text(11), most=8
)
_EVENT_METADATA = _message(
    _number(1), _text(2), _bytes(3), _text(4), _inside(5, _STAT), _number(6), st.just(_chunk(6, b"\x05\xac\x02"))
)
_STAT_METADATA = _message(_number(1), _text(2), _text(2), _text(3))
_PLANE = _message(
    _number(1),
    _text(2),
    _inside(3, _LINE),
    _inside(3, _LINE),
    _entry(4, _EVENT_METADATA),
    _entry(5, _STAT_METADATA),
    _entry(5, _STAT_METADATA),
    _inside(6, _STAT),
    most=12,
)
_SPACE = st.tuples(
    _message(_inside(1, _PLANE), _inside(1, _PLANE), _text(2), _text(3), _text(4), most=5),
    st.just(_chunk(3, b"made up")),
).map(b"".join)

_PATIENT = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@_PATIENT
@given(_SPACE)
def test_any_order_any_repetition_any_unknown_field(data):
    assert rows_of_columns(xspace.read(data)) == rows_of_messages(parse(data))


@_PATIENT
@given(_SPACE, st.data())
def test_any_byte_changed(data, choose):
    at = choose.draw(st.integers(0, len(data) - 1))
    data = data[:at] + bytes([choose.draw(st.integers(0, 255))]) + data[at + 1 :]
    assert _agrees(data)


@pytest.mark.parametrize("length", range(1, 12))
def test_numbers_filled_up_with_zeros_end_where_protobuf_says(length):
    zero = b"\x80" * (length - 1) + b"\x00"
    name = _chunk(3, b"made up")
    in_a_stat = _chunk(1, _chunk(6, b"\x18" + zero))
    for data in (b"\x12" + zero + name, in_a_stat + name, _chunk(1, b"\x12" + zero) + name, b"\x62" + zero + name):
        assert _agrees(data)


@_PATIENT
@given(st.binary(max_size=200))
def test_random_bytes_are_never_more_than_an_error(data):
    assert _agrees(data)


def _agrees(data: bytes) -> bool:
    """Whether we refuse what protobuf refuses, and beyond that only by one of our stricter rules."""
    try:
        xspace.read(data)
        refusal = ""
    except ProfileError as error:
        refusal = str(error)
    try:
        parse(data)
    except DecodeError:
        return bool(refusal)
    return not refusal or any(rule in refusal for rule in ("empty", "wire type", "two values", "not a profile"))


def test_a_space_as_protobuf_writes_it():
    space = MESSAGES["Space"](hostnames=["h"])
    plane = space.planes.add(id=3, name="/device:TPU:0")
    plane.stat_metadata[-4].name = "size"
    plane.event_metadata[2**40].name = "fusion.1"
    event = plane.lines.add(id=-1, name="XLA Ops", timestamp_ns=5).events.add(metadata_id=2**40, num_occurrences=7)
    event.stats.add(metadata_id=-4, double_value=2.5)
    data = space.SerializeToString()
    assert rows_of_columns(xspace.read(data)) == rows_of_messages(parse(data))
