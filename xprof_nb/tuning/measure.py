"""Measuring one setting: compile, warm up, time without the tracer, then a short profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.capture.memory_watch import held_now
from xprof_nb.capture.oom import is_out_of_memory
from xprof_nb.errors import ProfileError
from xprof_nb.runs import sidecar
from xprof_nb.tuning import findings
from xprof_nb.tuning.grid import Setting
from xprof_nb.tuning.point import DONE, FAILED, OOM, Point
from xprof_nb.tuning.programs import NewPrograms, planned_bytes
from xprof_nb.tuning.timing import Timing, time_steps

if TYPE_CHECKING:
    from xprof_nb.api import Profile

LONGEST_NOTE = 300


@dataclass(frozen=True)
class Measurement:
    """How settings are measured.

    Attributes
    ----------
    make_step
        Called with the setting, returns a callable of no argument that runs one step.
    items
        Items a step works on, by setting; None where nobody told.
    """

    make_step: Callable[[Setting], Callable[[], Any]]
    items: Callable[[Setting], float | None]
    steps: int = 20
    warm_up: int = 2
    profile_steps: int = 3
    logdir: Path = field(default_factory=Path)
    name: str = "sweep"

    def plan(self, setting: Setting) -> Point:
        """Compile a setting, where that is possible without running it, and return what it was planned to need."""
        return Point(setting, planned_bytes=planned_bytes(self.make_step(setting)), items=self.items(setting))

    def __call__(self, setting: Setting) -> Point:
        """Measure a setting. Only what stops the person's program is raised: running out of memory is a result."""
        point = Point(setting, items=self.items(setting), limit_bytes=memory_limit())
        programs = NewPrograms()
        try:
            step = self.make_step(setting)
            timing = time_steps(step, self.steps, self.warm_up, _wait)
            point = _timed(point, timing, programs.needed_bytes())
            if self.profile_steps:
                point = findings.added(point, self._profile(step, setting))
        except ProfileError as unprofiled:
            return replace(point, note=f"not profiled: {unprofiled}"[:LONGEST_NOTE])
        except Exception as error:
            note = f"{type(error).__name__}: {error}"[:LONGEST_NOTE]
            return replace(point, status=OOM if is_out_of_memory(error) else FAILED, note=note)
        return point

    def _profile(self, step: Callable[[], Any], setting: Setting) -> Profile:
        import jax  # noqa: PLC0415

        from xprof_nb.capture.local import Capture  # noqa: PLC0415

        said = ", ".join(f"{name} {value}" for name, value in setting.items())
        capture = Capture(_run_name(self.name, setting), self.logdir, note=f"sweep {self.name}: {said}")
        capture.meanwhile = lambda _seconds: None  # the sweep itself shows how far it is
        with capture:
            for number in range(self.profile_steps):
                with jax.profiler.StepTraceAnnotation("step", step_num=number):
                    _wait(step())
        _mark_as_ours(capture.profile.path, f"sweep:{self.name}"[:60])
        return capture.profile


def _mark_as_ours(folder: str, tag: str) -> None:
    about = sidecar.read(folder)
    if about is not None:
        sidecar.write(Path(folder), replace(about, origin="sweep", tags=(tag,)))


def memory_limit() -> float | None:
    """Return how much memory the smallest device has; None if the runtime does not say."""
    return min((device.limit_bytes for device in held_now() if device.limit_bytes), default=None)


def _timed(point: Point, timing: Timing, planned: int | None) -> Point:
    recorded = [device.peak_bytes for device in held_now() if device.peak_bytes]
    return replace(
        point,
        status=DONE,
        step_time_s=timing.median_s,
        step_time_spread_s=timing.spread_s,
        step_count=len(timing.times_s),
        compile_time_s=timing.compile_s,
        planned_bytes=planned,
        # An allocator's peak is that of the whole process, and never goes down: it is the step's while sizes grow.
        peak_bytes=max(recorded, default=None) or planned,
    )


def _run_name(name: str, setting: Setting) -> str:
    words = "-".join(f"{key}{value}" for key, value in setting.items())
    safe = "".join(letter if letter.isalnum() or letter in "-_.+" else "_" for letter in f"{name}-{words}")
    return safe[:100].rstrip(".")


def _wait(result: Any) -> None:
    import jax  # noqa: PLC0415

    jax.block_until_ready(result)
