"""Which names does a pattern match? In time that grows with the names, whatever the pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.errors import UsageError

LONGEST_PATTERN = 1000
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def matching(names: Sequence[str], pattern: str) -> NDArray[np.bool_]:
    """Return which names a regular expression matches somewhere.

    The syntax is RE2's: as Python's, without back references and look-around, which is what lets a match
    take time in proportion to the text. Python's own engine can take forever over ``(a+)+$``.

    Raises
    ------
    UsageError
        It is no regular expression of that kind.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UsageError(f"a pattern of {len(pattern):,} characters", hint=f"At most {LONGEST_PATTERN:,} are taken.")
    if not _SPECIAL.search(pattern):
        return np.array([pattern in name for name in names], np.bool_)
    return _matching_re2(names, pattern)


def _matching_re2(names: Sequence[str], pattern: str) -> NDArray[np.bool_]:
    import duckdb  # noqa: PLC0415 - most questions need no database

    with duckdb.connect(":memory:") as database:
        database.register("names", pd.DataFrame({"name": pd.Series(list(names), dtype=object)}))
        try:
            found = database.execute("SELECT regexp_matches(name, ?) AS found FROM names", [pattern]).fetchnumpy()
        except duckdb.InvalidInputException as error:
            what = str(error).removeprefix("Invalid Input Error: ").splitlines()[0]
            raise UsageError(
                f"{pattern[:200]!r} is not a regular expression: {what}",
                hint="The syntax is RE2's: as Python's, without back references and look-around.",
            ) from error
    return np.asarray(found["found"], np.bool_)
