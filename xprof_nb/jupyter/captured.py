"""Showing what a capture brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xprof_nb import api

if TYPE_CHECKING:
    from xprof_nb.capture.jobs import Job
    from xprof_nb.jupyter.output_area import OutputArea


def show_runs(area: OutputArea, job: Job) -> None:
    """Show the op profile of the run an ended job made, of several the last; raises why there is none."""
    if job.error is not None:
        raise job.error
    if not job.folders:
        area.say("Cancelled before anything ran.")
        return
    area.say(f"Reading the profile {job.folders[-1].name}")
    area.show(api.open(job.folders[-1]).op_profile(), job.status.notes)
