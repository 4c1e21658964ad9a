"""xprof's steps of CPUs and GPUs: how long each lasts, and what its time went to.

Rules as in xprof 2.24 (``step_events_to_steps_db``). A step lasts as long as its longest marker. On a CPU that is a
mark of the host, and all else that belongs to its group counts as the host's computing; on GPUs it is the longest
stretch of kernels of its group on one of them, and events of all GPUs count together. Steps without computing are left
out, and of more than five the first and the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.selection import Selection, is_chosen
from xprof_nb.analysis.step_classes import ClassTimes, class_times
from xprof_nb.model.columns import words
from xprof_nb.model.step_groups import CLASSES, COMPUTE_16, COMPUTE_32, HOST_COMPUTE, Grouped
from xprof_nb.model.trace import HostTrace

Ints = NDArray[np.int64]

FEWEST_TO_DROP = 5
_PARTS = {
    "compute_ps": ("compute_16", "compute_32"),
    "device_copy_ps": ("device_to_device",),
    "collective_ps": ("collective",),
    "host_compute_ps": ("host_compute",),
    "launch_ps": (),
    "infeed_ps": ("wait_input", "host_to_device"),
    "host_to_device_ps": ("host_to_device",),
    "outfeed_ps": ("device_to_host",),
    "compile_ps": (),
    "other_ps": ("unknown",),
}
"""Columns and the classes they are made of, of which ``host_to_device_ps`` is a part of another; xprof
has columns for launches and compilations, and fills neither."""
COLUMNS = ["host", "step", "name", "start_ps", "step_time_ps", *_PARTS]


@dataclass(frozen=True, eq=False)
class XprofSteps:
    """The steps of one host.

    Attributes
    ----------
    frame
        `COLUMNS`; ``step`` is the number that the program gave, or that of the group.
    half_ps, single_ps
        Time that GPUs computed in 16 and in 32 bits, in all steps.
    """

    frame: pd.DataFrame
    half_ps: int
    single_ps: int


def steps_of_host(trace: HostTrace, selection: Selection) -> XprofSteps:
    """Return xprof's steps of a host without TPUs; of its chosen GPUs, if it has any."""
    found = trace.step_groups
    on_gpu = any(device.backend == "gpu" for device in trace.devices)
    chosen = [row for row, device in enumerate(trace.devices) if is_chosen(device, selection.device)]
    events, markers = found.events, found.markers
    if on_gpu and selection.device is not None:
        events, markers = (_of_devices(table, trace, chosen) for table in (events, markers))
    groups, begin_ps, end_ps = _longest(markers)
    times = class_times(events, groups, begin_ps, end_ps)
    computes = (COMPUTE_16, COMPUTE_32) if on_gpu else (HOST_COMPUTE,)
    whole = times.seen[:, computes].any(axis=1) & (end_ps > begin_ps)
    numbers = [found.numbers.get(group, group) for group in groups.tolist()]
    frame = pd.DataFrame(
        {
            "host": words([trace.host] * len(groups)),
            "step": np.array(numbers, np.int64),
            "name": words(found.names.get(group, str(group)) for group in groups.tolist()),
            "start_ps": begin_ps,
            "step_time_ps": end_ps - begin_ps,
            **{column: _sum(times, parts) for column, parts in _PARTS.items()},
        }
    )[whole]
    frame = frame.iloc[1:-1] if len(frame) > FEWEST_TO_DROP else frame
    half_ps, single_ps = (int(times.all_ps[:, kind].sum()) for kind in (COMPUTE_16, COMPUTE_32))
    return XprofSteps(frame, half_ps, single_ps)


def _sum(times: ClassTimes, parts: tuple[str, ...]) -> Ints:
    return np.asarray(times.within_ps[:, [CLASSES.index(part) for part in parts]].sum(axis=1), np.int64)


def _longest(markers: Grouped) -> tuple[Ints, Ints, Ints]:
    """Return the groups, ascending, with begin and end of the longest marker of each, the first of equals."""
    length = markers.end_ps - markers.start_ps
    order = np.lexsort((np.arange(len(markers)), -length, markers.group))
    groups, first = np.unique(markers.group[order], return_index=True)
    rows = order[first]
    return groups, markers.start_ps[rows], markers.end_ps[rows]


def _of_devices(table: Grouped, trace: HostTrace, chosen: list[int]) -> Grouped:
    ordinals = [trace.devices[row].ordinal for row in chosen]
    mine = np.isin(table.device, ordinals)
    return Grouped(*(getattr(table, name)[mine] for name in Grouped.__dataclass_fields__))
