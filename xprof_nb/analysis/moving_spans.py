"""When data moved between devices or memories, on each device, and when the device computed meanwhile."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.collective_ops import moving_keys
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.selection import HostPart, Selection, in_selection
from xprof_nb.analysis.step_spans import steps_at, steps_of_ops
from xprof_nb.formats.asynchronous import start_keys
from xprof_nb.model.columns import are_texts
from xprof_nb.model.intervals import Moments, union
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

Rows = NDArray[np.int64]


def moving_spans(profile: ProfileData, part: HostPart, selection: Selection) -> pd.DataFrame:
    """Return every movement in the chosen part of a host: from start to done where it is asynchronous.

    Columns: ``device_row, key, start_ps, end_ps`` (the device's clock), ``step_row`` (of `step_spans`, -1: none),
    ``is_async``, ``occurrences``.
    """
    trace, ops = part.trace, part.trace.ops
    moves = are_texts(moving_keys(profile, trace)["kind"])
    whole = moves & ~are_halves(profile, trace)
    rows = part.rows[whole[ops.key[part.rows]]]
    rows = rows[~np.isin(_identity(trace, ops.device[rows], ops.key[rows]), _identities(trace))]
    at_once = pd.DataFrame(
        {
            "device_row": ops.device[rows].astype(np.int64),
            "key": ops.key[rows].astype(np.int64),
            "start_ps": ops.start_ps[rows],
            "end_ps": ops.start_ps[rows] + ops.duration_ps[rows],
            "step_row": steps_of_ops(trace)[rows],
            "is_async": _starts(profile, trace)[ops.key[rows]],
            "occurrences": ops.occurrences[rows],
        }
    )
    return pd.concat([at_once, _asynchronous(part, moves, selection)], ignore_index=True)


def _starts(profile: ProfileData, trace: HostTrace) -> NDArray[np.bool_]:
    """Return which keys begin something asynchronous; where kernels stand for ops, such a one is all of it."""
    return np.array([text.endswith("-start") for text in described_keys(profile, trace)["category"]], np.bool_)


def _asynchronous(part: HostPart, moves: NDArray[np.bool_], selection: Selection) -> pd.DataFrame:
    """Return the spans whose start is chosen; a recorded one only where the device shows no halves of it."""
    trace, spans = part.trace, part.trace.spans
    step_row = steps_at(trace, spans.device, spans.host_start_ps)
    identity = _identities(trace)
    paired = np.isin(identity, identity[~spans.recorded])
    keep = moves[spans.key] & ~(spans.recorded & paired) & np.isin(spans.device, part.devices)
    keep &= in_selection(trace, selection, spans.key, spans.host_start_ps, step_row)
    return pd.DataFrame(
        {
            "device_row": spans.device[keep].astype(np.int64),
            "key": spans.key[keep].astype(np.int64),
            "start_ps": spans.start_ps[keep],
            "end_ps": spans.start_ps[keep] + spans.duration_ps[keep],
            "step_row": step_row[keep],
            "is_async": True,
            "occurrences": np.ones(int(keep.sum()), np.int64),
        }
    )


def _identities(trace: HostTrace) -> Rows:
    """Return device and op of each asynchronous span as one number."""
    return _identity(trace, trace.spans.device, trace.spans.key)


def _identity(trace: HostTrace, device: NDArray[np.int32], key: NDArray[np.int32]) -> Rows:
    return device.astype(np.int64) * max(len(trace.keys), 1) + key


def are_halves(profile: ProfileData, trace: HostTrace) -> NDArray[np.bool_]:
    """Return which keys are halves of an asynchronous op both of whose halves the trace knows."""
    started = start_keys(trace.keys, profile.programs)
    half = started >= 0
    half[started[half]] = True
    return half


def compute_moments(profile: ProfileData, trace: HostTrace, device: int) -> Moments:
    """Return when a device computed: in ops that neither move data, nor wait for the host, nor only contain others."""
    ops = trace.ops
    rows = np.flatnonzero((ops.device == device) & computing_keys(profile, trace)[ops.key] & ~ops.contains)
    return union(ops.start_ps[rows], ops.start_ps[rows] + ops.duration_ps[rows])


def computing_keys(profile: ProfileData, trace: HostTrace) -> NDArray[np.bool_]:
    """Return which keys compute: they neither move data nor wait for the host."""
    keys = moving_keys(profile, trace)
    waits = np.array([kind in {"collective", "host", "idle"} for kind in keys["work_kind"]], np.bool_)
    return ~(are_texts(keys["kind"]) | waits | are_halves(profile, trace))
