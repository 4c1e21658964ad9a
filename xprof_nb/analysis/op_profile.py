"""Where did the time go, as a tree: program, category, framework scope or source line down to fused instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis import xprof_compat, xprof_gpu
from xprof_nb.analysis.compute_dtype import roofs_used
from xprof_nb.analysis.op_identity import costs_of, readable_program
from xprof_nb.analysis.ops import COSTS, OpTable
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.sentences import op_profile_sentence
from xprof_nb.analysis.tree import Step, Tree, in_preorder, pruned, renumbered, with_ancestors
from xprof_nb.analysis.tree_sums import Members
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
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
    records = xprof_compat.records(table) if like_xprof else xprof_compat.by_op(op_tables.corrected(table.frame, peaks))
    records = records.sort_values("self_time_ps", ascending=False, kind="stable").reset_index(drop=True)
    tree = Tree("all programs")
    shown_by_xprof = xprof_compat.has_a_row(records).to_numpy(bool)
    for record, path in enumerate(_paths(records, by)):
        if like_xprof and not shown_by_xprof[record]:
            tree.count([step for step in path if step[0] in xprof_compat.COUNTS_ALL], record)
        else:
            tree.add(path, record)
    total_ps = xprof_compat.core_time_ps(profile, selection) if like_xprof else table.total_ps
    rated = op_tables.with_rates(records, peaks, total_ps)
    values = _values(tree, rated)
    values = _with_idle(tree, values, table, total_ps)
    values = _with_fused(tree, values, profile)
    frame = in_preorder(tree, values, "self_time_ps")
    frame = op_tables.with_rates(frame, peaks, total_ps).assign(bound_by=words(frame["bound"]))
    frame = _root_over_all(frame, table, peaks, total_ps, like_xprof and not xprof_gpu.has_gpus(profile))
    if like_xprof:
        frame["wasted_fraction"] = xprof_compat.wasted(frame)
    summary = {"by": by, **op_tables.summary(table), "total_time_ps": total_ps, "node_count": len(frame)}
    summary["roofs_used"] = roofs_used(rated, peaks)
    summary["idle_time_ps"] = max(total_ps - table.busy_ps, 0.0)
    summary["idle_fraction"] = summary["idle_time_ps"] / total_ps if total_ps else None
    summary["sentence"] = op_profile_sentence(frame, summary)
    said = op_tables.notes(profile, table, rated)
    if not len(records):
        return Answer(frame.iloc[:0][COLUMNS], summary, said)
    return Answer(_shown(frame, shown)[COLUMNS], summary, said)


def _paths(records: pd.DataFrame, by: By) -> list[list[Step]]:
    """Return for each op the steps from the root to it."""
    duplicates = records.groupby(["program_id", "duplicate_of"])["op"].transform("size")
    paths: list[list[Step]] = []
    for row, many in zip(records.itertuples(), duplicates, strict=True):
        program: Step = ("program", _program_label(str(row.program or ""), int(str(row.program_id))))
        group: list[Step] = [("group", f"{row.duplicate_of} and its duplicates")] if many > 1 else []
        op: Step = ("op", str(row.op))
        category: Step = ("category", str(row.category))
        if by == "program":
            path = [program, category, *group, op]
        elif by == "category":
            path = [category, *group, _told_apart(op, row, records)]
        elif by == "framework":
            path = [program, *(("framework", part) for part in scopes(row.framework_op)), *group, op]
        else:
            path = [*_source_steps(row.source), _told_apart(op, row, records)]
        paths.append(path)
    return paths


def _program_label(name: str, number: int) -> str:
    """Return ``jit_f(7)``; ops of no program, such as copies a GPU's driver was asked for, are together."""
    if name:
        return f"{name}({number})"
    return f"program {number}" if number else OUTSIDE


def _told_apart(op: Step, row: object, records: pd.DataFrame) -> Step:
    """Name the program with the op where ops of several programs meet."""
    several = records["program_id"].nunique() > 1
    label = _program_label(str(row.program or ""), int(str(row.program_id)))  # type: ignore[attr-defined]
    return (op[0], f"{op[1]}  {label}") if several else op


def scopes(framework_op: str | None) -> list[str]:
    """Split ``jit(f)/transpose(jvp(a/b))/dot`` at the slashes outside parentheses."""
    if not framework_op:
        return []
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


def _values(tree: Tree, records: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of every node, what bounds most of its time and, where all ops below agree, what they are."""
    members = Members.of([node.records for node in tree.nodes])
    record = np.array([node.record for node in tree.nodes])
    values = pd.DataFrame({name: members.sums(records[name].to_numpy(np.float64)) for name in _SUMMED})
    groups = record < 0
    # What a group took is what its ops took themselves: an inclusive time would count loops twice.
    values.loc[groups, "time_ps"] = values.loc[groups, "self_time_ps"]
    # Transfers overlap each other and the ops; their lengths do not add up to a time.
    values.loc[groups, "transfer_ps"] = 0.0
    for name in _SHARED:
        labels = records[name].to_numpy(object)
        if name == "program_id":
            labels = records[name].astype(str).to_numpy(object)  # a float would lose its last digits
        values[name] = members.common(labels)
    several = groups & values["work_kind"].isna() & (np.bincount(members.node, minlength=members.count) > 0)
    values.loc[several, "work_kind"] = "control"
    self_ps = records["self_time_ps"].to_numpy(np.float64)
    values["bound"] = members.longest(records["bound_by"].to_numpy(object), self_ps)
    for name in _OWN:
        values[name] = np.array([*records[name], None], object)[record]
    return values


def _with_idle(tree: Tree, values: pd.DataFrame, table: OpTable, total_ps: int) -> pd.DataFrame:
    idle_ps = max(total_ps - table.busy_ps, 0.0)
    tree.child(0, ("idle", "idle"))
    row = {"occurrences": np.nan, "time_ps": idle_ps, "self_time_ps": idle_ps, "transfer_ps": 0.0, "work_kind": "idle"}
    values = pd.concat([values, pd.DataFrame([row])], ignore_index=True)
    values.loc[0, ["time_ps", "self_time_ps"]] = float(total_ps)
    return values


def _with_fused(tree: Tree, values: pd.DataFrame, profile: ProfileData) -> pd.DataFrame:
    """Hang the instructions of each fusion below it, those with the most FLOPs first."""
    rows = []
    for number in range(len(tree.nodes)):
        if tree.nodes[number].record < 0:
            continue
        program = readable_program(profile, int(values.at[number, "program_id"]))
        instruction = program.instruction(str(values.at[number, "op"])) if program else None
        if program is None or instruction is None or instruction.opcode != "fusion":
            continue
        costs = costs_of(program)
        inside = [
            (item, costs.cost(item.name).flops)
            for called in instruction.called
            for item in program.computations[called].instructions
            if item.opcode not in _UNFUSED
        ]
        inside.sort(key=lambda pair: -np.nan_to_num(pair[1]))
        for item, flops in inside[:MOST_FUSED]:
            tree.child(number, ("fused", item.name))
            times = values.at[number, "occurrences"]
            rows.append(
                {
                    "occurrences": times,
                    "flops": flops * times,
                    "program": program.name,
                    "program_id": values.at[number, "program_id"],
                    "category": item.opcode,
                    "framework_op": item.op_name or None,
                    "work_kind": values.at[number, "work_kind"],
                }
            )
    return pd.concat([values, pd.DataFrame(rows)], ignore_index=True) if rows else values


def _root_over_all(
    frame: pd.DataFrame, table: OpTable, peaks: Peaks, total_ps: int, without_idle: bool
) -> pd.DataFrame:
    """Quote the root's rates over the whole time, idle included; xprof leaves idle out of a TPU's FLOP rate."""
    time_s = total_ps * 1e-12 or np.nan
    compute_s = table.busy_ps * 1e-12 or np.nan
    root = frame.index[frame["kind"] == "root"]
    frame.loc[root, "flops_per_s"] = frame.loc[root, "flops"] / (compute_s if without_idle else time_s)
    for rate, amount in (("bytes_per_s", "bytes_accessed"), ("hbm_bytes_per_s", "hbm_bytes")):
        frame.loc[root, rate] = frame.loc[root, amount] / time_s
    needed_s = frame.loc[root, "compute_ps"] * 1e-12
    frame.loc[root, "flops_utilization"] = needed_s / (compute_s if without_idle else time_s)
    frame.loc[root, "hbm_utilization"] = frame.loc[root, "hbm_bytes_per_s"] / (peaks.hbm.value if peaks.hbm else np.nan)
    return frame


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
