"""One answer as one HTML file: opens from disk, asks nobody, prints.

The file holds the table for print and for browsers without scripts, the payload as JSON and the view's module, which
draws the payload in place of the table.
"""

from __future__ import annotations

import base64
import html as escaping
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb import __version__, assets, snapshot
from xprof_nb.errors import NotFoundError
from xprof_nb.views import fallback, pictures
from xprof_nb.views.layouts import one_line

if TYPE_CHECKING:
    from xprof_nb.views import Shown

_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; }
@media (prefers-color-scheme: dark) {
  :root { --page: #111418; --ink: #e6e6e6; --faint: #9aa4af; --line: #3a414a; }
}
body { margin: 24px; background: var(--page); color: var(--ink); font: 13px/1.5 system-ui, sans-serif; }
h1 { font-size: 18px; font-weight: 600; margin: 0; }
.facts { color: var(--faint); margin: 0 0 16px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding: 8px 0; }
img { max-width: 100%; height: auto; }
th, td { padding: 2px 8px; border-bottom: 1px solid var(--line); font-weight: normal; }
thead th { font-weight: 600; }
#xprof-nb-view:has(.jp-XprofView) ~ #table { display: none; }
@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --faint: #444; --line: #ccc; }
  body { margin: 0; }
  th, td { padding: 2px 5px; }
  #xprof-nb-view { display: none; }
  #xprof-nb-view:has(.jp-XprofView) ~ #table { display: block; }
  tr, img { break-inside: avoid; }
}
"""

_LARGE = frozenset({"trace", "explore"})
"""Views whose pages may hold more than a notebook's output."""
_START = """const payload = JSON.parse(document.getElementById("xprof-nb-payload").textContent);
mountPage(payload, document.getElementById("xprof-nb-view"));
"""


def write(result: Shown, path: str | os.PathLike[str]) -> Path:
    """Write ``result`` as one self-contained HTML file and return where it is.

    The file appears whole or not at all.

    Raises
    ------
    NotFoundError
        The folder it should be written to does not exist.
    ProfileError
        The front end of this installation was not built.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise NotFoundError(f"there is no folder {target.parent}", hint="Make it, or write somewhere else.")
    text = page(result)
    descriptor, staged = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(staged).chmod(0o644)
        Path(staged).replace(target)
    except BaseException:
        Path(staged).unlink(missing_ok=True)
        raise
    return target


def page(result: Shown) -> str:
    """Return the text of that file; for a query without an interactive view, the table alone."""
    table = fallback.table(result)
    payload = None
    if result.view in snapshot.VIEWS:
        most_bytes = snapshot.LARGEST_PAGE_BYTES if result.view in _LARGE else snapshot.LARGEST_PAYLOAD_BYTES
        payload = snapshot.build(result.profile.data, result.view, result.params, most_bytes)
    title = escaping.escape(one_line(payload["title"] if payload else table.caption))
    facts = escaping.escape(one_line(_facts(result), 200))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<div id="xprof-nb-view"></div>\n<main id="table">\n<h1>{title}</h1>\n<p class="facts">{facts}</p>\n'
        f"{fallback.html(table, pictures.html(result.query, result.frame, result.summary))}\n</main>\n"
        + (_scripts(result.view, payload) if payload else "")
        + "</body>\n</html>\n"
    )


def _scripts(view: str, payload: dict[str, Any]) -> str:
    drawn_by = snapshot.VIEWS[view]
    module = base64.b64encode(assets.module(drawn_by.module).encode()).decode("ascii")
    data = {"payload": payload, **{f"library-{name}": assets.library(name) for name in drawn_by.libraries}}
    return "".join(
        f'<script type="application/json" id="xprof-nb-{name}">{_embedded(value)}</script>\n'
        for name, value in data.items()
    ) + (
        '<script type="module">\n'
        f'import {{ mountPage }} from "data:text/javascript;base64,{module}";\n{_START}</script>\n'
    )


def _embedded(value: Any) -> str:
    """Return a value as JSON inside a script element, which only "<" can end."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


def _facts(result: Shown) -> str:
    data = result.profile.data
    hosts = ", ".join(trace.host for trace in data.hosts)
    models = ", ".join(sorted({device.model or device.name for device in data.devices}))
    return " · ".join(filter(None, (hosts, models, f"xprof_nb {__version__}")))
