"""Memory of a cell, an out-of-memory error explained, and the doctor, as a person reads them in JupyterLab."""

from __future__ import annotations

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.test_notebook import choose, wait_for_lab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOTEBOOK = "memory.ipynb"
RUN_TIMEOUT_MS = 180_000
CELLS = (
    "%load_ext xprof_nb\nimport jax.numpy as jnp\nimport xprof_nb as xp",
    "%%xprof --memory\nparams = {'w': jnp.ones((25, 1000, 1000))}\nloss = (params['w'][0] @ params['w'][1]).sum()",
    "def train():\n    activations = jnp.ones((13, 1000, 1000))\n    jnp.zeros((2**50,), jnp.int8)\n"
    "try:\n    train()\nexcept Exception:\n    get_ipython().showtraceback()",
    "xp.explain_oom()",
    "%xprof doctor",
    "%xprof rm no-such-run",
)


@pytest.fixture
def page(lab, open_page):
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS], metadata=metadata)
    nbformat.write(book, lab.root / NOTEBOOK)
    page = open_page(lab.page(NOTEBOOK))
    wait_for_lab(page)
    page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
    choose(page, "Run", "Run All Cells")
    return page


def output(page, index: int):
    """Return what a cell shows; JupyterLab draws only cells that are near."""
    cell = page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')
    cell.scroll_into_view_if_needed()
    return cell.locator(".jp-OutputArea").first


def test_memory_an_error_and_the_doctor_are_read_in_the_notebook(page, screenshot) -> None:
    last = page.locator(".jp-Notebook .jp-Cell", has=page.locator("text=/there is no run 'no-such-run'/"))
    last.last.wait_for(state="attached", timeout=RUN_TIMEOUT_MS)

    memory = output(page, 1)
    expect(memory.locator("caption", has_text="device memory of this cell")).to_be_visible()
    row = memory.locator("tr", has_text="params['w']")
    expect(row).to_contain_text("[25, 1000, 1000]")
    expect(row).to_contain_text("95.4 MiB")
    memory.locator("caption", has_text="what compiled programs").scroll_into_view_if_needed()
    screenshot(page, "memory-of-a-cell")

    explained = output(page, 3)
    expect(explained.locator("strong").first).to_have_text("Out of memory: 1.00 PiB asked for")
    advice = explained.locator("li", has_text="only the last traceback holds")
    expect(advice).to_contain_text("activations in train")
    expect(advice).to_contain_text("49.6 MiB")
    advice.scroll_into_view_if_needed()
    screenshot(page, "explain-oom")

    doctor = output(page, 4)
    expect(doctor.locator("caption", has_text="doctor")).to_be_visible()
    for what, found in (("lab extension", "enabled"), ("server extension", "enabled"), ("profiler", "free")):
        row = doctor.locator("tr", has=page.get_by_role("rowheader", name=what, exact=True))
        expect(row).to_contain_text("ok")
        expect(row).to_contain_text(found)
    expect(doctor.get_by_role("row").filter(has_text="ipykernel")).to_contain_text("views answer while a cell runs")
    expect(doctor.get_by_role("row").filter(has_text="fault")).to_have_count(0)
    screenshot(page, "doctor")
