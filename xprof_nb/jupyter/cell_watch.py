"""When notebook cells run, and since when none does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAGIC = "%xprof"


class CellWatch:
    """Follows the cells a shell runs; cells that only talk to ``%xprof`` do not count.

    Parameters
    ----------
    on_start
        Called with the source of the outermost cell before it runs.
    on_end
        Called with its result after it.
    inside
        Whether the watch begins inside a cell that counts.
    """

    def __init__(
        self,
        shell: Any,
        *,
        on_start: Callable[[str], None] | None = None,
        on_end: Callable[[Any], None] | None = None,
        inside: bool = False,
    ) -> None:
        self._events = shell.events
        self._on_start = on_start
        self._on_end = on_end
        # One entry for each cell under way: code may run cells inside a cell.
        self._counting = [True] if inside else []
        self._idle_since = time.perf_counter()
        self._events.register("pre_run_cell", self._before)
        self._events.register("post_run_cell", self._after)

    @property
    def running(self) -> bool:
        """Whether a cell that counts is running."""
        return any(self._counting)

    @property
    def idle_s(self) -> float:
        """Seconds since the last one ended, 0 while one runs."""
        return 0.0 if self.running else time.perf_counter() - self._idle_since

    def close(self) -> None:
        """Stop following."""
        for event, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in self._events.callbacks[event]:
                self._events.unregister(event, callback)

    def _before(self, info: Any) -> None:
        was_running = self.running
        self._counting.append(not only_magics(info.raw_cell))
        if self.running and not was_running and self._on_start:
            self._on_start(info.raw_cell)

    def _after(self, result: Any) -> None:
        # The cell the watch was set up in ends without having begun here.
        if not self._counting or not self._counting.pop() or self.running:
            return
        self._idle_since = time.perf_counter()
        if self._on_end:
            self._on_end(result)


def only_magics(cell: str) -> bool:
    """Return whether a cell does nothing but talk to ``%xprof``."""
    return all(line.startswith((f"{MAGIC} ", "#")) for line in _lines(cell))


def goes_on_after_magic(cell: str) -> bool:
    """Return whether code follows the last ``%xprof`` line of a cell."""
    lines = _lines(cell)
    last = max((at for at, line in enumerate(lines) if line.startswith(MAGIC)), default=len(lines))
    return not only_magics("\n".join(lines[last:]))


def _lines(cell: str) -> list[str]:
    return [line.strip() for line in cell.splitlines() if line.strip()]
