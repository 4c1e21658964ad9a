"""Where did the time go, as a tree: program, category, framework scope or source line down to fused instructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.compute_dtype import roofs_used
from xprof_nb.analysis.op_identity import costs_of, readable_program
from xprof_nb.analysis.ops import COSTS, OpTable
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.sentences import op_profile_sentence
from xprof_nb.analysis.tree import Step, Tree, in_preorder, pruned, renumbered, with_ancestors
from xprof_nb.analysis.tree_sums import Members
from xprof_nb.analysis.xprof import compat as xprof_compat
from xprof_nb.analysis.xprof import gpu as xprof_gpu
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, as_frame, taken
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData

By = Literal["program", "category", "framework", "source"]
MOST_FUSED = 100
OUTSIDE = "outside XLA programs"
NO_SOURCE = "no source recorded"
_UNFUSED = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}
_SUMMED = ["occurrences", "time_ps", "self_time_ps", "transfer_ps", *COSTS, "compute_ps"]
_SHARED = ["work_kind", "program", "category", "compute_dtype", "roof_dtype", "program_id"]
_OWN = ["op", "framework_op", "source"]
COLUMNS = [
    "node",
    "parent",
    "depth",
    "key",
    "kind",
    "work_kind",
    "name",
    "program",
    "program_id",
    "op",
    "category",
    "framework_op",
    "source",
    "occurrences",
    "time_ps",
    "self_time_ps",
    "time_fraction",
    "flops",
    "flops_per_s",
    "flops_utilization",
    "bytes_accessed",
    "bytes_per_s",
    "hbm_bytes_per_s",
    "hbm_utilization",
    "bound_by",
    "wasted_fraction",
    "children_total",
    "compute_dtype",
    "roof_dtype",
]


@dataclass(frozen=True)
class Shown:
    """Which nodes of the tree to return.

    Attributes
    ----------
    limit
        At most about that many of the most expensive nodes; None for all.
    under
        Key of a node: only its direct children.
    search
        Text: only the nodes whose name, framework op or source contains it, and those above them.
    """

    limit: int | None = None
    under: str | None = None
    search: str | None = None


def op_profile(profile: ProfileData, by: By, selection: Selection, shown: Shown, like_xprof: bool) -> Answer:
    """Return the op profile as nodes in preorder.

    A node's ``self_time_ps`` is the device time of the ops below it and its own; children add up to their
    parent. ``time_ps`` of an op also counts what ran inside it. Fused instructions have FLOPs, but no time:
    a fusion is the smallest unit any backend measures.
    """
    table = (xprof_compat if like_xprof else op_tables).op_table(profile, selection)
    peaks = table.stated_peaks if like_xprof else table.peaks
    records = (
        xprof_compat.records(table) if like_xprof else xprof_compat.by_op(op_tables.corrected(table.columns, peaks))
    )
    records = taken(records, np.argsort(-records["self_time_ps"], kind="stable"))
    tree = Tree("all programs")
    shown_by_xprof = xprof_compat.has_a_row(records)
    for record, path in enumerate(_paths(records, by)):
        if like_xprof and not shown_by_xprof[record]:
            tree.count([step for step in path if step[0] in xprof_compat.COUNTS_ALL], record)
        else:
            tree.add(path, record)
    total_ps = xprof_compat.core_time_ps(profile, selection) if like_xprof else table.total_ps
    rated = op_tables.with_rates(records, peaks, total_ps)
    values = _values(tree, rated)
    values = _with_nodes(values, [_idle(tree, max(total_ps - table.busy_ps, 0.0)), *_fused(tree, rated, profile)])
    values["time_ps"][0] = values["self_time_ps"][0] = float(total_ps)
    nodes = op_tables.with_rates(in_preorder(tree, values, "self_time_ps"), peaks, total_ps)
    nodes["bound_by"] = nodes["bound"]
    _root_over_all(nodes, table, peaks, total_ps, like_xprof and not xprof_gpu.has_gpus(profile))
    frame = as_frame({name: nodes[name] for name in COLUMNS})
    if like_xprof:
        frame["wasted_fraction"] = xprof_compat.wasted(frame)
    summary = {"by": by, **op_tables.summary(table), "total_time_ps": total_ps, "node_count": len(frame)}
    summary["roofs_used"] = roofs_used(rated, peaks)
    summary["idle_time_ps"] = max(total_ps - table.busy_ps, 0.0)
    summary["idle_fraction"] = summary["idle_time_ps"] / total_ps if total_ps else None
    summary["sentence"] = op_profile_sentence(frame, summary)
    said = op_tables.notes(profile, table, rated)
    return Answer(_shown(frame, shown) if len(records["op"]) else frame.iloc[:0], summary, said)


def _paths(records: Columns, by: By) -> list[list[Step]]:
    """Return for each op the steps from the root to it."""
    names = ("program", "program_id", "op", "category", "framework_op", "source", "duplicate_of")
    columns = [records[name].tolist() for name in names]
    count = Counter(zip(columns[1], columns[6], strict=True))
    several = len(set(columns[1])) > 1
    paths: list[list[Step]] = []
    for name, number, op, category, framework_op, source, duplicate_of in zip(*columns, strict=True):
        label = _program_label(name or "", number)
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
            path = [*_source_steps(source), told_apart]
        paths.append(path)
    return paths


def _program_label(name: str, number: int) -> str:
    """Return ``jit_f(7)``; ops of no program, such as copies a GPU's driver was asked for, are together."""
    if name:
        return f"{name}({number})"
    return f"program {number}" if number else OUTSIDE


def scopes(framework_op: str | None) -> list[str]:
    """Split ``jit(f)/transpose(jvp(a/b))/dot`` at the slashes outside parentheses."""
    if not framework_op:
        return []
    if "(" not in framework_op:
        return [part for part in framework_op.split("/") if part]
    parts, depth, begin = [], 0, 0
    for position, letter in enumerate(framework_op):
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth == 0:
            parts.append(framework_op[begin:position])
            begin = position + 1
    return [part for part in [*parts, framework_op[begin:]] if part]


def _source_steps(source: str | None) -> list[Step]:
    if not source:
        return [("source", NO_SOURCE)]
    file, _, line = source.rpartition(":")
    return [("source", file or line), ("source", f"{file.rpartition('/')[2]}:{line}")]


def _values(tree: Tree, records: Columns) -> Columns:
    """Return the sums of every node, what bounds most of its time and, where all ops below agree, what they are."""
    members = Members.of([node.records for node in tree.nodes])
    record = np.array([node.record for node in tree.nodes])
    values: Columns = {name: members.sums(records[name].astype(np.float64)) for name in _SUMMED}
    groups = record < 0
    # What a group took is what its ops took themselves: an inclusive time would count loops twice.
    values["time_ps"][groups] = values["self_time_ps"][groups]
    # Transfers overlap each other and the ops; their lengths do not add up to a time.
    values["transfer_ps"][groups] = 0.0
    for name in _SHARED:
        labels = records[name]  # a program id as text: a float would lose its last digits
        values[name] = members.common(labels.astype(str).astype(object) if name == "program_id" else labels)
    unknown = np.array([kind is None for kind in values["work_kind"]], np.bool_)
    values["work_kind"][groups & unknown & (np.bincount(members.node, minlength=members.count) > 0)] = "control"
    values["bound"] = members.longest(records["bound_by"], records["self_time_ps"])
    for name in _OWN:
        values[name] = np.array([*records[name], None], object)[record]
    return values


def _with_nodes(values: Columns, nodes: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the values with those of further nodes; what is not said of them is missing."""
    missing = {np.dtype(object): None}
    return {
        name: np.array([*column, *(node.get(name, missing.get(column.dtype, np.nan)) for node in nodes)], column.dtype)
        for name, column in values.items()
    }


def _idle(tree: Tree, idle_ps: float) -> Mapping[str, Any]:
    tree.child(0, ("idle", "idle"))
    return {"time_ps": idle_ps, "self_time_ps": idle_ps, "transfer_ps": 0.0, "work_kind": "idle"}


def _fused(tree: Tree, records: Columns, profile: ProfileData) -> list[Mapping[str, Any]]:
    """Hang the instructions of each fusion below it, those with the most FLOPs first; return their values."""
    rows: list[Mapping[str, Any]] = []
    names = ("program_id", "op", "occurrences", "work_kind")
    ops = list(zip(*(records[name].tolist() for name in names), strict=True))
    for number in range(len(tree.nodes)):
        if tree.nodes[number].record < 0:
            continue
        program_id, op, times, work_kind = ops[tree.nodes[number].record]
        program = readable_program(profile, program_id)
        instruction = program.instruction(op) if program else None
        if program is None or instruction is None or instruction.opcode != "fusion":
            continue
        costs = costs_of(program)
        inside = [
            (item, costs.cost(item.name).flops)
            for called in instruction.called
            for item in program.computations[called].instructions
            if item.opcode not in _UNFUSED
        ]
        inside.sort(key=lambda pair: -pair[1] if pair[1] == pair[1] else 0.0)
        for item, flops in inside[:MOST_FUSED]:
            tree.child(number, ("fused", item.name))
            rows.append(
                {
                    "occurrences": times,
                    "flops": flops * times,
                    "program": program.name,
                    "program_id": str(program_id),
                    "category": item.opcode,
                    "framework_op": item.op_name or None,
                    "work_kind": work_kind,
                }
            )
    return rows


def _root_over_all(nodes: Columns, table: OpTable, peaks: Peaks, total_ps: int, without_idle: bool) -> None:
    """Quote the root's rates over the whole time, idle included; xprof leaves idle out of a TPU's FLOP rate."""
    time_s = total_ps * 1e-12 or np.nan
    compute_s = (table.busy_ps * 1e-12 or np.nan) if without_idle else time_s
    root = {name: float(nodes[name][0]) for name in ("flops", "compute_ps", "bytes_accessed", "hbm_bytes")}
    rates = {
        "flops_per_s": root["flops"] / compute_s,
        "bytes_per_s": root["bytes_accessed"] / time_s,
        "hbm_bytes_per_s": root["hbm_bytes"] / time_s,
        "flops_utilization": root["compute_ps"] * 1e-12 / compute_s,
        "hbm_utilization": root["hbm_bytes"] / time_s / (peaks.hbm.value if peaks.hbm else np.nan),
    }
    for name, rate in rates.items():
        nodes[name][0] = rate


def _shown(frame: pd.DataFrame, shown: Shown) -> pd.DataFrame:
    if shown.under is not None:
        at = frame.index[frame["key"] == shown.under]
        below = frame[frame["parent"].isin(frame.loc[at, "node"])] if len(at) else frame.iloc[:0]
        return renumbered(below.head(shown.limit) if shown.limit else below)
    if shown.search:
        frame = _matching(frame, shown.search)
    return pruned(frame, shown.limit, "self_time_ps") if shown.limit else frame


def _matching(frame: pd.DataFrame, text: str) -> pd.DataFrame:
    needle = text.casefold()
    found = np.zeros(len(frame), bool)
    for name in ("name", "framework_op", "source", "category"):
        found |= np.array([needle in str(value or "").casefold() for value in frame[name]])
    found &= ~frame["kind"].isin(["root", "program"]).to_numpy()
    return renumbered(frame.loc[with_ancestors(frame, np.flatnonzero(found))])
