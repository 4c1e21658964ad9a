"""Every view of a notebook on paper: nbconvert's page has its sentence, its rows and its notes, and reads well."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import xprof_nb as xp
from tests.views import printed
from xprof_nb.views import fallback


@pytest.mark.parametrize("run", ["cpu", "tpu-v6e-psum", "mi300x-jax-conv"])
def test_every_view_is_a_table_that_reads_well(cpu_profile: Path, request: pytest.FixtureRequest, run: str) -> None:
    path = cpu_profile if run == "cpu" else request.getfixturevalue("corpus") / run
    profile = xp.open(path)
    parts = printed.page(profile).split('<div class="jp-Cell jp-CodeCell')[1:]
    for name, part in zip(printed.VIEWS, parts, strict=True):
        table = fallback.table(profile.ask(name))
        said = html.unescape(part)
        for words in (table.caption, table.sentence, *table.notes):
            assert words in said
        rows = re.findall(r'<th [^>]*scope="row" style="text-align:left;[^"]*">(?:&nbsp;|\u00a0)*(.*?)</th>', part)
        assert [html.unescape(row) for row in rows] == list(table.columns[0].cells), name
        numbers = re.findall(r'<td align="right">(.*?)</td>', part)
        assert not [cell for cell in numbers if re.search("[^,] ", cell)], "a number and its unit stay together"
        assert not {"True", "False", "nan", "None"} & set(re.findall(r"<td[^>]*>(.*?)</td>", part)), name
        assert rows or table.notes, f"{name} is empty and does not say why"
