"""Fewer points of a curve, for as few as a picture can show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any


def largest_of_stretches(curve: Sequence[dict[str, Any]], name: str, most: int) -> list[dict[str, Any]]:
    """Return at most so many points of a curve, the one with the largest ``name`` of each stretch: peaks stay."""
    if len(curve) <= most:
        return list(curve)
    edges = [len(curve) * number // most for number in range(most + 1)]
    return [max(curve[begin:end], key=lambda point: point[name]) for begin, end in pairwise(edges)]
