"""The capture under way in this process: one at a time, started by whoever wants, followed by whoever looks.

Magic, code, widget and side panel all start one with `start` or `arm`, and see the same with `current`. The work is
done in a thread of its own, so it goes on while the main thread computes, and nothing here knows of notebooks.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from xprof_nb.capture.forking import in_forked_child
from xprof_nb.capture.local import Capture
from xprof_nb.capture.options import CaptureOptions
from xprof_nb.capture.plans import For, Plan
from xprof_nb.capture.session import jax_started
from xprof_nb.capture.shield import in_background, shielded
from xprof_nb.capture.stage import Stage
from xprof_nb.errors import CaptureError, ProfileError, ProfilerBusyError

if TYPE_CHECKING:
    from pathlib import Path

    from xprof_nb.api import Profile
    from xprof_nb.capture.memory_report import MemoryReport
    from xprof_nb.memory import Memory

State = Literal["armed", "waiting", "running", "collecting", "saving", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
Listener = Callable[["Status"], None]
POLL_S = 0.02
_STARTING_S = 60.0


@dataclass(frozen=True)
class Request:
    """What to capture, and how.

    Attributes
    ----------
    plan
        How long, how often, on what occasion.
    what
        What it profiles, in words: it is said as "Profiling …".
    cell
        Source of the notebook cell it profiles, if it is one.
    measure_options
        Measure first what each kind of tracing costs.
    watch_memory
        Watch device memory while it records.
    """

    plan: Plan = field(default_factory=lambda: For(3.0))
    name: str | None = None
    logdir: str | os.PathLike[str] | None = None
    note: str = ""
    options: CaptureOptions = field(default_factory=CaptureOptions)
    what: str = "what is running in this process"
    cell: str | None = None
    measure_options: bool = False
    watch_memory: bool = False


@dataclass(frozen=True)
class Status:
    """How a job is doing at one moment.

    Attributes
    ----------
    doing
        One line for the person.
    elapsed_s
        Seconds since the present state began; of an ended job, how long it recorded.
    done_fraction
        How far the present state is, 0 to 1, None where nobody knows.
    progress
        Which of several captures it is at: ``"2 of 3"``.
    asked, options
        What was asked for, in words.
    runs
        Paths of the runs saved so far.
    error, hint
        Why it failed and what to do, ``""`` if it has not.
    notes
        What to know of the result.
    """

    state: State
    doing: str
    elapsed_s: float
    done_fraction: float | None
    progress: str
    name: str | None
    asked: str
    options: str
    runs: tuple[str, ...]
    error: str
    hint: str
    notes: tuple[str, ...]

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)


class Job:
    """One capture from the asking to its runs; see `start` and `arm`."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.error: CaptureError | None = None
        self._state: State = "armed"
        self._doing = f"Armed: profiles {request.what} next ({request.plan})"
        self._fraction: float | None = None
        self._since_s = time.perf_counter()
        self._listeners: list[Listener] = []
        self._go, self._under_way, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._stage = Stage(request, self._tell)
        self._stage.cell = request.cell

    @property
    def state(self) -> State:
        """What it is doing; `ENDED` are those it never leaves."""
        return self._state

    @property
    def status(self) -> Status:
        """How it is doing now."""
        error, stage = self.error, self._stage
        ended = self._ended.is_set()
        return Status(
            state=self._state,
            doing=self._doing,
            elapsed_s=self.elapsed_s,
            done_fraction=self._fraction,
            progress=stage.progress,
            name=self.request.name,
            asked=str(self.request.plan),
            options=str(stage.options),
            runs=tuple(str(folder) for folder in stage.folders),
            error=error.what if error is not None and ended else "",
            hint=error.hint if error is not None and ended else "",
            notes=tuple(stage.notes),
        )

    @property
    def elapsed_s(self) -> float:
        """Seconds since the present state began; of an ended job, how long it recorded."""
        return self._stage.recorded_s if self._ended.is_set() else time.perf_counter() - self._since_s

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders of the runs saved so far."""
        return tuple(self._stage.folders)

    @property
    def begun(self) -> bool:
        """Whether it has been told to begin; an armed job waits for that."""
        return self._go.is_set()

    @property
    def profile(self) -> Profile:
        """The profile, of several the last; raises what `wait` raises."""
        from xprof_nb import api  # noqa: PLC0415 - it sits on this package

        if not self._ended.is_set():
            raise CaptureError("this capture has not ended", hint="`.wait()` waits for it.")
        if self.error is not None:
            raise self.error
        if not self.folders:
            raise CaptureError("the capture was cancelled before anything was recorded")
        return api.open(self.folders[-1])

    @property
    def memory_report(self) -> MemoryReport | None:
        """What was seen of device memory, None so far or if nobody watched it."""
        return self._stage.memory_report

    @property
    def memory(self) -> Memory:
        """The device memory taken meanwhile, of several captures by the last.

        Raises
        ------
        CaptureError
            It has not ended, or was not asked to watch.
        """
        from xprof_nb.memory import of_capture  # noqa: PLC0415 - it sits on this package

        return of_capture(self.memory_report)

    def begin(self, cell: str | None = None) -> None:
        """Let an armed job begin; ``cell`` is the source of the cell it profiles. Returns when it is under way.

        While JAX has no devices yet it goes on waiting for them: asking for them would fix flags a cell may still set.
        """
        if not self._under_way.is_set():
            self._stage.cell = cell or self.request.cell
            self._go.set()
        if jax_started():
            self._under_way.wait(_STARTING_S)

    def ended(self, timeout: float | None = 0) -> bool:
        """Return whether it has ended, waiting up to ``timeout`` seconds for that."""
        return self._ended.wait(timeout)

    def wait(self, timeout: float | None = None) -> Profile:
        """Wait for the end and return the profile, of several the last.

        Raises
        ------
        TimeoutError
            It has not ended after ``timeout`` seconds; it goes on.
        CaptureError
            It failed, or was cancelled before it had recorded anything.
        """
        if not self.ended(timeout):
            raise TimeoutError(f"the capture is still {self.state} after {timeout} s")
        return self.profile

    def cancel(self) -> None:
        """End it now and keep what is there; returns at once."""
        self._stage.enough.set()

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with each new status, several times a second, in the job's thread; return what ends that.

        A listener that raises is not called again.
        """
        self._listeners.append(listener)
        return lambda: self._forget(listener)

    def _forget(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def _tell(self, state: State, doing: str, fraction: float | None = None) -> None:
        if state != self._state:
            self._since_s = time.perf_counter()
        self._state, self._doing, self._fraction = state, doing, fraction
        if state in ENDED:
            self._ended.set()
        if state != "armed":
            self._under_way.set()
        for listener in tuple(self._listeners):
            try:
                listener(self.status)
            except Exception:  # what somebody shows must not cost the profile
                self._forget(listener)

    def _run(self, may_begin: Callable[[Job], bool]) -> None:
        state: State = "failed"
        try:
            if may_begin(self):
                self.request.plan.record(self._stage)
            state = "done" if self.folders else "cancelled"
        except CaptureError as error:
            self.error = error
        except ProfileError as error:
            self.error = CaptureError(error.what, hint=error.hint)
        except BaseException as error:
            self.error = CaptureError(f"the capture failed: {error!r}")
            raise
        finally:
            _leave(self)
            self._tell(state, _LAST_WORDS[state])

    def _at_once(self) -> bool:
        """Begin without being told: what it profiles is running already."""
        self._stage.at_work = True
        self._go.set()
        return True

    def _until_begun(self) -> bool:
        """Wait until the job may begin; return whether it should."""
        armed = self._doing
        while not self._stage.ended_early:
            if self._go.wait(POLL_S):
                if jax_started():
                    return True
                self._stage.enough.wait(POLL_S)
                if self._doing == armed:
                    self._tell("armed", f"{armed}. It waits for JAX to start.")
        return False


_LAST_WORDS: dict[State, str] = {
    "done": "Saved.",
    "failed": "The capture failed.",
    "cancelled": "Cancelled before anything was recorded.",
}


class _Place:
    """Where the one job of this process is."""

    lock = threading.Lock()
    job: Job | None = None


_place = _Place()


def start(request: Request) -> Job:
    """Begin to capture at once, in the background.

    Raises
    ------
    UsageError, ProfilerBusyError, CaptureError
        It cannot begin; the profiler is free.
    """
    job = _launched(request, Job._at_once)
    try:
        job._under_way.wait()
    except BaseException:
        job.cancel()
        raise
    if job.error is not None and not job.folders:
        raise job.error
    return job


def arm(request: Request) -> Job:
    """Get ready to capture; it begins when `Job.begin` is called.

    Raises
    ------
    UsageError, ProfilerBusyError, CaptureError
        It could not begin.
    """
    return _launched(request, Job._until_begun)


def check(request: Request) -> None:
    """Raise what would keep a capture from starting: another one, a bad name, no place to save it, a busy profiler."""
    under_way = _place.job
    if under_way is not None:
        doing = under_way.status.doing.rstrip(".")
        raise ProfilerBusyError(f"a capture is under way: {doing}", hint="`%xprof cancel` ends it early.")
    Capture(request.name, request.logdir, note=request.note, options=request.options).check()


def current() -> Job | None:
    """Return the job under way, whoever started it."""
    return _place.job


def _launched(request: Request, may_begin: Callable[[Job], bool]) -> Job:
    """Enter a job and start its thread: both or neither, whenever an interrupt comes."""
    entered: list[Job] = []

    def launch() -> Job:
        with _place.lock:
            check(request)
            _place.job = job = Job(request)
        entered.append(job)
        try:
            in_background(lambda: job._run(may_begin), "xprof_nb capture")
        except BaseException:
            _leave(job)
            raise
        return job

    try:
        return shielded(launch, "xprof_nb launch")
    except BaseException:
        for job in entered:
            job.cancel()
        raise


def _leave(job: Job) -> None:
    with _place.lock:
        if _place.job is job:
            _place.job = None


def _forget_all() -> None:
    """Begin anew in a forked child: the thread of the job is the parent's, and so is its profiler."""
    _place.lock = threading.Lock()
    _place.job = None


in_forked_child(_forget_all)
