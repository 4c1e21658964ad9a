"""What a plan may do: let time pass, watch steps, record a run. Everything here happens in the job's own thread."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xprof_nb.capture import activity
from xprof_nb.capture.local import Capture
from xprof_nb.capture.overhead import Overhead, describe
from xprof_nb.capture.step_watch import StepWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from xprof_nb.capture.jobs import Request, State

LOOK_S, WATCH_S = 0.2, 0.01
UNTRACED_STEPS = 10
UNTRACED_LIMIT_S = 5.0
DRAIN_S = 10.0


class Stage:
    """The profiler and the clock of one job.

    Attributes
    ----------
    folders
        Runs it has saved.
    notes
        What the person should know of them.
    progress
        Which of several captures this is, ``""`` for the only one.
    enough
        Set when it is to end early.
    """

    def __init__(self, request: Request, tell: Callable[[State, str, float | None], None]) -> None:
        self.folders: list[Path] = []
        self.notes: list[str] = []
        self.progress = ""
        self.enough = threading.Event()
        self.recorded_s = 0.0
        self.cell: str | None = None
        self.capture: Capture | None = None
        self._request = request
        self._tell = tell
        self._watch: StepWatch | None = None
        self._untraced_s: list[float] = []
        self._remembered: dict[str, Any] = {}

    @property
    def ended_early(self) -> bool:
        """Whether somebody wants it to end, or the interpreter does."""
        return self.enough.is_set() or not threading.main_thread().is_alive()

    def now_s(self) -> float:
        """Return the time of ``time.perf_counter``, which no clock change touches."""
        return time.perf_counter()

    def note(self, text: str) -> None:
        """Tell the person something about the result."""
        self.notes.append(text)

    def remember(self, key: str, value: Any) -> None:
        """Keep something in the sidecar of the runs still to come."""
        self._remembered[key] = value

    def pause(self, seconds: float, what: str, until: Callable[[], bool] | None = None) -> bool:
        """Let time pass without the profiler; return whether to go on."""
        self._hold("waiting", f"Waiting for {what}", seconds, until)
        return not self.ended_early

    @contextmanager
    def watching_steps(self) -> Iterator[StepWatch]:
        """Follow the steps of this process meanwhile."""
        self._watch = StepWatch()
        try:
            yield self._watch
        finally:
            self._watch.close()

    def time_untraced(self, count: int, limit_s: float) -> None:
        """Time a few steps without the profiler, to compare those with it."""
        watch, wanted = self._steps(), min(count, UNTRACED_STEPS)
        limit_s = min(UNTRACED_LIMIT_S, limit_s / 2)
        self._hold("waiting", "Timing steps without the profiler", limit_s, lambda: len(watch.lengths_s()) >= wanted)
        self._untraced_s = watch.lengths_s()

    def record(self, seconds: float | None, steps: int | None = None) -> None:
        """Record one run: for a time, or until so many whole steps have passed in less."""
        if self.ended_early:
            return
        request = self._request
        capture = Capture(request.name, request.logdir, note=request.note, options=request.options)
        capture.cell, self.capture = self.cell, capture
        capture.remember(asked=str(request.plan), **self._remembered)
        capture.start()
        began_s = self.now_s()
        try:
            until = None if steps is None else (lambda: self._steps().count(began_s) >= steps)
            self._hold("running", f"Profiling {request.what}", seconds, until)
            self.recorded_s += self.now_s() - began_s
            if steps is not None:
                self._judge(capture, began_s)
        finally:
            self._save(capture)

    def _steps(self) -> StepWatch:
        assert self._watch is not None
        return self._watch

    def _judge(self, capture: Capture, began_s: float) -> None:
        """Say how many steps there were and what the profiler made of their lengths; wait for those on the devices."""
        watch = self._steps()
        cost = Overhead.of(self._untraced_s, watch.lengths_s(began_s), self._request.options)
        capture.remember(step_kind=watch.kind, step_count=watch.count(began_s))
        if cost is not None:
            capture.cost(cost.to_dict())
            self.note(describe(cost))
        activity.finish_dispatched(DRAIN_S)

    def _save(self, capture: Capture) -> None:
        began_s = self.now_s()

        def tell(_: float = 0.0) -> None:
            saving = capture.phase == "saving"
            self._tell(
                "saving" if saving else "collecting",
                f"{'Saving' if saving else 'Collecting'} the profile: {self.now_s() - began_s:.1f} s",
                None,
            )

        tell()
        self.folders.append(capture.stop(tell))

    def _hold(self, state: State, doing: str, seconds: float | None, until: Callable[[], bool] | None) -> None:
        """Let time pass until it is enough, telling how long it has been."""
        began_s = self.now_s()
        told_s = float("-inf")
        of = "" if seconds is None else f" of {seconds:g} s"
        progress = f" ({self.progress})" if self.progress else ""
        while not self.ended_early:
            passed_s = self.now_s() - began_s
            if (seconds is not None and passed_s >= seconds) or (until is not None and until()):
                return
            if passed_s - told_s >= LOOK_S:
                told_s = passed_s
                self._tell(state, f"{doing}{progress}: {passed_s:.1f} s{of}", seconds and passed_s / seconds)
            left_s = float("inf") if seconds is None else seconds - passed_s
            self.enough.wait(min(left_s, LOOK_S if until is None else WATCH_S))
