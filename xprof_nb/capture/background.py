"""Capturing from code while everything else goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb.capture import jobs
from xprof_nb.capture.options import chosen
from xprof_nb.capture.plans import For

if TYPE_CHECKING:
    import os

    from xprof_nb.capture.plans import Plan


def capture_for(
    plan: float | Plan,
    name: str | None = None,
    logdir: str | os.PathLike[str] | None = None,
    *,
    note: str = "",
    preset: str | None = None,
    overhead: bool = False,
    memory: bool = False,
    **options: Any,
) -> jobs.Job:
    """Start profiling this process and return at once.

    Parameters
    ----------
    plan
        How many seconds to record, or a plan of `xprof_nb.capture.plans`: ``Steps(10)``, ``Burst(2.0, 0.3, 3)``,
        ``WhenSlower(1.5)``.
    overhead
        Measure first what each kind of tracing costs a step.
    name, logdir, note, preset, memory, options
        As `capture` takes them.

    Returns
    -------
    Job
        Wait for it, end it early, or ask how it is doing.

    Raises
    ------
    UsageError, ProfilerBusyError, CaptureError
        As `capture` does on entering.
    """
    if isinstance(plan, int | float):
        plan = For(plan)
    return jobs.start(
        jobs.Request(
            plan,
            name,
            logdir,
            note,
            chosen(preset, **options),
            measure_options=overhead,
            watch_memory=memory,
        )
    )
