"""What a kernel answers to a page that captures: in this process, with real captures."""

from __future__ import annotations

import sys
import threading
import time
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest
from comm import get_comm_manager
from IPython.core.events import EventManager, available_events

from tests.jupyter.kernel import started
from xprof_nb import __version__, doctor
from xprof_nb.capture import activity, jobs, plans
from xprof_nb.errors import UsageError
from xprof_nb.jupyter import capture_comm, kernel_state, remote_control
from xprof_nb.jupyter.remote_control import RemoteControl, request_of

PATIENCE_S = 30


class Page:
    """Somebody who talks to a kernel, and everything it was told."""

    def __init__(self) -> None:
        shell = SimpleNamespace(kernel=object())
        shell.events = EventManager(shell, available_events)
        self.shell = shell
        self.heard: list[dict] = []
        self.shown: list[tuple[str, str]] = []
        self.control = RemoteControl(shell, self.heard.append, lambda *asked: self.shown.append(asked))

    def say(self, do: str, **more) -> None:
        self.control.receive({"do": do, **more})

    def until(self, holds) -> dict:
        """Return the first message heard that something holds for."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for message in list(self.heard):
                if holds(message):
                    return message
            time.sleep(0.02)
        raise AssertionError(f"not heard: {self.heard[-3:]}")

    def refusal(self) -> dict:
        return self.until(lambda message: message["kind"] == "refused")

    def state(self, state: str) -> dict:
        return self.until(lambda message: (message.get("job") or {}).get("state") == state)


@pytest.mark.parametrize(("version", "state"), [(__version__, "ok"), ("0.0.9", "fault")])
def test_the_doctor_compares_the_front_end_of_a_page_that_speaks(page, version: str, state: str) -> None:
    page.say("watch", version=version)
    page.until(lambda message: message["kind"] == "state")
    page.control._do({"do": "watch", "version": "<b>no version</b>"})
    (finding,) = doctor.page.look()
    assert (finding.what, finding.state) == ("open page", state)
    assert version in finding.found


@pytest.fixture
def page(monkeypatch, tmp_path):
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "logs"))
    talk = Page()
    yield talk
    talk.control.close()
    if (job := jobs.current()) is not None:
        job.cancel()
        job.ended(PATIENCE_S)


@pytest.fixture
def at_work():
    """JAX computes in a thread."""
    square, operand, enough = jax.jit(lambda x: x @ x), jnp.ones((200, 200)), threading.Event()
    square(operand).block_until_ready()

    def work():
        while not enough.is_set():
            square(operand).block_until_ready()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    enough.set()
    thread.join()


def test_a_capture_is_followed_to_its_run(page, at_work):
    page.say("start", seconds=0.3, name="warm", note="from the page", preset="light")
    running = page.state("running")
    assert running["profiler"]["held_by"] == "us"
    assert running["runs"] is None
    done = page.until(lambda message: message.get("runs"))
    (run,) = done["runs"]
    (folder,) = jobs_folders(page)
    assert (run["name"], run["path"]) == ("warm", str(folder))
    assert run["size_bytes"] == sum(file.stat().st_size for file in folder.iterdir())
    assert "step" in run["sentence"] or "bound" in run["sentence"]
    assert done["profiler"] == {"held_by": "nobody", "said": "free"}
    assert (done["job"]["asked"], done["job"]["error"]) == ("0.3 s", "")
    assert done["job"]["options"].startswith("light")


def jobs_folders(page):
    return page.control._job.folders


def test_cancel_keeps_what_is_there_and_a_second_capture_is_refused(page, at_work):
    page.say("start", seconds=600)
    page.state("running")
    page.say("start", seconds=1)
    assert "a capture is under way" in page.refusal()["message"]
    page.say("cancel")
    assert len(page.until(lambda message: message.get("runs"))["runs"]) == 1


def test_a_kernel_at_rest_captures_the_next_cell(page):
    page.say("start", seconds=1.2)
    armed = page.state("armed")
    assert "the cells you run" in armed["job"]["doing"]
    page.shell.events.trigger("pre_run_cell", SimpleNamespace(raw_cell="train()"))
    jnp.ones(9).block_until_ready()
    page.state("running")
    page.shell.events.trigger("post_run_cell", None)
    assert len(page.until(lambda message: message.get("runs"))["runs"]) == 1


def test_a_cell_that_runs_is_captured_whatever_it_does_just_now(page, monkeypatch):
    monkeypatch.setattr(remote_control.activity, "at_work", lambda: False)
    page.shell.events.trigger("pre_run_cell", SimpleNamespace(raw_cell="load_data()"))
    page.say("start", seconds=1.2)
    page.state("running")


def test_a_capture_somebody_else_started_is_followed_too(page, at_work):
    page.say("watch")
    page.until(lambda message: message["kind"] == "state" and message["job"] is None)
    jobs.start(jobs.Request(plans.For(1.0), "theirs"))
    assert page.state("running")["job"]["name"] == "theirs"
    assert page.until(lambda message: message.get("runs"))["runs"][0]["name"] == "theirs"


def test_another_profiler_is_named_in_the_state_and_in_one_line_when_refused(page, at_work, tmp_path):
    jax.profiler.start_trace(str(tmp_path / "other"))
    try:
        page.say("watch")
        state = page.until(lambda message: message["kind"] == "state")
        assert state["profiler"]["held_by"] == "another"
        assert str(tmp_path / "other") in state["profiler"]["said"]
        page.say("start", seconds=1)
        refusal = page.refusal()
        assert "already profiles this process" in refusal["message"]
        assert refusal["hint"] == "Call jax.profiler.stop_trace() first."
    finally:
        jax.profiler.stop_trace()


def test_devices_hold_what_arrays_take(page):
    kept = jnp.ones((1024, 1024))
    before = sum(device["held_bytes"] for device in kernel_state.look(None, [])["devices"])
    more = jnp.ones((1024, 1024)).block_until_ready()
    after = kernel_state.look(None, [])
    assert after["jax"] == "started"
    assert sum(device["held_bytes"] for device in after["devices"]) - before == more.nbytes == kept.nbytes == 4 * 2**20
    assert [device["limit_bytes"] for device in after["devices"]] == [None] * len(jax.local_devices())


def test_looking_at_memory_is_not_taken_for_work_nor_recorded(page):
    kept = jnp.ones(9).block_until_ready()
    enough = threading.Event()

    def look():
        while not enough.is_set():
            kernel_state.look(None, [])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        assert not activity.at_work()
    finally:
        enough.set()
        thread.join()
    assert kept.nbytes == 36


def test_where_jax_has_not_started_nothing_starts_it(page, monkeypatch):
    for module in (remote_control, kernel_state):
        monkeypatch.setattr(module, "jax_started", lambda: False)
    page.say("start", seconds=1)
    assert page.refusal()["message"] == "JAX has not started in this kernel."
    assert jobs.current() is None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"do": "cancel"}, "no capture is under way."),
        ({"do": "dance"}, "there is nothing called 'dance' to do."),
        ({}, "there is nothing called None to do."),
        ("start", "there is nothing called None to do."),
        ({"do": "start"}, "a capture lasts some seconds or some steps."),
        ({"do": "start", "seconds": 3, "name": "../evil"}, None),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do_next(page, message, said):
    page.control.receive(message)
    refusal = page.refusal()
    assert said in (None, refusal["message"])
    assert refusal["hint"]
    assert jobs.current() is None


@pytest.mark.parametrize(
    "asked",
    [
        {"seconds": 3, "steps": 3},
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": 1e9},
        {"seconds": True},
        {"seconds": "3"},
        {"steps": 0},
        {"steps": 2.5},
        {"steps": [1]},
        {"seconds": 3, "preset": "heavy"},
        {"seconds": 3, "preset": None},
        {"seconds": 3, "python": "yes"},
        {"seconds": 3, "name": 7},
        {"seconds": 3, "note": "x" * 2001},
    ],
)
def test_requests_out_of_bounds(asked):
    with pytest.raises(UsageError):
        request_of({"do": "start", **asked})


def test_a_request_is_what_the_form_says():
    request = request_of({"steps": 10, "name": " warm ", "note": "", "preset": "light", "python": True})
    assert (request.plan, request.name) == (plans.Steps(10), "warm")
    assert (request.options.host_tracer_level, request.options.python_tracer_level) == (1, 1)
    assert request_of({"seconds": 2}).options.python_tracer_level == 0


def test_a_view_is_shown_where_the_page_asked(page):
    page.say("show", path="/logs/warm", view="op_profile")
    deadline = time.monotonic() + PATIENCE_S
    while not page.shown and time.monotonic() < deadline:
        time.sleep(0.01)
    assert page.shown == [("/logs/warm", "op_profile")]


def test_nothing_is_sent_once_nobody_looks(page):
    page.say("watch")
    page.until(lambda message: message["kind"] == "state")
    page.control.close()
    deadline = time.monotonic() + PATIENCE_S
    while page.control._pusher is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert page.control._pusher is None


def test_the_comm_is_there_as_long_as_the_extension_is_loaded(page):
    comms = get_comm_manager().comms
    capture_comm.listen(page.shell)
    capture_comm.listen(page.shell)
    assert comms[capture_comm.TARGET].target_name == capture_comm.TARGET
    capture_comm.fall_silent()
    capture_comm.fall_silent()
    assert capture_comm.TARGET not in comms
    capture_comm.listen(SimpleNamespace())
    assert capture_comm.TARGET not in comms


def test_loading_the_extension_imports_no_jax_and_answers_without_it(tmp_path):
    with started(tmp_path) as kernel:
        kernel.run("%load_ext xprof_nb")
        client = kernel._client
        asked = client.session.msg("comm_info_request", {"target_name": capture_comm.TARGET})
        client.shell_channel.send(asked)
        while (reply := client.get_shell_msg(timeout=PATIENCE_S))["msg_type"] != "comm_info_reply":
            pass
        assert list(reply["content"]["comms"]) == [capture_comm.TARGET]
        told = client.session.msg("comm_msg", {"comm_id": capture_comm.TARGET, "data": {"do": "watch"}})
        client.shell_channel.send(told)
        while (message := client.get_iopub_msg(timeout=PATIENCE_S))["msg_type"] != "comm_msg":
            pass
        state = message["content"]["data"]
        assert (state["kind"], state["jax"], state["devices"], state["job"]) == ("state", "not imported", [], None)
        cell = kernel.run("import sys; print('jax' in sys.modules)")
        assert cell.text.strip() == "False", sys.version
