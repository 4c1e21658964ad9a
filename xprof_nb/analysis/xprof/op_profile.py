"""xprof's own op profile: its trees, the numbers of its nodes and what it divides them by.

Rules as in xprof 2.24 (`op_profile_builder`). Root and programs count the self time of every op; scopes, categories,
duplicates and ops only those whose time is all their own. FLOPs are measured against the time at the nominal clock
where the runtime states it, which leaves idle time out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.op_nodes import (
    COLUMNS,
    SUMMED,
    Fused,
    Shown,
    fused_nodes,
    idle_node,
    limited,
    program_label,
    shown_part,
    source_steps,
    values_of,
    with_nodes,
)
from xprof_nb.analysis.ops import OpTable
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.sentences import op_profile_sentence
from xprof_nb.analysis.tree import Step, Tree, in_preorder
from xprof_nb.analysis.xprof import compat, gpu
from xprof_nb.analysis.xprof.gpu_costs import gpu_costs
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, taken
from xprof_nb.model.device import Peaks
from xprof_nb.model.grouping import By
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program

_MORE = ["model_flops", "normalized_time_ps", "hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes"]
XPROF_COLUMNS = [*COLUMNS, "mean_time_ps", "busy_fraction", *_MORE, "on_chip_read_utilization",
                 "on_chip_write_utilization"]  # fmt: skip
_COUNTS_ALL = "program"
"""Kind of nodes that, as the root, count the self time of every op, those without a row of their own too."""
_UNSHOWN = {"parameter", "tuple"}


def op_profile(profile: ProfileData, by: By, selection: Selection, shown: Shown) -> Answer:
    """Return xprof's tree as nodes in preorder; of the groupings xprof does not know ``by="source"``.

    Beyond our columns: ``mean_time_ps`` (its ``avgTimePs``), ``busy_fraction`` (share of the tree without idle time),
    ``model_flops`` (``rawFlops``; ``flops`` are its ``bf16Flops``), ``normalized_time_ps``, bytes and utilisation by
    memory.
    """
    table = compat.op_table(profile, selection)
    peaks, total_ps = table.stated_peaks, compat.core_time_ps(profile, selection)
    records = compat.records(table)
    records = taken(records, np.argsort(-records["self_time_ps"], kind="stable"))
    rated = op_tables.with_rates(records, peaks, total_ps)
    tree = _tree(records, by)
    values = values_of(tree, rated, [*SUMMED, "normalized_time_ps"])
    inside = _with_costs if gpu.has_gpus(profile) else _without_costs
    more = [idle_node(tree, max(total_ps - table.busy_ps, 0.0)), *fused_nodes(tree, rated, profile, inside)]
    values = with_nodes(values, more)
    values["time_ps"][0] = values["self_time_ps"][0] = float(total_ps)
    nodes = op_tables.with_rates(in_preorder(tree, values, "self_time_ps"), peaks, total_ps)
    frame = _measured(as_frame({**nodes, "bound_by": nodes["bound"]}), peaks, table)
    summary = _summary(by, table, total_ps, frame)
    said = op_tables.notes(profile, table, rated)
    if not len(records["op"]) and not total_ps:
        return Answer(frame.iloc[:0][XPROF_COLUMNS], summary, said)
    return Answer(shown_part(frame, shown)[XPROF_COLUMNS], summary, said)


def _tree(records: Columns, by: By) -> Tree:
    tree = Tree("all programs")
    own = compat.has_a_row(records)
    names = [records[name].tolist() for name in ("op", "duplicate_of")]
    paths = _paths(records, by)
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for record, (op, duplicate_of) in enumerate(zip(*names, strict=True)):
        if own[record]:
            groups[(*paths[record], duplicate_of if isinstance(duplicate_of, str) else op)].append(record)
    several = len(set(records["program_id"].tolist())) > 1 and by in {"category", "source"}
    programs = [program_label(name or "", int(number)) for name, number in zip(records["program"],
                records["program_id"], strict=True)]  # fmt: skip
    for record in range(len(own)):
        if not own[record]:
            tree.count([step for step in paths[record] if step[0] == _COUNTS_ALL], record)
    for (*path, _), members in groups.items():
        top = [("group", f"{names[0][members[0]]} and its duplicate(s)")] if len(members) > 1 else []
        for record in members:
            name = f"{names[0][record]}  {programs[record]}" if several else names[0][record]
            tree.add([*path, *top, ("op", name)], record)
    return tree


def _paths(records: Columns, by: By) -> list[list[Step]]:
    """Return for each op the steps from the root to where xprof hangs it, or its group of duplicates."""
    path = "provenance" if "provenance" in records else "framework_op"
    columns = (records[name].tolist() for name in ("program", "program_id", "category", path, "source"))
    paths: list[list[Step]] = []
    for name, number, category, provenance, source in zip(*columns, strict=True):
        program, last = ("program", program_label(name or "", number)), ("category", str(category))
        if by == "program":
            paths.append([program, last])
        elif by == "category":
            paths.append([last])
        elif by == "framework":
            paths.append([program, *(("framework", part) for part in _provenance(provenance)), last])
        else:
            paths.append(source_steps(source))
    return paths


def _provenance(path: object) -> list[str]:
    """Split ``a/jit(b/c)/dot:Dot`` at every slash, and leave out what follows the colon."""
    parts = [part for part in compat.text_of(path).split("/") if part]
    return limited([*parts[:-1], parts[-1].partition(":")[0]]) if parts else []


def _with_costs(program: Program, fusion: Instruction) -> Fused:
    costs = gpu_costs(program)
    return [(item, costs[item.name].model_flops if item.name in costs else 0.0) for item in _fused(program, fusion)]


def _without_costs(program: Program, fusion: Instruction) -> Fused:
    return [(item, 0.0) for item in _fused(program, fusion)]


def _fused(program: Program, fusion: Instruction) -> list[Instruction]:
    return [
        item
        for called in fusion.called
        for item in program.computations[called].instructions
        if item.opcode not in _UNSHOWN
    ]


def _measured(frame: pd.DataFrame, peaks: Peaks, table: OpTable) -> pd.DataFrame:
    """Quote rates over the time of each node, idle included at the root, and FLOPs over the nominal clock's."""
    time_ps, normal_ps = (frame[name].to_numpy(np.float64) for name in ("time_ps", "normalized_time_ps"))
    time_s = op_tables.seconds(frame["time_ps"].to_numpy())
    needed_ps = frame["compute_ps"].to_numpy(np.float64)
    sram = [peaks.bytes_per_s.get(f"sram_{way}") for way in ("read", "write")]
    found = {
        "flops_per_s": frame["flops"] / time_s,
        "bytes_per_s": frame["bytes_accessed"] / time_s,
        "hbm_bytes_per_s": frame["hbm_bytes"] / time_s,
        "flops_utilization": needed_ps / np.where(normal_ps > 0, normal_ps, np.where(time_ps > 0, time_ps, np.nan)),
        "hbm_utilization": frame["hbm_bytes"] / time_s / (peaks.hbm.value if peaks.hbm else np.nan),
        "mean_time_ps": frame["time_ps"] / frame["occurrences"].where(frame["occurrences"] > 0),
        "busy_fraction": (frame["self_time_ps"] / (table.busy_ps or np.nan)).where(frame["kind"] != "idle"),
        **{
            f"on_chip_{way}_utilization": frame[f"on_chip_{way}_bytes"] / time_s / (peak.value if peak else np.nan)
            for way, peak in zip(("read", "write"), sram, strict=True)
        },
    }
    frame = frame.assign(**found)
    return frame.assign(wasted_fraction=compat.wasted(frame))


def _summary(by: By, table: OpTable, total_ps: int, frame: pd.DataFrame) -> dict[str, Any]:
    summary = {"by": by, **op_tables.summary(table), "total_time_ps": total_ps, "node_count": len(frame)}
    summary["roofs_used"] = []
    summary["idle_time_ps"] = max(total_ps - table.busy_ps, 0.0)
    summary["idle_fraction"] = summary["idle_time_ps"] / total_ps if total_ps else None
    summary["time_scale"] = compat.time_scale(table)
    summary["sentence"] = op_profile_sentence(frame, summary)
    return summary
