"""What a person sees of an answer, for every front end at once.

One bundle carries the interactive view three ways (`snapshot` for our JupyterLab extension, a widget while a kernel
runs) and a table for whoever has neither: nbconvert, GitHub, a terminal.
"""

from __future__ import annotations

from typing import Any, Protocol

from xprof_nb import snapshot
from xprof_nb.errors import ProfileError
from xprof_nb.views import fallback, pictures, widget

WIDGET_MIMETYPE = "application/vnd.jupyter.widget-view+json"


class Shown(fallback.Tabular, Protocol):
    """What a view needs of a result."""

    @property
    def profile(self) -> Any:
        """The opened profile; its ``data`` is what queries read."""

    @property
    def view(self) -> str:
        """The name of the view that shows it."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the query that was asked."""


def mimebundle(result: Shown) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data and metadata that show ``result`` in a notebook: under 300 kB altogether.

    The interactive parts are there for queries that have a view; a widget only while a kernel runs, since a model
    without one is an error message in every front end.
    """
    data: dict[str, Any] = {}
    notes: list[str] = []
    if result.view in snapshot.VIEWS:
        data[snapshot.MIMETYPE] = snapshot.build(result.profile.data, result.view, result.params)
        try:
            model_id = widget.show(result.profile.data, result.view, result.params)
        except ProfileError as error:
            notes.append(str(error))
        else:
            if model_id is not None:
                data[WIDGET_MIMETYPE] = {"version_major": 2, "version_minor": 0, "model_id": model_id}
    table = fallback.table(result, notes)
    data["text/html"] = fallback.html(table, pictures.html(result.query, result.frame, result.summary))
    data["text/plain"] = fallback.plain(table)
    return data, {}
