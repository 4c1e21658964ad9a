"""Making a value plain, bounded JSON: what is too long is cut and says so."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

LONGEST_TEXT = 4_000
LONGEST_NAME = 300
LONGEST_LIST = 24


def json_bytes(value: Any) -> int:
    """Return how many bytes ``value`` takes in a saved notebook.

    A notebook is indented: every item of a list or an object is a line of its own, and the payload lies ten to
    twenty spaces deep in it.
    """
    return len(json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode()) + 12 * _items(value)


def json_safe(value: Any) -> Any:
    """Return ``value`` as plain JSON: NaN and infinity are null, NumPy scalars and arrays are what they hold.

    Text keeps its length; only lone surrogates, which no file can hold, are replaced.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {encodable(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_safe(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    text = encodable(str(value))
    return None if not isinstance(value, str) and text in {"<NA>", "NaT"} else text


def bounded(value: Any, longest_text: int, longest_list: int = LONGEST_LIST) -> Any:
    """Return plain JSON with no text or list longer than allowed; what was cut says so."""
    if isinstance(value, str):
        return clipped(value, longest_text)
    if isinstance(value, dict):
        return {clipped(key, LONGEST_NAME): bounded(item, longest_text, longest_list) for key, item in value.items()}
    if isinstance(value, list):
        shown = [bounded(item, longest_text, longest_list) for item in value[:longest_list]]
        if len(value) > longest_list and isinstance(value[0], str):
            shown.append(f"… and {len(value) - longest_list:,} more")
        return shown
    return value


def clipped_names(frame: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return ``frame`` with every text short enough to be a cell."""
    short = cache(lambda text: clipped(str(text), longest))  # few are distinct
    texts = {
        name: column.map(short, na_action="ignore") for name, column in frame.items() if column.dtype.kind not in "biuf"
    }
    return frame.assign(**texts)


def clipped(text: str, longest: int) -> str:
    """Return ``text``, or its beginning and how much is missing."""
    text = encodable(text)
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def encodable(text: str) -> str:
    """Return ``text`` without the lone surrogates that no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _items(value: Any) -> int:
    """Return how many lines an indented JSON of ``value`` has, about."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return sum(1 + _items(item) for item in inner)
