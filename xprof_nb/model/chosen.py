"""What a person has chosen in the views of a run: an op, a step, a stretch of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from xprof_nb.errors import UsageError
from xprof_nb.model.profile import ProfileData

MOST_CHARACTERS = 10_000
_PARTS: Mapping[str, type] = {
    "op": str,
    "program_id": str,
    "framework_op": str,
    "host": str,
    "device": str,
    "step": int,
    "window_ps": list,
}
_CHOSEN: WeakKeyDictionary[ProfileData, dict[str, Any]] = WeakKeyDictionary()


def choose(profile: ProfileData, choice: Mapping[str, Any]) -> None:
    """Remember a choice as a view tells it; parts that are missing are left open.

    Raises
    ------
    UsageError
        It is no choice.
    """
    for name, value in choice.items():
        if name not in _PARTS or not isinstance(value, _PARTS[name]) or len(str(value)) > MOST_CHARACTERS:
            raise UsageError(f"{str(name)[:40]!r} cannot be chosen so", hint=f"Known: {', '.join(_PARTS)}.")
    _CHOSEN[profile] = dict(choice)


def chosen(profile: ProfileData) -> dict[str, Any]:
    """Return what is chosen now, of ``op, program_id, framework_op, host, device, step, window_ps``."""
    return dict(_CHOSEN.get(profile, {}))
