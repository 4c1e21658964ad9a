from __future__ import annotations

import time

import pytest

import xprof_nb as xp
from tests.capture.captured import op_names, run_names
from xprof_nb.capture import activity, session
from xprof_nb.errors import CaptureError, ProfilerBusyError, UsageError


def test_it_records_what_goes_on_and_ends_by_itself(logdir, at_work) -> None:
    job = xp.capture_for(0.3, "bg", logdir)
    assert job.state == "running"
    assert job.wait(60).name == "bg"
    assert job.state == "done"
    assert job.elapsed_s == pytest.approx(0.3, abs=0.25)
    assert op_names(logdir / "plugins" / "profile" / "bg")


def test_cancel_keeps_what_is_there(logdir, at_work) -> None:
    job = xp.capture_for(600, "bg", logdir)
    time.sleep(0.1)
    job.cancel()
    assert job.wait(60).name == "bg"
    assert job.elapsed_s < 60


def test_before_the_end_there_is_no_profile_and_waiting_can_time_out(logdir) -> None:
    job = xp.capture_for(600, "bg", logdir)
    with pytest.raises(CaptureError, match="has not ended"):
        _ = job.profile
    with pytest.raises(TimeoutError, match="running"):
        job.wait(0.05)
    job.cancel()
    job.wait(60)


def test_it_is_refused_at_once_when_it_cannot_start(logdir) -> None:
    with xp.capture("mine", logdir), pytest.raises(ProfilerBusyError, match="'mine'"):
        xp.capture_for(1, "bg", logdir)
    with pytest.raises(UsageError):
        xp.capture_for(0, "bg", logdir)


def test_a_profiler_that_fails_leaves_an_error_and_a_free_profiler(logdir, monkeypatch) -> None:
    job = xp.capture_for(600, "bg", logdir)
    monkeypatch.setattr(session._NativeBackend, "stop", _broken_stop)
    job.cancel()
    with pytest.raises(CaptureError, match="out of luck"):
        job.wait(60)
    assert job.state == "failed"
    assert isinstance(job.error, CaptureError)


def _broken_stop(backend: session._NativeBackend) -> bytes:
    backend.discard()
    raise RuntimeError("out of luck")


def test_three_in_a_row_are_three_runs(logdir) -> None:
    for _ in range(3):
        xp.capture_for(0.02, logdir=logdir).wait(60)
    assert len(run_names(logdir)) == 3


def test_a_thread_at_work_is_noticed(at_work) -> None:
    assert activity.at_work()


def test_an_idle_process_is_not_at_work(matmul) -> None:
    matmul().block_until_ready()
    time.sleep(0.2)
    assert not activity.at_work()


def test_work_left_on_the_devices_is_noticed() -> None:
    import jax
    import jax.numpy as jnp

    chain = jax.jit(lambda x: x @ x @ x @ x @ x)
    operand = jnp.ones((1200, 1200))
    chain(operand).block_until_ready()
    result = chain(operand)
    assert activity.in_flight()
    activity.wait_for_dispatched()
    assert result.is_ready()
    assert not activity.in_flight()
