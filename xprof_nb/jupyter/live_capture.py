"""``%xprof capture 3s``: profile what runs, or what runs next, without blocking the notebook."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from xprof_nb.capture import activity, jobs
from xprof_nb.capture.cells import current_cell
from xprof_nb.capture.plans import WhenSlower
from xprof_nb.capture.shield import TICK_S, in_background
from xprof_nb.errors import CaptureError, ProfileError
from xprof_nb.jupyter.captured import show_runs
from xprof_nb.jupyter.cell_watch import CellWatch, goes_on_after_magic
from xprof_nb.jupyter.output_area import OutputArea

# A front end sends the next queued cell within some ten milliseconds of the last one's end; slow ones take longer.
GRACE_S = 0.6


class LiveCapture:
    """One capture asked for in a cell, from the asking to the view that replaces what it said meanwhile."""

    def __init__(self, shell: Any, request: jobs.Request) -> None:
        jobs.check(request)
        self._watch: CellWatch | None = None
        if activity.at_work():
            self.job = jobs.start(request)
        else:
            cell = current_cell() or ""
            inside = goes_on_after_magic(cell)
            what = "the rest of this cell" if inside else "the cells you run"
            self.job = jobs.arm(replace(request, what=what))
        try:
            if not self.job.begun:
                self._watch = CellWatch(shell, on_start=self.job.begin, inside=inside)
                if inside:
                    self.job.begin(cell)
            self._area = OutputArea(shell)
            self._area.say(self.status)
            self._memory_area = OutputArea(shell)
            if request.watch_memory:
                self._memory_area.say("Device memory is watched while it records.")
            self._follower = in_background(self._follow, "xprof_nb live capture")
        except BaseException:
            self.job.cancel()
            raise

    @property
    def status(self) -> str:
        """What it is doing, in one line."""
        status = self.job.status
        if not status.ended:
            return " · ".join((status.doing, *status.notes))
        return "Reading the profile" if self.under_way else "No capture is under way."

    @property
    def started(self) -> bool:
        """Whether it watches or records, or could not."""
        return self.job.state != "armed"

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
        self.job.cancel()

    def _follow(self) -> None:
        job = self.job
        try:
            while not job.ended(TICK_S / 2):
                if self._queue_ran_out():
                    job.cancel()
                self._area.say(self.status, job.status.done_fraction)
            if not threading.main_thread().is_alive():
                return  # the kernel ends: the run is saved, and nobody is left to show it to
            show_runs(self._area, job)
        except Exception as error:
            self._area.fail(error, saved=job.folders[-1] if job.folders else None)
            if not isinstance(error, ProfileError):
                raise
        finally:
            if self._watch:
                self._watch.close()
            if job.memory_report is not None:
                self._memory_area.put(job.memory)

    def _queue_ran_out(self) -> bool:
        """Return whether the cells to profile have all run; one that watches for slow steps goes on watching."""
        if self._watch is None or not self.started or isinstance(self.job.request.plan, WhenSlower):
            return False
        return self._watch.idle_s > GRACE_S and not activity.in_flight()
