from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import jax
import pytest

import xprof_nb as xp
from tests.capture.captured import op_names, run_names
from xprof_nb.capture import health, jobs, local, session
from xprof_nb.capture.jobs import Request
from xprof_nb.capture.options import PRESETS
from xprof_nb.capture.plans import Burst, For, Steps, WhenSlower
from xprof_nb.errors import CaptureError, ProfilerBusyError, UsageError


class Loop:
    """A loop in a thread of its own; ``once_s`` is how long it rests in the next step alone."""

    def __init__(self, step, mark: str | None) -> None:
        self.once_s = 0.0
        self._step, self._mark = step, mark
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        self._enough.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._enough.is_set():
            number += 1
            if self._mark is None:
                self._work()
                continue
            with jax.profiler.StepTraceAnnotation(self._mark, step_num=number):
                self._work()

    def _work(self) -> None:
        self._step().block_until_ready()
        rest_s, self.once_s = 0.01 + self.once_s, 0.0
        time.sleep(rest_s)


@pytest.fixture
def loop(matmul, request) -> Iterator[Loop]:
    loop = Loop(matmul, getattr(request, "param", "train"))
    yield loop
    loop.end()


def sidecar_of(folder) -> dict:
    return json.loads((folder / "xprof-nb.json").read_text())


@pytest.mark.parametrize("loop", ["train", None], indirect=True)
def test_it_stops_after_so_many_whole_steps_and_says_what_the_profiler_cost(loop, logdir) -> None:
    job = jobs.start(Request(Steps(5), "steps", logdir))
    profile = job.wait(60)
    recorded = sidecar_of(job.folders[0])
    kind = "inferred" if loop._mark is None else "marked"
    assert recorded["step_kind"] == kind
    assert 5 <= recorded["step_count"] < 12
    assert recorded["asked"] == "5 steps, at most 60 s"
    overhead = recorded["overhead"]
    assert overhead["factor"] == pytest.approx(overhead["traced_step_s"] / overhead["untraced_step_s"])
    assert 0.01 < overhead["untraced_step_s"] < 1
    (said,) = [note for note in job.status.notes if "host tracing: a step took" in note]
    assert said in profile.op_profile().notes
    frame = profile.steps().frame
    whole = frame[~frame["partial"]]["step"].nunique() if "partial" in frame else frame["step"].nunique()
    assert whole >= 5


def test_each_kind_of_tracing_is_measured_when_asked(loop, logdir) -> None:
    job = jobs.start(Request(Steps(3), "costs", logdir, measure_options=True))
    job.wait(60)
    factors = sidecar_of(job.folders[0])["overhead"]["by_option"]
    assert list(factors) == ["device tracing", "host tracing", "Python tracing"]
    assert run_names(logdir) == ["costs"]


def test_without_steps_the_time_limit_holds_and_a_note_says_what_a_step_is(matmul, logdir) -> None:
    job = jobs.start(Request(Steps(5, limit_s=0.4), "none", logdir))
    job.wait(60)
    assert job.elapsed_s < 5
    assert "No step was seen in 0.4 s" in job.status.notes[-1]


def test_a_burst_is_as_many_runs_as_asked_for(loop, logdir) -> None:
    seen = []
    job = jobs.start(Request(Burst(0.3, 0.1, 3), "burst", logdir))
    job.on_change(lambda status: seen.append((status.state, status.progress)))
    profile = job.wait(60)
    assert run_names(logdir) == ["burst", "burst-2", "burst-3"]
    assert "One of several captures in a row, after burst, burst-2." in profile.notes
    assert len(job.status.runs) == 3
    assert {("running", "2 of 3"), ("running", "3 of 3"), ("done", "3 of 3")} <= set(seen)
    starts = [sidecar_of(folder)["started"] for folder in job.folders]
    assert starts == sorted(starts)


def test_a_burst_called_off_keeps_the_runs_it_has(loop, logdir) -> None:
    job = jobs.start(Request(Burst(60, 0.05, 3), "burst", logdir))
    while job.state != "waiting":
        time.sleep(0.01)
    job.cancel()
    assert job.wait(60).name == "burst"
    assert job.state == "done"


@pytest.mark.parametrize("loop", ["train", None], indirect=True)
def test_a_slow_step_is_in_the_profile_and_so_many_after_it(loop, logdir) -> None:
    job = jobs.start(Request(WhenSlower(4.0, 2), "slow", logdir))
    while not job.ended(0.2):
        if 2.5 < job.elapsed_s < 20 and job.state == "waiting" and not loop.once_s:  # some was dropped by then
            loop.once_s = 2.0
    job.wait(0)
    recorded = sidecar_of(job.folders[0])
    slow = recorded["slow_step"]
    assert slow["step_s"] > 4 * slow["median_s"]
    assert slow["factor"] == pytest.approx(slow["step_s"] / slow["median_s"])
    assert recorded["step_count"] >= 2
    assert recorded["duration_s"] >= slow["begins_s"] + slow["step_s"]
    assert recorded["duration_s"] < 20  # what came long before was dropped
    assert job.status.notes[0].startswith("The slow step took ")
    longest_s = job.profile.steps().frame["step_time_ps"].max() / 1e12
    assert longest_s + max(-slow["begins_s"], 0) == pytest.approx(slow["step_s"], rel=0.25)


def test_when_no_step_is_slow_nothing_is_recorded_and_it_says_so(loop, logdir) -> None:
    job = jobs.start(Request(WhenSlower(1000.0, limit_s=0.5), "slow", logdir))
    with pytest.raises(CaptureError, match=r"none of \d+ steps in 0.5 s took more than 1000 times.*Lower the factor"):
        job.wait(60)
    assert job.status.error.startswith("nothing was kept")
    assert "Lower" in job.status.hint


def test_there_is_one_job_a_process_and_everybody_sees_it(logdir, matmul) -> None:
    job = xp.capture_for(600, "first", logdir)
    assert jobs.current() is job
    with pytest.raises(ProfilerBusyError, match=r"under way: Profiling what is running.*%xprof cancel"):
        xp.capture_for(1, "second", logdir)
    job.cancel()
    job.wait(60)
    assert jobs.current() is None
    assert json.dumps(job.status.to_dict())


def test_an_armed_job_begins_when_told_and_can_be_called_off(logdir, matmul) -> None:
    job = jobs.arm(Request(For(600), "armed", logdir, what="the cells you run"))
    assert (job.state, job.begun) == ("armed", False)
    assert job.status.doing == "Armed: profiles the cells you run next (600 s)"
    job.begin("square(operand)")
    assert job.state == "running"
    matmul().block_until_ready()
    job.cancel()
    job.wait(60)
    assert sidecar_of(job.folders[0])["cell"] == "square(operand)"
    never = jobs.arm(Request(For(600), "never", logdir))
    never.cancel()
    with pytest.raises(CaptureError, match="cancelled before"):
        never.wait(60)
    assert never.state == "cancelled"
    assert run_names(logdir) == ["armed"]


def test_what_cannot_start_is_refused_in_the_callers_face(logdir, monkeypatch) -> None:
    with pytest.raises(UsageError, match="evil"):
        jobs.start(Request(For(1), "../evil", logdir))
    monkeypatch.setattr(session, "_start", lambda *_: (_ for _ in ()).throw(RuntimeError("no counters")))
    with pytest.raises(CaptureError, match="failed to start: no counters"):
        jobs.start(Request(For(1), "a", logdir))
    assert jobs.current() is None


def test_a_listener_that_fails_is_left_out_and_the_others_go_on(logdir) -> None:
    seen = []

    def broken(status: jobs.Status) -> None:
        seen.append("broken")
        raise ValueError("no front end")

    job = xp.capture_for(600, "heard", logdir)
    job.on_change(broken)
    end = job.on_change(lambda status: seen.append(status.state))
    while "running" not in seen:
        time.sleep(0.02)
    end()
    job.cancel()
    job.wait(60)
    assert seen.count("broken") == 1
    assert "done" not in seen


def test_a_stop_of_five_seconds_is_told_each_second(logdir, monkeypatch, matmul) -> None:
    real = session._NativeBackend.stop

    def slow(backend: session._NativeBackend) -> bytes:
        time.sleep(5)
        return real(backend)

    monkeypatch.setattr(session._NativeBackend, "stop", slow)
    told = []
    job = xp.capture_for(4, "slow", logdir)
    job.on_change(lambda status: told.append((time.monotonic(), status.state, status.doing)))
    matmul().block_until_ready()
    job.cancel()
    job.wait(60)
    at = [moment for moment, state, _ in told if state in ("collecting", "done")]
    assert len(at) > 5
    assert max(later - earlier for earlier, later in pairwise(at)) < 1.5
    assert any(text.startswith("Collecting the profile: 4.") for *_, text in told)
    assert op_names(job.folders[0])


def test_a_device_that_broke_is_reported_and_the_run_stays(logdir, matmul, monkeypatch) -> None:
    def broken(folder) -> None:
        raise CaptureError(f"gpu:0 is unusable; the profile is saved as {folder}", hint="Restart the kernel.")

    monkeypatch.setattr(local, "check_devices", broken)
    job = xp.capture_for(0.05, "last", logdir)
    with pytest.raises(CaptureError, match=r"unusable.*Restart the kernel"):
        job.wait(60)
    assert list(xp.runs(logdir)["run"]) == ["last"]
    assert job.folders[0].name == "last"


def test_only_gpus_are_asked_whether_they_still_work(monkeypatch, tmp_path) -> None:
    class Device:
        platform = "gpu"

        def __str__(self) -> str:
            return "CudaDevice(id=0)"

    def refuse(*_: object) -> None:
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")

    monkeypatch.setattr(jax, "local_devices", lambda: [Device()])
    monkeypatch.setattr(jax, "device_put", refuse)
    with pytest.raises(CaptureError, match=r"CudaDevice\(id=0\) is unusable.*ILLEGAL_ADDRESS.*saved as.*Restart"):
        health.check_devices(tmp_path)
    Device.platform = "cpu"
    health.check_devices(tmp_path)


def test_python_calls_are_recorded_with_the_preset_python_only(logdir, matmul) -> None:
    sizes = {}
    for preset in PRESETS:
        with xp.capture(preset, logdir, preset=preset) as captured:
            matmul().block_until_ready()
        (file,) = captured.folder.glob("*.xplane.pb")
        sizes[preset] = b"$conftest.py" in file.read_bytes()
        assert sidecar_of(captured.folder)["options"]["preset"] == preset
    assert sizes == {"full": False, "light": False, "python": True}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks no process")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_fork_during_a_capture_publishes_no_second_run(logdir, matmul) -> None:
    with xp.capture("parent", logdir) as captured:
        matmul().block_until_ready()
        child = os.fork()
        if child == 0:
            try:
                refused = False
                try:
                    captured.stop()
                except CaptureError:
                    refused = True
                captured.__exit__(None, None, None)
                del captured
                os._exit(0 if refused and jobs.current() is None else 3)
            except BaseException:
                os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run_names(logdir) == ["parent"]
    assert op_names(logdir / "plugins" / "profile" / "parent")


INTERRUPTED = """
import random, signal, sys, threading, time
import jax, jax.numpy as jnp
import xprof_nb as xp
from xprof_nb.capture import jobs

square = jax.jit(lambda x: x @ x)
operand = jnp.ones((200, 200))
square(operand).block_until_ready()
main = threading.main_thread().ident
interrupted = 0
for step in range(25):
    timer = threading.Timer(random.uniform(0, 0.03), signal.pthread_kill, (main, signal.SIGINT))
    try:
        timer.start()
        xp.capture_for(0.005, logdir=sys.argv[1]).wait(60)
        timer.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        interrupted += 1
    while jobs.current() is not None:
        time.sleep(0.001)
with xp.capture("after", sys.argv[1]):
    square(operand).block_until_ready()
print(interrupted)
"""


def test_interrupts_while_a_job_starts_and_is_waited_for_leave_nothing_behind(logdir) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(logdir)], capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15
    assert op_names(logdir / "plugins" / "profile" / "after")
    assert [path.name for path in logdir.iterdir()] == ["plugins"]
