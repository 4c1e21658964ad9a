"""Every event of a host, as the file has it, in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
FindStats = Callable[[Ints, tuple[str, ...] | None], Mapping[str, Any]]


@dataclass(frozen=True)
class EventLine:
    """One line of one plane: a thread, a stream, a lane of a core.

    Attributes
    ----------
    device
        Row of the host's devices, -1 for a line that is no device's.
    """

    plane: str
    line: str
    device: int = -1


def _no_stats(rows: Ints, names: tuple[str, ...] | None) -> Mapping[str, Any]:  # noqa: ARG001
    return {}


@dataclass(frozen=True, eq=False)
class Events:
    """N events in file order; names and lines are codes, since millions of events share few of them.

    Attributes
    ----------
    names
        Distinct names. An event goes by its display name where it has one, as in a trace viewer.
    name, line
        Rows of ``names`` and ``lines``; a name is -1 where the file lacks it.
    start_ps
        On the host's clock; meaningless where not ``positioned``.
    positioned
        False for an aggregated event, which stands for ``occurrences`` that have no place in time.
    find_stats
        Gives stats of some events, rows ascending, by name: those asked for, or with None all they have.
    """

    lines: tuple[EventLine, ...]
    names: tuple[str, ...]
    name: Codes
    line: Codes
    start_ps: Ints
    duration_ps: Ints
    occurrences: Ints
    positioned: NDArray[np.bool_]
    find_stats: FindStats = _no_stats

    def __len__(self) -> int:
        return len(self.name)


def no_events() -> Events:
    """Return the table of a host without any event."""
    whole, code = np.empty(0, np.int64), np.empty(0, np.int32)
    return Events((), (), code, code, whole, whole, whole, np.empty(0, np.bool_))
