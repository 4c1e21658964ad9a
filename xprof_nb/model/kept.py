"""Results that are computed once for an object, and kept as long as it lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
P = ParamSpec("P")
R = TypeVar("R")


def kept_with_first(function: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """Let a function compute once for its first argument; the others have to follow from that one."""
    results: WeakKeyDictionary[K, R] = WeakKeyDictionary()

    @wraps(function)
    def once(first: K, /, *others: P.args, **named: P.kwargs) -> R:
        found = results.get(first)
        if found is None:
            found = results[first] = function(first, *others, **named)
        return found

    return once
