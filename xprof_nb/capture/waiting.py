"""Saying how long stopping takes, where nobody else does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from xprof_nb.capture.local import Capture

QUIET_S = 1.0


class Waiting:
    """One line of standard error, rewritten while a capture stops; nothing if that is quick."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._said = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._said:
            sys.stderr.write("\n")

    def say(self, seconds: float) -> None:
        """Say what it is doing and for how long; called every half second."""
        if seconds < QUIET_S:
            return
        self._said = True
        doing = self._capture.phase or "stopping"
        sys.stderr.write(f"\rxprof_nb: {doing} the profile, {seconds:.0f} s")
        sys.stderr.flush()
