"""Every view on a TPU's, a GPU's and a CPU's run: nothing against it from axe-core, all by keyboard, nothing moves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import every_view
from tests.browser.axe import expect_accessible
from tests.browser.conftest import watched
from tests.browser.live_page import served
from xprof_nb.snapshot import VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUNS = {"cpu": None, "tpu": "tpu-v6e-psum", "gpu": "mi300x-jax-conv"}
SHOWN = [(run, view) for run in RUNS for view in VIEWS]
ON_CPU = SHOWN[: len(VIEWS)]
"""The first of them, and the same objects: their pages serve all tests."""
ARGUMENTS = {"sql": {"text": "SELECT op, self_time_ps FROM ops"}}
COMPOSITES = '[role="grid"], [role="treegrid"], [role="tree"], [role="tablist"]'
TREES = '[role="treegrid"], [role="tree"], .jp-XprofEmpty, .jp-XprofGrid-none'
# Where the keys of a grid, a tree or tabs are now.
PLACE = """element => [
  element.getAttribute('aria-activedescendant'), document.activeElement.outerHTML, element.innerHTML
].join()"""


@pytest.fixture(scope="module")
def profiles(corpus, cpu_profile):
    return {run: xp.open(cpu_profile if name is None else corpus / name) for run, name in RUNS.items()}


@pytest.fixture(scope="module")
def page(browser):
    with watched(browser) as (start, _):
        yield start("about:blank", reduced_motion="reduce")


@pytest.fixture(scope="module", params=SHOWN, ids="-".join)
def shown(request, page, profiles, tmp_path_factory):
    """One page for all tests of a view of a run."""
    run, view = request.param
    profile = profiles[run]
    result = profile.explore() if view == "explore" else profile.ask(view, **ARGUMENTS.get(view, {}))
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(result.to_html(tmp_path_factory.mktemp("view") / "view.html").as_uri())
    every_view.wait(page)
    return f"{view} of a {run}", page, result


def test_axe_core_has_nothing_against_it(shown):
    name, page, _ = shown
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        expect_accessible(page.locator("body"), f"{name}, {scheme}")


def test_nothing_moves_for_who_does_not_want_it(shown):
    _, page, _ = shown
    assert page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")
    assert every_view.moving(page) == []


def test_nothing_is_cut_in_a_narrow_notebook(shown):
    name, page, _ = shown
    window = page.viewport_size
    try:
        for width in (480, 560):
            every_view.resize(page, width, window["height"])
            assert every_view.cut(page) == [], f"{name}, {width} px"
    finally:
        every_view.resize(page, **window)


def test_numbers_drawn_are_those_of_the_frame_sorted_and_filtered(shown):
    name, page, result = shown
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    every_view.expect_tables_beside(page, result.summary)
    every_view.expect_tree_of(page, result.frame)
    grid = page.locator(".jp-XprofGrid").last
    if grid.count() == 0 or grid.locator(".jp-XprofGrid-row").count() == 0:
        assert page.locator(TREES).filter(visible=True).count() > 0, f"{name} has no rows and does not say why"
        return
    is_whole = grid.get_attribute("aria-rowcount") == str(len(result.frame) + 1)
    for field in [name for name in every_view.measures(grid) if name in result.frame][:2]:
        frame = every_view.numbers(result.frame, [field])[:, 0]
        grid.locator(f'[role="columnheader"] button[data-field="{field}"]').click()
        column = grid.locator(f'[role="columnheader"]:has([data-field="{field}"])')
        expect(column).to_have_attribute("aria-sort", "descending")
        drawn = every_view.table(grid)
        known = drawn[field][~np.isnan(drawn[field])]
        assert (np.diff(known) <= 0).all()
        if is_whole:
            np.testing.assert_allclose(known, np.sort(frame[~np.isnan(frame)])[::-1][: len(known)], rtol=1e-6)
        every_view.expect_rows_of(result.frame, drawn)

        least = frame[np.nanargmin(np.abs(frame - np.nanmedian(drawn[field])))]
        page.get_by_label("Filter rows").last.fill(f"{field}>={float(least)!r}")
        if is_whole:
            expect(grid).to_have_attribute("aria-rowcount", str((frame >= least).sum() + 1))
        drawn = every_view.table(grid)
        assert (drawn[field] >= least * (1 - 1e-6)).all()
        every_view.expect_rows_of(result.frame, drawn)
        page.get_by_label("Filter rows").last.fill("")


def test_tab_reaches_everything_and_shows_where_it_is(shown):
    _, page, _ = shown
    stops = every_view.stops(page)
    page.evaluate("document.activeElement.blur()")
    page.mouse.click(1, 1)
    reached = every_view.walk(page, "Tab")
    assert [stops.get(stop, stop) for stop, is_seen in reached.items() if not is_seen] == [], "where is the focus?"
    assert [html for stop, html in stops.items() if stop not in reached] == [], "Tab does not reach it"
    page.locator("[data-stop]").last.focus()
    back = every_view.walk(page, "Shift+Tab")
    assert len(back) >= len(reached) - 1, "a trap on the way back"


def test_arrows_move_in_tables_trees_and_tabs(shown):
    _, page, _ = shown
    for area in page.locator(COMPOSITES).filter(visible=True).all():
        rows = area.locator('[role="row"], [role="treeitem"], [role="tab"]').count()
        target = area.locator('[tabindex="0"]').first if area.get_attribute("tabindex") != "0" else area
        if rows < 3 or target.count() == 0:
            continue
        target.focus()
        page.keyboard.press("Home")
        before = area.evaluate(PLACE)
        page.keyboard.press("ArrowRight" if area.get_attribute("role") == "tablist" else "ArrowDown")
        moved = f"([element, before]) => ({PLACE})(element) !== before"
        page.wait_for_function(moved, arg=[area.element_handle(), before])


def test_escape_closes_what_is_open(shown):
    _, page, _ = shown
    more = page.get_by_role("button", name="More actions").first
    more.press("Enter")
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(more).to_be_focused()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    assert page.evaluate("document.activeElement !== document.body"), "the focus goes back into the view"


@pytest.mark.parametrize("shown", ON_CPU, ids="-".join, indirect=True)
def test_enter_presses_every_button(shown):
    _, page, _ = shown
    assert every_view.dead(page) == []


@pytest.mark.parametrize("view", sorted(set(VIEWS) - {"trace", "explore", "sql"}))
def test_a_saved_output_draws_the_rows_of_a_live_one(page, profiles, tmp_path, view):
    profile = profiles["cpu"]
    page.goto(profile.ask(view).to_html(tmp_path / "saved.html").as_uri())
    saved = every_view.rows(page)
    with served(view, cpu=profile.data) as address:
        page.goto(address + "cpu")
        assert every_view.rows(page) == saved
    assert saved or page.locator(".jp-XprofEmpty").is_visible()


def test_enter_on_a_tile_opens_its_evidence(page, profiles, tmp_path):
    page.goto(profiles["cpu"].explore().to_html(tmp_path / "run.html").as_uri())
    every_view.wait(page)
    page.get_by_role("button", name=re.compile("^step time")).press("Enter")
    expect(page.get_by_role("tab", name="steps", exact=True)).to_have_attribute("aria-selected", "true")
