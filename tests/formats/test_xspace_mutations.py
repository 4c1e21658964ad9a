"""Damaged copies of real files: what protobuf refuses we refuse, what it accepts we read alike or refuse rightly."""

from __future__ import annotations

import itertools
import random

import pytest
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from tests.formats.xspace_messages import Space, parse, rows_of_columns, rows_of_messages
from xprof_nb.errors import DamagedFileError, NotAProfileError, ProfileError
from xprof_nb.formats import xspace

_STRICTER = ("a wire type that profiles do not use", "holds two values")


def _flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 2, 8))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _overwrite(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at : at + 4] = chance.randbytes(min(4, len(data) - at))


def _insert(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at:at] = chance.randbytes(chance.choice((1, 2, 10)))


def _delete(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.choice((1, 2, 10, 1000))]


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _repeat(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at:at] = data[at : at + chance.randrange(1, 200)]


_WAYS = (_flip, _overwrite, _insert, _delete, _cut, _repeat)


def _check(data: bytes, *, rows: bool) -> str:
    """Hold our reading of these bytes against protobuf's; return what became of them."""
    try:
        message = parse(data)
    except DecodeError:
        with pytest.raises(ProfileError) as refused:
            xspace.read(data, name="mutant.xplane.pb")
        assert refused.value.file == "mutant.xplane.pb"
        assert 0 <= refused.value.position <= len(data)
        return "refused"
    try:
        space = xspace.read(data)
    except DamagedFileError as error:
        assert not data or any(rule in str(error) for rule in _STRICTER)
        return "stricter"
    except NotAProfileError:
        assert not (message.errors or message.warnings or any(map(_has_content, message.planes)))
        return "empty"
    if rows and not _drops_entries(message):
        assert rows_of_columns(space) == rows_of_messages(message)
    elif not rows:
        assert [len(plane.events) for plane in space.planes] == [
            sum(len(line.events) for line in plane.lines) for plane in message.planes
        ]
    return "read"


def _has_content(plane) -> bool:
    return bool(plane.name or plane.lines or plane.event_metadata or plane.stat_metadata or plane.stats)


def _drops_entries(message) -> bool:
    """Whether protobuf for Python left out metadata: entries with a foreign field, which protobuf for C++ keeps."""
    return any(
        field.field_number in (4, 5) and field.wire_type == 2
        for plane in message.planes
        for field in UnknownFieldSet(plane)
    )


def _trimmed(data: bytes, events: int, metadata: int) -> bytes:
    """Return the profile with only a few things of each kind: small enough to compare a thousand times."""
    space = parse(data)
    for plane in space.planes:
        del plane.lines[4:]
        for line in plane.lines:
            del line.events[events:]
        for entries in (plane.event_metadata, plane.stat_metadata):
            for key in sorted(entries)[metadata:]:
                del entries[key]
        for value in plane.event_metadata.values():
            for stat in (stat for stat in value.stats if stat.bytes_value):
                stat.bytes_value = stat.bytes_value[:50]
    return space.SerializeToString(deterministic=True)


def test_a_thousand_ways_to_damage_a_small_file(real_profiles):
    chance = random.Random(1)
    files = [_trimmed(data, events=12, metadata=30) for data in real_profiles]
    seen = []
    for i in range(3000):
        data = bytearray(files[i % len(files)])
        chance.choice(_WAYS)(data, chance)
        seen.append(_check(bytes(data), rows=True))
    assert seen.count("refused") > 200
    assert seen.count("read") > 200


def test_damage_anywhere_in_whole_files(real_profiles):
    chance = random.Random(2)
    for i in range(150):
        data = bytearray(real_profiles[i % len(real_profiles)])
        chance.choice(_WAYS)(data, chance)
        _check(bytes(data), rows=False)


def test_a_small_file_cut_at_every_byte(cpu_capture):
    data = _trimmed(cpu_capture.read_bytes(), events=3, metadata=5)
    sizes = [len(Space(planes=[plane]).SerializeToString()) for plane in parse(data).planes]
    whole = list(itertools.accumulate(sizes))
    assert len(whole) == 3
    for end in range(len(data)):
        if end in whole:  # nothing can show that what follows is gone
            assert len(xspace.read(data[:end]).planes) == whole.index(end) + 1
        else:
            with pytest.raises(DamagedFileError, match=r"empty|ends early"):
                xspace.read(data[:end])
