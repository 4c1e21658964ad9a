"""Every event as a frame: complete, narrowed by name and time, with stats where they are few."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xprof_nb as xp
from tests.many_events import write_many
from tests.xspace_builder import PS_PER_MS, SpaceBuilder
from xprof_nb.analysis.patterns import matching
from xprof_nb.formats import xspace
from xprof_nb.model import units

MS = PS_PER_MS


def small(folder: Path, host: str = "worker") -> Path:
    """Write a TPU and a host thread, with stats on events and on their kind."""
    space = SpaceBuilder(host)
    core = space.plane("/device:TPU:0")
    core.metadata("%add.1 = f32[] add()", {"flops": 8, "program_id": 5, "symbol_id": 1}, display_name="add.1")
    line = core.line("XLA Ops")
    line.event("%add.1 = f32[] add()", 3 * MS, 1 * MS, run_id=1).event("%add.1 = f32[] add()", 1 * MS, 1 * MS, run_id=2)
    thread = space.plane("/host:CPU").line("python/7")
    thread.event("$a.py:1 short", 2 * MS, MS // 2).event("$a.py:1 long", 4 * MS, 2 * MS).event("(x+", 5 * MS, MS // 4)
    thread.aggregated("summed", 7, 3 * MS, note="n", host="h")
    return space.write(folder)


def test_every_event_with_its_line_and_its_stats(tmp_path):
    result = xp.open(small(tmp_path)).events()
    frame = result.frame
    assert frame["name"].tolist() == ["add.1", "$a.py:1 short", "add.1", "$a.py:1 long", "(x+", "summed"]
    assert frame["start_ps"].tolist()[:5] == [1 * MS, 2 * MS, 3 * MS, 4 * MS, 5 * MS]
    assert pd.isna(frame["start_ps"].iloc[5])
    assert frame["occurrences"].tolist() == [1, 1, 1, 1, 1, 7]
    assert frame["plane"].tolist()[:2] == ["/device:TPU:0", "/host:CPU"]
    assert frame["device"].tolist()[0] == "TPU:0"
    assert frame["device"].isna().tolist() == [False, True, False, True, True, True]
    assert frame["run_id"].tolist()[0:3:2] == [2, 1]
    assert frame["flops"].tolist()[0:3:2] == [8, 8]
    assert frame["note"].iloc[5] == "n"
    assert frame["stat_host"].iloc[5] == "h"
    assert frame["host"].unique().tolist() == ["worker"]
    assert result.summary["event_count"] == 6
    assert "All 6 events" in result.summary["sentence"]


def test_narrowed_by_name_window_device_program_and_length(tmp_path):
    profile = xp.open(small(tmp_path))
    assert profile.events("^add").frame["name"].tolist() == ["add.1", "add.1"]
    assert profile.events("(x+".replace("(", r"\(").replace("+", r"\+")).frame["name"].tolist() == ["(x+"]
    inside = profile.events(window_ps=(2 * MS, 4 * MS)).frame
    assert inside["start_ps"].tolist() == [2 * MS, 3 * MS]
    assert len(profile.events(device="TPU:0").frame) == 2
    assert len(profile.events(device=0, host="worker", pattern="summed").frame) == 0
    assert len(profile.events(program=5).frame) == 2
    result = profile.events(min_python_ps=1 * MS)
    assert "$a.py:1 short" not in result.frame["name"].tolist()
    assert len(result.frame) == 5  # the short event that is no Python call stays
    assert any(note.startswith("Left out: 1 Python call shorter than 1.00 ms") for note in result.notes)
    first = profile.events(limit=2)
    assert (len(first.frame), first.summary["event_count"]) == (2, 6)
    assert any("first 2 of 6" in note for note in first.notes)


def test_nothing_found_says_what_was_sought(tmp_path):
    result = xp.open(small(tmp_path)).events("no such name")
    assert len(result.frame) == 0
    assert any("None of the 6 events whose name matches 'no such name'" in note for note in result.notes)


@pytest.mark.parametrize("pattern", ["(", "*a", "[", r"\1", "(?=a)", "a" * 2000])
def test_a_pattern_that_is_none_is_refused(tmp_path, pattern):
    with pytest.raises(xp.ProfileError, match=r"pattern|regular expression"):
        xp.open(small(tmp_path)).events(pattern)


def test_no_pattern_takes_forever():
    began = time.monotonic()
    assert not matching(["a" * 30_000 + "b"] * 20, "(a+)+$").any()
    assert matching(["x" + "a" * 30_000], "(a|aa)+$").all()
    assert time.monotonic() - began < 20


def test_hosts_follow_one_another(tmp_path):
    small(tmp_path, "host0")
    small(tmp_path, "host1")
    profile = xp.open(tmp_path)
    frame = profile.events().frame
    assert frame["host"].value_counts().to_dict() == {"host0": 6, "host1": 6}
    assert frame["flops"].notna().sum() == 4
    assert set(profile.events(host="host1").frame["host"]) == {"host1"}


@pytest.mark.parametrize("folder", ["tpu-v6e-psum", "mi300x-jax-conv", "v100-tf"])
def test_as_many_events_as_the_file_has(corpus, folder):
    (file,) = (corpus / folder).rglob("*.xplane.pb")
    planes = xspace.read(file).planes
    frame = xp.open(file).events().frame
    assert len(frame) == sum(len(plane.events) for plane in planes)
    assert int(frame["duration_ps"].sum()) == sum(int(plane.events.duration_ps.sum()) for plane in planes)
    for plane in planes:
        for name in ("correlation_id", "device_offset_ps", "group_id", "bytes_allocated"):
            column = plane.event_stat(name)
            if column.present.any():
                mine = frame.loc[frame["plane"] == plane.name, name]
                assert int(mine.dropna().astype("int64").sum()) == int(column.ints().sum())


def test_the_last_of_a_million_and_a_half_is_found(tmp_path):
    """A trace in JSON would have stopped at a million."""
    profile = xp.open(write_many(tmp_path / "many.xplane.pb", 1_500_045))
    everything = profile.events()
    assert "All 1\u2009500\u2009046 events" in everything.summary["sentence"]
    assert len(everything.frame) == 1_500_046
    assert everything.frame["name"].iloc[-1] == "last annotation"
    assert any("Stats are left out" in note for note in everything.notes)
    (row,) = profile.events("last annotation").frame.itertuples()
    assert (row.start_ps, row.duration_ps) == (1_500_045 * 10**6, 10**9)
    python = int(np.count_nonzero(everything.frame["name"].astype(str).str.startswith("$")))
    filtered = profile.events(min_python_ps=10**9)
    assert len(filtered.frame) == 1_500_046 - python
    assert any(units.counted(python, "Python call") in note for note in filtered.notes)


def test_millions_of_events_make_a_summary_without_an_object_each(tmp_path):
    profile = xp.open(write_many(tmp_path / "many.xplane.pb", 5_000_000))
    result = profile.events()
    assert result.summary["event_count"] == 5_000_001
    assert result.frame.memory_usage(deep=True).sum() < 60 * 5_000_001
    top = result.summary["longest_in_sum"][0]
    assert top["occurrences"] == 100_000
    assert profile.sql("SELECT name, sum(duration_ps) AS t FROM events GROUP BY name ORDER BY t DESC LIMIT 1").frame[
        "t"
    ].tolist() == [1e5 * 500_000]
