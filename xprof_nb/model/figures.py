"""Key figures: values of different units in one table, each with its definition and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from xprof_nb.model import units

COLUMNS = ["name", "value", "unit", "definition", "source"]


@dataclass(frozen=True)
class Figure:
    """One row of the table; None or NaN is not known, and ``why`` says the reason."""

    name: str
    value: float | None
    unit: str
    definition: str
    source: str
    why: str = ""

    @property
    def known(self) -> float | None:
        """The value; None where it is not known."""
        return float(self.value) if self.value is not None and math.isfinite(self.value) else None

    def __str__(self) -> str:
        return units.quantity(self.known, self.unit)


def as_table(figures: Iterable[Figure]) -> pd.DataFrame:
    """Return figures as the frame ``name, value, unit, definition, source``."""
    rows = [(each.name, each.known, each.unit, each.definition, each.source) for each in figures]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"value": "float64"})


def reasons(figures: Iterable[Figure]) -> tuple[str, ...]:
    """Return why values are not known, one note a reason."""
    unknown: dict[str, list[str]] = {}
    for each in figures:
        if each.why and each.known is None:
            unknown.setdefault(each.why, []).append(each.name)
    return tuple(f"Not known: {units.listed(names)}. {why}" for why, names in unknown.items())
