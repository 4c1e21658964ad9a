"""What a plan may do: let time pass, watch steps, record a run. Everything here happens in the job's own thread."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xprof_nb.capture import activity
from xprof_nb.capture.local import Capture
from xprof_nb.capture.options import DEFAULT_PRESET, PRESETS
from xprof_nb.capture.overhead import Overhead, by_option, describe, ladder, times
from xprof_nb.capture.probe import LONG_STOP_S, WORTH_PROBING_S, probe
from xprof_nb.capture.session import open_session
from xprof_nb.capture.slow_steps import Search
from xprof_nb.capture.step_watch import StepWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from xprof_nb.capture.jobs import Request, State
    from xprof_nb.capture.memory_report import MemoryReport
    from xprof_nb.capture.slow_steps import Slow

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
    options
        What is recorded: what was asked, or less where that would become too large.
    memory_report
        What the last capture saw of device memory, None if it did not watch.
    at_work
        Whether what it profiles is running already, so that a look at it tells how much there will be.
    """

    def __init__(self, request: Request, tell: Callable[[State, str, float | None], None]) -> None:
        self.folders: list[Path] = []
        self.notes: list[str] = []
        self.progress = ""
        self.enough = threading.Event()
        self.recorded_s = 0.0
        self.cell: str | None = None
        self.options = request.options
        self.measures_options = request.measure_options
        self.memory_report: MemoryReport | None = None
        self.at_work = False
        self._request = request
        self._tell = tell
        self._watch: StepWatch | None = None
        self._untraced_s: list[float] = []
        self._factors: dict[str, float] = {}
        self._remembered: dict[str, Any] = {}
        self._remarks: list[str] = []

    @property
    def ended_early(self) -> bool:
        """Whether somebody wants it to end, or the interpreter does."""
        return self.enough.is_set() or not threading.main_thread().is_alive()

    def now_s(self) -> float:
        """Return the time of ``time.perf_counter``, which no clock change touches."""
        return time.perf_counter()

    def note(self, text: str) -> None:
        """Tell the person something about the result, and whoever reads it later."""
        self.notes.append(text)
        self._remarks.append(text)

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

    def time_untraced(self, count: int = UNTRACED_STEPS, limit_s: float = UNTRACED_LIMIT_S) -> None:
        """Time a few steps without the profiler, and with each kind of tracing if that was asked for."""
        count, limit_s = min(count, UNTRACED_STEPS), min(limit_s, UNTRACED_LIMIT_S)
        self._untraced_s = self._timed("Timing steps without the profiler", count, limit_s)
        if not self.measures_options:
            return
        steps_s: dict[str, list[float]] = {}
        for kind, options in ladder(self._request.options):
            if self.ended_early:
                return
            session = open_session(options, f"the cost of {kind}")
            try:
                steps_s[kind] = self._timed(f"Timing steps with {kind}", count, limit_s)
            finally:
                session.discard()
        self._factors = by_option(steps_s, self._untraced_s)

    def fitting(self, seconds: float | None) -> float | None:
        """Return for how long to record, less than was asked if the profile would be too large to come back.

        Where nobody chose what to record, less is recorded instead.
        """
        if seconds is None or seconds < WORTH_PROBING_S or not self.at_work:
            return seconds
        estimate = probe(self.options)
        if not estimate.fits(seconds) and self.options == PRESETS[DEFAULT_PRESET]:
            self.note(f"Recorded with the preset light: it would have become {estimate.describe(seconds)}.")
            self.options = PRESETS["light"]
            estimate = probe(self.options)
        if not estimate.fits(seconds):
            shorter_s = estimate.longest_s()
            self.note(f"Recorded for {shorter_s:.1f} s: it would have become {estimate.describe(seconds)}.")
            seconds = shorter_s
        elif estimate.stop_s(seconds) > LONG_STOP_S:
            self.notes.append(f"This becomes {estimate.describe(seconds)}; `%xprof cancel` ends it early.")
        self.remember("probe", {**estimate.to_dict(), "size_bytes": int(estimate.size_bytes(seconds))})
        return seconds

    def record(self, seconds: float | None, steps: int | None = None) -> None:
        """Record one run: for a time, or until so many whole steps have passed in less."""
        if self.ended_early:
            return
        capture = self._started()
        began_s = self.now_s()
        try:
            until = None if steps is None else (lambda: self._steps().count(began_s) >= steps)
            self._hold("running", f"Profiling {self._request.what}", seconds, until)
            self.recorded_s += self.now_s() - began_s
            if self._watch is not None:
                self._judge(capture, began_s)
        finally:
            self._save(capture)

    def record_around_slow(self, factor: float, steps: int, limit_s: float, follow_s: float) -> Slow | None:
        """Record a slow step and so many after it; what came before is dropped again and again.

        Parameters
        ----------
        factor
            How many times the median it takes at least.
        limit_s, follow_s
            How long to wait for it, and for those after it.

        Returns
        -------
        Slow
            None if there was none, with nothing saved.
        """
        capture, watch = self._started(), self._steps()
        search = Search(watch, factor, self.now_s())

        def look() -> bool:
            now_s = self.now_s()
            if search.look() is None and search.may_drop(now_s):
                capture.begin_anew()
                search.dropped(now_s, self.now_s())
            return search.found is not None

        try:
            self._hold("waiting", "Waiting for a slow step", limit_s, look)
            found = search.found
            if found is not None:
                middle_s = found.step.start_s + found.step.length_s / 2
                self._hold("running", "Profiling what follows", follow_s, lambda: watch.count(middle_s) >= steps)
                self.recorded_s += self.now_s() - search.began_s
                capture.remember(slow_step=found.to_dict(search.began_s))
                self.note(found.describe(search.began_s))
                self._judge(capture, search.began_s)
        except BaseException:
            capture.abandon()
            raise
        if found is None:
            capture.abandon()
        else:
            self._save(capture)
        return found

    def _started(self) -> Capture:
        request = self._request
        capture = Capture(
            request.name, request.logdir, note=request.note, options=self.options, memory=request.watch_memory
        )
        capture.cell = self.cell
        capture.remember(asked=str(request.plan), **self._remembered)
        capture.start()
        return capture

    def _timed(self, doing: str, count: int, limit_s: float) -> list[float]:
        """Return the lengths of the next whole steps."""
        watch, began_s = self._steps(), self.now_s()
        self._hold("waiting", doing, limit_s, lambda: len(watch.lengths_s(began_s)) >= count)
        return watch.lengths_s(began_s)

    def _steps(self) -> StepWatch:
        assert self._watch is not None
        return self._watch

    def _judge(self, capture: Capture, began_s: float) -> None:
        """Say how many steps there were and what the profiler made of their lengths; wait for those on the devices."""
        watch = self._steps()
        cost = Overhead.of(self._untraced_s, watch.lengths_s(began_s), self.options)
        capture.remember(step_kind=watch.kind, step_count=watch.count(began_s))
        if cost is not None:
            capture.cost(cost.to_dict())
            self.note(describe(cost))
        if self._factors:
            capture.cost({"by_option": self._factors})
            factors = (f"{kind} {times(factor)}" for kind, factor in self._factors.items())
            self.note(f"Each kind of tracing over those before it: {', '.join(factors)}.")
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

        earlier = ", ".join(folder.name for folder in self.folders)
        capture.remark(*self._remarks, *([f"One of several captures in a row, after {earlier}."] if earlier else []))
        tell()
        try:
            capture.stop(tell)
        finally:
            self.memory_report = capture.memory_report
            if capture.folder is not None:  # it may be saved, and the device broken
                self.folders.append(capture.folder)

    def _hold(self, state: State, doing: str, seconds: float | None, until: Callable[[], bool] | None) -> None:
        """Let time pass until it is enough, telling how long it has been."""
        began_s = self.now_s()
        told_s = float("-inf")
        of = "" if seconds is None else f" of {seconds:g} s"
        progress = f" ({self.progress})" if self.progress else ""
        recorded = f" · {self.options}" if state == "running" else ""
        while not self.ended_early:
            passed_s = self.now_s() - began_s
            if (seconds is not None and passed_s >= seconds) or (until is not None and until()):
                return
            if passed_s - told_s >= LOOK_S:
                told_s = passed_s
                self._tell(state, f"{doing}{progress}: {passed_s:.1f} s{of}{recorded}", seconds and passed_s / seconds)
            left_s = float("inf") if seconds is None else seconds - passed_s
            self.enough.wait(min(left_s, LOOK_S if until is None else WATCH_S))
