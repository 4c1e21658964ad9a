"""Scopes and source lines: stretches of ops with something in common, by brute force; nothing waits for them."""

from __future__ import annotations

import threading
from itertools import groupby

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.timelines import track
from xprof_nb.analysis.timeline.stretches import stretches
from xprof_nb.analysis.timeline.tracks import timeline_of


@pytest.mark.parametrize("seed", range(20))
def test_stretches_are_what_neighbours_have_in_common(seed):
    rng = np.random.default_rng(seed)
    keys, ops = 5, int(rng.integers(0, 60))
    outer = rng.integers(-1, 2, keys)
    inner = np.where(outer < 0, -1, rng.integers(-1, 4, keys))
    code_of_key = np.array([outer, inner], np.int32)
    key = rng.integers(0, keys, ops).astype(np.int32)
    begin = np.cumsum(rng.integers(0, 5, ops))
    end = begin + rng.integers(0, 9, ops)
    run = np.cumsum(rng.random(ops) < 0.1)
    found = stretches(code_of_key, key, begin, end, run)
    apart = True
    for level in range(2):
        expected = []
        common = list(zip(code_of_key[level][key].tolist(), run.tolist(), strict=True))
        for (code, _), group in groupby(range(ops), common.__getitem__):
            rows = list(group)
            if code >= 0:
                apart &= not expected or begin[rows[0]] >= max(start + length for _, start, length, _ in expected)
                expected.append((code, begin[rows[0]], end[rows].max() - begin[rows[0]], rows[0]))
        part = slice(found.first[level], found.first[level + 1])
        columns = (found.code, found.start_ps, found.duration_ps, found.row)
        assert list(zip(*(column[part].tolist() for column in columns), strict=True)) == expected
    assert found.are_apart == apart


def test_while_a_track_is_laid_out_the_others_answer(cpu_profile, monkeypatch):
    profile = xp.open(cpu_profile)
    view, scopes, ops = profile.trace(), track(profile, "scopes", "CPU:0"), track(profile, "ops", "CPU:0")
    timeline = timeline_of(profile.data)
    timeline.contents.clear()
    begun, go_on = threading.Event(), threading.Event()
    find = timeline.tracks[scopes].find

    def slowly(*arguments):
        begun.set()
        assert go_on.wait(60)
        return find(*arguments)

    monkeypatch.setattr(timeline.tracks[scopes], "find", slowly)
    answers = []
    slow = threading.Thread(target=lambda: answers.append(view.window(tracks=[scopes])))
    slow.start()
    assert begun.wait(60)
    assert len(view.window(tracks=[ops])["track"]) > 0
    assert not answers
    go_on.set()
    slow.join(60)
    assert len(answers[0]["track"]) > 0


def test_where_events_are_is_told_with_those_around_and_linked(cpu_profile, corpus):
    profile = xp.open(cpu_profile)
    row = track(profile, "python")
    drawn = profile.trace().window(tracks=[row], pixels=8192)
    inner = np.flatnonzero((drawn["lane"] == 1) & ~np.isnan(drawn["event"]))[0]
    told = profile.trace().event(row, drawn["event"][inner]).summary
    assert told["lane"] == 1
    above = told["parent"]
    assert above["lane"] == 0
    assert above["start_ps"] <= told["start_ps"]
    assert above["start_ps"] + above["duration_ps"] >= told["start_ps"] + told["duration_ps"]
    gpu = xp.open(corpus / "v100-tf")
    stream = track(gpu, "stream", "GPU:4", "#134(Compute)")
    kernel = gpu.trace().window(tracks=[stream], pixels=8192)
    first = kernel["event"][~np.isnan(kernel["event"])][0]
    (flow,) = gpu.trace().event(stream, first).summary["flows"]
    linked = gpu.trace().event(flow["track"], flow["event"]).summary
    assert [linked[name] for name in ("lane", "start_ps", "duration_ps")] == [
        flow[name] for name in ("lane", "start_ps", "duration_ps")
    ]
