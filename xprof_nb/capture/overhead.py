"""What profiling costs: lengths of steps with the profiler against those without it."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        return f"×{self.factor:.2g}, {self.because}" if self.factor < 10 else f"×{self.factor:.0f}, {self.because}"


def dearest(options: CaptureOptions) -> str:
    """Name the kind of tracing that costs most of those that are on."""
    if options.python_tracer_level:
        return "Python tracing"
    return "host tracing" if options.host_tracer_level else "device tracing"


def describe(cost: Overhead) -> str:
    """Say it in a sentence."""
    without, with_it = (units.duration(s * 1e12) for s in (cost.untraced_step_s, cost.traced_step_s))
    return f"Overhead {cost}: a step took {without} without the profiler and {with_it} with it."
