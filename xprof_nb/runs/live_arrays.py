"""The live arrays a capture sampled, as its sidecar keeps them, on the clock of the host that was captured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from xprof_nb.model.live_arrays import HeldArrays, LiveArrays
from xprof_nb.model.trace import HostTrace

MOST_STRETCHES = 100_000
MOST_DEVICES = 4096
MOST_ARRAYS = 1000
_LARGEST = 2**62
_PS_PER_NS = 1000


def with_live_arrays(trace: HostTrace, metadata: Mapping[str, Any], is_alone: bool) -> HostTrace:
    """Return a host with the samples of its capture.

    Parameters
    ----------
    metadata
        What the sidecar holds. People edit sidecars: samples that cannot be right are left out, with a note.
    is_alone
        Whether no other host is in the run: then the samples are its own, even if its file was renamed.
    """
    kept = metadata.get("live_arrays")
    if not isinstance(kept, Mapping) or not (is_alone or kept.get("host") == trace.host):
        return trace
    if trace.session_ns is None:
        return _without(trace, "the profile does not say when it was started")
    try:
        return replace(trace, live_arrays=_read(kept, trace.session_ns[0]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as wrong:
        return _without(trace, f"the sidecar does not hold what a capture writes ({type(wrong).__name__})")


def _without(trace: HostTrace, why: str) -> HostTrace:
    return replace(trace, notes=(*trace.notes, f"Without the live arrays its capture sampled: {why}."))


def _read(kept: Mapping[str, Any], session_ns: int) -> LiveArrays:
    error = kept.get("error")
    notes = (f"Sampling the live arrays ended early: {error[:500]}.",) if isinstance(error, str) and error else ()
    devices = kept["devices"]
    times = [_whole(value) for value in kept.get("time_ns", [])]
    if len(devices) > MOST_DEVICES or len(times) > MOST_STRETCHES or any(a > b for a, b in pairwise(times)):
        raise ValueError
    begin_ns = _whole(kept.get("started_ns", 0)) - session_ns
    start_ps = [(begin_ns + time) * _PS_PER_NS for time in times]
    if any(abs(time) > _LARGEST for time in start_ps):
        raise ValueError
    held = np.array([[_whole(size) for size in device["bytes"]] for device in devices], np.int64)
    held = held.reshape(len(devices), len(times)).T
    return LiveArrays(
        devices=tuple(str(device["name"]) for device in devices),
        start_ps=np.array(start_ps, np.int64),
        held_bytes=held,
        peak_arrays=tuple(_arrays(device) for device in devices),
        period_s=float(kept.get("period_s", 0)),
        notes=notes,
    )


def _arrays(device: Mapping[str, Any]) -> tuple[HeldArrays, ...]:
    listed = [
        HeldArrays(str(each["shape"]), str(each["dtype"]), str(each["sharding"]), _whole(each["count"]),
                   _whole(each["bytes"]))
        for each in device["arrays"][:MOST_ARRAYS]
    ]  # fmt: skip
    others = device.get("others", {})
    size, count = _whole(others.get("bytes", 0)), _whole(others.get("count", 0))
    return (*listed, *([HeldArrays("", "", "", count, size)] if size else []))


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise ValueError
    return value
