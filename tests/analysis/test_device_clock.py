"""Lengths are by the device's clock: what the runtime does when it sets its two clocks anew is no step time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xprof_nb as xp
from tests.tpu_builder import US, Core
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.device_clock import by_device

STEPS, STEP_US, BUSY_US, JUMP_US, LEAD_US = 6, 100, 90, 30, 1000


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> xp.Profile:
    """Six steps of 100 us; within the third the host's clock is set forward by 30 us, as if an op had taken longer."""
    space = SpaceBuilder()
    core = Core(space)
    core.op("fusion.1", "loop fusion")
    core.op("copy.2", "copy")
    ops, runs = core.plane.line("XLA Ops"), core.plane.line("XLA Modules")
    for number in range(STEPS):
        begin = number * STEP_US
        late = JUMP_US if number > 2 else 0
        stretched = JUMP_US if number == 2 else 0
        for name, at, length, longer in (("fusion.1", 0, 60, stretched), ("copy.2", 60, 30, 0)):
            host_at = begin + at + late + (stretched if at else 0)
            stats = {
                "device_offset_ps": (begin + at + LEAD_US) * US,
                "device_duration_ps": length * US,
            }
            ops.event(name, host_at * US, (length + longer) * US, **stats)
        runs.event("jit_f(7)", (begin + late) * US, (BUSY_US + stretched) * US, run_id=number + 1)
    python = space.plane("/host:CPU").line("python")
    python.event("tpu::System::TransferToDevice", (5 * STEP_US + BUSY_US + JUMP_US) * US, 10 * US)
    return xp.open(space.write(tmp_path_factory.mktemp("clock")))


def test_steps_have_the_length_the_device_measured(profile: xp.Profile) -> None:
    steps = profile.steps()
    assert steps.frame["step_time_ps"].tolist()[:-1] == [STEP_US * US] * (STEPS - 1)
    assert steps.frame["duration_ps"].tolist() == [BUSY_US * US] * STEPS
    assert steps.frame["busy_time_ps"].tolist() == [BUSY_US * US] * STEPS
    assert steps.frame["start_ps"].tolist() == [(n * STEP_US + (JUMP_US if n > 2 else 0)) * US for n in range(STEPS)]
    assert steps.summary["step_time_sd_ps"] == 0


def test_parts_of_a_step_add_up_to_it(profile: xp.Profile) -> None:
    frame = profile.input_pipeline().frame
    assert frame["step_time_ps"].tolist() == [STEP_US * US] * (STEPS - 1) + [BUSY_US * US]
    assert frame["compute_ps"].tolist() == [BUSY_US * US] * STEPS
    assert frame["idle_ps"].tolist() == [(STEP_US - BUSY_US) * US] * (STEPS - 1) + [0]


def test_between_ops_time_passes_evenly(profile: xp.Profile) -> None:
    trace = profile.data.hosts[0]
    host_us = np.array([0, 60, 200, 245, 290, 320, 330, 10_000])
    found = by_device(trace, 0, host_us * US) // US - LEAD_US
    # The op from 200 to 290 of the host's clock took 60 of the device's.
    assert found.tolist() == [0, 60, 200, 230, 260, 290, 300, 9_970]


def test_one_clock_stays_as_it_is(cpu_profile: Path) -> None:
    trace = xp.open(cpu_profile).data.hosts[0]
    moments = np.array([0, 5, 10**12])
    assert by_device(trace, 0, moments) is moments


def test_recorded_steps_of_a_tpu_are_even(corpus: Path) -> None:
    """The same program ran a hundred times; by the host's clock steps differ by 89 ms, by the device's by 0.2 ms."""
    profile = xp.open(corpus / "tpu-v6e-psum")
    steps = profile.steps()
    assert steps.summary["step_time_mean_ps"] == pytest.approx(784.1e9, rel=1e-3)
    assert steps.summary["step_time_sd_ps"] < 1e9
    assert (steps.frame["busy_time_ps"] <= steps.frame["duration_ps"] * (1 + 1e-6)).all()
