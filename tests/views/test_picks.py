"""What a saved view keeps of a long answer."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xprof_nb as xp
from xprof_nb import snapshot
from xprof_nb.model import columns
from xprof_nb.snapshot.picks import curves, points


def history(seed: int, allocators: int = 3, rows: int = 4000) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "host": "h",
            "allocator": chance.integers(0, allocators, rows).astype(str),
            "start_ps": np.arange(rows),
            "total_bytes": chance.integers(0, 10**9, rows).astype(float),
        }
    )


@pytest.mark.parametrize("most", [40, 100, 999])
@pytest.mark.parametrize("seed", range(5))
def test_a_thinned_curve_keeps_ends_peaks_and_valleys(seed: int, most: int) -> None:
    frame = history(seed)
    kept = curves(frame, most)
    assert len(kept) <= most
    assert kept["start_ps"].is_monotonic_increasing
    pd.testing.assert_frame_equal(kept, frame.loc[kept.index])
    for name, mine in frame.groupby("allocator"):
        left = kept[kept["allocator"] == name]
        assert left["total_bytes"].max() == mine["total_bytes"].max()
        assert left["total_bytes"].min() == mine["total_bytes"].min()
        assert [left.index[0], left.index[-1]] == [mine.index[0], mine.index[-1]]


def test_a_lone_spike_is_never_lost() -> None:
    for spike in (0, 1, 1234, 3998, 3999):
        frame = history(0, allocators=1).assign(total_bytes=5.0)
        frame.loc[spike, "total_bytes"] = 6.0
        assert spike in curves(frame, 50).index


def test_more_allocators_than_room_leave_the_fullest_moments() -> None:
    frame = history(1, allocators=500)
    kept = curves(frame, 100)
    assert len(kept) == 100
    assert frame["total_bytes"].idxmax() in kept.index


def test_missing_totals_hide_nothing() -> None:
    frame = history(2)
    frame.loc[::3, "total_bytes"] = np.nan
    assert curves(frame, 60)["total_bytes"].max() == frame["total_bytes"].max()


def test_ops_are_not_crowded_out_by_steps() -> None:
    levels = ["program", *["step"] * 5000, *["op"] * 300]
    frame = pd.DataFrame({"level": levels, "time_ps": range(len(levels))})
    kept = points(frame, 100)
    assert kept["level"].value_counts().to_dict() == {"op": 74, "step": 25, "program": 1}
    steps = kept[kept["level"] == "step"].index
    assert [steps[0], steps[-1]] == [1, 5000]
    assert kept[kept["level"] == "op"].index[0] == 5001


@pytest.mark.parametrize("name", ["tpu-v6e-psum", "v100-tf"])
def test_a_saved_timeline_of_memory_has_the_exact_peaks(name: str, corpus: Path) -> None:
    profile = xp.open(corpus / name)
    payload = snapshot.build(profile.data, "memory", {})
    kept, _ = columns.decode(base64.b64decode(payload["table"]))
    saved = pd.DataFrame(kept)
    for peak in payload["summary"]["allocators"]:
        mine = saved[saved["allocator"] == peak["allocator"]]
        assert mine["total_bytes"].max() == peak["peak_bytes"]
        assert peak["peak_ps"] in set(mine["start_ps"])
    assert len(saved) < payload["rows_total"] == len(profile.memory().frame)
    assert snapshot.json_bytes(payload) <= snapshot.LARGEST_PAYLOAD_BYTES
