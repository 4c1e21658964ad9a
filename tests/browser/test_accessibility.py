"""axe-core finds nothing against our views: on a page, in a notebook and in a document, light and dark."""

from __future__ import annotations

import shutil

import nbformat
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser.axe import expect_accessible
from tests.browser.op_profile import FIRST_ANSWER_MS, OpProfile
from tests.browser.test_notebook import wait_for_lab
from tests.browser.timeline import Timeline

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOTEBOOK = "accessibility.ipynb"
RUN_TIMEOUT_MS = 120_000
SCHEMES = ["light", "dark"]
LAB_THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


@pytest.fixture(scope="module")
def pages(cpu_profile, tmp_path_factory):
    profile, folder = xp.open(cpu_profile), tmp_path_factory.mktemp("pages")
    return {
        "timeline": profile.trace().to_html(folder / "trace.html"),
        "op_profile": profile.op_profile().to_html(folder / "op_profile.html"),
    }


@pytest.fixture(scope="module")
def logdir(lab, cpu_profile):
    """Return the log dir, below the lab's root, of a run that a notebook shows in both views."""
    logdir = lab.root / "accessible-logs"
    run = logdir / "plugins" / "profile" / "accessible"
    run.parent.mkdir(parents=True)
    shutil.copytree(cpu_profile, run)
    opening = f"import xprof_nb as xp\nprofile = xp.open({str(logdir)!r})\n"
    cells = [nbformat.v4.new_code_cell(f"{opening}profile.{view}()") for view in ("op_profile", "trace")]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), lab.root / NOTEBOOK)
    return logdir


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


@pytest.fixture
def themed_lab(lab, scheme):
    lab.use_theme(LAB_THEMES[scheme])
    yield lab
    lab.use_theme(LAB_THEMES["light"])


def check_timeline(area, where: str) -> None:
    """Look at the timeline as it comes, with everything open that opens, and with what floats over it."""
    view = Timeline(area).wait()
    expect_accessible(area, f"{where}: timeline")
    box = view.stage.bounding_box()
    for share in (0.2, 0.6):
        view.page.mouse.move(box["x"] + share * box["width"], box["y"] + 20)
        view.press("m")
    view.press("]")
    expect(view.selection.locator("tbody tr, p").first).to_be_visible()
    x, y = view.point_at_a_box("Ops")
    expect(view.card).to_be_visible()
    expect_accessible(area, f"{where}: timeline with markers, selection and hover card")
    view.page.mouse.click(x, y)
    expect(view.details).to_be_visible()
    view.press("/")
    view.page.keyboard.type("dot")
    expect(view.area.locator(".jp-Timeline-hits")).to_contain_text("of")
    expect_accessible(area, f"{where}: timeline with details and search")
    area.get_by_role("button", name="More actions").click()
    expect(area.get_by_role("menu")).to_be_visible()
    expect_accessible(area, f"{where}: timeline with its menu")
    view.page.keyboard.press("Escape")
    view.press("?")
    expect(area.get_by_role("dialog", name="Keys")).to_be_visible()
    expect_accessible(area, f"{where}: timeline with its keys")
    view.page.keyboard.press("Escape")


def check_op_profile(area, where: str) -> None:
    """Look at the op profile as it comes, with a row's details, with matches, and with what floats over it."""
    view = OpProfile(area).wait()
    expect_accessible(area, f"{where}: op profile")
    view.expand_all()
    view.ops().first.click()
    expect(view.details).to_be_visible()
    view.filter("dot")
    expect(view.table.locator("mark").first).to_be_visible()
    expect_accessible(area, f"{where}: op profile with details and matches")
    area.get_by_role("button", name="More actions").click()
    expect(area.get_by_role("menu")).to_be_visible()
    expect_accessible(area, f"{where}: op profile with its menu")
    area.page.keyboard.press("Escape")


def test_pages(open_page, pages, scheme):
    page = open_page(pages["timeline"].as_uri(), color_scheme=scheme)
    check_timeline(page.locator("body"), f"page, {scheme}")
    page.goto(pages["op_profile"].as_uri())
    check_op_profile(page.locator("body"), f"page, {scheme}")


def test_a_page_on_paper(open_page, pages):
    page = open_page(pages["timeline"].as_uri())
    Timeline(page.locator("body")).wait()
    page.emulate_media(media="print")
    expect(page.locator("main#table table")).to_be_visible()
    expect_accessible(page.locator("main#table"), "page on paper")


def test_a_notebook(themed_lab, logdir, open_page, scheme):
    page = open_page(themed_lab.page(NOTEBOOK))
    wait_for_lab(page)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
    cells.first.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Shift+Enter")
    cells.first.locator(".jp-OpProfile").wait_for(timeout=RUN_TIMEOUT_MS)
    check_op_profile(cells.first.locator(".jp-OutputArea"), f"notebook, {scheme}")
    cells.nth(1).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Shift+Enter")
    cells.nth(1).locator(".jp-Timeline").wait_for(timeout=RUN_TIMEOUT_MS)
    check_timeline(cells.nth(1).locator(".jp-OutputArea"), f"notebook, {scheme}")


def test_a_document(themed_lab, logdir, open_page, scheme):
    page = open_page(themed_lab.page())
    page.locator('[data-id="xprof-nb-panel"]').click()
    page.locator("#xprof-nb-panel").get_by_text("accessible", exact=True).first.dblclick()
    document = page.locator("#jp-main-dock-panel")
    document.get_by_role("tab", name="op profile").click(timeout=FIRST_ANSWER_MS)
    check_op_profile(document.get_by_role("tabpanel").last, f"document, {scheme}")
    document.get_by_role("tab", name="timeline").click()
    check_timeline(document.get_by_role("tabpanel").last, f"document, {scheme}")


def test_a_fault_would_be_found(open_page):
    page = open_page("data:text/html,<main><button></button><p style='color:%23bbb;background:white'>faint</p></main>")
    with pytest.raises(pytest.fail.Exception, match=r"(?s)button-name \(critical\).*color-contrast \(serious\)"):
        expect_accessible(page.locator("main"), "a page with faults")
