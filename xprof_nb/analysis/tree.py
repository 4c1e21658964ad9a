"""A table of ops as a tree: nodes in preorder, sums of a node from the ops below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import numpy as np

from xprof_nb.model.columns import Columns, taken

_ESCAPED = {code: quote(chr(code), safe="") for code in range(128)}
Step = tuple[str, str]
"""Kind and name of a node on the way to an op."""


@dataclass
class Node:
    """One node while the tree grows.

    Attributes
    ----------
    record
        Row of the op table an op node stands for, -1 for a node that only groups.
    records
        Rows of the op table below this node, its own included.
    """

    kind: str
    name: str
    key: str
    parent: int
    depth: int
    record: int = -1
    records: list[int] = field(default_factory=list)
    children: dict[Step, int] = field(default_factory=dict)


class Tree:
    """Nodes by number; 0 is the root."""

    def __init__(self, name: str) -> None:
        self.nodes = [Node("root", name, "", -1, 0)]

    def add(self, path: Iterable[Step], record: int) -> None:
        """Put the op in row ``record`` at the end of ``path``."""
        self.nodes[self.count(path, record)].record = record

    def count(self, path: Iterable[Step], record: int) -> int:
        """Count the op in row ``record`` to the nodes of ``path``, without a node of its own; return the last."""
        number = 0
        self.nodes[0].records.append(record)
        for step in path:
            number = self.child(number, step)
            self.nodes[number].records.append(record)
        return number

    def child(self, number: int, step: Step) -> int:
        """Return the child of a node by kind and name, made if need be."""
        above = self.nodes[number]
        if step not in above.children:
            kind, name = step
            above.children[step] = len(self.nodes)
            self.nodes.append(Node(kind, name, f"{above.key}/{_in_key(name)}", number, above.depth + 1))
        return above.children[step]

    def preorder(self, weight: Sequence[float]) -> list[int]:
        """Return the nodes depth first, among siblings the heaviest first, equal ones by name."""
        order: list[int] = []
        stack = [0]
        while stack:
            number = stack.pop()
            order.append(number)
            below = sorted(
                self.nodes[number].children.values(), key=lambda child: (-weight[child], self.nodes[child].name)
            )
            stack.extend(reversed(below))
        return order


def _in_key(name: str) -> str:
    """Return ``quote(name, safe="")``, many times faster."""
    return name.translate(_ESCAPED) if name.isascii() else quote(name, safe="")


def in_preorder(tree: Tree, values: Columns, weight_column: str) -> Columns:
    """Return the nodes in preorder, numbered anew, with ``node, parent, depth, key, kind, name, children_total``."""
    weight = values[weight_column]
    order = tree.preorder(np.where(np.isnan(weight), -1.0, weight).tolist())
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    nodes = [tree.nodes[row] for row in order]
    return {
        "node": np.arange(len(order), dtype=np.int32),
        "parent": np.array([number[node.parent] if node.parent >= 0 else -1 for node in nodes], np.int32),
        "depth": np.array([node.depth for node in nodes], np.int32),
        "key": np.array([node.key for node in nodes], object),
        "kind": np.array([node.kind for node in nodes], object),
        "name": np.array([node.name for node in nodes], object),
        "children_total": np.array([len(node.children) for node in nodes], np.int32),
        **taken(values, np.array(order)),
    }
