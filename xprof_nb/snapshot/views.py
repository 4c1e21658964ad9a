"""The views there are: what people call each, and which module and libraries draw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """One view.

    Attributes
    ----------
    label
        What people call it.
    module
        The file of ``static/`` that draws it.
    libraries
        What that module asks for when it draws; see `xprof_nb.assets`.
    explored
        Whether it is among the tabs of ``explore``.
    also
        Questions whose answers it draws besides its own.
    """

    label: str
    module: str = "table"
    libraries: tuple[str, ...] = ()
    explored: bool = True
    also: tuple[str, ...] = ()


VIEWS: Mapping[str, View] = {
    "overview": View("overview", "overview", ("bokeh",), also=("input_pipeline",)),
    "op_profile": View("op profile", "op_profile"),
    "trace": View("timeline", "trace"),
    "roofline": View("roofline", "roofline", ("bokeh",)),
    "memory": View("memory", "memory", ("bokeh",)),
    "buffers": View("buffers", "buffers", ("bokeh",)),
    "graph": View("graph", "graph"),
    "steps": View("steps", "steps", ("bokeh",), also=("input_pipeline",)),
    "framework_ops": View("framework ops", "framework_ops"),
    "kernels": View("kernels", "kernels"),
    "input_pipeline": View("input pipeline", "input_pipeline", ("bokeh",)),
    "collectives": View("collectives", "collectives", ("bokeh",)),
    "ops": View("ops"),
    "kpis": View("KPIs", "kpis", explored=False),
    "events": View("events", explored=False),
    "sql": View("SQL", explored=False),
    "explore": View("profile", "explore", ("bokeh",), explored=False),
}
"""By the name of the question that a view shows, in the order in which they are offered."""
