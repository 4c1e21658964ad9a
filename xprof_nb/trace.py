"""The timeline in a person's hands: windows, searches and selections of it, and the whole of it for other viewers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.result import Result

if TYPE_CHECKING:
    import numpy as np


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

    def selection(
        self, start_ps: float | None = None, end_ps: float | None = None, tracks: Sequence[int] | None = None
    ) -> Result:
        """Return what is in a box of tracks and time: by name, and how well the devices in it were used."""
        return self._asked("trace_selection", start_ps=start_ps, end_ps=end_ps, tracks=tracks)

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
