"""How large a capture will become, told by a short one before it."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from xprof_nb.capture.session import open_session
from xprof_nb.formats.framing import count_events
from xprof_nb.model import units

if TYPE_CHECKING:
    from xprof_nb.capture.options import CaptureOptions

PROBE_S = 0.2
WORTH_PROBING_S = 5.0
LARGEST_BYTES = 2 * 2**30
"""A protocol buffer cannot be larger: the profiler gives back nothing at all."""
FILLED = 0.8
LONG_STOP_S = 30.0


@dataclass(frozen=True)
class Estimate:
    """What a probe recorded, extrapolated.

    Attributes
    ----------
    fixed_bytes
        What a profile holds however short it is: the programs.
    bytes_per_s, events_per_s
        How fast it grows.
    stop_s_per_byte
        What collecting takes.
    """

    fixed_bytes: int
    bytes_per_s: float
    events_per_s: float
    stop_s_per_byte: float

    @classmethod
    def of(cls, data: bytes, seconds: float, stop_s: float) -> Self:
        """Extrapolate a profile of some seconds that took ``stop_s`` to collect."""
        event_count, line_bytes = count_events(data)
        return cls(len(data) - line_bytes, line_bytes / seconds, event_count / seconds, stop_s / max(len(data), 1))

    def size_bytes(self, seconds: float) -> float:
        """Return how large a capture of so many seconds becomes."""
        return self.fixed_bytes + self.bytes_per_s * seconds

    def stop_s(self, seconds: float) -> float:
        """Return how long its collecting takes."""
        return self.stop_s_per_byte * self.size_bytes(seconds)

    def fits(self, seconds: float) -> bool:
        """Return whether a profile of so many seconds comes back at all."""
        return self.size_bytes(seconds) <= FILLED * LARGEST_BYTES

    def longest_s(self) -> float:
        """Return how many seconds fit."""
        return max((FILLED * LARGEST_BYTES - self.fixed_bytes) / self.bytes_per_s, PROBE_S)

    def describe(self, seconds: float) -> str:
        """Say it in a phrase."""
        return (
            f"about {units.size(int(self.size_bytes(seconds)))} and {units.count(int(self.events_per_s * seconds))} "
            f"events in {seconds:g} s, and {self.stop_s(seconds):.0f} s to collect them"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as the sidecar keeps it."""
        return asdict(self)


def probe(options: CaptureOptions) -> Estimate:
    """Profile this process for a moment; raises what `open_session` raises."""
    session = open_session(options, "a look at how much there is to record")
    began_s = time.perf_counter()
    try:
        time.sleep(PROBE_S)
    except BaseException:
        session.discard()
        raise
    stopped_s = time.perf_counter()
    data = session.stop()
    return Estimate.of(data, stopped_s - began_s, time.perf_counter() - stopped_s)
