"""What profiling costs: lengths of steps with the profiler against those without it."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xprof_nb.capture.options import CaptureOptions


@dataclass(frozen=True)
class Overhead:
    """Medians of steps, start to start.

    Attributes
    ----------
    untraced_step_s, traced_step_s
        Without and with the profiler.
    because
        What of the options is known to cost most.
    """

    untraced_step_s: float
    traced_step_s: float
    because: str

    @property
    def factor(self) -> float:
        """How many times as long a step takes under the profiler."""
        return self.traced_step_s / self.untraced_step_s

    @classmethod
    def of(cls, untraced_s: Sequence[float], traced_s: Sequence[float], options: CaptureOptions) -> Self | None:
        """Compare two sets of step lengths, None where one has none."""
        if not untraced_s or not traced_s:
            return None
        return cls(statistics.median(untraced_s), statistics.median(traced_s), dearest(options))

    def to_dict(self) -> dict[str, Any]:
        """Return it as the sidecar keeps it."""
        return {**asdict(self), "factor": self.factor}

    def __str__(self) -> str:
        return f"{times(self.factor)}, {self.because}"


def times(factor: float) -> str:
    """Write a factor: ``×4.1``."""
    return f"×{factor:.1f}" if factor < 10 else f"×{factor:.0f}"


def ladder(options: CaptureOptions) -> list[tuple[str, CaptureOptions]]:
    """Return what to measure one above the other, each with one more kind of tracing than the one before."""
    host = replace(options, host_tracer_level=max(options.host_tracer_level, 1), python_tracer_level=0)
    device = replace(host, host_tracer_level=0)
    python = replace(host, python_tracer_level=1)
    return [("device tracing", device), ("host tracing", host), ("Python tracing", python)]


def by_option(steps_s: Mapping[str, Sequence[float]], untraced_s: Sequence[float]) -> dict[str, float]:
    """Return the factor of each kind of tracing over the kinds before it; those without steps are left out."""
    factors: dict[str, float] = {}
    before_s = list(untraced_s)
    for kind, lengths_s in steps_s.items():
        if before_s and lengths_s:
            factors[kind] = statistics.median(lengths_s) / statistics.median(before_s)
        before_s = list(lengths_s) or before_s
    return factors


def dearest(options: CaptureOptions) -> str:
    """Name the kind of tracing that costs most of those that are on."""
    if options.python_tracer_level:
        return "Python tracing"
    return "host tracing" if options.host_tracer_level else "device tracing"


def describe(cost: Overhead) -> str:
    """Say it in a sentence."""
    without, with_it = (units.seconds(s) for s in (cost.untraced_step_s, cost.traced_step_s))
    return f"Overhead {cost}: a step took {without} without the profiler and {with_it} with it."
