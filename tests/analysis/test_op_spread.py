"""How rows of the op profile spread over devices and steps: closed forms, and the op profile's own sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xprof_nb as xp
from tests.tpu_builder import US, Core
from tests.xspace_builder import SpaceBuilder


def profile_of(folder: Path, *cores: list[tuple[str, int, int]], steps: list[tuple[str, int, int]]) -> xp.Profile:
    """Return a profile of cores that ran ``(op, start, duration)`` in us in runs of one program."""
    space = SpaceBuilder()
    for number, spans in enumerate(cores):
        core = Core(space, f"/device:TPU:{number}")
        core.op("fusion.1", "loop fusion")
        core.op("copy.2", "copy")
        core.runs(steps)
        core.ops(spans)
    return xp.open(space.write(folder))


STEPS = [("jit_f(7)", start, 8) for start in (0, 10, 20)]
FAST = [span for start in (0, 10, 20) for span in (("fusion.1", start, 4), ("copy.2", start + 4, 2))]
SLOW = [span for start in (0, 10, 20) for span in (("fusion.1", start, 6), ("copy.2", start + 6, 2))]


def test_each_row_says_its_share_of_a_step_and_its_slowest_device(tmp_path: Path) -> None:
    spread = profile_of(tmp_path, FAST, SLOW, steps=STEPS).ask("op_spread")
    assert spread.summary["step_count"] == 6, "three on each of two devices"
    assert spread.summary["step_time_mean_ps"] == 10 * US
    rows = spread.frame.dropna(subset=["op"]).set_index("op")
    assert rows.loc["fusion.1", "time_per_step_ps"] == 5 * US
    assert rows.loc["fusion.1", "step_fraction"] == pytest.approx(0.5)
    assert rows.loc["copy.2", "step_fraction"] == pytest.approx(0.2)
    times = [rows.loc["fusion.1", f"device_{name}_time_ps"] for name in ("min", "mean", "max")]
    assert times == [12 * US, 15 * US, 18 * US]
    assert rows.loc["fusion.1", "device_imbalance_fraction"] == pytest.approx(0.2)
    assert rows.loc["fusion.1", "slowest_device"] == "TPU:1"
    assert rows.loc["copy.2", "device_imbalance_fraction"] == 0
    root = spread.frame.iloc[0]
    assert root["step_fraction"] == pytest.approx(0.7)
    assert [root["device_min_time_ps"], root["device_max_time_ps"]] == [18 * US, 24 * US]
    assert "fusion.1, 18.0 µs on TPU:1, 15.0 µs on average of 2 devices" in spread.summary["sentence"]


def test_a_chosen_device_is_alone(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, FAST, SLOW, steps=STEPS)
    spread = profile.ask("op_spread", device="TPU:1", step=1)
    rows = spread.frame.dropna(subset=["op"]).set_index("op")
    assert rows.loc["fusion.1", "time_per_step_ps"] == 6 * US
    assert spread.summary["step_count"] == 1
    assert rows["device_mean_time_ps"].isna().all()
    assert rows["slowest_device"].isna().all()


def test_without_steps_there_is_no_share_of_one(tmp_path: Path) -> None:
    spread = profile_of(tmp_path, FAST[:2], SLOW[:2], steps=STEPS[:1]).ask("op_spread")
    assert spread.frame["step_fraction"].isna().all()
    assert any("no step was marked" in note for note in spread.notes)
    assert spread.frame["device_max_time_ps"].notna().all()


@pytest.mark.parametrize("by", ["program", "category", "framework", "source"])
@pytest.mark.parametrize("run", ["tpu-v6e-psum", "v100-tf", "mi300x-jax-gemm"])
def test_it_adds_up_to_the_op_profile(corpus: Path, run: str, by: str) -> None:
    profile = xp.open(corpus / run)
    nodes = profile.op_profile(by=by).frame.set_index("key")
    spread = profile.ask("op_spread", by=by)
    rows = spread.frame.set_index("key")
    assert set(rows.index) <= set(nodes.index)
    busy = nodes["self_time_ps"].loc[rows.index].to_numpy(np.float64)
    # The root's own time includes idle time, which no device's ops account for.
    count = spread.summary["device_count"]
    if count > 1:
        assert rows["device_mean_time_ps"].iloc[1:].to_numpy() * count == pytest.approx(busy[1:], rel=1e-9)
    if spread.summary["step_count"]:
        ops = rows.dropna(subset=["op"])
        assert ops["time_per_step_ps"].sum() == pytest.approx(rows["time_per_step_ps"].iloc[0], rel=1e-9)
