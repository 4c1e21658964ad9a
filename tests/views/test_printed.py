"""Every view of a notebook on paper: nbconvert's page has its sentence, its rows and its notes, and reads well."""

from __future__ import annotations

import html
import re
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

import xprof_nb as xp
from xprof_nb import snapshot, views
from xprof_nb.views import fallback

VIEWS = [name for name, view in snapshot.VIEWS.items() if view.explored]


def printed(profile: xp.Profile, names: list[str]) -> dict[str, str]:
    """Return what nbconvert makes of the output of each view."""
    cells = []
    for name in names:
        data, _ = views.mimebundle(profile.ask(name))
        output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
        cells.append(nbformat.v4.new_code_cell(f"profile.{name}()", outputs=[output]))
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    parts = page.split('<div class="jp-Cell jp-CodeCell')[1:]
    return dict(zip(names, parts, strict=True))


@pytest.mark.parametrize("run", ["cpu", "tpu-v6e-psum", "mi300x-jax-conv"])
def test_every_view_is_a_table_that_reads_well(cpu_profile: Path, request: pytest.FixtureRequest, run: str) -> None:
    path = cpu_profile if run == "cpu" else request.getfixturevalue("corpus") / run
    profile = xp.open(path)
    for name, part in printed(profile, VIEWS).items():
        table = fallback.table(profile.ask(name))
        said = html.unescape(part)
        for words in (table.caption, table.sentence, *table.notes):
            assert words in said
        rows = re.findall(r'<th [^>]*scope="row" style="text-align:left;[^"]*">(?:&emsp;|\u2003)*(.*?)</th>', part)
        assert [html.unescape(row) for row in rows] == list(table.columns[0].cells), name
        numbers = re.findall(r'<td align="right">(.*?)</td>', part)
        assert not [cell for cell in numbers if re.search("[^,] ", cell)], "a number and its unit stay together"
        assert not {"True", "False", "nan", "None"} & set(re.findall(r"<td[^>]*>(.*?)</td>", part)), name
        assert rows or table.notes, f"{name} is empty and does not say why"
