"""One thing the doctor looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from xprof_nb.errors import ProfileError

if TYPE_CHECKING:
    from collections.abc import Callable

State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True)
class Finding:
    """What was looked at and how it is; `cure` is what to do when it is not ok."""

    what: str
    state: State
    found: str
    cure: str = ""


def checked(what: str, check: Callable[[], None], found: str) -> Finding:
    """Return a finding of a check that raises where something is wrong."""
    try:
        check()
    except ProfileError as error:
        where = "" if error.file is None else f" in {error.file}"
        return Finding(what, "fault", f"{error.what}{where}", error.hint)
    return Finding(what, "ok", found)
