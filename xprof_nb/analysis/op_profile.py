"""Where did the time go, as a tree: program, category, framework scope or source line down to fused instructions."""

from __future__ import annotations

from collections import Counter

import numpy as np

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.compute_dtype import roofs_used
from xprof_nb.analysis.op_identity import costs_of
from xprof_nb.analysis.op_nodes import (
    COLUMNS,
    Fused,
    Shown,
    fused_nodes,
    idle_node,
    program_label,
    scopes,
    shown_part,
    source_steps,
    values_of,
    with_nodes,
)
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.sentences import op_profile_sentence
from xprof_nb.analysis.tree import Step, Tree, in_preorder
from xprof_nb.analysis.xprof import op_profile as xprof_op_profile
from xprof_nb.analysis.xprof.compat import by_op
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, taken
from xprof_nb.model.device import Peaks
from xprof_nb.model.grouping import By
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program

_UNFUSED = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}


def op_profile(profile: ProfileData, by: By, selection: Selection, shown: Shown, like_xprof: bool) -> Answer:
    """Return the op profile as nodes in preorder.

    A node's ``self_time_ps`` is the device time of the ops below it and its own; children add up to their
    parent. ``time_ps`` of an op also counts what ran inside it. Fused instructions have FLOPs, but no time:
    a fusion is the smallest unit any backend measures.
    """
    if like_xprof:
        return xprof_op_profile.op_profile(profile, by, selection, shown)
    table = op_tables.op_table(profile, selection)
    peaks, total_ps = table.peaks, table.total_ps
    records = by_op(op_tables.corrected(table.columns, peaks))
    records = taken(records, np.argsort(-records["self_time_ps"], kind="stable"))
    tree = Tree("all programs")
    for record, path in enumerate(_paths(records, by)):
        tree.add(path, record)
    rated = op_tables.with_rates(records, peaks, total_ps)
    values = values_of(tree, rated)
    values = with_nodes(values, [idle_node(tree, table.idle_ps), *fused_nodes(tree, rated, profile, _inside)])
    values["time_ps"][0] = values["self_time_ps"][0] = float(total_ps)
    nodes = op_tables.with_rates(in_preorder(tree, values, "self_time_ps"), peaks, total_ps)
    nodes["bound_by"] = nodes["bound"]
    _root_over_all(nodes, peaks, total_ps)
    frame = as_frame({name: nodes[name] for name in COLUMNS})
    summary = {"by": by, **op_tables.summary(table), "node_count": len(frame), "roofs_used": roofs_used(rated, peaks)}
    summary["sentence"] = op_profile_sentence(frame, summary)
    said = op_tables.notes(profile, table, rated)
    return Answer(shown_part(frame, shown) if len(records["op"]) else frame.iloc[:0], summary, said)


def _paths(records: Columns, by: By) -> list[list[Step]]:
    """Return for each op the steps from the root to it."""
    names = ("program", "program_id", "op", "category", "framework_op", "source", "duplicate_of")
    columns = [records[name].tolist() for name in names]
    count = Counter(zip(columns[1], columns[6], strict=True))
    several = len(set(columns[1])) > 1
    paths: list[list[Step]] = []
    for name, number, op, category, framework_op, source, duplicate_of in zip(*columns, strict=True):
        label = program_label(name or "", number)
        many = isinstance(duplicate_of, str) and count[number, duplicate_of] > 1
        group: list[Step] = [("group", f"{duplicate_of} and its duplicates")] if many else []
        # Where ops of several programs meet, the program is named with the op.
        told_apart: Step = ("op", f"{op}  {label}" if several else op)
        if by == "program":
            path = [("program", label), ("category", str(category)), *group, ("op", op)]
        elif by == "category":
            path = [("category", str(category)), *group, told_apart]
        elif by == "framework":
            path = [("program", label), *(("framework", part) for part in scopes(framework_op)), *group, ("op", op)]
        else:
            path = [*source_steps(source), told_apart]
        paths.append(path)
    return paths


def _inside(program: Program, fusion: Instruction) -> Fused:
    costs = costs_of(program)
    return [
        (item, costs.cost(item.name).flops)
        for called in fusion.called
        for item in program.computations[called].instructions
        if item.opcode not in _UNFUSED
    ]


def _root_over_all(nodes: Columns, peaks: Peaks, total_ps: int) -> None:
    """Quote the root's rates over the whole time, idle included."""
    time_s = total_ps * 1e-12 or np.nan
    root = {name: float(nodes[name][0]) for name in ("flops", "compute_ps", "bytes_accessed", "hbm_bytes")}
    rates = {
        "flops_per_s": root["flops"] / time_s,
        "bytes_per_s": root["bytes_accessed"] / time_s,
        "hbm_bytes_per_s": root["hbm_bytes"] / time_s,
        "flops_utilization": root["compute_ps"] * 1e-12 / time_s,
        "hbm_utilization": root["hbm_bytes"] / time_s / (peaks.hbm.value if peaks.hbm else np.nan),
    }
    for name, rate in rates.items():
        nodes[name][0] = rate
