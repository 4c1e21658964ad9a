"""Where the time went, as the framework sees it: its ops by named scope, on the devices and on the hosts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.host_framework_ops import host_ops
from xprof_nb.analysis.op_nodes import scopes
from xprof_nb.analysis.ops import COSTS, OpTable
from xprof_nb.analysis.selection import Selection, chosen_hosts
from xprof_nb.analysis.tree import Step, Tree, in_preorder
from xprof_nb.analysis.tree_sums import Members
from xprof_nb.analysis.xprof import compat as xprof_compat
from xprof_nb.analysis.xprof import framework_ops as xprof_framework_ops
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import Columns, are_texts, as_frame, numbered, stacked, taken, texts, whole_numbers
from xprof_nb.model.profile import ProfileData

NO_SCOPE = "no framework op recorded"
_WRAPPER = re.compile(r"(?:transpose|jvp|vmap|remat|checkpoint)\((.*)\)", re.DOTALL)
_STRUCTURE = {"", "checkpoint", "rematted_computation", "remat", "remat2", "closed_call", "core_call"}
_SUMMED = ["time_ps", "self_time_ps", *COSTS, "compute_ps"]
_SPLIT = {"forward": "forward_time_ps", "backward": "backward_time_ps"}
COLUMNS = [
    *(
        "node",
        "parent",
        "depth",
        "key",
        "kind",
        "on",
        "name",
        "framework_op",
        "type",
        "work_kind",
        "direction",
        "is_rematted",
    ),
    *("occurrences", "hlo_op_count", "time_ps", "self_time_ps", "time_fraction", *_SPLIT.values(), "rematted_time_ps"),
    *("flops", "flops_per_s", "flops_utilization", "bytes_accessed", "bytes_per_s", "hbm_bytes_per_s"),
    *("hbm_utilization", "arithmetic_intensity", "compute_dtype", "roof_dtype", "children_total"),
]
FUSION_LIMIT = (
    "A fusion is the smallest unit any device measures: the time of one that holds several framework ops stands at the "
    "one XLA named it after."
)
HOST_FILTER = "Host rows are left out: a device, program or step says nothing of what a host thread did."


def framework_ops(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return framework ops under their named scopes, as nodes in preorder: first ``on="device"``, then ``"host"``.

    A scope is a part of the op's path; what jax wraps around it for its own transformations (``jvp``, ``transpose``,
    ``vmap``, checkpoints) is taken off, so the forward and the backward pass of a layer meet in one scope and are told
    apart by ``forward_time_ps`` and ``backward_time_ps``; ``rematted_time_ps`` is the part computed again for the
    backward pass. ``self_time_ps`` of a node is that of everything below it, ``work_kind`` the kind most of it was
    spent on; ``time_ps`` of an op also counts what ran inside it. ``occurrences`` of an op is the highest among the
    HLO ops it became.
    """
    table = (xprof_compat if like_xprof else op_tables).op_table(profile, selection)
    if like_xprof:
        return xprof_framework_ops.framework_ops(profile, selection, table)
    records = xprof_compat.by_op(op_tables.corrected(table.columns, table.peaks))
    leaves = _leaves(records)
    op_count = len(leaves["op"])
    tree = Tree("all framework ops")
    for row, path in enumerate(
        _device_path(text, op) for text, op in zip(leaves["framework_op"], leaves["op"], strict=True)
    ):
        tree.add(path, row)
    filtered = any(value is not None for value in (selection.device, selection.program, selection.step))
    host = host_ops([] if filtered else chosen_hosts(profile, selection), selection.window_ps)
    for row, (name, kind) in enumerate(zip(host["name"], host["type"], strict=True), op_count):
        tree.add(_host_path(name, kind), row)
    everything = stacked([leaves, _as_leaves(host, leaves)])
    nodes = _rated(in_preorder(tree, _values(tree, everything), "weight"), table)
    notes = list(op_tables.notes(profile, table, op_tables.with_rates(records, table.peaks, table.total_ps)))
    if op_count:
        notes.append(FUSION_LIMIT)
    if filtered:
        notes.append(HOST_FILTER)
    nodes = nodes if len(everything["on"]) else taken(nodes, np.empty(0, np.int64))
    whole = {name: whole_numbers(nodes[name].astype(np.float64)) for name in ("occurrences", "hlo_op_count")}
    frame = as_frame({name: whole.get(name, nodes[name]) for name in COLUMNS})
    return Answer(frame, _summary(nodes, table), tuple(notes))


def _leaves(records: Columns) -> Columns:
    """Return one row per framework op: the sums of the HLO ops it became."""
    named = records["framework_op"]
    keys = [(text if text is not None else op, text is None) for text, op in zip(named, records["op"], strict=True)]
    code, groups = numbered(keys)
    members = Members(code, np.arange(len(code)), len(groups))
    first = np.unique(code, return_index=True)[1]
    paths = named[first]
    again = np.array([".remat" in op for op in records["op"]], np.bool_)
    rematted = [text is not None and "rematted_computation" in text for text in paths]
    leaves: Columns = {name: members.sums(records[name].astype(np.float64)) for name in _SUMMED}
    leaves |= {"framework_op": paths, "op": records["op"][first], "on": np.full(len(first), "device", object)}
    leaves["is_rematted"] = (np.bincount(code, again, minlength=len(groups)) > 0) | np.array(rematted, np.bool_)
    for name in ("compute_dtype", "roof_dtype"):
        leaves[name] = members.among(are_texts(records[name])).common(records[name])
    leaves["hlo_op_count"] = np.bincount(code, minlength=len(groups))
    leaves["occurrences"] = _occurrences(records, code, len(groups))
    leaves["work_kind"] = members.longest(records["work_kind"], records["self_time_ps"])
    leaves["direction"] = texts(direction(text) for text in paths)
    leaves["type"] = texts(text and scopes(text)[-1] for text in paths)
    return leaves


def _occurrences(records: Columns, code: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the highest count among the HLO ops of each group, of several programs together."""
    pair, pairs = numbered(code.tolist(), records["program_id"].tolist())
    highest = np.zeros(len(pairs), np.int64)
    np.maximum.at(highest, pair, records["occurrences"].astype(np.int64))
    total = np.zeros(count, np.int64)
    np.add.at(total, np.array([group for group, _ in pairs], np.int64), highest)
    return total


def direction(framework_op: str | None) -> str | None:
    """Return "backward" of an op of a gradient's pass back, "forward" of its pass forward, None of other ops.

    jax marks them ``jvp(…)`` and ``transpose(jvp(…))``; what a checkpoint computes again belongs to the way back.
    """
    if not framework_op:
        return None
    if "transpose(" in framework_op or "rematted_computation" in framework_op:
        return "backward"
    return "forward" if "jvp(" in framework_op else None


def scope_path(framework_op: str) -> list[str]:
    """Return the named scopes of an op and itself, without what jax's transformations wrapped around them."""
    path = []
    for part in scopes(framework_op):
        inner = part
        while (found := _WRAPPER.fullmatch(inner)) is not None:
            inner = found[1]
        path += [item for item in (scopes(inner) if inner != part else [part]) if item not in _STRUCTURE]
    return path


def _device_path(framework_op: str | None, op: str) -> list[Step]:
    root: Step = ("device", "devices")
    path = scope_path(framework_op) if framework_op else []
    if not framework_op:
        return [root, ("scope", NO_SCOPE), ("op", op)]
    return [root, *(("scope", part) for part in path[:-1]), ("op", framework_op)]


def _host_path(name: str, kind: str) -> list[Step]:
    return [("host", "hosts"), ("scope", kind or "other"), ("op", name)]


def _as_leaves(host: Columns, leaves: Columns) -> Columns:
    """Return the ops of hosts in the columns of those of devices; what is not known of them is missing."""
    count = len(host["name"])
    missing = {np.dtype(object): None, np.dtype(np.float64): np.nan}
    rows = {name: np.full(count, missing.get(column.dtype, 0), column.dtype) for name, column in leaves.items()}
    known = {name: host[name] for name in ("type", "occurrences", "time_ps", "self_time_ps")}
    return {**rows, **known, "framework_op": host["name"], **_of_hosts(count)}


def _of_hosts(count: int) -> Columns:
    return {name: np.full(count, "host", object) for name in ("on", "work_kind")}


def _values(tree: Tree, leaves: Columns) -> Columns:
    """Return the sums of every node."""
    self_ps = leaves["self_time_ps"]
    on_devices = np.flatnonzero(leaves["on"] == "device")
    # Times of devices and of hosts do not add up to anything: the root has those of the devices.
    members = Members.of([on_devices.tolist(), *(node.records for node in tree.nodes[1:])])
    record = np.array([node.record for node in tree.nodes])
    values: Columns = {name: members.sums(leaves[name]) for name in _SUMMED}
    for name, column in _SPLIT.items():
        values[column] = members.sums(np.where(leaves["direction"] == name, self_ps, 0.0))
    values["rematted_time_ps"] = members.sums(np.where(leaves["is_rematted"], self_ps, 0.0))
    values["hlo_op_count"] = members.sums(leaves["hlo_op_count"].astype(np.float64))
    for name in ("framework_op", "type", "direction", "is_rematted", "occurrences"):
        values[name] = np.array([*leaves[name], None], object)[record]
    scopes_only = record < 0
    values["time_ps"][scopes_only] = values["self_time_ps"][scopes_only]
    for name in ("on", "compute_dtype", "roof_dtype"):
        values[name] = members.among(are_texts(leaves[name])).common(leaves[name])
    values["work_kind"] = members.longest(leaves["work_kind"], self_ps)
    is_device = np.array([node.kind == "device" for node in tree.nodes])
    values["weight"] = np.where(is_device, np.inf, values["self_time_ps"])
    return values


def _rated(nodes: Columns, table: OpTable) -> Columns:
    self_s = op_tables.seconds(nodes["self_time_ps"])
    nodes = op_tables.rates(nodes, table.peaks, table.total_ps, self_s, self_s)
    nodes["time_fraction"][nodes["on"] != "device"] = np.nan
    is_op = nodes["kind"] == "op"
    named = zip(is_op, nodes["on"], nodes["framework_op"], nodes["name"], strict=True)
    nodes["name"] = texts(
        (scope_path(text) or [text])[-1] if leaf and on == "device" and text else name for leaf, on, text, name in named
    )
    nodes["is_rematted"] = np.array([again is not None and bool(again) for again in nodes["is_rematted"]], np.bool_)
    return nodes


def _summary(nodes: Columns, table: OpTable) -> dict[str, Any]:
    device, is_op = nodes["kind"] == "device", nodes["kind"] == "op"
    ops = taken(nodes, is_op & (nodes["on"] == "device"))
    unnamed = ~are_texts(ops["framework_op"])
    summary = {
        **op_tables.summary(table),
        "framework_op_count": len(unnamed),
        "host_op_count": int((is_op & (nodes["on"] == "host")).sum()),
        **{name: float(np.nansum(nodes[name][device])) for name in (*_SPLIT.values(), "rematted_time_ps")},
        "unnamed_time_ps": float(np.nansum(ops["self_time_ps"][unnamed])),
    }
    return {**summary, "sentence": _sentence(ops, summary)}


def _sentence(ops: Columns, summary: dict[str, Any]) -> str:
    if not len(ops["name"]):
        return "No framework op ran on a device."
    busy = max(summary["busy_time_ps"], 1)
    top = int(np.nan_to_num(ops["self_time_ps"]).argmax())
    name, time_ps = ops["framework_op"][top] or ops["name"][top], ops["self_time_ps"][top]
    text = f"Largest framework op: {name}, {units.percent(time_ps / busy)}"
    parts = [f"{text} of the busy time"]
    if summary["backward_time_ps"] > 0:
        parts.append(
            f"forward {units.percent(summary['forward_time_ps'] / busy)}, "
            f"backward {units.percent(summary['backward_time_ps'] / busy)}"
        )
    if summary["rematted_time_ps"] > 0:
        parts.append(f"{units.percent(summary['rematted_time_ps'] / busy)} computed again (checkpoints)")
    return "; ".join(parts) + "."
