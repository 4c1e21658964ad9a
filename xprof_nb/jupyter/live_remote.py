"""``%xprof capture 3s --from host:port``: other processes are profiled while this notebook goes on."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from xprof_nb.capture.shield import TICK_S, in_background
from xprof_nb.errors import ProfileError
from xprof_nb.jupyter.output_area import OutputArea

if TYPE_CHECKING:
    from xprof_nb.capture.remote_job import RemoteJob


class LiveRemote:
    """One capture of others, from the asking to the view that replaces what it said meanwhile."""

    started = True

    def __init__(self, shell: Any, job: RemoteJob) -> None:
        self.job = job
        self._area = OutputArea(shell)
        self._area.say(self.status)
        self._follower = in_background(self._follow, "xprof_nb live capture of others")

    @property
    def status(self) -> str:
        """What it is doing, in one line."""
        if not self.job.ended():
            return self.job.doing
        return "Reading the profile" if self.under_way else "No capture is under way."

    @property
    def under_way(self) -> bool:
        """Whether there is more to come."""
        return not self._follower.done()

    def wait(self) -> None:
        """Wait until its view is shown."""
        self._follower.result()

    def cancel(self) -> None:
        """End it now; what has been recorded is kept and shown."""
        self.job.cancel()

    def _follow(self) -> None:
        try:
            while not self.job.ended(TICK_S / 2):
                self._area.say(self.status, self.job.done_fraction)
            if threading.main_thread().is_alive():
                self._area.show(self.job.profile.op_profile(), self.job.notes)
        except Exception as error:
            self._area.fail(error, saved=self.job.folder)
            if not isinstance(error, ProfileError):
                raise
