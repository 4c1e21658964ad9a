"""Sampled live arrays in a sidecar: read on the profile's clock, refused with a note where they cannot be right."""

from __future__ import annotations

from typing import Any

import pytest

import xprof_nb as xp
from tests.xspace_builder import SpaceBuilder
from xprof_nb.runs import sidecar
from xprof_nb.runs.sidecar import Sidecar

STARTED_NS = 1_700_000_000_000_000_000
GOOD: dict[str, Any] = {
    "host": "h",
    "started_ns": STARTED_NS + 5_000_000,
    "period_s": 0.01,
    "time_ns": [0, 10_000_000, 20_000_000],
    "devices": [
        {
            "name": "CPU:0",
            "bytes": [100, 900, 300],
            "arrays": [{"shape": "[200]", "dtype": "float32", "sharding": "one", "count": 1, "bytes": 800}],
            "others": {"count": 3, "bytes": 100},
        }
    ],
}
DEVICE = GOOD["devices"][0]


def opened(folder, **changes: Any) -> xp.Profile:
    run = folder / "plugins" / "profile" / "run"
    space = SpaceBuilder()
    space.plane("/host:CPU").line("main").event("x", 0, 10)
    space.plane("Task Environment", {"profile_start_time": STARTED_NS, "profile_stop_time": STARTED_NS + 10**9})
    space.write(run)
    sidecar.write(run, Sidecar(live_arrays={**GOOD, **changes}))
    return xp.open(run)


def test_times_count_from_the_start_of_the_profiler(tmp_path) -> None:
    frame = opened(tmp_path).memory().frame
    assert frame["start_ps"].tolist() == [5 * 10**9, 15 * 10**9, 25 * 10**9]
    assert frame["total_bytes"].tolist() == [100, 900, 300]


def test_the_peak_says_what_it_was(tmp_path) -> None:
    (peak,) = opened(tmp_path).memory().summary["allocators"]
    assert (peak["device"], peak["peak_bytes"], peak["peak_ps"]) == ("CPU:0", 900, 15 * 10**9)
    assert [(row["holder"], row["bytes"], row["count"]) for row in peak["held"]] == [
        ("arrays", 800, 1),
        ("smaller ones", 100, 3),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"time_ns": [0, 1]},
        {"time_ns": [2, 1, 3]},
        {"time_ns": "abc"},
        {"time_ns": [0, 1, -5]},
        {"time_ns": [0, 1, 2**90]},
        {"started_ns": "then"},
        {"started_ns": 2**62},
        {"devices": 3},
        {"devices": [{**DEVICE, "bytes": [1, 2, None]}]},
        {"devices": [{**DEVICE, "arrays": [{}]}]},
        {"devices": [{**DEVICE, "arrays": "no"}]},
        {"devices": [DEVICE] * 5000},
        {"period_s": "often"},
    ],
)
def test_what_cannot_be_right_is_left_out_and_said(tmp_path, changes) -> None:
    profile = opened(tmp_path, **changes)
    assert not len(profile.memory().frame)
    assert any("Without the live arrays its capture sampled" in note for note in profile.notes)


def test_an_error_of_the_sampling_is_told(tmp_path) -> None:
    notes = opened(tmp_path, error="RuntimeError: gone").memory().notes
    assert any("ended early: RuntimeError: gone" in note for note in notes)
