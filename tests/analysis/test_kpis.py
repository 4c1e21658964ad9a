"""Key figures of training: closed forms of throughput, MFU, HFU and bandwidth, and what is not known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import xprof_nb as xp
from tests.analysis.tpu_spaces import HBM, READ, Op, core
from tests.xspace_builder import SpaceBuilder

US = 10**6
FORWARD = Op("fusion.1", "convolution fusion", flops=3 * 10**6, bytes_accessed=10**6, breakdown=((HBM, READ, 10**6),))
AGAIN = Op("fusion.1.remat", "convolution fusion", flops=10**6)
PEAK_FLOPS_PER_S, PEAK_BYTES_PER_S = 197e12, 819e9


def trained(folder: Path, cores: int = 1) -> xp.Profile:
    """Write three steps, 10 us apart, in which an op runs and its result is computed again."""
    space = SpaceBuilder()
    starts = [0.002, 0.012, 0.022]
    events = [(op, start + 0.004 * op, 0.003) for start in starts for op in (0, 1)]
    for number in range(cores):
        core(space, number, [FORWARD, AGAIN], events, [("jit_f(7)", start, 0.008) for start in starts])
    space.task_environment(0, 50 * 1000)
    return xp.open(space.write(folder))


def values(profile: xp.Profile, **told: float) -> pd.Series:
    return profile.kpis(**told).frame.set_index("name")["value"]


@pytest.mark.parametrize("cores", [1, 2])
def test_work_that_is_done_again_counts_for_the_hardware_alone(tmp_path: Path, cores: int) -> None:
    found = values(trained(tmp_path, cores))
    assert found["step_time_mean"] == 10 * US
    assert found["hardware_flops_per_step"] == 4e6 * cores
    assert found["model_flops_per_step"] == 3e6 * cores
    assert found["hfu"] == pytest.approx(4e6 / 10e-6 / PEAK_FLOPS_PER_S)
    assert found["mfu"] == pytest.approx(3e6 / 10e-6 / PEAK_FLOPS_PER_S)
    assert found["hbm_utilization"] == pytest.approx(1e6 / 10e-6 / PEAK_BYTES_PER_S)


def test_a_box_of_the_timeline_tells_the_two_apart_as_well(tmp_path: Path) -> None:
    profile = trained(tmp_path)
    (row,) = profile.trace().frame.query("kind == 'ops'").track
    box = profile.ask("trace_selection", tracks=[row]).summary
    assert box["flops"] == 3 * 4e6
    assert box["mfu"] / box["flops_utilization"] == pytest.approx(3 / 4)
    assert box["mfu"] == pytest.approx(3 * 3e6 / (box["window_ps"] * 1e-12) / PEAK_FLOPS_PER_S)


def test_six_flops_a_parameter_and_token_when_both_are_told(tmp_path: Path) -> None:
    answer = trained(tmp_path, 2).kpis(tokens_per_step=50, parameters=1000, items_per_step=4)
    found = answer.frame.set_index("name")["value"]
    assert found["tokens_per_s"] == pytest.approx(50 / 10e-6)
    assert found["items_per_s"] == pytest.approx(4 / 10e-6)
    assert found["model_flops_per_step"] == 6 * 50 * 1000
    assert found["mfu"] == pytest.approx(6 * 50 * 1000 / (10e-6 * 2 * PEAK_FLOPS_PER_S))
    definitions = answer.frame.set_index("name")["definition"]
    assert "6 · 1000 parameters · 50 tokens" in definitions["model_flops_per_step"]
    assert "bf16 at 197 TFLOP/s (profile)" in definitions["mfu"]
    assert answer.summary["sentence"].replace("\u2009", "").startswith("Step 10.0 µs, 5000000 tokens/s, 400000 items/s")


def test_what_is_not_known_is_missing_and_says_why(tmp_path: Path) -> None:
    answer = trained(tmp_path).kpis()
    found = answer.frame.set_index("name")["value"]
    unknown = ["tokens_per_s", "items_per_s", "peak_memory"]
    assert found[unknown].isna().all()
    for name in unknown:
        assert any(f"Not known: {name}" in note for note in answer.notes), name
    assert found["exposed_communication"] == 0  # no collective ran
    assert any("kpis(tokens_per_step=…)" in note for note in answer.notes)


def test_without_a_step_nothing_is_said_per_step(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core(space, 0, [FORWARD], [(0, 0, 0.003)])
    answer = xp.open(space.write(tmp_path)).kpis(tokens_per_step=5)
    assert answer.frame["value"].isna().all()
    assert any("mark steps with" in note for note in answer.notes)


@pytest.mark.parametrize("told", [{"tokens_per_step": 0}, {"parameters": "many"}, {"items_per_step": float("nan")}])
def test_nonsense_is_refused(tmp_path: Path, told: dict) -> None:
    with pytest.raises(xp.ProfileError, match="positive number"):
        trained(tmp_path).kpis(**told)


def test_a_real_training_run_has_figures(cpu_profile: Path) -> None:
    profile = xp.open(cpu_profile)
    found = values(profile, tokens_per_step=128)
    overview = profile.overview().summary
    assert found["step_time_mean"] == overview["step_time_mean_ps"]
    assert found["tokens_per_s"] == pytest.approx(128e12 / overview["step_time_mean_ps"])
    assert found["hardware_flops_per_step"] > 0
    assert found["peak_memory"] > 0
