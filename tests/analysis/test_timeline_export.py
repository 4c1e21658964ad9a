"""The whole timeline for other viewers: every event, exactly, whatever its name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.timelines import HOSTILE, fields, hostile_profile, slices_of, track
from xprof_nb.errors import UsageError

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


def parts_of(profile: xp.Profile, **params: Any) -> tuple[bytes, dict[str, Any]]:
    """Return what a download puts together, and what the last part says."""
    written, part, count = b"", 0, 1
    while part < count:
        answer = profile.ask("trace_export", part=part, **params)
        assert answer.frame["bytes"].dtype == np.uint8
        written += gzip.decompress(answer.frame["bytes"].to_numpy().tobytes())
        count, part = answer.summary["part_count"], part + 1
    return written, answer.summary


@pytest.mark.parametrize("most", [20, 300, 10**9])
def test_the_parts_of_a_download_are_the_file(cpu, hostile, tmp_path, monkeypatch, most):
    monkeypatch.setattr("xprof_nb.analysis.timeline.export.EVENTS_A_PART", most)
    for profile in (cpu, hostile):
        whole = profile.trace().to_chrome_json(tmp_path / f"{profile.name}.json").read_bytes()
        written, summary = parts_of(profile, format="chrome")
        assert written == whole
        assert (summary["part_count"] > 1) == (summary["event_count"] > most)
        assert summary["suffix"] == ".json.gz"


def test_the_parts_for_perfetto_each_know_their_names(cpu, tmp_path, monkeypatch):
    whole = slices_of(cpu.trace().to_perfetto(tmp_path / "out.pftrace").read_bytes())
    monkeypatch.setattr("xprof_nb.analysis.timeline.export.EVENTS_A_PART", 100)
    written, summary = parts_of(cpu, format="perfetto")
    assert summary["part_count"] > 3
    assert sorted(slices_of(written)) == sorted(whole)
    assert len(whole) > 300


def test_a_download_of_a_box_has_what_reaches_into_it(cpu):
    frame = cpu.trace().frame
    row, length = track(cpu, "ops", "CPU:0"), cpu.trace().summary["end_ps"]
    begin, end = length * 0.4, length * 0.6
    written, _ = parts_of(cpu, format="chrome", start_ps=begin, end_ps=end, tracks=[row])
    drawn = [event for event in json.loads(written)["traceEvents"] if event["ph"] == "X"]
    ops, origin = cpu.data.hosts[0].ops, int(cpu.trace().summary["origin_ps"])
    start = ops.host_start_ps - origin
    inside = (start < end) & (start + ops.duration_ps >= begin)
    assert 0 < len(drawn) == inside.sum() < frame.loc[row, "event_count"]
    assert {event["tid"] // 256 for event in drawn} == {row}


def test_what_is_too_much_for_a_browser_is_refused(cpu, monkeypatch):
    monkeypatch.setattr("xprof_nb.analysis.timeline.export.MOST_EVENTS", 10)
    with pytest.raises(UsageError, match=r"10 at most.*to_perfetto"):
        cpu.ask("trace_export", format="perfetto")
    monkeypatch.undo()
    with pytest.raises(UsageError, match="no part 900"):
        cpu.ask("trace_export", part=900)
    for wrong in ({"format": "pdf"}, {"part": -1}, {"part": 10**6}, {"tracks": [10**6]}):
        with pytest.raises(UsageError):
            cpu.ask("trace_export", **wrong)
