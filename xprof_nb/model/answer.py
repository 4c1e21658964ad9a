"""What every analysis gives back: numbers, not pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Answer:
    """One answered question.

    Attributes
    ----------
    frame
        One row per thing asked about; columns carry their unit in the name, missing is NaN or ``<NA>``.
    summary
        The headline values, JSON-able, with the same unit suffixes.
    notes
        What is missing or estimated, and why. An empty frame always has at least one.
    """

    frame: pd.DataFrame
    summary: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
