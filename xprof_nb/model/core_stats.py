"""What a TPU's runtime measured of each execution of an op besides its time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoreStats:
    """Measured by execution: N rows, those of `HostTrace.ops` in the same order; none where nothing was measured.

    Attributes
    ----------
    dma_stall_ps
        Time the op waited for its DMAs.
    time_scale
        Clock at which the op ran over the nominal clock, 1 where the runtime does not say.
    energy_j
        Energy drawn from the core's supply.
    """

    dma_stall_ps: Floats
    time_scale: Floats
    energy_j: Floats

    def __len__(self) -> int:
        return len(self.dma_stall_ps)


def no_core_stats() -> CoreStats:
    """Return the table of a host whose runtime measured nothing of the kind."""
    nothing = np.empty(0, np.float64)
    return CoreStats(nothing, nothing, nothing)
