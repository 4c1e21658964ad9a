"""A notebook as nbconvert prints it."""

from __future__ import annotations

import nbformat
from nbconvert import HTMLExporter

import xprof_nb as xp
from xprof_nb import snapshot, views

VIEWS = [name for name, view in snapshot.VIEWS.items() if view.explored]


def page(profile: xp.Profile) -> str:
    """Return nbconvert's page of a notebook in which each view was the result of a cell."""
    cells = []
    for name in VIEWS:
        data, _ = views.mimebundle(profile.ask(name))
        output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
        cells.append(nbformat.v4.new_code_cell(f"profile.{name}()", outputs=[output]))
    html: str
    html, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    return html
