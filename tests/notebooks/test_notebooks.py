"""Every notebook runs from top to bottom in a real kernel, and is kept without outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from xprof_nb.snapshot import MIMETYPE

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CELL_TIMEOUT_S = 200


def named(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_it_is_kept_clean(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert book.cells[0].source.startswith("# ")


@pytest.mark.notebook
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_it_runs(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=CELL_TIMEOUT_S, resources={"metadata": {"path": str(tmp_path)}}).execute()
    nbformat.write(book, tmp_path / path.name)
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert (tmp_path / path.name).stat().st_size < 1_000_000


@pytest.mark.notebook
@pytest.mark.timeout(600)
def test_the_quickstart_shows_two_op_profiles_and_keeps_both_runs(tmp_path):
    book = nbformat.read(next(path for path in NOTEBOOKS if path.name == "quickstart.ipynb"), as_version=4)
    NotebookClient(book, timeout=CELL_TIMEOUT_S, resources={"metadata": {"path": str(tmp_path)}}).execute()
    views = {
        cell.id: output.data[MIMETYPE]
        for cell in book.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if MIMETYPE in output.get("data", {})
    }
    assert {"cell", "capture"} <= set(views)
    assert views["cell"]["summary"]["total_time_ps"] > 0
    assert views["capture"]["summary"]["total_time_ps"] > 0
    assert {path.name for path in (tmp_path / "xprof-logs" / "plugins" / "profile").iterdir()} == {
        views["cell"]["run"]["name"],
        views["capture"]["run"]["name"],
    }
