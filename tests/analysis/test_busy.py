"""The shares of a run that its devices were busy, against closed forms."""

import pytest

import xprof_nb as xp
from tests.tpu_builder import US, Core
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.timeline.busy import STRETCHES


def test_the_share_is_a_mean_over_the_devices_that_ran_ops(tmp_path):
    space = SpaceBuilder()
    for device, spans in enumerate([[("a", 0, 12), ("a", 23, 1)], [("a", 0, 6), ("a", 3, 6)]]):
        core = Core(space, f"/device:TPU:{device}")
        core.op("a", "fusion")
        core.ops(spans)
    frame = xp.open(space.write(tmp_path)).ask("trace_busy").frame
    assert len(frame) == STRETCHES
    assert (frame.duration_ps == US).all()
    assert frame.busy_fraction.tolist() == [1.0] * 9 + [0.5] * 3 + [0.0] * 11 + [0.5]


def test_without_an_op_it_says_what_to_do(tmp_path):
    space = SpaceBuilder()
    space.plane("/host:CPU")
    answer = xp.open(space.write(tmp_path)).ask("trace_busy")
    assert answer.frame.empty
    assert any("capture while a step runs" in note for note in answer.notes)


@pytest.mark.parametrize("name", ["tpu-v6e-psum", "v100-tf", "mi300x-jax-gemm"])
def test_shares_of_real_runs_are_shares(corpus, name):
    frame = xp.open(corpus / name).ask("trace_busy").frame
    assert frame.busy_fraction.between(0, 1).all()
    assert frame.busy_fraction.max() > 0
