"""All views of a run as tabs: in a page from disk, in a notebook, in a document without a kernel; and one selection."""

from __future__ import annotations

import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser.test_notebook import wait_for_lab
from xprof_nb.snapshot import VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOTEBOOK = "explore.ipynb"
RUNS = ("tpu-v6e-psum", "v100-tf")
EXPLORED = [name for name, view in VIEWS.items() if view.explored]
DRAWN = ".jp-Overview-tile, .jp-XprofGrid-row, .jp-XprofTree-row, .jp-Timeline-body, .jp-XprofEmpty, svg"
RUN_TIMEOUT_MS = 120_000
KEPT_MS = 1_500
"""Until a page has kept how a view stands."""


def tab(area, view: str):
    return area.locator(f'[role="tab"][data-view="{view}"]')


def open_tab(area, view: str):
    """Open a view of a run and return its place, once something is in it."""
    tab(area, view).click()
    expect(tab(area, view)).to_have_attribute("aria-selected", "true")
    place = area.locator(".jp-XprofExplore-place")
    place.locator(".jp-XprofView").first.wait_for()
    return place


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", [*RUNS, "cpu"])
def test_every_view_is_in_a_page_from_disk(open_page, cpu_profile, corpus, tmp_path, screenshot, run, scheme):
    profile = xp.open(cpu_profile if run == "cpu" else corpus / run)
    page = open_page(profile.to_html(tmp_path / "run.html").as_uri(), color_scheme=scheme)
    area = page.locator("body")
    for view in EXPLORED:
        place = open_tab(area, view)
        expect(place.locator(".jp-XprofChart .jp-XprofStatus")).to_have_count(0)
        place.locator(DRAWN).filter(visible=True).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{view} is cut"
        screenshot(page, f"explore-{run}-{view}-{scheme}")


def test_the_numbers_of_a_table_are_those_of_the_frame(open_page, cpu_profile, tmp_path):
    profile = xp.open(cpu_profile)
    frame = profile.ops().frame.sort_values("self_time_ps", ascending=False, kind="stable")
    page = open_page(profile.to_html(tmp_path / "run.html").as_uri())
    place = open_tab(page.locator("body"), "ops")
    place.locator('[role="columnheader"] button[data-field="self_time_ps"]').click()
    shown = place.locator('.jp-XprofGrid-row [data-field="self_time_ps"]')
    exact = [re.sub(r"[^\d.]", "", shown.nth(row).get_attribute("title")) for row in range(5)]
    assert [float(value) for value in exact] == pytest.approx(frame["self_time_ps"].head(5).tolist(), abs=0.5)


def test_a_page_goes_on_where_it_was_after_a_reload(open_page, cpu_profile, tmp_path):
    page = open_page(xp.open(cpu_profile).to_html(tmp_path / "run.html").as_uri())
    area = page.locator("body")
    place = open_tab(area, "ops")
    place.get_by_label("Filter rows").fill("op:dot")
    place.locator('[role="columnheader"] button[data-field="occurrences"]').click()
    place.locator(".jp-XprofGrid-row").first.click()
    ops = place.locator(".jp-XprofGrid-row > :first-child").all_text_contents()
    place = open_tab(area, "op_profile")
    place.locator("[data-choice=wasted_fraction]").click()
    folded = place.locator('.jp-XprofTree-row[aria-expanded="true"]').last
    name = folded.locator(".jp-XprofTree-label").text_content()
    folded.click()
    page.keyboard.press("ArrowLeft")
    rows = place.locator(".jp-XprofTree-row .jp-XprofTree-label").all_text_contents()
    page.wait_for_timeout(KEPT_MS)

    page.reload()
    expect(tab(area, "op_profile")).to_have_attribute("aria-selected", "true")
    place = area.locator(".jp-XprofExplore-place")
    expect(place.locator(".jp-XprofTree-label")).to_have_text(rows)
    expect(place.locator("[data-choice=wasted_fraction]")).to_have_attribute("aria-pressed", "true")
    again = place.locator(".jp-XprofTree-row").filter(has=page.get_by_text(name, exact=True)).first
    expect(again).to_have_attribute("aria-expanded", "false")
    place = open_tab(area, "ops")
    expect(place.get_by_label("Filter rows")).to_have_value("op:dot")
    expect(place.locator(".jp-XprofGrid-row > :first-child")).to_have_text(ops)


@pytest.fixture(scope="module")
def run(lab, cpu_profile):
    """Return the log dir, below the lab's root, of a run that a notebook shows."""
    logdir = lab.root / "explore-logs"
    folder = logdir / "plugins" / "profile" / "explored"
    folder.parent.mkdir(parents=True)
    shutil.copytree(cpu_profile, folder)
    cells = [
        nbformat.v4.new_code_cell(f"import xprof_nb as xp\nprofile = xp.open({str(logdir)!r})\nprofile"),
        nbformat.v4.new_code_cell("profile.ops()"),
        nbformat.v4.new_code_cell("print('chosen', profile.selection['op'])"),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), lab.root / NOTEBOOK)
    return logdir


def test_cells_of_a_notebook_share_one_selection(lab, run, open_page, screenshot):
    page = open_page(lab.page(NOTEBOOK))
    wait_for_lab(page)
    cells = page.locator(".jp-Notebook .jp-CodeCell")

    def run_cell(index: int) -> None:
        page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
        cells.nth(index).locator(".jp-InputArea-editor").click()
        page.keyboard.press("Shift+Enter")

    run_cell(0)
    explorer = cells.nth(0).locator(".jp-OutputArea")
    explorer.locator(".jp-XprofBadge.jp-mod-kernel").first.wait_for(timeout=RUN_TIMEOUT_MS)
    place = open_tab(explorer, "ops")
    place.locator(".jp-XprofGrid-row").first.wait_for()
    screenshot(page, "explore-notebook-light")
    run_cell(1)
    table = cells.nth(1).locator(".jp-OutputArea")
    table.locator(".jp-XprofBadge.jp-mod-kernel").first.wait_for(timeout=RUN_TIMEOUT_MS)
    row = table.locator(".jp-XprofGrid-row").nth(1)
    op = row.locator('[data-field="op"]').text_content()
    row.click()
    chosen = place.locator('.jp-XprofGrid-row.jp-mod-selected [data-field="op"]')
    expect(chosen.first).to_have_text(op)
    run_cell(2)
    expect(cells.nth(2).locator(".jp-OutputArea")).to_contain_text(f"chosen {op}")


def test_a_document_shows_all_views_without_a_kernel(lab, run, open_page, screenshot):
    for session in lab.ask("GET", "api/sessions"):
        lab.ask("DELETE", f"api/sessions/{session['id']}")
    page = open_page(lab.page())
    page.locator('[data-id="xprof-nb-panel"]').click()
    page.locator("#xprof-nb-panel").get_by_text("explored", exact=True).first.dblclick()
    area = page.locator("#jp-main-dock-panel .jp-XprofDocument")
    for view in EXPLORED:
        place = open_tab(area, view)
        expect(place.locator(".jp-XprofBadge.jp-mod-server").first).to_be_visible()
        expect(place.locator("[role=alert]")).to_have_count(0)
        screenshot(page, f"explore-document-{view}-light")
    place = open_tab(area, "ops")
    area.get_by_label("Step").fill("1")
    area.get_by_label("Step").press("Enter")
    expect(place).to_contain_text("Narrowed to step 1")
    place = open_tab(area, "op_profile")
    place.get_by_role("button", name="category", exact=True).click()
    expect(place.locator(".jp-XprofTree-row")).not_to_have_count(0)
    expect(place.get_by_role("button", name="category", exact=True)).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(KEPT_MS)
    page.reload()
    place = area.locator(".jp-XprofExplore-place")
    expect(place.get_by_role("button", name="category", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(place).to_contain_text("Narrowed to step 1")
    assert lab.ask("GET", "api/kernels") == []
