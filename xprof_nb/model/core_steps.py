"""What xprof counts into each step of TPU cores: the steps the runtime recorded, and the ops in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xprof_nb.model.step_groups import Grouped, no_grouped

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CoreSteps:
    """The steps of a host's cores, by the number of their group.

    Attributes
    ----------
    group_of_op
        By row of `HostTrace.ops`, -1 for an op of no step.
    marks
        The recorded steps, on the device's clock of this host; ``device`` is a row of `HostTrace.devices`.
    reduce_core, reduce_group, reduce_id, reduce_ps
        All-reduces that the runtime numbered: where, in which step, which and how long.
    input_ps
        Time that events of the host spent on input, by group.
    """

    group_of_op: Ints
    marks: Grouped
    reduce_core: Ints
    reduce_group: Ints
    reduce_id: Ints
    reduce_ps: Ints
    input_ps: dict[int, int] = field(default_factory=dict)


def no_core_steps() -> CoreSteps:
    """Return the table of a host without TPUs."""
    nothing = np.empty(0, np.int64)
    return CoreSteps(nothing, no_grouped(), nothing, nothing, nothing, nothing)
