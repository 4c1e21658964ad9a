"""What a file recorded, line by line: threads, streams, engines; for a timeline that shows every event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RecordedLines:
    """The lines of a host that have events, L rows in file order; known at once, without their events.

    Attributes
    ----------
    plane, name
        ``"/host:CPU"``, ``"python/1234"``.
    event_count
        Events, those without a place in time included.
    counters
        Names of the counters sampled on a line, by row; lines of anything else are absent.
    """

    plane: tuple[str, ...]
    name: tuple[str, ...]
    event_count: Ints
    counters: Mapping[int, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.plane)


@dataclass(frozen=True, eq=False)
class RecordedEvents:
    """The placed events of `RecordedLines`, line after line, in file order, on the host's clock.

    Attributes
    ----------
    first
        The events of line i are ``first[i]:first[i + 1]``.
    names
        Distinct names; of several planes, one after the other.
    name
        Row of `names`.
    position
        Where the file says more of an event; what `stats` takes.
    values
        Counter values of the events of a line, by row of the line.
    stats
        Gives columns of stats by name, one value per event: ``stats(line, positions, names)``; all that events of the
        line may have if ``names`` is None.
    """

    first: Ints
    names: tuple[str, ...]
    name: NDArray[np.int32]
    start_ps: Ints
    duration_ps: Ints
    position: NDArray[Any]
    values: Mapping[int, Floats]
    stats: Callable[[int, Ints, tuple[str, ...] | None], Mapping[str, Any]]


def no_lines() -> RecordedLines:
    """Return the lines of a host whose file has none."""
    return RecordedLines((), (), np.empty(0, np.int64), {})


def no_recorded_events() -> RecordedEvents:
    """Return the events of a host whose file has none."""
    whole = np.empty(0, np.int64)
    return RecordedEvents(np.zeros(1, np.int64), (), whole.astype(np.int32), whole, whole, whole, {}, _no_stats)


def _no_stats(_line: int, _positions: Ints, _names: tuple[str, ...] | None) -> Mapping[str, Any]:
    return {}
