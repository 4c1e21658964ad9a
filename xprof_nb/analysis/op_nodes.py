"""Nodes of an op profile: programs, categories, scopes, sources, ops and fused instructions, with their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.analysis.ops import COSTS
from xprof_nb.analysis.tree import Step, Tree
from xprof_nb.analysis.tree_sums import Members
from xprof_nb.model.columns import Columns
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program
from xprof_nb.model.pruning import pruned, renumbered, with_ancestors

MOST_FUSED = 100
OUTSIDE = "outside XLA programs"
NO_SOURCE = "no source recorded"
MOST_SCOPES = 100
"""Scopes of one op: more are one, so that a damaged path of 10,000 is not as deep a tree."""
SUMMED = ["occurrences", "time_ps", "self_time_ps", "transfer_ps", *COSTS, "compute_ps"]
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


def program_label(name: str, number: int) -> str:
    """Return ``jit_f(7)``; ops of no program, such as copies a GPU's driver was asked for, are together."""
    if name:
        return f"{name}({number})"
    return f"program {number}" if number else OUTSIDE


def scopes(framework_op: str | None) -> list[str]:
    """Split ``jit(f)/transpose(jvp(a/b))/dot`` at the slashes outside parentheses."""
    if not framework_op:
        return []
    if "(" not in framework_op:
        return limited([part for part in framework_op.split("/") if part])
    parts, depth, begin = [], 0, 0
    for position, letter in enumerate(framework_op):
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth == 0:
            parts.append(framework_op[begin:position])
            begin = position + 1
    return limited([part for part in [*parts, framework_op[begin:]] if part])


def limited(parts: list[str]) -> list[str]:
    """Return the scopes of an op, those beyond `MOST_SCOPES` as one."""
    return parts if len(parts) <= MOST_SCOPES else [*parts[: MOST_SCOPES - 1], "/".join(parts[MOST_SCOPES - 1 :])]


def source_steps(source: str | None) -> list[Step]:
    """Return the steps to a source line: its file, and the line."""
    if not source:
        return [("source", NO_SOURCE)]
    file, _, line = source.rpartition(":")
    return [("source", file or line), ("source", f"{file.rpartition('/')[2]}:{line}")]


def values_of(tree: Tree, records: Columns, summed: Sequence[str] = SUMMED) -> Columns:
    """Return the sums of every node, what bounds most of its time and, where all ops below agree, what they are."""
    members = Members.of([node.records for node in tree.nodes])
    record = np.array([node.record for node in tree.nodes])
    values: Columns = {name: members.sums(records[name].astype(np.float64)) for name in summed}
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


def with_nodes(values: Columns, nodes: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the values with those of further nodes; what is not said of them is missing."""
    missing = {np.dtype(object): None}
    return {
        name: np.array([*column, *(node.get(name, missing.get(column.dtype, np.nan)) for node in nodes)], column.dtype)
        for name, column in values.items()
    }


def idle_node(tree: Tree, idle_ps: float) -> Mapping[str, Any]:
    """Hang the idle time below the root; return its values."""
    tree.child(0, ("idle", "idle"))
    return {"time_ps": idle_ps, "self_time_ps": idle_ps, "transfer_ps": 0.0, "work_kind": "idle"}


Fused = list[tuple[Instruction, float]]
"""Instructions and the FLOPs of one execution of each."""


def fused_nodes(
    tree: Tree, records: Columns, profile: ProfileData, inside: Callable[[Program, Instruction], Fused]
) -> list[Mapping[str, Any]]:
    """Hang what is ``inside`` of each fusion below it, the instructions of most FLOPs first; return their values."""
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
        found = sorted(inside(program, instruction), key=lambda pair: -pair[1] if pair[1] == pair[1] else 0.0)
        for item, flops in found[:MOST_FUSED]:
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


def shown_part(frame: pd.DataFrame, shown: Shown) -> pd.DataFrame:
    """Return the nodes that were asked for."""
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
