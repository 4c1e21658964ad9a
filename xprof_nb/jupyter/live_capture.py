"""``%xprof capture 3s``: profile what runs, or what runs next, without blocking the notebook."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from xprof_nb.capture import activity
from xprof_nb.capture.background import BackgroundCapture
from xprof_nb.capture.cells import current_cell
from xprof_nb.capture.session import jax_started
from xprof_nb.capture.shield import TICK_S, in_background
from xprof_nb.errors import CaptureError, ProfileError
from xprof_nb.jupyter.cell_watch import CellWatch, goes_on_after_magic
from xprof_nb.jupyter.output_area import OutputArea

if TYPE_CHECKING:
    from xprof_nb.capture.local import Capture

# A front end sends the next queued cell within some ten milliseconds of the last one's end; slow ones take longer.
GRACE_S = 0.6
_POLL_S = 0.02


class LiveCapture:
    """One capture asked for in a cell, from the asking to the view that replaces what it said meanwhile."""

    def __init__(self, shell: Any, capture: Capture, seconds: float) -> None:
        self._seconds = seconds
        self._capture = capture
        self._job: BackgroundCapture | None = None
        self._error: ProfileError | None = None
        self._watch: CellWatch | None = None
        self._lock = threading.Lock()
        self._called_off = threading.Event()
        capture.check()
        if activity.at_work():
            self._what = "what is running in this process"
            self._job = BackgroundCapture(capture, seconds)
        else:
            inside = goes_on_after_magic(current_cell() or "")
            self._what = "the rest of this cell" if inside else "the cells you run"
            self._watch = CellWatch(shell, on_start=self._begin_with, inside=inside)
            if inside:
                self._begin_with(current_cell() or "")
        self._area = OutputArea(shell)
        self._area.say(self.status)
        self._follower = in_background(self._follow, "xprof_nb live capture")

    @property
    def status(self) -> str:
        """What it is doing, in one line."""
        job = self._job
        if job is None:
            waits = " It waits for JAX to start." if self._watch and self._watch.running else ""
            return f"Armed: profiles {self._what} next, for up to {self._seconds:g} s.{waits}"
        if job.state == "recording":
            return f"Profiling {self._what}: {job.elapsed_s:.1f} s of {self._seconds:g} s"
        if job.state == "collecting":
            return f"Collecting the profile: {job.elapsed_s:.1f} s"
        return "Reading the profile" if self.under_way else "No capture is under way."

    @property
    def started(self) -> bool:
        """Whether the profiler has been started for it, or could not be."""
        return self._job is not None or self._error is not None

    @property
    def under_way(self) -> bool:
        """Whether there is more to come."""
        return not self._follower.done()

    def wait(self) -> None:
        """Wait until its view is shown.

        Raises
        ------
        CaptureError
            Nothing has started, so it would wait for ever.
        """
        if not self.started and self.under_way:
            raise CaptureError(
                "the capture waits for the next cell", hint="Run what you want to profile, or `%xprof cancel`."
            )
        self._follower.result()

    def cancel(self) -> None:
        """End it now; what has been recorded is kept and shown."""
        self._called_off.set()
        if self._job is not None:
            self._job.cancel()

    def _begin_with(self, cell: str) -> None:
        self._capture.cell = cell
        self._begin()

    def _begin(self) -> None:
        """Start, if JAX has its devices: asking for them before the cell does would take away its flags."""
        with self._lock:
            if self.started or self._called_off.is_set() or not jax_started():
                return
            try:
                self._job = BackgroundCapture(self._capture, self._seconds)
            except ProfileError as error:
                self._error = error

    def _follow(self) -> None:
        try:
            job = self._until_started()
            if job is None:
                self._area.say("Cancelled before anything ran.")
                return
            while not job.ended(TICK_S / 2):
                if self._queue_ran_out():
                    job.cancel()
                self._area.say(self.status, job.elapsed_s / self._seconds if job.state == "recording" else None)
            if not threading.main_thread().is_alive():
                return  # the kernel ends: the run is saved, and nobody is left to show it to
            profile = job.profile
            self._area.say(f"Reading the profile {profile.name}")
            self._area.show(profile.op_profile())
        except Exception as error:
            self._area.fail(error, saved=self._capture.folder)
            if not isinstance(error, ProfileError):
                raise
        finally:
            if self._watch:
                self._watch.close()

    def _until_started(self) -> BackgroundCapture | None:
        while not self.started and not self._called_off.is_set():
            if not threading.main_thread().is_alive():
                return None
            running = self._watch is not None and self._watch.running
            if running:
                self._begin()
                self._area.say(self.status)
            self._called_off.wait(_POLL_S if running else TICK_S)
        if self._error is not None:
            raise self._error
        return self._job

    def _queue_ran_out(self) -> bool:
        return self._watch is not None and self._watch.idle_s > GRACE_S and not activity.in_flight()
