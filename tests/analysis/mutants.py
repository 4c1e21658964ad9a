"""Profiles as no profiler writes them: real ones with random values, times, names and programs put in."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.formats.xspace_messages import parse

Way = Callable[[Any, random.Random], None]
NAMES = (
    "",
    "<img src=x onerror=alert(1)>",
    "</script>",
    '"\n\\\x00\x1b[2J',
    "'; DROP TABLE ops; --",
    '"]; digraph { a -> b',
    "\u202eabc\u2066",
    "🚀" * 50,
    "x" * 100_000,
    "=1+1",
    "jit_f(99999999999999999999999)",
    "fusion.1",
    "while",
    "all-reduce-start.1",
    "StepMarker",
)
"""What attacks whoever shows, parses or joins names."""
NUMBERS = (0, 1, -1, 7, 2**31, -(2**31), 2**53 + 1, 10**15, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e-320, 1e308, float("nan"), float("inf"), -float("inf"))
DEVICES = ("/device:TPU:0", "/device:TPU:1 SparseCore 0", "/device:GPU:0")
PLANES = (*DEVICES, "/host:CPU", "/host:metadata", "Task Environment")
LINES = (
    "XLA Ops",
    "XLA Modules",
    "Steps",
    "Async XLA Ops",
    "Stream #1(Compute)",
    "python",
    "tf_XLAEigen/1",
    "_counters_",
)


def trimmed(data: bytes, events: int) -> bytes:
    """Return a profile with a few events of each line: small enough to be asked hundreds of times."""
    space = parse(data)
    for plane in space.planes:
        for line in plane.lines:
            del line.events[events:]
        used = {event.metadata_id for line in plane.lines for event in line.events}
        if used:
            for key in set(plane.event_metadata) - used:
                del plane.event_metadata[key]
    return bytes(space.SerializeToString(deterministic=True))


def mutant(data: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Return a damaged copy, and the names of the ways it was damaged in."""
    space = parse(data)
    ways = chance.sample(WAYS, chance.choice((1, 1, 2, 4)))
    for way in ways:
        way(space, chance)
    made = bytearray(space.SerializeToString())
    for way in chance.sample(BYTE_WAYS, chance.choice((0, 0, 0, 1))):
        way(made, chance)
        ways.append(way)
    return " ".join(way.__name__ for way in ways), bytes(made)


def _number(chance: random.Random) -> int:
    return chance.choice((*NUMBERS, chance.randrange(-(2**63), 2**63), chance.randrange(1000)))


def _some(items: Any, chance: random.Random) -> Iterator[Any]:
    """Give one item, some or all."""
    share = chance.choice((0.02, 0.2, 1.0))
    chosen = [item for item in items if chance.random() < share]
    yield from chosen or ([chance.choice(items)] if len(items) else [])


def _events(space: Any) -> list[Any]:
    return [event for plane in space.planes for line in plane.lines for event in line.events]


def _stats(space: Any) -> list[Any]:
    found = [stat for plane in space.planes for stat in plane.stats]
    found += [stat for plane in space.planes for entry in plane.event_metadata.values() for stat in entry.stats]
    return found + [stat for event in _events(space) for stat in event.stats]


def _lines(space: Any) -> list[Any]:
    return [line for plane in space.planes for line in plane.lines]


def stats_of_any_value(space: Any, chance: random.Random) -> None:
    for stat in _some(_stats(space), chance):
        kind = chance.choice(("double_value", "uint64_value", "int64_value", "str_value", "bytes_value", "ref_value"))
        value: Any = {
            "double_value": chance.choice(FLOATS),
            "str_value": chance.choice((*NAMES, "-nan", "1e400", "12")),
            "bytes_value": chance.randbytes(chance.choice((0, 3, 100))),
        }.get(kind, _number(chance))
        setattr(stat, kind, value % 2**64 if kind in {"uint64_value", "ref_value"} else value)


def stats_of_other_values(space: Any, chance: random.Random) -> None:
    """Keep the types: what passes every check of types is still nonsense."""
    for stat in _some(_stats(space), chance):
        kind = stat.WhichOneof("value")
        if kind == "double_value":
            stat.double_value = chance.choice(FLOATS)
        elif kind in {"int64_value", "uint64_value"}:
            setattr(stat, kind, _number(chance) % (2**64 if kind == "uint64_value" else 2**63))


def stats_renamed(space: Any, chance: random.Random) -> None:
    for plane in space.planes:
        entries = list(plane.stat_metadata.values())
        if len(entries) > 1:
            one, other = chance.sample(entries, 2)
            one.name, other.name = other.name, one.name


def any_time(space: Any, chance: random.Random) -> None:
    for event in _some(_events(space), chance):
        if chance.random() < 0.5:
            event.offset_ps = _number(chance)
        if chance.random() < 0.5:
            event.duration_ps = _number(chance)


def any_origin(space: Any, chance: random.Random) -> None:
    for line in _some(_lines(space), chance):
        line.timestamp_ns = _number(chance)


def no_length(space: Any, chance: random.Random) -> None:
    for event in _some(_events(space), chance):
        event.duration_ps = 0


def aggregated(space: Any, chance: random.Random) -> None:
    for event in _some(_events(space), chance):
        event.num_occurrences = _number(chance)


def ids_of_nothing(space: Any, chance: random.Random) -> None:
    for event in _some(_events(space), chance):
        event.metadata_id = _number(chance)


def metadata_gone(space: Any, chance: random.Random) -> None:
    for plane in space.planes:
        for key in list(_some(sorted(plane.event_metadata), chance)):
            del plane.event_metadata[key]


def events_gone(space: Any, chance: random.Random) -> None:
    for line in _some(_lines(space), chance):
        del line.events[:]


def lines_gone(space: Any, chance: random.Random) -> None:
    for plane in _some(space.planes, chance):
        del plane.lines[:]


def planes_gone(space: Any, chance: random.Random) -> None:
    del space.planes[chance.randrange(len(space.planes))]


def planes_renamed(space: Any, chance: random.Random) -> None:
    for plane in _some(space.planes, chance):
        plane.name = chance.choice((*PLANES, *NAMES))


def lines_renamed(space: Any, chance: random.Random) -> None:
    for line in _some(_lines(space), chance):
        line.name = chance.choice((*LINES, *NAMES))


def events_renamed(space: Any, chance: random.Random) -> None:
    entries = [entry for plane in space.planes for entry in plane.event_metadata.values()]
    for entry in _some(entries, chance):
        entry.name = chance.choice(NAMES)
        if chance.random() < 0.5:
            entry.display_name = chance.choice(NAMES)


def planes_twice(space: Any, chance: random.Random) -> None:
    space.planes.add().CopyFrom(chance.choice(space.planes))


def events_shuffled(space: Any, chance: random.Random) -> None:
    for line in _some(_lines(space), chance):
        events = [type(event).FromString(event.SerializeToString()) for event in line.events]
        chance.shuffle(events)
        del line.events[:]
        line.events.extend(events)


def programs_damaged(space: Any, chance: random.Random) -> None:
    for stat in (stat for stat in _stats(space) if len(stat.bytes_value) > 100):
        data = bytearray(stat.bytes_value)
        for way in chance.sample(BYTE_WAYS, 1):
            way(data, chance)
        stat.bytes_value = bytes(data)


def programs_swapped(space: Any, chance: random.Random) -> None:
    protos = [stat for stat in _stats(space) if len(stat.bytes_value) > 100]
    if len(protos) > 1:
        one, other = chance.sample(protos, 2)
        one.bytes_value, other.bytes_value = other.bytes_value, one.bytes_value


def bits_flipped(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 2, 8, 50))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


WAYS: tuple[Way, ...] = (
    stats_of_any_value,
    stats_of_other_values,
    stats_renamed,
    any_time,
    any_origin,
    no_length,
    aggregated,
    ids_of_nothing,
    metadata_gone,
    events_gone,
    lines_gone,
    planes_gone,
    planes_renamed,
    lines_renamed,
    events_renamed,
    planes_twice,
    events_shuffled,
    programs_damaged,
    programs_swapped,
)
BYTE_WAYS: tuple[Way, ...] = (bits_flipped, cut)
