"""Every notebook runs from top to bottom in a real kernel, and is kept without outputs."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from xprof_nb.snapshot import MIMETYPE

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CELL_TIMEOUT_S = 200


def named(path: Path) -> str:
    return path.name


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Return a function that runs a notebook, once, and returns it with the folder it ran in."""

    @functools.cache
    def run(name: str):
        folder = tmp_path_factory.mktemp("notebook")
        book = nbformat.read(next(path for path in NOTEBOOKS if path.name == name), as_version=4)
        NotebookClient(book, timeout=CELL_TIMEOUT_S, resources={"metadata": {"path": str(folder)}}).execute()
        return book, folder

    return run


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
def test_it_runs(path, executed, tmp_path):
    book, _ = executed(path.name)
    nbformat.write(book, tmp_path / path.name)
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert (tmp_path / path.name).stat().st_size < 1_000_000


@pytest.mark.notebook
@pytest.mark.timeout(600)
def test_the_quickstart_shows_two_op_profiles_and_keeps_both_runs(executed):
    book, folder = executed("quickstart.ipynb")
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
    assert {path.name for path in (folder / "xprof-logs" / "plugins" / "profile").iterdir()} == {
        views["cell"]["run"]["name"],
        views["capture"]["run"]["name"],
    }


@pytest.mark.notebook
@pytest.mark.timeout(600)
def test_a_batch_moves_decode_to_the_right(executed):
    book, _ = executed("inference_kpis.ipynb")
    (said,) = [output.text for output in book.cells[-1].outputs if output.output_type == "stream"]
    one, sixteen = (float(number) for number in re.findall(r"[\d.]+(?= FLOP per byte)|[\d.]+(?= with sixteen)", said))
    assert sixteen > 1.5 * one


@pytest.mark.notebook
@pytest.mark.timeout(600)
def test_turning_a_knob_moves_the_point_under_the_roof(executed):
    book, _ = executed("batch_size_sweep.ipynb")
    state = book.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    [shown] = [model["state"]["outputs"] for model in state.values() if model["model_name"] == "OutputModel"]
    assert not [output for output in shown if output["output_type"] == "error"]
    [table] = [
        output["data"]["text/plain"] for output in shown if "flops_per_s" in output["data"].get("text/plain", "")
    ]
    rows = [line.split() for line in table.splitlines() if line[:1].isdigit()]
    assert [row[1] for row in rows][:2] == ["4", "16"]
    [picture] = [output["data"]["text/html"] for output in shown if "<svg" in output["data"].get("text/html", "")]
    dots = re.findall(r'<circle cx="([0-9.]+)"', picture)
    assert len(dots) == 2
    assert float(dots[1]) > float(dots[0])  # more work for each byte of the same weights
