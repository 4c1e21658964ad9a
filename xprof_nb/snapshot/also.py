"""What a snapshot keeps of other questions that its view draws too: where a step's time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xprof_nb import queries
from xprof_nb.errors import ProfileError
from xprof_nb.snapshot.bounds import LONGEST_TEXT, bounded, json_bytes, json_safe
from xprof_nb.snapshot.tables import fitting_summary, fitting_table

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.model.profile import ProfileData

LARGEST_BYTES = 90_000
FEWEST_BYTES = 8_000
WITHOUT = ("input_ops",)
"""Lists of summaries that no other view draws."""


def answers(data: ProfileData, questions: Sequence[str], params: Mapping[str, Any], left: int) -> dict[str, Any]:
    """Return ``summary, notes, table`` of each question, as long as ``left`` bytes last.

    Questions that this profile cannot answer are left out: their own views say why.
    """
    found: dict[str, Any] = {}
    asked = {name: value for name, value in params.items() if name != "compat"}
    for number, question in enumerate(questions):
        share = min(left // (len(questions) - number), LARGEST_BYTES)
        if share < FEWEST_BYTES:
            break
        try:
            answer = queries.ask(data, question, asked)
        except ProfileError:
            continue
        summary = {name: value for name, value in answer.summary.items() if name not in WITHOUT}
        notes = bounded(json_safe(answer.notes), LONGEST_TEXT)
        kept = {"summary": fitting_summary(question, summary, share // 2), "notes": notes}
        _, kept["table"] = fitting_table(_drawn(answer.frame), question, share - json_bytes(kept))
        if json_bytes(kept) <= left:
            found[question] = kept
            left -= json_bytes(kept)
    return found


def _drawn(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what a picture is made of: a part that no step has takes no room."""
    parts = [name for name, column in frame.items() if str(name).endswith("_ps") and not column.any()]
    return frame.drop(columns=parts)
