"""How the live views of a profile stand: what each looks at, and what is selected in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from xprof_nb.errors import UsageError
from xprof_nb.model.profile import ProfileData

LARGEST_BYTES = 1_000_000
_STANDING: WeakKeyDictionary[ProfileData, dict[str, Mapping[str, Any]]] = WeakKeyDictionary()


def remember(profile: ProfileData, view: str, state: Mapping[str, Any]) -> None:
    """Remember how a view stands, as it tells: ``shown`` and ``made``, and in ``shown["views"]`` those inside it.

    Raises
    ------
    UsageError
        It is larger than `LARGEST_BYTES`, or no state.
    """
    size = len(json.dumps(state))
    if size > LARGEST_BYTES:
        raise UsageError(f"a state of {size:,} bytes", hint=f"At most {LARGEST_BYTES:,} are kept.")
    shown, made = (_part(state, name) for name in ("shown", "made"))
    known = _STANDING.setdefault(profile, {})
    known[view] = {"shown": shown, "made": made}
    inside = _part(shown, "views")
    for name in inside:
        known[name] = {"shown": _part(inside, name), "made": _part(made, name)}


def standing(profile: ProfileData, view: str) -> Mapping[str, Any]:
    """Return how a live view stood when somebody last did something with one; empty if nobody has."""
    return _STANDING.get(profile, {}).get(view, {})


def _part(state: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = state.get(name) or {}
    if not isinstance(part, Mapping):
        raise UsageError(f"{name} cannot be {type(part).__name__}", hint="A state has parts that are objects.")
    return part
