"""One spot in a cell's output that is rewritten as things go on, from any thread."""

from __future__ import annotations

import html
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from xprof_nb.capture.shield import shielded
from xprof_nb.errors import ProfileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from xprof_nb.result import Result

T = TypeVar("T")


class OutputArea:
    """A display that belongs to the cell that first wrote to it, whatever runs later.

    Messages carry its display id, and front ends put them where that id was first shown: an update never lands in
    the cell that happens to run when it is sent.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._parent = shell.get_parent() if hasattr(shell, "get_parent") else None
        self._rewritable = hasattr(shell, "kernel")
        self._transient = {"display_id": uuid4().hex}
        self._shown = False
        self._said = ""

    def say(self, text: str, done: float | None = None) -> None:
        """Write one line; ``done`` is how far along, 0 to 1.

        A terminal cannot rewrite what it has printed, so there only the first line is written.
        """
        if text == self._said or (self._shown and not self._rewritable):
            return
        self._said = text
        bar = "" if done is None else f' <progress max="1" value="{min(done, 1):.3f}"></progress>'
        self._put({"text/html": f'<p role="status">{html.escape(text)}{bar}</p>', "text/plain": text}, {})

    def fail(self, error: Exception, saved: Path | None = None) -> None:
        """Write why there is no answer, where the answer would be; ``saved`` is what there is nevertheless."""
        text = str(error) if isinstance(error, ProfileError) else f"{type(error).__name__}: {error}"
        text += f" The profile is saved as {saved}." if saved else ""
        self._put({"text/html": f'<p role="alert"><strong>{html.escape(text)}</strong></p>', "text/plain": text}, {})

    def show(self, result: Result, notes: Sequence[str] = ()) -> None:
        """Replace what was said by the view of a result, with more notes than it has itself."""
        if notes:
            answer = replace(result.answer, notes=tuple(dict.fromkeys((*notes, *result.notes))))
            result = type(result)(answer, result.query, result.params, result.profile)
        with self._as_own_cell():
            data, metadata = result._repr_mimebundle_()
        self._put(data, metadata)

    def put(self, shown: Any) -> None:
        """Replace what was said by something that shows itself."""
        self._put({"text/html": shown._repr_html_(), "text/plain": repr(shown)}, {})

    def during(self, work: Callable[[], T], doing: str) -> T:
        """Do ``work`` in the background, say for how long, and return what it gives.

        The first interrupt is raised only when the work has ended; the second at once, and the work goes on.
        """
        return shielded(work, "xprof_nb work", lambda seconds: self.say(f"{doing}: {seconds:.1f} s"))

    @contextmanager
    def _as_own_cell(self) -> Iterator[None]:
        """Let what is built here belong to the cell that asked, whichever runs now."""
        if self._parent is None or not hasattr(self._shell, "set_thread_parent"):
            yield
            return
        token = self._shell.set_thread_parent(self._parent)
        try:
            yield
        finally:
            self._shell.reset_thread_parent(token)

    def _put(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._shell.display_pub.publish(data, metadata, transient=self._transient, update=self._shown)
        self._shown = True
