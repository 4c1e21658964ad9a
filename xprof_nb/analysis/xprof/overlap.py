"""xprof's ``analyze_async_overlap``: how much of each asynchronous op is covered by other ops of its plane.

Rules as in xprof 2.24 (`cli/internal/async_overlap.py`): on the host's clock; spans are those recorded for the plane,
where there are any, else pairs by name, first in first out over the whole capture; what covers is every op that is no
half of a pair, loops and collectives included; overlapping spans count each for itself.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.selection import Selection, chosen_hosts, is_chosen, not_applied
from xprof_nb.formats.asynchronous import first_in_first_out
from xprof_nb.model.answer import Answer
from xprof_nb.model.intervals import Moments, union
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

HIDDEN_FROM, EXPOSED_UNTIL = 0.9, 0.1
COLUMNS = ["host", "device", "op", "occurrences", "time_ps", "exposed_time_ps", "overlapped_time_ps", "overlap_ratio",
           "hidden", "partial", "exposed", "window_source"]  # fmt: skip
_HALF = re.compile(r"^(?P<base>.+)-(?P<role>start|done)(?P<n>\.\d+)?$")
_SEND_RECV = re.compile(r"^(?P<base>send|recv)(?P<n>\.\d+)?$")


def overlap(profile: ProfileData, selection: Selection) -> Answer:
    """Return one row per host, device and kind of asynchronous op, the most exposed first."""
    frames, unpaired = [], 0
    for trace in chosen_hosts(profile, selection):
        for row, device in enumerate(trace.devices):
            if device.backend == "tpu" and (selection.device is None or is_chosen(device, selection.device)):
                windows, left = _windows(trace, row)
                unpaired += left
                frames.append(windows.assign(host=trace.host, device=device.name))
    windows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    whole = not_applied(selection, ("program", "step", "window_ps"), "xprof's overlap is of whole profiles")
    if not len(windows):
        why = "xprof looks for asynchronous ops on TPU planes alone, and found none here."
        return Answer(pd.DataFrame(columns=COLUMNS), {"unpaired_ops": unpaired}, (*whole, why))
    frame = windows.groupby(["host", "device", "op"], sort=False, as_index=False).agg(
        occurrences=("span_ps", "size"),
        time_ps=("span_ps", "sum"),
        exposed_time_ps=("exposed_ps", "sum"),
        hidden=("hidden", "sum"),
        exposed=("exposed", "sum"),
        window_source=("window_source", "first"),
    )
    frame["partial"] = frame["occurrences"] - frame["hidden"] - frame["exposed"]
    frame["overlapped_time_ps"] = frame["time_ps"] - frame["exposed_time_ps"]
    frame["overlap_ratio"] = frame["overlapped_time_ps"] / frame["time_ps"]
    frame = frame.sort_values("exposed_time_ps", ascending=False, kind="stable").reset_index(drop=True)
    notes = (*whole, "Numbers as xprof's analyze_async_overlap has them.")
    return Answer(frame[COLUMNS], _summary(frame, unpaired), notes)


def _summary(frame: pd.DataFrame, unpaired: int) -> dict[str, Any]:
    sums = frame[["occurrences", "time_ps", "exposed_time_ps", "hidden", "partial", "exposed"]].sum()
    ratio = float(1.0 - sums["exposed_time_ps"] / sums["time_ps"]) if sums["time_ps"] else None
    return {**{str(name): int(value) for name, value in sums.items()}, "unpaired_ops": unpaired, "overlap_ratio": ratio}


def _windows(trace: HostTrace, device: int) -> tuple[pd.DataFrame, int]:
    """Return ``op, span_ps, exposed_ps, hidden, exposed, window_source`` by op, and how many lack a half."""
    names = [str(op) for op in trace.keys.op]
    roles = [_role(name) for name in names]
    rows = np.flatnonzero(trace.ops.device == device)
    start, end = trace.ops.host_start_ps[rows], (trace.ops.host_start_ps + trace.ops.host_duration_ps)[rows]
    is_half = np.array([role is not None for role in roles], np.bool_)[trace.ops.key[rows]]
    compute = union(start[~is_half], end[~is_half])
    spans = trace.spans
    recorded = np.flatnonzero(spans.recorded & (spans.device == device))
    left = 0
    if len(recorded):
        # The recorded event itself is called async-copy; xprof takes the HLO text, which is the start half's.
        key, begin = spans.key[recorded], spans.host_start_ps[recorded]
        until, source = begin + spans.host_duration_ps[recorded], "Async XLA Ops"
    else:
        # jax.profiler.ProfileData, which xprof reads with, gives the longest of events that start together first.
        halves = np.flatnonzero(is_half)
        halves = halves[np.lexsort((start[halves] - end[halves], start[halves]))]
        begun, done, left = _pairs(roles, trace.ops.key[rows[halves]])
        key, begin, until = trace.ops.key[rows[halves[begun]]], start[halves[begun]], end[halves[done]]
        source = "start_done_pairs"
    families = np.array([_family(name) for name in names], object)
    return _covered(families[key], begin, until, compute).assign(window_source=source), left


def _covered(op: Any, begin: NDArray[np.int64], until: NDArray[np.int64], compute: Moments) -> pd.DataFrame:
    frame = pd.DataFrame({"op": op, "span_ps": until - begin})
    frame["exposed_ps"] = frame["span_ps"] - compute.covered_ps(begin, until)
    frame = frame[frame["span_ps"] > 0]
    ratio = 1 - frame["exposed_ps"] / frame["span_ps"]
    return frame.assign(hidden=ratio >= HIDDEN_FROM, exposed=ratio <= EXPOSED_UNTIL)


def _role(name: str) -> tuple[str, bool] | None:
    """Return what both halves of an asynchronous op are called, and whether this is the first."""
    found = _HALF.match(name)
    if found:
        return found["base"] + (found["n"] or ""), found["role"] == "start"
    found = _SEND_RECV.match(name)
    return (found["base"] + (found["n"] or ""), True) if found else None


def _pairs(
    roles: list[tuple[str, bool] | None], keys: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return positions of start and done halves paired in the order given, and how many halves are left."""
    codes, _ = pd.factorize(np.array([role[0] if role else "" for role in roles], object))
    is_start = np.array([bool(role and role[1]) for role in roles], np.bool_)[keys]
    order = np.argsort(codes[keys], kind="stable")
    partner = first_in_first_out(codes[keys][order], is_start[order])
    done = np.flatnonzero(partner >= 0)
    return order[partner[done]], order[done], len(keys) - 2 * len(done)


def _family(name: str) -> str:
    found = _HALF.match(name) or _SEND_RECV.match(name)
    base = found["base"] if found else name
    words = [word for word in base.split(".") if word and not word.isdigit()]
    return words[-1] if words else base
