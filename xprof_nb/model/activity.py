"""What the host did about the devices' work: feeding, launching, compiling, waiting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

KINDS = ("compile", "input", "to_device", "from_device", "launch", "wait", "other")
COMPILE, INPUT, TO_DEVICE, FROM_DEVICE, LAUNCH, WAIT, OTHER = range(len(KINDS))
"""What an event is about, rows of `KINDS`."""


@dataclass(frozen=True, eq=False)
class HostActivity:
    """A host's events that are about a device or its input, A rows in file order, on the host's clock.

    Attributes
    ----------
    names
        Distinct event names.
    name
        Row of `names`.
    kind
        Row of `KINDS`. "wait" is for the device; "other" is all that the threads which launch work did, merged.
    line
        Number of the thread in the file.
    self_ps
        The event's duration without events of the table inside it.
    """

    names: tuple[str, ...]
    name: NDArray[np.int32]
    kind: NDArray[np.int8]
    line: NDArray[np.int32]
    start_ps: Ints
    duration_ps: Ints
    self_ps: Ints

    def __len__(self) -> int:
        return len(self.name)


def no_activity() -> HostActivity:
    """Return the table of a host that recorded nothing of the kind."""
    whole, rows = np.empty(0, np.int64), np.empty(0, np.int32)
    return HostActivity((), rows, np.empty(0, np.int8), rows, whole, whole, whole)
