"""What xprof counts into each step: the events it groups, and the markers that say how long a step lasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

CLASSES = (
    *("unknown", "host_compute", "host_to_host", "host_to_device", "collective", "wait_input"),
    *("device_to_device", "device_to_host", "compute_32", "compute_16"),
)
"""What an event is to xprof, in the order in which events that overlap give way to one another."""
(UNKNOWN, HOST_COMPUTE, HOST_TO_HOST, HOST_TO_DEVICE, COLLECTIVE, WAIT_INPUT, DEVICE_TO_DEVICE, DEVICE_TO_HOST,
 COMPUTE_32, COMPUTE_16) = range(len(CLASSES))  # fmt: skip


@dataclass(frozen=True, eq=False)
class Grouped:
    """Events or markers that belong to a group, in time order within one, on the host's clock.

    Attributes
    ----------
    group
        Number of the group.
    kind
        Row of `CLASSES`; 0 for markers.
    device
        Number of the GPU, -1 on the host.
    """

    group: Ints
    kind: NDArray[np.int8]
    device: NDArray[np.int32]
    start_ps: Ints
    end_ps: Ints

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True, eq=False)
class StepGroups:
    """The groups of a host.

    Attributes
    ----------
    events, markers
        What counts into a step, and what spans it.
    names, numbers
        Name and step number of groups that the host marked; others go by the number of the group.
    """

    events: Grouped
    markers: Grouped
    names: dict[int, str]
    numbers: dict[int, int]


def no_grouped() -> Grouped:
    """Return a table without rows."""
    whole = np.empty(0, np.int64)
    return Grouped(whole, whole.astype(np.int8), whole.astype(np.int32), whole, whole)


def no_step_groups() -> StepGroups:
    """Return the groups of a host on which none can be told."""
    return StepGroups(no_grouped(), no_grouped(), {}, {})
