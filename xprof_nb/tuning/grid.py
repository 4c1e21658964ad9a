"""Which settings a sweep goes through."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from xprof_nb.errors import UsageError

Value: TypeAlias = int | float | str | bool
Setting: TypeAlias = dict[str, Value]
BATCH = "batch_size"
MOST_SETTINGS = 1000


def settings(parameters: Mapping[str, Iterable[Value]]) -> list[Setting]:
    """Return every combination of the values, the last parameter changing first.

    Raises
    ------
    UsageError
        There are none, too many, or one that is no number, word or truth value.
    """
    columns = {name: _checked(name, values) for name, values in parameters.items()}
    count = 1
    for column in columns.values():
        count *= len(column)
    if not columns or count > MOST_SETTINGS:
        raise UsageError(f"a sweep of {count:,} settings", hint=f"Give 1 to {MOST_SETTINGS:,}.")
    return [dict(zip(columns, values, strict=True)) for values in itertools.product(*columns.values())]


def sizes(values: Iterable[int]) -> list[Setting]:
    """Return the settings of a sweep over batch sizes, the smallest first: what does not fit is then known early."""
    checked = _checked(BATCH, values)
    if not all(isinstance(value, int) and value > 0 for value in checked):
        raise UsageError(f"batch sizes {list(checked)[:5]}", hint="Give whole numbers above 0.")
    return [{BATCH: value} for value in sorted(checked, key=float)]


def _checked(name: str, values: Iterable[Value]) -> Sequence[Value]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"{name} = {values!r}", hint="Give a list of values.")
    found: dict[str, Value] = {}
    for value in values:
        plain: Any = value.item() if hasattr(value, "item") else value  # of numpy
        if not isinstance(plain, int | float | str | bool):
            raise UsageError(f"{name} = {value!r}", hint="A sweep goes through numbers, words and truth values.")
        found.setdefault(repr(plain), plain)
    if not found:
        raise UsageError(f"no value for {name}", hint="Give at least one.")
    return list(found.values())
