"""What a forked child must not take for its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def in_forked_child(forget: Callable[[], None]) -> None:
    """Call ``forget`` in every child this process is forked into, on systems that fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)
