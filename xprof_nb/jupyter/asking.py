"""From what a person typed to what a capture is asked to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xprof_nb.args.capture import DEFAULT_RUNS
from xprof_nb.capture import plans
from xprof_nb.capture.jobs import Request
from xprof_nb.capture.options import chosen

if TYPE_CHECKING:
    from xprof_nb.args import CaptureCommand


def request_of(command: CaptureCommand) -> Request:
    """Return the request; raises UsageError for values out of bounds."""
    options = chosen(
        command.preset,
        host_tracer_level=command.host_tracer_level,
        python_tracer_level=command.python_tracer_level,
        device_tracing=command.device_tracing,
        max_devices=command.max_devices,
    )
    return Request(
        plan_of(command),
        command.name,
        command.logdir,
        command.note,
        options,
        measure_options=command.overhead,
        watch_memory=command.memory,
    )


def plan_of(command: CaptureCommand) -> plans.Plan:
    """Return how long and how often it captures; without any of that, until it is ended."""
    if command.every_s is not None and command.duration_s is not None:
        return plans.Burst(command.every_s, command.duration_s, command.runs or DEFAULT_RUNS)
    if command.when_slower is not None:
        limit_s = command.duration_s or plans.SLOWER_LIMIT_S
        return plans.WhenSlower(command.when_slower, command.steps or 1, limit_s)
    if command.steps is not None:
        return plans.Steps(command.steps, command.duration_s or plans.STEPS_LIMIT_S)
    return plans.For(command.duration_s)
