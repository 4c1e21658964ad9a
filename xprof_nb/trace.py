"""The timeline in a person's hands: windows, searches and selections of it, and the whole of it for other viewers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.model.standing import standing
from xprof_nb.result import Result

if TYPE_CHECKING:
    import numpy as np

    from xprof_nb.model.answer import Answer
    from xprof_nb.model.profile import ProfileData


class Trace(Result):
    """The timeline of a profile. Times are ps from its beginning, ``summary["origin_ps"]`` on the profile's clock."""

    def window(
        self,
        start_ps: float | None = None,
        end_ps: float | None = None,
        pixels: int = 1000,
        tracks: Sequence[int] | None = None,
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Return what a view draws of a window, see `xprof_nb.analysis.timeline.drawing.trace_window`.

        Parameters
        ----------
        tracks
            Rows of `frame` by their ``track``; those that are open at first if None.
        """
        asked = self._asked("trace_window", start_ps=start_ps, end_ps=end_ps, pixels=pixels, tracks=tracks)
        return {str(name): column.to_numpy() for name, column in asked.frame.items()}

    def search(self, text: str, **where: Any) -> Result:
        """Return where events lie whose name has ``text`` in it, or matches ``/a regular expression/``.

        Parameters
        ----------
        **where
            ``start_ps=, end_ps=, tracks=`` narrow it; ``from_ps=, forward=`` say which hit is the next.
        """
        return self._asked("trace_search", text=text, **where)

    @property
    def selection(self) -> Selection:
        """What is selected in a live view of this profile; called with times and tracks, what is in that box.

        ``trace().selection.frame`` is the table under the timeline, ``trace().selection(start_ps, end_ps, tracks)``
        that of another box. While nothing is selected it is of everything, and a note says so.
        """
        return Selection(self)

    def event(self, track: int, event: float) -> Result:
        """Return all that is known of one event, as `window` calls it."""
        return self._asked("trace_event", track=track, event=event)

    def to_chrome_json(self, path: str | os.PathLike[str]) -> Path:
        """Write all tracks as Chrome's trace JSON, gzipped if the name ends in ``.gz``; return the path."""
        from xprof_nb.analysis.timeline.export import to_chrome_json  # noqa: PLC0415

        return to_chrome_json(self.profile.data, path)

    def to_perfetto(self, path: str | os.PathLike[str]) -> Path:
        """Write all tracks as Perfetto's protobuf, in ns, gzipped if the name ends in ``.gz``; return the path."""
        from xprof_nb.analysis.timeline.export import to_perfetto  # noqa: PLC0415

        return to_perfetto(self.profile.data, path)

    def _asked(self, query: str, **params: Any) -> Result:
        if params.get("tracks") is not None:
            params["tracks"] = [int(track) for track in params["tracks"]]
        return self.profile.ask(query, **params)


class Selection(Result):
    """What is in the box of tracks and time that a person has selected: by name, and how well devices were used."""

    def __init__(self, trace: Trace) -> None:
        self.query = "trace_selection"
        self.profile = trace.profile
        self.params = _selected(trace.profile.data)
        self._trace = trace

    def __call__(
        self, start_ps: float | None = None, end_ps: float | None = None, tracks: Sequence[int] | None = None
    ) -> Result:
        """Return what is in another box, by times in ps from the timeline's beginning and rows of its frame."""
        return self._trace._asked(self.query, start_ps=start_ps, end_ps=end_ps, tracks=tracks)

    @cached_property
    def answer(self) -> Answer:  # type: ignore[override]
        """The answer, asked for when it is first read."""
        answer = self._trace._asked(self.query, **self.params).answer
        return answer if self.params else replace(answer, notes=(_NOTHING_SELECTED, *answer.notes))


_NOTHING_SELECTED = "Nothing is selected in a live view: this is all of it. Shift and drag over a timeline selects."


def _selected(data: ProfileData) -> dict[str, Any]:
    """Return the box selected in a live view, empty if there is none."""
    selection = standing(data, "trace").get("shown", {}).get("selection") or {}
    return {name: selection[name] for name in ("start_ps", "end_ps", "tracks") if name in selection}
