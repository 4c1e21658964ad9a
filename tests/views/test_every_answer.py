"""Every answer to every question can be shown as a table, sent to a browser and written as JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import xprof_nb as xp
from xprof_nb import queries, snapshot
from xprof_nb.model import columns
from xprof_nb.views import fallback, layouts

QUESTIONS = sorted(set(queries.REGISTER) - {"op_details"})


@pytest.fixture(scope="module")
def profiles(cpu_profile: Path) -> list[xp.Profile]:
    recorded = Path(__file__).parents[3] / "shared" / "corpus"
    files = [*recorded.glob("tpu-v6e-psum/plugins/profile/*/*.pb"), *recorded.glob("v100-tf/plugins/profile/*/*.pb")]
    return [xp.open(path) for path in (cpu_profile, *files)]


@pytest.mark.parametrize("compat", [None, "xprof"])
@pytest.mark.parametrize("question", [name for name in QUESTIONS if not name.startswith("trace_")])
def test_it_is_shown_sent_and_written(profiles: list[xp.Profile], question: str, compat: str | None) -> None:
    for profile in profiles:
        needed = {"other": profile.data} if question == "compare" else {}
        result = profile.ask(question, **needed, **({"compat": compat} if compat else {}))
        meta = snapshot.json_safe({"summary": result.summary, "notes": result.notes})
        sent, _ = columns.decode(columns.encode(result.frame, meta))
        assert list(sent.columns) == [str(name) for name in result.frame.columns]
        assert len(sent) == len(result.frame)
        json.dumps(result.summary, allow_nan=False)
        table = fallback.table(result)
        assert fallback.html(table).count("<tr>") == len(table.indents) + 1
        assert fallback.plain(table)
        assert len(result.frame) or result.notes, f"{question} of {profile.name} is empty and does not say why"


@pytest.mark.parametrize("question", ["ops", "steps", "buffers"])
def test_the_csv_has_the_rows_of_the_screen(profiles: list[xp.Profile], question: str) -> None:
    result = profiles[0].ask(question)
    rows = list(csv.DictReader(io.StringIO(result.to_csv() or "")))
    assert len(rows) == len(result.frame)
    shown = fallback.table(result, rows=len(rows))
    first = shown.columns[0]
    names = [row[first.head.replace(" ", "_")] for row in rows]
    assert [layouts.one_line(name) for name in names] == list(first.cells)
