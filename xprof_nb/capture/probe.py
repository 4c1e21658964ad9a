"""How large a capture will become, told by short ones before it.

Several, and apart from each other: a loop computes, then loads data, then computes again, and whoever looks once sees
one of these.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from xprof_nb.capture.session import open_session
from xprof_nb.formats.framing import count_events
from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xprof_nb.capture.options import CaptureOptions

LOOK_S, REST_S = 0.1, 0.1
LOOKS = 5
"""Together they delay the capture by a second, so there are no more of them."""
WORTH_PROBING_S = 5.0
LARGEST_BYTES = 2 * 2**30
"""A protocol buffer cannot be larger: the profiler gives back nothing at all."""
FILLED = 0.8
LONG_STOP_S = 30.0


@dataclass(frozen=True)
class Look:
    """What was recorded in a moment.

    Attributes
    ----------
    line_bytes
        Those of the ``size_bytes`` that grow with time.
    stop_s
        What collecting took.
    """

    seconds: float
    size_bytes: int
    line_bytes: int
    event_count: int
    stop_s: float

    @classmethod
    def at(cls, data: bytes, seconds: float, stop_s: float) -> Self:
        """Weigh a profile of some seconds that took ``stop_s`` to collect."""
        event_count, line_bytes = count_events(data)
        return cls(seconds, len(data), line_bytes, event_count, stop_s)


@dataclass(frozen=True)
class Estimate:
    """What some looks have seen, extrapolated.

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
    def of(cls, looks: Sequence[Look]) -> Self:
        """Extrapolate looks at one process."""
        seconds = sum(look.seconds for look in looks)
        return cls(
            max(look.size_bytes - look.line_bytes for look in looks),
            sum(look.line_bytes for look in looks) / seconds,
            sum(look.event_count for look in looks) / seconds,
            sum(look.stop_s for look in looks) / max(sum(look.size_bytes for look in looks), 1),
        )

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
        return max((FILLED * LARGEST_BYTES - self.fixed_bytes) / self.bytes_per_s, LOOK_S)

    def describe(self, seconds: float) -> str:
        """Say it in a phrase."""
        return (
            f"about {units.size(int(self.size_bytes(seconds)))} and {units.count(int(self.events_per_s * seconds))} "
            f"events in {seconds:g} s, and {self.stop_s(seconds):.0f} s to collect them"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as the sidecar keeps it."""
        return asdict(self)


def probe(options: CaptureOptions, rest: Callable[[], bool]) -> Estimate:
    """Profile this process for some moments; raises what `open_session` raises.

    Parameters
    ----------
    rest
        Lets time pass between two looks, and returns whether to look once more.
    """
    looks = [_look(options)]
    while len(looks) < LOOKS and rest():
        looks.append(_look(options))
    return Estimate.of(looks)


def _look(options: CaptureOptions) -> Look:
    session = open_session(options, "a look at how much there is to record")
    began_s = time.perf_counter()
    try:
        time.sleep(LOOK_S)
    except BaseException:
        session.discard()
        raise
    stopped_s = time.perf_counter()
    data = session.stop()
    return Look.at(data, stopped_s - began_s, time.perf_counter() - stopped_s)
