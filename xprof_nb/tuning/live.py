"""A sweep as it goes on, in the output of its cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from xprof_nb.capture.cells import running_shell
from xprof_nb.model.units import counted, seconds

if TYPE_CHECKING:
    from xprof_nb.tuning.point import Point


class Live:
    """Shows what is known after each setting; the sweep itself is shown by the cell when it ends, or was interrupted.

    Parameters
    ----------
    made
        Makes what shows itself of points.
    """

    def __init__(self, made: Callable[[Sequence[Point]], Any]) -> None:
        self._made = made
        self._handle: Any = None
        self._began = time.monotonic()
        self._count = 0

    def __enter__(self) -> Self:
        if running_shell() is not None:
            from IPython.display import HTML, display  # noqa: PLC0415

            self._handle = display(HTML(_line("Measuring the first setting…")), display_id=True)
        return self

    def show(self, points: Sequence[Point]) -> None:
        """Show points."""
        self._count = len(points)
        if self._handle is not None:
            from IPython.display import HTML  # noqa: PLC0415

            took = seconds(time.monotonic() - self._began)
            said = f"{counted(len(points), 'setting')} in {took}; interrupt the cell to stop: what is measured is kept."
            self._handle.update(HTML(_line(said) + self._made(tuple(points))._repr_html_()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is None:
            return
        from IPython.display import HTML  # noqa: PLC0415

        if kind is None:
            self._handle.update(HTML(""))
        elif self._count == 0:
            self._handle.update(HTML(_line("Stopped before the first setting was measured.")))


def _line(text: str) -> str:
    return f'<p role="status">{text}</p>\n'
