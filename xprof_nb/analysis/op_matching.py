"""Which op of one profile is which of another: by name, and by what it is where the compiler named it anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SAME, RENAMED, CHANGED = "same", "renamed", "changed"
Pair = tuple[int | None, int | None, str]


@dataclass(frozen=True)
class Op:
    """What tells an op from others; None is not known."""

    program: str
    name: str
    category: str
    shape: str | None
    framework_op: str | None
    source: str | None
    time_ps: float


# From sure to vague: what two ops have in common, whether all of it has to be known, and what such a pair is called.
_RULES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("program", "name", "category", "shape", "framework_op"), SAME),
    (("program", "category", "shape", "framework_op", "source"), RENAMED),
    (("program", "category", "shape", "framework_op"), RENAMED),
    (("category", "shape", "framework_op"), RENAMED),
    (("program", "name", "category"), CHANGED),
    (("program", "category", "framework_op"), CHANGED),
)
_NAMED = {"program", "name"}


def matched(before: Sequence[Op], after: Sequence[Op]) -> list[Pair]:
    """Return pairs of rows, each row once; None where an op is new or vanished.

    Of several that are alike, the longest is paired with the longest.
    """
    left, right = list(range(len(before))), list(range(len(after)))
    pairs: list[Pair] = []
    for names, how in _RULES:
        found = _alike(before, after, left, right, names)
        pairs += [(one, other, how) for one, other in found]
        used, taken = {one for one, _ in found}, {other for _, other in found}
        left, right = [row for row in left if row not in used], [row for row in right if row not in taken]
    return [*pairs, *((row, None, "vanished") for row in left), *((None, row, "new") for row in right)]


def _alike(
    before: Sequence[Op], after: Sequence[Op], left: list[int], right: list[int], names: tuple[str, ...]
) -> list[tuple[int, int]]:
    waiting: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in sorted(right, key=lambda row: after[row].time_ps):
        if (key := _key(after[row], names)) is not None:
            waiting[key].append(row)
    found = []
    for row in sorted(left, key=lambda row: -before[row].time_ps):
        key = _key(before[row], names)
        if key is not None and waiting.get(key):
            found.append((row, waiting[key].pop()))
    return found


def _key(op: Op, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """Return what is compared; None of an op without a name of which it is not known what it is."""
    key = tuple(getattr(op, name) for name in names)
    unknown = any(value is None for value, name in zip(key, names, strict=True) if name not in _NAMED)
    return None if unknown and "name" not in names else key
