"""The scripts that views are made of: our own modules, and the libraries that are too large for each to carry."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from xprof_nb.errors import ProfileError, UsageError

STATIC = Path(__file__).parent / "static"
_LIBRARIES = {"bokeh": ("bokeh", "server/static/js/bokeh.min.js")}
"""By name: the Python package that brings it, and where it lies there."""


def module(name: str) -> str:
    """Return the JavaScript module of our own that draws a view.

    Raises
    ------
    ProfileError
        The front end of this installation was not built.
    """
    path = STATIC / f"{name}.js"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ProfileError(
            "the interactive view was not built",
            file=path,
            hint="In a source checkout, `npm ci && npm run build` builds it; a built wheel has it.",
        ) from None


def library(name: str) -> str:
    """Return the source of a library as its installed Python package brings it, without importing that package.

    Raises
    ------
    UsageError
        No view uses such a library.
    ProfileError
        The package is not installed, or does not bring it.
    """
    known = _LIBRARIES.get(name)
    if known is None:
        raise UsageError(f"unknown library {name!r}", hint=f"Known: {', '.join(sorted(_LIBRARIES))}.")
    package, inside = known
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, inside)
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise ProfileError(f"{name}, which draws the charts, is not installed", hint=f"pip install {package}")
