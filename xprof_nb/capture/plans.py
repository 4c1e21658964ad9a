"""How long a capture lasts, how often it happens and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xprof_nb.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from xprof_nb.capture.stage import Stage

STEPS_LIMIT_S = 60.0
SLOWER_LIMIT_S = 600.0
MOST_STEPS = 1000
MOST_RUNS = 100


@dataclass(frozen=True)
class For:
    """Once, for a time; None for until it is ended."""

    seconds: float | None

    def __post_init__(self) -> None:
        if self.seconds is not None:
            _check_above(self.seconds, 0, "a capture of {} s", "Give a time above 0.")

    def __str__(self) -> str:
        return "until it is ended" if self.seconds is None else f"{self.seconds:g} s"

    def record(self, stage: Stage) -> None:
        """Do it; of a long one the size is estimated first."""
        if not stage.measures_options:
            stage.record(stage.fitting(self.seconds))
            return
        with stage.watching_steps():
            stage.time_untraced()
            stage.record(stage.fitting(self.seconds))


@dataclass(frozen=True)
class Steps:
    """Once, until so many whole steps have been recorded, or a time has passed."""

    count: int
    limit_s: float = STEPS_LIMIT_S

    def __post_init__(self) -> None:
        _check_count(self.count, MOST_STEPS, "steps")
        _check_above(self.limit_s, 0, "a time limit of {} s", "Give a time above 0.")

    def __str__(self) -> str:
        return f"{_counted(self.count, 'step')}, at most {self.limit_s:g} s"

    def record(self, stage: Stage) -> None:
        """Do it, after timing some steps without the profiler."""
        with stage.watching_steps() as watch:
            stage.time_untraced(self.count, self.limit_s / 2)
            stage.record(self.limit_s, steps=self.count)
            if not stage.ended_early and watch.kind is None:
                stage.note(
                    f"No step was seen in {self.limit_s:g} s. A step is a jax.profiler.StepTraceAnnotation, or a "
                    "dispatch of a compiled function: run the loop meanwhile, or mark its steps."
                )


@dataclass(frozen=True)
class Burst:
    """Several times, each a run of its own."""

    every_s: float
    each_s: float
    count: int

    def __post_init__(self) -> None:
        _check_above(self.each_s, 0, "a capture of {} s", "Give a time above 0.")
        _check_above(self.every_s, self.each_s, "captures every {} s", "That must be longer than each of them lasts.")
        _check_count(self.count, MOST_RUNS, "captures")

    def __str__(self) -> str:
        return f"{self.count} times {self.each_s:g} s, every {self.every_s:g} s"

    def record(self, stage: Stage) -> None:
        """Do it; a capture that takes long to save delays the next one."""
        for number in range(self.count):
            stage.progress = f"{number + 1} of {self.count}"
            began_s = stage.now_s()
            stage.record(self.each_s)
            if number + 1 == self.count or not stage.pause(self.every_s - (stage.now_s() - began_s), "next capture"):
                return


@dataclass(frozen=True)
class WhenSlower:
    """Once: a step that took longer than so many times the median of those before it, and some after it."""

    factor: float
    count: int = 1
    limit_s: float = SLOWER_LIMIT_S

    def __post_init__(self) -> None:
        _check_above(self.factor, 1, "a factor of {}", "A step is slow when it takes more than 1 times the median.")
        _check_count(self.count, MOST_STEPS, "steps")
        _check_above(self.limit_s, 0, "a time limit of {} s", "Give a time above 0.")

    def __str__(self) -> str:
        return (
            f"a step slower than {self.factor:g} times the median and {_counted(self.count, 'step')} after it, "
            f"waited for at most {self.limit_s:g} s"
        )

    def record(self, stage: Stage) -> None:
        """Record all the time, dropping it again, until a step was slow."""
        with stage.watching_steps() as watch:
            slow = stage.record_around_slow(self.factor, self.count, self.limit_s, min(self.limit_s, STEPS_LIMIT_S))
            if slow is None and not stage.ended_early:
                raise CaptureError(
                    f"nothing was kept: none of {watch.count()} steps in {self.limit_s:g} s took more than "
                    f"{self.factor:g} times the median",
                    hint="Lower the factor, watch longer, or mark steps with jax.profiler.StepTraceAnnotation.",
                )


Plan = For | Steps | Burst | WhenSlower


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _check_count(count: int, most: int, what: str) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
        raise UsageError(f"{count!r} {what}", hint=f"Give a whole number from 1 to {most}.")


def _check_above(value: float, bound: float, what: str, hint: str) -> None:
    if not bound < value < float("inf"):
        raise UsageError(what.format(value), hint=hint)
