"""Real programs on this machine, swept."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import xprof_nb as xp
from tests.tuning import models
from xprof_nb.errors import ProfileError

SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


@pytest.fixture(scope="module")
def small():
    return models.transformer(width=16, heads=2, layers=2, sequence=4)


@pytest.fixture(scope="module")
def swept(small, tmp_path_factory):
    return xp.sweep(small, SIZES, steps=8, profile_steps=1, logdir=tmp_path_factory.mktemp("sweep"), name="small")


def test_every_point_is_measured_and_profiled(swept):
    frame = swept.frame
    assert frame.status.tolist() == ["done"] * len(SIZES)
    assert (frame.step_time_s > 0).all()
    assert (frame.items_per_s * frame.step_time_s).round(6).tolist() == SIZES
    assert frame.planned_bytes.is_monotonic_increasing
    assert (frame.compile_time_s > frame.step_time_s).all()
    assert frame.bound_by.notna().all()
    assert frame.flops_utilization.between(0, 1.05).all()
    assert frame.arithmetic_intensity.gt(0).all()


def test_flops_grow_as_the_batch_does(swept):
    work = swept.frame.flops_per_s * swept.frame.step_time_s
    assert (work / work[0]).tolist() == pytest.approx(SIZES, rel=0.15)


def test_each_point_opens_its_profile(swept):
    profile = swept.profile(batch_size=8)
    assert profile.origin == "sweep"
    assert "matrix" in set(profile.ops().frame.work_kind)
    listed = xp.runs(swept.frame.run[0].rsplit("/plugins/", 1)[0])
    assert set(listed.origin) == {"sweep"}
    assert len(listed) == len(SIZES)
    assert {tag for tags in listed.tags for tag in tags} == {"sweep:small"}
    with pytest.raises(ProfileError, match="no profile"):
        swept.profile(batch_size=3)


def test_going_on_measures_nothing_again(small, swept):
    logdir = swept.frame.run[0].rsplit("/plugins/", 1)[0]
    again = xp.sweep(small, SIZES, steps=8, profile_steps=1, logdir=logdir, name="small")
    assert again.frame.equals(swept.frame)


def test_running_out_of_memory_is_a_result(tmp_path):
    import jax.numpy as jnp

    def make_step(batch_size):
        size = 2**50 if batch_size == 4 else 1000
        return lambda: jnp.zeros(size, jnp.uint8) + batch_size

    frame = xp.sweep(make_step, [1, 4, 8], steps=2, profile=False, logdir=tmp_path).frame
    assert frame.status.tolist() == ["done", "oom", "skipped"]
    assert frame.note[1]


def test_an_error_of_the_step_is_a_result(tmp_path):
    def make_step(rows, remat):
        if rows == 2 and remat == "full":
            raise ValueError("no such policy")
        return lambda: None

    frame = xp.sweep(
        make_step, parameters={"rows": [1, 2], "remat": ["none", "full"]}, steps=2, profile=False, logdir=tmp_path
    ).frame
    assert frame.status.tolist() == ["done", "done", "done", "failed"]
    assert frame.note[3] == "ValueError: no such policy"


def test_each_in_a_process_of_its_own(tmp_path):
    def make_step(batch_size):
        import os

        if batch_size == 2:
            os._exit(9)
        return os.getpid

    found = xp.sweep(make_step, [1, 2, 3], steps=2, profile=False, logdir=tmp_path, isolated=True).frame
    assert found.status.tolist() == ["done", "failed", "done"]
    assert "its process was lost" in found.note[1]


_SHARED = """
import json, sys
import xprof_nb as xp
from tests.tuning import models
found = xp.sweep(models.data_parallel(), [1, 64], steps=4, profile_steps=2, logdir=sys.argv[1], name="shared")
points = [{"kinds": point.kind_time_s, "exposed": point.exposed_communication_fraction} for point in found.points]
print(json.dumps({"points": points}))
"""


def test_collectives_of_four_devices_are_told_from_the_rest(tmp_path):
    flags = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _SHARED, str(tmp_path)],
        env=flags,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    assert all(point["kinds"]["collective"] > 0 for point in told["points"])
    assert all(0 <= point["exposed"] <= 1 for point in told["points"])
    assert told["points"][-1]["kinds"]["matrix"] > told["points"][0]["kinds"]["matrix"]
