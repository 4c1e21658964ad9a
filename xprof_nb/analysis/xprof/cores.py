"""xprof's steps of TPU cores: how long each lasts, and what its time went to.

Rules as in xprof 2.24 (``xplane_to_step_events``, ``op_stats_to_input_pipeline_analysis``). A step is one that every
core recorded, as long as the longest mark; idle is what its ops leave. Compute is the least over the cores, infeed and
host transfers the most, outfeed the mean, and idle what is left of the shortest. Where nothing is fed in, what the host
spent on input in a step counts as infeed, taken from idle time. Of the core that spent the most on numbered
all-reduces, the shortest of each over the cores is work and the rest waiting for the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.selection import Selection, chosen_hosts, is_chosen
from xprof_nb.analysis.xprof.step_alignment import first_steps
from xprof_nb.model.columns import words
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

COLUMNS = ["step", "name", "start_ps", "step_time_ps", "compute_ps", "infeed_ps", "outfeed_ps", "idle_ps",
           "host_transfer_ps", "active_ps", "all_reduce_compute_ps", "all_reduce_sync_ps", "infeed_mean_fraction",
           "infeed_min_fraction", "infeed_max_fraction", "infeed_core", "sparse_core_step_time_ps",
           "sparse_core_compute_ps", "sparse_core_idle_ps"]  # fmt: skip
_HOST_TRANSFERS = ("host send", "host send-done", "host recv", "host recv-done")
_KINDS = ("infeed", "outfeed", "host_transfer", "megacore", "other")


@dataclass
class _Core:
    """A step on one core: its length, what its ops took by kind, and what of idle time counts as waiting for input."""

    name: str
    is_sparse: bool
    step_ps: int
    recorded_infeed_ps: int
    outfeed_ps: int
    transfer_ps: int
    megacore_ps: int
    other_ps: int
    moved_ps: int = 0

    @property
    def infeed_ps(self) -> int:
        return self.recorded_infeed_ps + self.moved_ps

    @property
    def busy_ps(self) -> int:
        return self.recorded_infeed_ps + self.outfeed_ps + self.transfer_ps + self.optimal_ps

    @property
    def optimal_ps(self) -> int:
        """What the step would take if the core never waited for the host."""
        return self.megacore_ps + self.other_ps

    @property
    def idle_ps(self) -> int:
        return max(self.step_ps - self.busy_ps, 0)


@dataclass
class _Step:
    """A step on all cores."""

    group: int
    start_ps: int
    end_ps: int
    cores: list[_Core]
    reduces: list[dict[int, list[int]]] = field(default_factory=list)
    """By core: lengths of its all-reduces by their number."""


def steps_of_cores(profile: ProfileData, selection: Selection) -> pd.DataFrame:
    """Return xprof's step table of the chosen cores: `COLUMNS`, times in ps."""
    merged = [
        _Step(number, min(step.start_ps for step in steps), max(step.end_ps for step in steps),
              [core for step in steps for core in step.cores], [each for step in steps for each in step.reduces])
        for number, steps in _together(profile, selection)
    ]  # fmt: skip
    frame = pd.DataFrame([_row(step) for step in merged], columns=COLUMNS)
    return frame.assign(infeed_core=words(frame["infeed_core"]))


Chosen = tuple[HostTrace, NDArray[np.int64], NDArray[np.int64]]
"""A host, rows of its op events and of its devices."""


def core_groups(profile: ProfileData, selection: Selection) -> Iterator[tuple[int, list[Chosen], int]]:
    """Yield of each step its number, the ops of its TensorCores by host, and its length summed over those."""
    workers = _workers(profile, selection)
    for number, steps in _together(profile, selection):
        parts, total_ps = [], 0
        for trace, step in zip(workers, steps, strict=True):
            cores = [row for row in _wanted(trace, selection) if not trace.devices[row].kind]
            is_in = np.isin(trace.ops.device, cores) & (trace.core_steps.group_of_op == step.group)
            parts.append((trace, np.flatnonzero(is_in), np.array(cores, np.int64)))
            total_ps += sum(max(core.step_ps, core.busy_ps) for core in step.cores if not core.is_sparse)
        yield number, parts, total_ps


def _together(profile: ProfileData, selection: Selection) -> list[tuple[int, list[_Step]]]:
    """Return the steps that all hosts have, with their number: of one host that of the group, else by place."""
    hosts = [_steps(profile, trace, selection) for trace in _workers(profile, selection)]
    if len(hosts) == 1:
        return [(step.group, [step]) for step in hosts[0]]
    first, count = first_steps([[(step.start_ps, step.end_ps) for step in steps] for steps in hosts])
    return [(place, [steps[begin + place] for begin, steps in zip(first, hosts, strict=True)])
            for place in range(count)]  # fmt: skip


def _workers(profile: ProfileData, selection: Selection) -> list[HostTrace]:
    return [trace for trace in chosen_hosts(profile, selection) if trace.devices]


def _wanted(trace: HostTrace, selection: Selection) -> list[int]:
    return [row for row, device in enumerate(trace.devices)
            if selection.device is None or is_chosen(device, selection.device)]  # fmt: skip


def _steps(profile: ProfileData, trace: HostTrace, selection: Selection) -> list[_Step]:
    found, ops = trace.core_steps, trace.ops
    wanted = _wanted(trace, selection)
    marks = found.marks
    groups = _common_groups(trace, wanted)
    span = dict.fromkeys(groups, (0, 0))
    of_core: dict[tuple[int, int], int] = {}
    for core, group, begin, end in zip(marks.device.tolist(), marks.group.tolist(), marks.start_ps.tolist(),
                                       marks.end_ps.tolist(), strict=True):  # fmt: skip
        if core in wanted and group in span:
            of_core[core, group] = max(of_core.get((core, group), 0), end - begin)
            if end - begin > span[group][1] - span[group][0]:
                span[group] = (begin, end)
    times = _times_by_kind(profile, trace, groups)
    has_infeed = bool(np.isin(ops.key, np.flatnonzero(_categories(profile, trace) == "infeed")).any())
    steps = []
    for number, group in enumerate(groups):
        begin, end = span[group]
        if end <= begin:
            continue
        cores = []
        for row in wanted:
            is_sparse = bool(trace.devices[row].kind)
            length = of_core.get((row, group), 0) if is_sparse else end - begin
            cores.append(_Core(trace.devices[row].name, is_sparse, length, *times[row, number].tolist()))
        step = _Step(group, begin, end, cores, _reduces(trace, group, wanted))
        if not has_infeed:
            _count_host_input(step, found.input_ps.get(group, 0))
        steps.append(step)
    return steps


def _common_groups(trace: HostTrace, wanted: list[int]) -> list[int]:
    """Return the groups that every core with any has: marked, and with an op in them."""
    found, ops = trace.core_steps, trace.ops
    common: set[int] = set()
    if not len(found.group_of_op):
        return []
    for core in wanted:
        marked = set(found.marks.group[found.marks.device == core].tolist())
        mine = marked & set(np.unique(found.group_of_op[ops.device == core]).tolist())
        if mine:
            common = common & mine if common else mine
    return sorted(common)


def _categories(profile: ProfileData, trace: HostTrace) -> NDArray[np.object_]:
    return described_keys(profile, trace)["category"].astype(str)


def _times_by_kind(profile: ProfileData, trace: HostTrace, groups: list[int]) -> NDArray[np.int64]:
    """Return the self times of each core's ops in each group, by `_KINDS`."""
    found, ops = trace.core_steps, trace.ops
    category = _categories(profile, trace)
    kind_of = np.select([category == "infeed", category == "outfeed", np.isin(category, _HOST_TRANSFERS),
                         category == "megacore fusion"], [0, 1, 2, 3], 4)  # fmt: skip
    size = (len(trace.devices), len(groups), len(_KINDS))
    known = np.flatnonzero(np.isin(found.group_of_op, groups))
    number = np.searchsorted(groups, found.group_of_op[known])
    at = (ops.device[known].astype(np.int64) * len(groups) + number) * len(_KINDS) + kind_of[ops.key[known]]
    return np.bincount(at, ops.self_ps[known], minlength=int(np.prod(size))).astype(np.int64).reshape(size)


def _reduces(trace: HostTrace, group: int, wanted: list[int]) -> list[dict[int, list[int]]]:
    found = trace.core_steps
    by_core: dict[int, dict[int, list[int]]] = {row: defaultdict(list) for row in wanted}
    for row in np.flatnonzero(found.reduce_group == group).tolist():
        if found.reduce_core[row] in by_core:
            by_core[int(found.reduce_core[row])][int(found.reduce_id[row])].append(int(found.reduce_ps[row]))
    return list(by_core.values())


def _count_host_input(step: _Step, input_ps: int) -> None:
    """Book the part of idle time as infeed that the host spent on input."""
    if not input_ps or not (idle_ps := _idle_ps([core for core in step.cores if not core.is_sparse])):
        return
    share = min(input_ps / idle_ps, 1.0)
    for core in step.cores:
        if not core.is_sparse:
            core.moved_ps = int(core.idle_ps * share)


def _idle_ps(cores: list[_Core]) -> float:
    if not cores:
        return 0.0
    spent = min(core.optimal_ps for core in cores) + max(core.infeed_ps for core in cores)
    return max(min(core.step_ps for core in cores) - spent - float(np.mean([core.outfeed_ps for core in cores])), 0.0)


def _row(step: _Step) -> dict[str, object]:
    cores = [core for core in step.cores if not core.is_sparse]
    sparse = [core for core in step.cores if core.is_sparse]
    shares = [core.infeed_ps / core.step_ps for core in cores]
    most = max(cores, key=lambda core: core.infeed_ps, default=None)
    work_ps, wait_ps = _work_and_wait(step.reduces)
    return {
        "step": step.group,
        "name": str(step.group),
        "start_ps": step.start_ps,
        "step_time_ps": max((core.step_ps for core in cores), default=0),
        "compute_ps": min((core.optimal_ps for core in cores), default=0),
        "infeed_ps": most.infeed_ps if most else 0,
        "outfeed_ps": float(np.mean([core.outfeed_ps for core in cores])) if cores else 0.0,
        "idle_ps": _idle_ps(cores),
        "host_transfer_ps": max((core.transfer_ps for core in cores), default=0),
        "active_ps": float(np.mean([core.other_ps for core in cores])) if cores else 0.0,
        "all_reduce_compute_ps": work_ps,
        "all_reduce_sync_ps": wait_ps,
        "infeed_mean_fraction": float(np.mean(shares)) if shares else 0.0,
        "infeed_min_fraction": min(shares, default=0.0),
        "infeed_max_fraction": max(shares, default=0.0),
        "infeed_core": most.name if most and most.infeed_ps else None,
        "sparse_core_step_time_ps": float(np.mean([core.step_ps for core in sparse])) if sparse else np.nan,
        "sparse_core_compute_ps": min(core.step_ps - core.idle_ps for core in sparse) if sparse else np.nan,
        "sparse_core_idle_ps": float(np.mean([core.idle_ps for core in sparse])) if sparse else np.nan,
    }


def _work_and_wait(reduces: list[dict[int, list[int]]]) -> tuple[int, int]:
    """Return what the core that spent the most on all-reduces worked, and how long it waited for the others."""
    least: dict[int, int] = {}
    for of_core in reduces:
        for number, lengths in of_core.items():
            least[number] = min([least.get(number, lengths[0]), *lengths])
    spent = [
        (sum(least[number] * len(lengths) for number, lengths in of_core.items()),
         sum(length - least[number] for number, lengths in of_core.items() for length in lengths))
        for of_core in reduces
    ]  # fmt: skip
    return max(spent, key=sum, default=(0, 0))
