"""Profiles whose timeline attacks whoever reads it, and how the tests of the timeline find their way about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import xprof_nb as xp
from tests.xspace_builder import SpaceBuilder

HOSTILE = ["<img src=x onerror=alert(1)>", "</script>", '"\n\\', "\u202eabc", "🚀", "x" * 100_000, "", "=1+1"]


def hostile_profile(folder: Path) -> xp.Profile:
    """Names that attack, times before zero, events without length or metadata, equal spans, crossing ones."""
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number, name in enumerate(HOSTILE):
        plane.line(name or "python", timestamp_ns=-5).event(name, 0, 10 * number).event(name, 3, 0)
    line = plane.line("crossing")
    line.event("a", 0, 100).event("a", 50, 100).event("b", 50, 100).event("c", 149, 0).aggregated("d", 7, 50)
    line.message.events.add(metadata_id=999, offset_ps=20, duration_ps=5)
    builder.plane("/device:TPU:0").line("_counters_").event("power", 10, counter_value=5.5).event(
        "power", 30, counter_value=2.5
    ).event("<b>", 40, counter_value=1.0)
    return xp.open(builder.write(folder))


def track(profile: xp.Profile, kind: str, device: str | None = None, name: str | None = None) -> int:
    frame = profile.trace().frame
    chosen = frame[frame["kind"] == kind]
    if device is not None:
        chosen = chosen[chosen["device"] == device]
    if name is not None:
        chosen = chosen[chosen["name"].str.contains(name, regex=False)]
    return int(chosen["track"].iloc[0])


def first_event(profile: xp.Profile, row: int) -> float:
    view = profile.trace()
    drawn = view.window(tracks=[row], pixels=8192)
    exact = np.flatnonzero(~np.isnan(drawn["event"]))
    if len(exact):
        return float(drawn["event"][exact[0]])
    closer = view.window(drawn["start_ps"][0], drawn["start_ps"][0] + drawn["duration_ps"][0], 8192, [row])
    return float(closer["event"][~np.isnan(closer["event"])][0])


def slices_of(trace: bytes) -> list[tuple[int, int, int, str]]:
    """Return time, kind, track and name of every slice's begin and end; a name is of the packet's own sequence."""
    names: dict[tuple[int, int], str] = {}
    found = []
    for _, body in fields(trace):
        packet = dict(fields(body))
        for _, entry in fields(packet.get(12, b"")):
            interned = dict(fields(entry))
            names[packet[10], interned[1]] = interned[2].decode()
        if 11 in packet and (event := dict(fields(packet[11])))[9] in (1, 2):
            found.append((packet[8], event[9], event[11], names.get((packet[10], event.get(10)), "")))
    return found


def fields(message: bytes) -> list[tuple[int, Any]]:
    """Return number and value of every field of a protobuf message."""
    found: list[tuple[int, Any]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
            continue
        size = varint() if key & 7 == 2 else 8
        found.append((key >> 3, message[at : at + size]))
        at += size
    return found
