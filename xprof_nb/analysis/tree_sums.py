"""What the ops below each node of a tree add up to, for all nodes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Members:
    """Which rows of a table lie below which of ``count`` nodes: pairs, ordered by node."""

    node: Ints
    row: Ints
    count: int

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Members:
        """Take the rows of each node in turn."""
        lengths = [len(each) for each in rows]
        row = np.fromiter(chain.from_iterable(rows), np.int64, sum(lengths))
        return cls(np.repeat(np.arange(len(rows)), lengths), row, len(rows))

    def among(self, wanted: NDArray[np.bool_]) -> Members:
        """Leave out the rows that are not wanted."""
        kept = wanted[self.row]
        return Members(self.node[kept], self.row[kept], self.count)

    def sums(self, values: Floats) -> Floats:
        """Sum a column over the rows of each node, leaving out what is missing; nothing known gives NaN."""
        below = values[self.row]
        known = ~np.isnan(below)
        total = np.bincount(self.node[known], below[known], minlength=self.count)
        return np.where(np.bincount(self.node[known], minlength=self.count) > 0, total, np.nan)

    def common(self, labels: Texts) -> Texts:
        """Return the label all rows of a node have, None where they differ or there are none."""
        codes, distinct = pd.factorize(labels, use_na_sentinel=False)
        lowest = np.full(self.count, len(distinct), np.int64)
        highest = np.full(self.count, -1, np.int64)
        np.minimum.at(lowest, self.node, codes[self.row])
        np.maximum.at(highest, self.node, codes[self.row])
        return _labelled(distinct, np.where(lowest == highest, lowest, -1))

    def longest(self, labels: Texts, times: Floats) -> Texts:
        """Return the label under which most of a node's time was spent, the first of several."""
        codes, distinct = pd.factorize(labels, use_na_sentinel=False)
        pair = self.node * max(len(distinct), 1) + codes[self.row]
        pairs, first, code = np.unique(pair, return_index=True, return_inverse=True)
        total = np.bincount(code, times[self.row], minlength=len(pairs))
        order = np.lexsort((first, -total))
        found = np.full(self.count, -1, np.int64)
        nodes = pairs[order] // max(len(distinct), 1)
        chosen, at = np.unique(nodes, return_index=True)
        found[chosen] = pairs[order][at] % max(len(distinct), 1)
        return _labelled(distinct, found)


def _labelled(distinct: Texts, codes: Ints) -> Texts:
    known = [None if pd.isna(label) else label for label in distinct]
    return np.array([*known, None], object)[codes]
