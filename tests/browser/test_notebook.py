"""The main job in a real JupyterLab: run the quickstart, read the view, come back to it later."""

from __future__ import annotations

import json
import shutil
import time

import nbformat
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import lab as labs
from tests.browser.op_profile import OpProfile
from xprof_nb.model import units
from xprof_nb.snapshot import MIMETYPE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOTEBOOK = "quickstart.ipynb"
RUN_TIMEOUT_MS = 180_000
SAVE_TIMEOUT_S = 20


def wait_for_lab(page) -> None:
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    page.locator(".jp-Notebook").first.wait_for()


def choose(page, menu: str, item: str) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text=menu).first.click()
    page.locator(".lm-Menu-itemLabel", has_text=item).first.click()


def cell(page, identifier: str):
    """Return a code cell by the id in the notebook file."""
    book = nbformat.read(page.notebook, as_version=4)
    index = [c.id for c in book.cells].index(identifier)
    found = page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')
    found.scroll_into_view_if_needed()
    return found


def saved_outputs(path) -> list[dict]:
    book = json.loads(path.read_text())
    return [output for c in book["cells"] if c["cell_type"] == "code" for output in c["outputs"]]


@pytest.fixture(scope="module")
def story(lab):
    """What one test leaves for the next: the same person, the same notebook."""
    return {}


@pytest.fixture
def open_notebook(open_page):
    def start(server, name: str = NOTEBOOK, **options):
        page = open_page(server.page(name), **options)
        page.notebook = server.root / name
        wait_for_lab(page)
        return page

    return start


def test_the_quickstart_runs_and_its_view_answers(lab, open_notebook, screenshot, story):
    page = open_notebook(lab)
    page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
    choose(page, "Run", "Run All Cells")
    finished = page.locator(".jp-Notebook .jp-Cell", has=page.locator("text=/\\d+ steps, loss/"))
    finished.last.wait_for(state="attached", timeout=RUN_TIMEOUT_MS)

    view = OpProfile(cell(page, "capture")).wait()
    view.expect_answers_from("kernel")
    view.expand_all()
    expect(view.ops().first).to_be_visible()
    screenshot(page, "notebook-light")

    program = view.rows.nth(1)
    if program.get_attribute("aria-expanded") == "true":
        program.locator(".jp-XprofTree-twisty").click()
        expect(program).to_have_attribute("aria-expanded", "false")
    assert view.expand(program) > 0

    view.expand_all()
    op = view.ops().first
    name = op.locator(".jp-XprofTree-label").inner_text()
    op.click()
    expect(view.details).to_contain_text(name)
    expect(view.details.locator(".jp-OpDetails-hlo")).to_contain_text(name)
    screenshot(page, "notebook-details-light")

    view.filter(name)
    expect(view.table.locator("mark").first).to_be_visible()
    assert name in view.names()
    view.filter("no op is called this")
    expect(view.ops()).to_have_count(0)
    view.filter("")

    choose(page, "File", "Save Notebook")
    deadline = time.monotonic() + SAVE_TIMEOUT_S
    path = lab.root / NOTEBOOK
    while not any(MIMETYPE in o.get("data", {}) for o in saved_outputs(path)):
        assert time.monotonic() < deadline, "the notebook was not saved"
        page.wait_for_timeout(200)
    story["total_time"] = view.total_time()
    assert path.stat().st_size < 1_000_000


def test_the_view_says_what_the_numbers_say(lab, story):
    profile = xp.open(lab.root / "xprof-logs")
    root = profile.op_profile().frame.iloc[0]
    assert units.duration(root["time_ps"]) == story["total_time"]


def test_the_side_panel_opens_the_run_without_a_kernel(lab, open_page, screenshot, story):
    for session in lab.ask("GET", "api/sessions"):
        lab.ask("DELETE", f"api/sessions/{session['id']}")
    page = open_page(lab.page())
    page.locator('[data-id="xprof-nb-panel"]').click()
    panel = page.locator("#xprof-nb-panel")
    run = xp.open(lab.root / "xprof-logs").name
    panel.get_by_text(run, exact=True).first.wait_for()
    screenshot(page, "panel-light")
    panel.get_by_text(run, exact=True).first.dblclick()
    page.locator("#jp-main-dock-panel").get_by_role("tab", name="op profile").click()
    view = OpProfile(page.locator("#jp-main-dock-panel .jp-XprofExplore-place")).wait()
    view.expect_answers_from("server")
    assert view.total_time() == story["total_time"]
    view.expand_all()
    expect(view.ops().first).to_be_visible()
    screenshot(page, "document-light")
    assert lab.ask("GET", "api/kernels") == []

    lab.wait_until_layout_has(page, run)
    page.reload()
    page.locator("#jp-main-dock-panel").get_by_role("tab", name="op profile").click()
    again = OpProfile(page.locator("#jp-main-dock-panel .jp-XprofExplore-place")).wait()
    assert again.total_time() == story["total_time"]


def test_a_page_reload_keeps_the_view(lab, open_notebook, story):
    page = open_notebook(lab)
    assert OpProfile(cell(page, "capture")).wait().total_time() == story["total_time"]
    page.reload()
    wait_for_lab(page)
    assert OpProfile(cell(page, "capture")).wait().total_time() == story["total_time"]


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_a_saved_notebook_opens_without_any_kernel(
    lab, home, tmp_path_factory, open_notebook, screenshot, story, trusted
):
    root = tmp_path_factory.mktemp("reopened")
    shutil.copy(lab.root / NOTEBOOK, root)
    # Trust lives in the home of who ran the notebook; a stranger has another one.
    server = labs.start(root, home if trusted else tmp_path_factory.mktemp("stranger"), *labs.WITHOUT_KERNELS)
    try:
        before = (root / NOTEBOOK).read_bytes()
        page = open_notebook(server)
        page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        view = OpProfile(cell(page, "capture")).wait()
        assert view.total_time() == story["total_time"]
        # The run's folder is not under this server's root, so nobody can be asked.
        view.expect_answers_from("static")
        view.expand_all()
        view.ops().first.click()
        expect(view.details.locator(".jp-OpDetails-hlo")).to_contain_text("=")
        screenshot(page, f"reopened-{'trusted' if trusted else 'untrusted'}-light")
        assert page.get_by_text("model not found").count() == 0
        assert server.ask("GET", "api/kernels") == []
        assert (root / NOTEBOOK).read_bytes() == before
    finally:
        server.stop()


def test_the_dark_theme(lab, open_notebook, open_page, screenshot, story):
    lab.use_theme("JupyterLab Dark")
    try:
        page = open_notebook(lab)
        view = OpProfile(cell(page, "capture")).wait()
        expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
        ground = ""
        while not ground:  # no colour while a live view takes the place of the saved one
            ground = view.table.evaluate("el => getComputedStyle(el.closest('.xprof-nb, .jp-OpProfile')).color")
        assert brightness(ground) > 0.5
        screenshot(page, "notebook-dark")
    finally:
        lab.use_theme("JupyterLab Light")


def brightness(color: str) -> float:
    """Return how light a CSS colour is, 0 to 1."""
    red, green, blue = (float(part) for part in color[color.index("(") + 1 : -1].split(",")[:3])
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255
