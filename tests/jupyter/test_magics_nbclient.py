"""A notebook executed from top to bottom, as `jupyter execute` and papermill do it."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbclient import NotebookClient

from tests.jupyter.kernel import REPOSITORY, SETUP, THREAD, VIEW

CELLS = [
    SETUP,
    "%%xprof --name cell\nsquare(operand)",
    "%xprof capture 1s --name armed",
    "for _ in range(5): square(operand).block_until_ready()",
    "%xprof wait",
    THREAD,
    "%xprof capture 1s --name running",
    "%xprof wait",
    "enough.set(); thread.join()",
]


@pytest.mark.notebook
def test_results_stand_in_the_cells_that_asked_for_them(tmp_path, monkeypatch) -> None:
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = {cell.source.split("\n")[0]: cell.outputs for cell in book.cells}
    for asked, run in ((CELLS[1], "cell"), (CELLS[2], "armed"), (CELLS[6], "running")):
        shown = outputs[asked.split("\n")[0]][-1].data
        assert VIEW in shown
        assert f"op profile of {run}" in shown["text/plain"]
        assert "jit__lambda" in shown["text/html"]
    for other in (CELLS[3], CELLS[8]):
        assert not outputs[other]
    assert not book.cells[4].outputs
    assert not book.cells[7].outputs
