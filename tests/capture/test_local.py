from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import ClassVar

import jax
import jax.numpy as jnp
import pytest

import xprof_nb as xp
from tests.capture.captured import names_in, op_names, run_names
from xprof_nb.capture import local, metadata, session, store
from xprof_nb.capture.local import Capture
from xprof_nb.errors import CaptureError, ProfilerBusyError, UsageError


def test_a_block_becomes_a_run_in_the_standard_place(logdir, matmul) -> None:
    with xp.capture("train", logdir, note="batch 8") as cap:
        matmul().block_until_ready()
    assert cap.folder == logdir / "plugins" / "profile" / "train"
    assert op_names(cap.folder)
    assert names_in(logdir) == ["plugins"]
    recorded = json.loads((cap.folder / "xprof-nb.json").read_text())
    assert recorded["note"] == "batch 8"
    assert recorded["options"] == {
        "host_tracer_level": 2,
        "python_tracer_level": 0,
        "hlo": True,
        "dataset_ops": True,
        "device_tracing": True,
        "max_devices": None,
        "advanced": {},
        "preset": "full",
    }
    assert recorded["versions"]["jax"] == jax.__version__
    assert recorded["devices"][0] == {"kind": "cpu", "platform": "cpu", "id": 0}
    assert 0 < recorded["duration_s"] < 60
    assert set(recorded["overhead"]) == {"start_s", "stop_s"}


def test_xprof_opens_the_run(logdir, matmul) -> None:
    raw_to_tool_data = pytest.importorskip("xprof.convert.raw_to_tool_data")
    with xp.capture("train", logdir) as cap:
        matmul().block_until_ready()
    (file,) = cap.folder.glob("*.xplane.pb")
    tools = raw_to_tool_data.xspace_to_tool_names([str(file)])
    assert "trace_viewer" in " ".join(tools)


def test_the_profile_opens(logdir, matmul) -> None:
    with xp.capture("train", logdir) as cap:
        matmul().block_until_ready()
    assert cap.profile.name == "train"
    assert cap.profile.origin == "captured"


def test_a_name_that_was_taken_is_told_apart_wherever_the_run_is_named(logdir, matmul) -> None:
    for _ in range(2):
        with xp.capture("train", logdir) as cap:
            matmul().block_until_ready()
    assert cap.profile.name == "train-2"
    assert "train-2" in repr(cap.profile.ops())
    assert set(xp.runs(logdir)["run"]) == {"train", "train-2"}


def test_three_captures_within_a_second_are_three_runs_in_order(logdir, matmul) -> None:
    folders = []
    for _ in range(3):
        with xp.capture(logdir=logdir) as cap:
            matmul().block_until_ready()
        folders.append(cap.folder.name)
    assert run_names(logdir) == folders
    assert list(xp.runs(logdir)["run"]) == folders[::-1]


def test_a_name_in_use_is_numbered_and_nothing_is_overwritten(logdir, matmul) -> None:
    for _ in range(3):
        with xp.capture("train", logdir):
            matmul()
    assert run_names(logdir) == ["train", "train-2", "train-3"]


def test_a_name_that_escapes_is_refused_before_anything_happens(logdir) -> None:
    with pytest.raises(UsageError, match="evil"):
        xp.capture("../evil", logdir)
    assert not logdir.exists()


def test_async_work_is_in_the_profile_to_its_end(logdir) -> None:
    chain = jax.jit(lambda x: (x @ x @ x @ x) * 0.5)
    operand = jnp.ones((900, 900))
    chain(operand).block_until_ready()
    with xp.capture("async", logdir) as cap:
        result = chain(operand)
    assert result.is_ready()
    assert op_names(cap.folder)


def test_work_whose_result_is_thrown_away_is_in_the_profile(logdir) -> None:
    square, operand = jax.jit(lambda x: x @ x), jnp.ones((64, 64))
    square(operand).block_until_ready()
    for _ in range(12):
        with xp.capture(logdir=logdir) as captured:
            square(operand)
        frame = captured.profile.ops().frame
        assert set(frame["program"]) == {"jit__lambda"}
        assert not any("marker" in str(program) for program in frame["program"])
        assert not any("marker" in program.name for program in captured.profile.programs.values())


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_what_the_code_raises_is_raised_and_the_profile_so_far_kept(logdir, matmul, error) -> None:
    @xp.capture("so far", logdir)
    def failing() -> None:
        matmul().block_until_ready()
        raise error

    with pytest.raises(type(error)) as raised:
        failing()
    assert raised.value is error
    assert op_names(logdir / "plugins" / "profile" / "so far")
    with xp.capture("next", logdir):
        pass
    assert run_names(logdir) == ["next", "so far"]


def test_an_interrupt_while_saving_comes_after_the_save(logdir, matmul, monkeypatch) -> None:
    real = store.save

    def slow(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        return real(*arguments)

    monkeypatch.setattr(store, "save", slow)
    cap = Capture("kept", logdir)
    cap.start()
    matmul().block_until_ready()
    with pytest.raises(KeyboardInterrupt):
        cap.stop()
    assert cap.folder is not None
    assert op_names(cap.folder)


INTERRUPTED = """
import os, random, signal, sys, threading, time
import jax, jax.numpy as jnp
import xprof_nb as xp

square = jax.jit(lambda x: x @ x)
operand = jnp.ones((300, 300))
square(operand).block_until_ready()
with xp.capture("before", sys.argv[1]):
    square(operand).block_until_ready()
main = threading.main_thread().ident
interrupted = 0


def capture_interrupted():
    timer = threading.Timer(random.uniform(0, 0.02), signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with xp.capture(logdir=sys.argv[1]):
        square(operand).block_until_ready()
    timer.join()
    time.sleep(0.01)


for step in range(200):
    try:
        capture_interrupted()
    except KeyboardInterrupt:
        interrupted += 1
with xp.capture("after", sys.argv[1]):
    square(operand).block_until_ready()
print(interrupted)
"""


def test_interrupts_at_any_moment_leave_the_profiler_free_and_nothing_half_written(logdir) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(logdir)], capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150  # Python drops the few that hit a garbage-collection callback
    assert op_names(logdir / "plugins" / "profile" / "after")
    assert names_in(logdir) == ["plugins"]
    for folder in (logdir / "plugins" / "profile").iterdir():
        assert len(list(folder.iterdir())) == 2


def test_every_call_of_a_decorated_function_is_a_run(logdir, matmul) -> None:
    @xp.capture("step", logdir)
    def step(factor: int) -> int:
        """Take a step."""
        matmul().block_until_ready()
        return factor * 2

    assert [step(2), step(3)] == [4, 6]
    assert (step.__name__, step.__doc__) == ("step", "Take a step.")
    assert run_names(logdir) == ["step", "step-2"]


def test_a_decorated_coroutine_is_captured_while_it_runs(logdir, matmul) -> None:
    import asyncio

    @xp.capture("step", logdir)
    async def step() -> str:
        await asyncio.sleep(0.01)
        matmul().block_until_ready()
        return "done"

    assert asyncio.run(step()) == "done"
    assert op_names(logdir / "plugins" / "profile" / "step")


def test_a_capture_within_a_capture_is_refused_and_the_outer_one_goes_on(logdir, matmul) -> None:
    with xp.capture("outer", logdir) as cap:
        with pytest.raises(ProfilerBusyError, match="'outer'"), xp.capture("inner", logdir):
            raise AssertionError("must not run")
        matmul().block_until_ready()
    assert run_names(logdir) == ["outer"]
    assert op_names(cap.folder)


def test_a_log_dir_below_a_file_is_refused_before_the_capture(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CaptureError, match="cannot be written"), xp.capture("a", tmp_path / "file" / "logs"):
        raise AssertionError("must not run")


def test_too_little_space_is_refused_before_the_capture(logdir, monkeypatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: os.terminal_size((1, 1)) and type("U", (), {"free": 2**20})())
    with pytest.raises(CaptureError, match="1 MiB are free"), xp.capture("a", logdir):
        raise AssertionError("must not run")


def test_a_profile_nobody_has_yet_says_so(logdir) -> None:
    with pytest.raises(CaptureError, match="no profile yet"):
        _ = xp.capture("a", logdir).profile


def test_a_description_that_fails_does_not_cost_the_profile(logdir, matmul, monkeypatch) -> None:
    def broken():
        raise RuntimeError("device lost")

    monkeypatch.setattr(metadata, "devices", broken)
    with xp.capture("a", logdir) as cap:
        matmul().block_until_ready()
    assert "device lost" in json.loads((cap.folder / "xprof-nb.json").read_text())["incomplete"]
    assert op_names(cap.folder)


def test_a_capture_stopped_by_somebody_else_is_whole_and_its_block_ends_well(logdir, matmul) -> None:
    with xp.capture("a", logdir) as cap:
        matmul().block_until_ready()
        assert Capture.running() is cap
        folder = cap.stop()
        assert Capture.running() is None
    assert cap.folder == folder
    assert run_names(logdir) == ["a"]


def test_a_capture_nobody_holds_any_more_frees_the_profiler(logdir) -> None:
    cap = xp.capture("lost", logdir)
    cap.start()
    del cap
    gc.collect()
    assert Capture.running() is None
    with xp.capture("next", logdir):
        pass


def test_entering_a_running_capture_again_leaves_it_running(logdir, matmul) -> None:
    with xp.capture("train", logdir) as cap:
        with pytest.raises(ProfilerBusyError), cap:
            pass
        matmul().block_until_ready()
    assert run_names(logdir) == ["train"]
    assert op_names(cap.folder)


@pytest.mark.parametrize("where", ["nosuch://bucket/logs", "file:///logs", "a\0b"])
def test_a_log_dir_that_is_no_folder_here_is_refused(where, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"cannot be (saved|copied)"):
        xp.capture("train", where)
    assert names_in(tmp_path) == []


def test_a_clock_that_goes_back_changes_no_length_and_overwrites_nothing(logdir, matmul, monkeypatch) -> None:
    class Clock(datetime):
        moments: ClassVar = [datetime(2026, 3, 1, 12, 0, 0, 5000, tzinfo=UTC)] * 2
        moments += [datetime(2026, 3, 1, 11, 0, tzinfo=UTC)]

        @classmethod
        def now(cls, tz=None):
            return cls.moments.pop(0)

    monkeypatch.setattr(local, "datetime", Clock)
    for _ in range(3):
        with xp.capture(logdir=logdir) as cap:
            matmul().block_until_ready()
        assert 0 < json.loads((cap.folder / "xprof-nb.json").read_text())["duration_s"] < 60
    assert len(run_names(logdir)) == 3
    assert sum(name.endswith("-2") for name in run_names(logdir)) == 1


def test_stopping_that_takes_long_says_so_and_an_interrupt_keeps_the_run(logdir, matmul, monkeypatch, capsys) -> None:
    real = session._NativeBackend.stop

    def slow(backend: session._NativeBackend) -> bytes:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2.2)
        return real(backend)

    monkeypatch.setattr(session._NativeBackend, "stop", slow)
    with pytest.raises(KeyboardInterrupt), xp.capture("slow", logdir):
        matmul().block_until_ready()
    assert op_names(logdir / "plugins" / "profile" / "slow")
    said = capsys.readouterr().err
    assert "xprof_nb: collecting the profile, 1 s" in said
    assert "2 s" in said


def test_quick_captures_say_nothing(logdir, matmul, capsys) -> None:
    with xp.capture("quick", logdir):
        matmul().block_until_ready()
    assert capsys.readouterr().err == ""
