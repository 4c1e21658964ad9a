"""How busy the devices were in each of a few equal stretches of a run."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.timeline.derived import op_times
from xprof_nb.model.answer import Answer
from xprof_nb.model.intervals import union
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

STRETCHES = 24


def trace_busy(profile: ProfileData) -> Answer:
    """Return, of each host, the share of each stretch that its devices ran ops.

    The stretches of a host are equally long, from its first op to the end of its last; the share is the mean over its
    devices that ran any.

    Returns
    -------
    Answer
        Columns ``host, start_ps, duration_ps, busy_fraction``, a row a stretch.
    """
    parts = [_stretches(trace) for trace in profile.hosts if len(trace.ops)]
    columns = ["host", "start_ps", "duration_ps", "busy_fraction"]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return Answer(frame, {}, () if parts else ("No op ran on a device in this profile: capture while a step runs.",))


def _stretches(trace: HostTrace) -> pd.DataFrame:
    start_ps, duration_ps = op_times(trace)
    end_ps = start_ps + duration_ps
    edges = np.linspace(start_ps.min(), end_ps.max(), STRETCHES + 1).astype(np.int64)
    lengths = np.diff(edges)
    shares = [
        _share(start_ps[mine], end_ps[mine], edges, lengths)
        for device in np.unique(trace.ops.device)
        for mine in [trace.ops.device == device]
    ]
    return pd.DataFrame(
        {"host": trace.host, "start_ps": edges[:-1], "duration_ps": lengths, "busy_fraction": np.mean(shares, axis=0)}
    )


def _share(
    start_ps: NDArray[np.int64], end_ps: NDArray[np.int64], edges: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    return union(start_ps, end_ps).covered_ps(edges[:-1], edges[1:]) / np.maximum(lengths, 1)
