"""Capturing from a page while a cell runs: one talk between a kernel and whoever shows a Capture button.

A message to the kernel is ``{"do": "watch"}``, ``{"do": "start", "seconds" | "steps", "name", "note", "preset",
"python"}``, ``{"do": "cancel"}`` or ``{"do": "show", "path", "view"}``; JupyterLab's extension adds its version. The
kernel sends ``{"kind": "state", …}`` (see `kernel_state`) whenever something of it has changed, as long as somebody
watches, and ``{"kind": "refused", "message", "hint"}`` to what it cannot do. JupyterLab puts these messages on a
subshell where the kernel has them, so they are answered while a cell runs. Nothing is printed: what the handler of a
message prints lands in the running cell.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from xprof_nb.args.capture import PRESETS
from xprof_nb.capture import activity, jobs
from xprof_nb.capture.options import chosen
from xprof_nb.capture.plans import For, Plan, Steps
from xprof_nb.capture.session import jax_started
from xprof_nb.capture.shield import in_background
from xprof_nb.doctor import page
from xprof_nb.errors import CaptureError, ProfileError, UsageError
from xprof_nb.jupyter import kernel_state
from xprof_nb.jupyter.cell_watch import CellWatch

LOOK_PERIOD_S = 0.5
WATCHED_FOR_S = 45.0
"""How long after the last ``watch`` somebody is thought to look; a page says it again well before that."""
LONGEST_S = 3600.0
LONGEST_TEXT = 2000

_log = logging.getLogger(__name__)


class RemoteControl:
    """The kernel's side of the talk.

    Parameters
    ----------
    shell
        The shell whose cells are profiled.
    send
        Sends one message to the page, from any thread.
    show
        Shows a view of a run where the page cannot itself: path and name of the view.
    """

    def __init__(
        self, shell: Any, send: Callable[[dict[str, Any]], None], show: Callable[[str, str], None] | None = None
    ) -> None:
        self._send = send
        self._show = show
        self._cells = CellWatch(shell, on_start=self._begin)
        self._job: jobs.Job | None = None
        self._runs: list[dict[str, Any]] | None = None
        self._devices: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._watched_until_s = 0.0
        self._pusher: threading.Thread | None = None
        self._look_again = threading.Event()

    def receive(self, message: Any) -> None:
        """Do what a message asks for, in the background; what goes wrong is sent back."""
        in_background(lambda: self._answer(message), "xprof_nb remote control")

    def close(self) -> None:
        """Send nothing more; a capture under way goes on."""
        self._watched_until_s = 0.0
        self._look_again.set()
        self._cells.close()

    def _answer(self, message: Any) -> None:
        try:
            self._do(message if isinstance(message, Mapping) else {})
        except ProfileError as error:
            text = str(error).removesuffix(error.hint).rstrip()
            self._send({"kind": "refused", "message": text, "hint": error.hint})
        except Exception as error:
            _log.exception("a message to capture failed")
            hint = "The kernel's log has the traceback; please report it with this message."
            self._send({"kind": "refused", "message": f"{type(error).__name__}: {error}", "hint": hint})

    def _do(self, message: Mapping[str, Any]) -> None:
        page.hear(message.get("version"))
        match message.get("do"):
            case "watch":
                self._watch()
            case "start":
                self._start(request_of(message))
            case "cancel":
                job = jobs.current()
                if job is None:
                    raise CaptureError("no capture is under way", hint="Press Capture to start one.")
                job.cancel()
            case "show" if self._show is not None:
                self._show(_text(message, "path"), _text(message, "view"))
            case unknown:
                raise UsageError(f"there is nothing called {unknown!r} to do", hint="Reload the page.")
        self._look_again.set()

    def _start(self, request: jobs.Request) -> None:
        if not jax_started():
            raise CaptureError("JAX has not started in this kernel", hint="Run a cell that uses it, then capture.")
        jobs.check(request)
        if self._cells.running or activity.at_work():
            self._job = jobs.start(request)
        else:
            self._job = jobs.arm(replace(request, what="the cells you run"))
        self._runs = None
        self._watch()

    def _begin(self, cell: str) -> None:
        job = self._job
        if job is not None and job is jobs.current() and not job.begun:
            job.begin(cell)

    def _watch(self) -> None:
        with self._lock:
            self._watched_until_s = time.perf_counter() + WATCHED_FOR_S
            if self._pusher is None:
                self._pusher = threading.Thread(target=self._push, name="xprof_nb remote control", daemon=True)
                self._pusher.start()
            else:
                self._send(self._state())

    def _push(self) -> None:
        """Send each state that differs from the last one sent, until nobody looks any more."""
        told = None
        while self._still_watched():
            state = self._state()
            if state != told:
                self._send(state)
                told = state
            job = self._job
            if job is not None and self._runs is None and job.ended():
                self._runs = kernel_state.runs_of(job)
                continue
            self._look_again.wait(LOOK_PERIOD_S)
            self._look_again.clear()

    def _still_watched(self) -> bool:
        with self._lock:
            if time.perf_counter() < self._watched_until_s:
                return True
            self._pusher = None
            return False

    def _state(self) -> dict[str, Any]:
        under_way = jobs.current()
        if under_way is not None and under_way is not self._job:  # started by a cell or another page
            self._job, self._runs = under_way, None
        state = kernel_state.look(self._job, self._devices)
        self._devices = state["devices"]
        return {**state, "runs": self._runs}


def request_of(message: Mapping[str, Any]) -> jobs.Request:
    """Return what a ``start`` asks for.

    Raises
    ------
    UsageError
        Something of it is missing, of the wrong kind or out of bounds.
    """
    preset = message.get("preset", PRESETS[0])
    if not isinstance(preset, str):
        raise UsageError("a preset is a name", hint=f"There are {', '.join(PRESETS)}.")
    python = message.get("python", False)
    if not isinstance(python, bool):
        raise UsageError("Python tracing is on or off", hint="Give true or false.")
    options = chosen(preset, python_tracer_level=1 if python else None)
    return jobs.Request(_plan(message), _text(message, "name") or None, None, _text(message, "note"), options)


def _plan(message: Mapping[str, Any]) -> Plan:
    seconds, steps = message.get("seconds"), message.get("steps")
    if (seconds is None) == (steps is None):
        raise UsageError("a capture lasts some seconds or some steps", hint="Give one of them.")
    if steps is not None:
        return Steps(steps)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_S:
        raise UsageError(f"{seconds!r} seconds", hint=f"Give a number above 0, at most {LONGEST_S:.0f}.")
    return For(float(seconds))


def _text(message: Mapping[str, Any], key: str) -> str:
    value = message.get(key, "")
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise UsageError(f"{key} is not a text of at most {LONGEST_TEXT} characters", hint="Shorten it.")
    return value.strip()
