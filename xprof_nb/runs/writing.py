"""Which questions change what is kept with a run: known without the analyses, which no server loads to refuse one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRITTEN_BY = {"trace_marks": "markers"}
"""The parameter of a question that, when given, changes it."""


def changes(query: str, params: Mapping[str, Any]) -> bool:
    """Whether asking so changes what is kept with the run."""
    return query in WRITTEN_BY and params.get(WRITTEN_BY[query]) is not None
