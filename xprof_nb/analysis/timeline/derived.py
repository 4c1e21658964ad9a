"""Tracks that no file has: what a device did, in the same terms for every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.allocator_events import device_of_allocator
from xprof_nb.analysis.collective_ops import COPIES, moving_keys
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.ops import costs_of_keys
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.lanes import Lanes, lay_out
from xprof_nb.analysis.timeline.stretches import stretches
from xprof_nb.formats.asynchronous import start_keys
from xprof_nb.model.columns import Columns, taken
from xprof_nb.model.device import Peak
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.roofs import roofs_of
from xprof_nb.model.trace import HostTrace

Ints = NDArray[np.int64]
Rows = NDArray[np.int64]

DEEPEST_SCOPE = 32


def op_times(trace: HostTrace) -> tuple[Ints, Ints]:
    """Return start and duration of every op on the host's clock.

    The launching call is not the op: on a CPU, whose clocks are one, an op lasts until its asynchronous part ends.
    """
    ops = trace.ops
    on_cpu = bool(trace.devices) and trace.devices[0].backend == "cpu"
    return ops.host_start_ps, ops.duration_ps if on_cpu else ops.host_duration_ps


def steps_of(_profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return the steps of a device; an event is a row of `step_spans`."""
    spans = step_spans(trace)
    rows = np.flatnonzero(np.isin(spans["device_row"], [device, -1]))
    mine = taken(spans, rows)
    labels = [
        str(name) if str(number) in str(name) else f"{name} {number}"
        for name, number in zip(mine["name"], mine["step"].tolist(), strict=True)
    ]
    code, names = pd.factorize(np.array(labels, object))
    return _laid_out(names, ["control"] * len(names), code, mine["start_ps"], mine["duration_ps"], rows)


def programs_of(_profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return the program runs of a device; an event is a row of `HostTrace.runs`."""
    runs = trace.runs
    rows = np.flatnonzero(runs.device == device)
    code, names = pd.factorize(runs.program[rows].astype(object))
    return _laid_out(names, ["control"] * len(names), code, runs.start_ps[rows], runs.duration_ps[rows], rows)


def ops_of(profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return the ops of a device; an event is a row of `HostTrace.ops`."""
    start_ps, duration_ps = op_times(trace)
    described = described_keys(profile, trace)
    if len(trace.devices) == 1:
        return lay_out(_texts(described["op"]), _kinds(described), trace.ops.key, start_ps, duration_ps)
    rows = np.flatnonzero(trace.ops.device == device)
    return _of_ops(trace, described, rows, start_ps[rows], duration_ps[rows])


def collectives_of(profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return the collectives of a device, an asynchronous one from its start half to the end of its done half."""
    rows = np.flatnonzero((trace.ops.device == device) & collective_keys(profile, trace)[trace.ops.key])
    start_ps, duration_ps = _with_transfers(trace, rows)
    return _of_ops(trace, described_keys(profile, trace), rows, start_ps, duration_ps)


def collective_keys(profile: ProfileData, trace: HostTrace) -> NDArray[np.bool_]:
    """Return which keys are collectives; a start half is not where its done half, which reaches back, is known."""
    kinds = moving_keys(profile, trace)["kind"]
    wanted = np.array([kind is not None and kind not in COPIES for kind in kinds], np.bool_)
    started = start_keys(trace.keys, profile.programs)
    wanted[started[started >= 0]] = False
    return wanted


def asynchronous_of(profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return what went on beside the ops of a device: transfers, and ops that outlived the call that launched them."""
    rows = asynchronous_rows(trace, device)
    start_ps, duration_ps = _with_transfers(trace, rows)
    return _of_ops(trace, described_keys(profile, trace), rows, start_ps, duration_ps)


def asynchronous_rows(trace: HostTrace, device: int) -> Rows:
    """Return the ops of a device that are the end of a transfer, or went on after their call had returned."""
    ops = trace.ops
    goes_on = ~np.isnan(ops.transfer_ps)
    if trace.devices[device].backend == "cpu":
        goes_on = goes_on | (ops.duration_ps > ops.host_duration_ps)
    return np.flatnonzero(goes_on & (ops.device == device))


def scopes_of(profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return the framework's scopes that ops of a device came from, one inside the other; an event is its first op.

    Ops that follow one another in the same run of a program and have the same scope are one event.
    """
    paths = [scope_path(text) for text in described_keys(profile, trace)["framework_op"]]
    levels = []
    for depth in range(min(max(map(len, paths), default=0), DEEPEST_SCOPE)):
        prefixes = ["\0".join(path[: depth + 1]) if len(path) > depth else None for path in paths]
        code_of_key, distinct = pd.factorize(np.array(prefixes, object))
        levels.append((code_of_key, [prefix.rpartition("\0")[2] for prefix in distinct]))
    return _stretched(trace, device, levels)


def source_of(profile: ProfileData, trace: HostTrace, device: int) -> Lanes:
    """Return the source lines that ops of a device came from; neighbours of the same line are one event."""
    code_of_key, names = pd.factorize(described_keys(profile, trace)["source"])
    return _stretched(trace, device, [(code_of_key, list(names))])


def roof_of(trace: HostTrace, device: int, cost: str) -> Peak | None:
    """Return the roof that a cost of a device's ops, ``"flops"`` or ``"hbm_bytes"``, is compared with."""
    peaks = roofs_of(trace.devices[device])
    return peaks.reference if cost == "flops" else peaks.hbm


def utilization_of(profile: ProfileData, trace: HostTrace, device: int, cost: str, ops: Lanes) -> Rates:
    """Return a cost of a device's ops over time as a share of its roof, per second where that is not known."""
    roof = roof_of(trace, device, cost)
    return Rates(ops, work_of_keys(profile, trace, device, cost), (roof.value if roof is not None else 1.0) * 1e-12)


def work_of_keys(profile: ProfileData, trace: HostTrace, device: int, cost: str) -> NDArray[np.float64]:
    """Return a cost of one execution of each op key as the table of ops counts it, 0 where there is none."""
    return np.nan_to_num(costs_of_keys(profile, trace, roofs_of(trace.devices[device]))[cost])


def allocators_of(trace: HostTrace) -> dict[int, str | None]:
    """Return the allocators that reported anything: row of `Allocations.allocators`, and the device or None."""
    table = trace.allocations
    return {code: device_of_allocator(trace, table.allocators[code]) for code in np.unique(table.allocator).tolist()}


def memory_of(allocator: int, _profile: ProfileData, trace: HostTrace) -> Samples:
    """Return the bytes an allocator had given out and not got back, over time."""
    table = trace.allocations
    rows = np.flatnonzero(table.allocator == allocator)
    return Samples(table.start_ps[rows], table.heap_bytes[rows])


def scope_path(framework_op: str | None) -> list[str]:
    """Return a framework op's path level by level: ``"jit(f)/layer/dot"`` has three."""
    return [part for part in (framework_op or "").split("/") if part]


def _with_transfers(trace: HostTrace, rows: Rows) -> tuple[Ints, Ints]:
    start_ps, duration_ps = op_times(trace)
    start_ps, duration_ps, transfer = start_ps[rows], duration_ps[rows], trace.ops.transfer_ps[rows]
    longer = np.where(np.isnan(transfer), duration_ps, transfer).astype(np.int64)
    longer = np.maximum(longer, duration_ps)
    return start_ps + duration_ps - longer, longer


def _stretched(trace: HostTrace, device: int, levels: Sequence[tuple[NDArray[Any], list[str]]]) -> Lanes:
    """Return the stretches of each level: a code by op key, -1 for none, and what the codes are called."""
    ops, runs = trace.ops, trace.runs
    start_ps, duration_ps = op_times(trace)
    rows = np.flatnonzero((ops.device == device) & ~ops.contains)
    begin = start_ps[rows]
    if (begin[1:] < begin[:-1]).any():
        order = np.argsort(begin, kind="stable")
        rows, begin = rows[order], begin[order]
    run = np.searchsorted(np.sort(runs.start_ps[runs.device == device]), begin, side="right")
    names: list[str] = []
    codes = np.full((len(levels), len(trace.keys)), -1, np.int32)
    for level, (code_of_key, labels) in enumerate(levels):
        codes[level] = np.where(code_of_key < 0, -1, code_of_key + len(names))
        names += labels
    found = stretches(codes, ops.key[rows], begin, begin + duration_ps[rows], run)
    kinds: list[str | None] = [None] * len(names)
    event = _narrow(rows[found.row])
    if found.are_apart:  # a level is a lane: what is in a scope is in the scope around it
        return Lanes(names, kinds, found.first, found.start_ps, found.duration_ps, found.code, event)
    return lay_out(names, kinds, found.code, found.start_ps, found.duration_ps, event)


def _of_ops(trace: HostTrace, described: Columns, rows: Rows, start_ps: Ints, duration_ps: Ints) -> Lanes:
    return _laid_out(_texts(described["op"]), _kinds(described), trace.ops.key[rows], start_ps, duration_ps, rows)


def _laid_out(names: Any, kinds: Any, code: Any, start_ps: Any, duration_ps: Any, event: Rows) -> Lanes:
    start, duration = (np.asarray(column, np.int64) for column in (start_ps, duration_ps))
    return lay_out(list(names), list(kinds), np.asarray(code, np.int32), start, duration, _narrow(event))


def _narrow(rows: Rows) -> NDArray[Any]:
    return rows.astype(np.int32 if len(rows) == 0 or rows.max() < 2**31 else np.int64)


def _texts(column: NDArray[Any]) -> list[str]:
    return [str(text) for text in column]


def _kinds(described: Columns) -> list[str | None]:
    return [kind if isinstance(kind, str) else None for kind in described["work_kind"]]
