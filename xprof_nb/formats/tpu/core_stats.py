"""What a TPU's runtime measured of each execution of an op: DMA stalls, clock scaling, energy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xprof_nb.formats import plausible
from xprof_nb.formats.tpu.lines import in_order
from xprof_nb.formats.tpu.planes import keys_and_events, tpu_cores
from xprof_nb.formats.xspace import XSpace
from xprof_nb.model.core_stats import CoreStats, no_core_stats

_STATS = ("dma_stall_duration_ps", "Time Scale Multiplier", "vdd_energy_j")


def read_core_stats(read_space: Callable[[], XSpace]) -> CoreStats:
    """Return the measurements of a host's cores from its file; without any, no row."""
    space = read_space()
    plausible.mend(space)
    planes = tpu_cores(space)
    if not any(name in plane.stat_names for plane in planes for name in _STATS):
        return no_core_stats()
    keys, events = keys_and_events(planes)
    rows = in_order(keys, events)
    found = [np.full(len(rows), missing) for missing in (0.0, 1.0, 0.0)]
    for number, plane in enumerate(planes):
        mine = events["device"][rows] == number
        for values, column in zip(found, plane.stats_of(events["row"][rows[mine]], *_STATS), strict=True):
            stated = plausible.amounts(column)
            values[mine] = np.where(np.isnan(stated), values[mine], stated)
    return CoreStats(*found)
