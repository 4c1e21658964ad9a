"""A timeline that is asked for nonsense, or made of it: bounded, exact, and in good time."""

from __future__ import annotations

import json
import shutil
import time

import pytest

import xprof_nb as xp
from tests.analysis.timelines import first_event, hostile_profile, track
from tests.xspace_builder import SpaceBuilder
from xprof_nb import snapshot
from xprof_nb.errors import UsageError
from xprof_nb.model.columns import encode
from xprof_nb.runs import sidecar


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> xp.Profile:
    return hostile_profile(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize(
    ("query", "params"),
    [
        ("trace_window", {"pixels": 0}),
        ("trace_window", {"pixels": 10**6}),
        ("trace_window", {"tracks": [1.5]}),
        ("trace_window", {"tracks": [10**9]}),
        ("trace_window", {"tracks": [-1]}),
        ("trace_window", {"tracks": list(range(2000))}),
        ("trace_window", {"tracks": "12"}),
        ("trace_window", {"start_ps": float("nan")}),
        ("trace_window", {"start_ps": float("inf")}),
        ("trace_window", {"start_ps": 5, "end_ps": 5}),
        ("trace_search", {"text": ""}),
        ("trace_search", {"text": "a" * 5000}),
        ("trace_event", {"track": 0, "event": 0}),
        ("trace_event", {"track": 5, "event": 1.5}),
        ("trace_event", {"track": 5, "event": 10**15}),
        ("trace_marks", {"markers": [{"name": "a" * 300, "time_ps": 0}]}),
        ("trace_marks", {"markers": [{"name": "a", "time_ps": "0"}]}),
        ("trace_marks", {"markers": [{"name": "a", "time_ps": 0, "more": 1}]}),
        ("trace_marks", {"markers": [{"time_ps": 0}] * 1001}),
    ],
)
def test_what_cannot_be_meant_is_refused(hostile, query, params):
    with pytest.raises(UsageError):
        hostile.ask(query, **params)


def test_hostile_names_are_bounded_and_everything_is_there(hostile):
    view = hostile.trace()
    every = view.frame.loc[view.frame["lanes"] > 0, "track"].tolist()
    answer = hostile.ask("trace_window", tracks=every)
    assert len(encode(answer.frame, answer.summary)) < 10_000
    assert len(encode(view.frame, view.summary)) < 10_000
    assert answer.frame["name"].dropna().str.len().max() <= 200
    drawn = view.window(tracks=[track(hostile, "thread", name="crossing")], pixels=8192)
    assert drawn["count"].sum() == 5  # the aggregated one has no place in time
    assert "(no name)" in drawn["name"].tolist()
    row = track(hostile, "thread", name="xxx")
    assert len(json.dumps(view.event(row, first_event(hostile, row)).summary)) < 10_000


def test_times_before_zero_are_drawn(hostile):
    view = hostile.trace()
    drawn = view.window(tracks=[track(hostile, "thread", name="<img")])
    assert int(view.summary["origin_ps"]) == -5000
    assert drawn["start_ps"].min() == 0


def test_counters_of_a_device_are_curves(hostile):
    row = track(hostile, "counter", name="power")
    drawn = hostile.trace().window(5000, 5040, 40, [row])
    assert drawn["value"].tolist() == [5.5, 2.5]
    assert drawn["start_ps"].tolist() == [5010, 5030]
    assert drawn["duration_ps"].tolist() == [20, 10]


def test_forty_thousand_tracks_are_answered_at_once(tmp_path):
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number in range(40_000):
        plane.line(f"pool/{number}").event("work", number * 1000, 500)
    profile = xp.open(builder.write(tmp_path))
    profile.trace().window(tracks=[3])
    begin = time.perf_counter()
    view = profile.trace()
    assert len(view.frame) == 40_002
    drawn = view.window(tracks=range(100, 1100), pixels=1000)
    assert drawn["count"].sum() == 1000
    found = view.search("work")
    assert found.summary["count"] == 40_000
    assert len(found.frame) <= 2000
    live, saved = snapshot.build_live(profile.data, "trace"), snapshot.build(profile.data, "trace")
    assert live["rows_total"] == 40_002
    assert live["extra"]["windows"], "its tracks cost no windows"
    assert snapshot.json_bytes(saved) <= snapshot.LARGEST_PAYLOAD_BYTES
    assert saved["rows_total"] < 40_002
    assert any("of 40,002 tracks" in note for note in saved["notes"])
    assert not any("of 40,002 tracks" in note for note in live["notes"])
    assert time.perf_counter() - begin < 20


@pytest.mark.parametrize("most_rows", [1, 10, 100])
def test_however_few_rows_are_allowed_they_are_used(hostile, most_rows):
    every = hostile.trace().frame.query("lanes > 0")["track"].tolist()
    answer = hostile.ask("trace_window", tracks=every, most_rows=most_rows)
    assert 0 < len(answer.frame) <= most_rows


def test_an_empty_profile_says_why(tmp_path):
    builder = SpaceBuilder()
    builder.task_environment(1000, 2000)
    view = xp.open(builder.write(tmp_path)).trace()
    assert view.notes
    assert len(view.window()["track"]) == 0
    assert view.selection().notes
    assert view.search("a").notes


def test_markers_are_kept_with_a_capture_of_our_own_alone(tmp_path, cpu_profile, hostile):

    run = tmp_path / "plugins" / "profile" / "run"
    shutil.copytree(cpu_profile, run)
    (run / sidecar.FILE_NAME).unlink(missing_ok=True)
    sidecar.write(run, sidecar.Sidecar(name="mine"))
    profile = xp.open(run)
    marks = [{"id": "a", "name": "</script>", "color": "#f00", "time_ps": 12.5}]
    assert profile.ask("trace_marks", markers=marks).summary == {"markers": marks, "saved": True, "reason": None}
    assert xp.open(run).trace().summary["markers"] == marks
    assert profile.trace().summary["markers"] == marks
    assert sidecar.read(run).name == "mine"
    refused = hostile.ask("trace_marks", markers=marks)
    assert (refused.summary["saved"], refused.summary["markers"]) == (False, marks)
    assert "no capture of this tool" in refused.summary["reason"]
