"""The whole timeline for other viewers: every event, exactly, whatever its name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from tests.analysis.timelines import HOSTILE, hostile_profile, track

PS_PER_US = 10**6


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> xp.Profile:
    return hostile_profile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def cpu(cpu_profile: Path) -> xp.Profile:
    return xp.open(cpu_profile)


def test_exports_can_be_read_whatever_the_names(hostile, tmp_path):
    text = hostile.trace().to_chrome_json(tmp_path / "out.json").read_text("ascii")
    assert "<" not in text
    events = json.loads(text)["traceEvents"]
    names = {event["name"] for event in events if event["ph"] == "X"}
    assert {name for name in HOSTILE if 0 < len(name) <= 1000} <= names
    assert max(map(len, names)) <= 1000
    assert min(event["ts"] for event in events if event["ph"] == "X") == 0
    assert [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "power"] == [5.5, 2.5]


def test_chrome_json_holds_every_event_exactly(cpu, tmp_path):

    path = cpu.trace().to_chrome_json(tmp_path / "out.json.gz")
    read: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    drawn = [event for event in read["traceEvents"] if event["ph"] == "X"]
    frame = cpu.trace().frame
    assert len(drawn) == frame.loc[~frame["kind"].isin(["utilization", "memory", "counter"]), "event_count"].sum()
    ops = cpu.data.hosts[0].ops
    op_thread = track(cpu, "ops", "CPU:0") * 256
    mine = [event for event in drawn if op_thread <= event["tid"] < op_thread + 256]
    assert sorted(round(event["dur"] * PS_PER_US) for event in mine) == sorted(ops.duration_ps.tolist())


def test_perfetto_packets_pair_up(hostile, tmp_path):
    data = hostile.trace().to_perfetto(tmp_path / "out.pftrace").read_bytes()
    packets = [dict(fields(body)) for _, body in fields(data)]
    slices = [dict(fields(packet[11])) for packet in packets if 11 in packet]
    begun, ended = (sum(each[9] == kind for each in slices) for kind in (1, 2))
    frame = hostile.trace().frame
    assert begun == ended == frame.loc[frame["kind"].isin(["thread", "python"]), "event_count"].sum()
    tracks = {dict(fields(packet[60]))[1] for packet in packets if 60 in packet}
    assert {each[11] for each in slices} <= tracks
    names = {dict(fields(entry))[2].decode() for packet in packets if 12 in packet for _, entry in fields(packet[12])}
    assert {name for name in HOSTILE if 0 < len(name) <= 1000} <= names


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
