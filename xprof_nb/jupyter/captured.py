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
    names = [folder.name for folder in job.folders]
    area.say(f"Reading the profile {names[-1]}")
    several = (f"{len(names)} runs were captured: {', '.join(names)}. This is the last.",) if names[1:] else ()
    area.show(api.open(job.folders[-1]).op_profile(), (*several, *job.status.notes))
