"""The register of questions: name -> typed parameters, function, answer. Kernel, server and shell all ask here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from xprof_nb.errors import UsageError
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData


@dataclass(frozen=True)
class Query:
    """One registered question."""

    name: str
    params: type
    function: Callable[..., Answer]


REGISTER: dict[str, Query] = {}


def ask(profile: ProfileData, name: str, params: Mapping[str, Any] | None = None) -> Answer:
    """Answer the question ``name`` about ``profile``.

    Raises
    ------
    UsageError
        The question or one of its parameters is unknown or out of bounds.
    ProfileError
        The profile cannot answer it.
    """
    query = REGISTER.get(name)
    if query is None:
        raise UsageError(f"unknown question {name!r}", hint=f"Known: {', '.join(sorted(REGISTER))}.")
    known = [field.name for field in fields(query.params)]
    unknown = sorted(set(params or {}) - set(known))
    if unknown:
        raise UsageError(f"{name} takes no {unknown[0]!r}", hint=f"It takes: {', '.join(known)}.")
    return query.function(profile, query.params(**(params or {})))
