"""Framework ops from a file: the icicle and the tree say what the frame says, zoomed, split and filtered too."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import every_view
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

BOX = ".jp-XprofFlame-box"


@pytest.fixture(scope="module")
def result(cpu_profile):
    return xp.open(cpu_profile).framework_ops()


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return result.to_html(tmp_path_factory.mktemp("framework") / "framework_ops.html")


@pytest.fixture
def page(open_page, path):
    page = open_page(path.as_uri())
    expect(page.locator(BOX).first).to_be_visible()
    return page


def drawn(page):
    """Return name, time as written, and share of the width of every box."""
    return page.locator(BOX).evaluate_all(
        """boxes => boxes.map(box => [box.getAttribute('aria-label').split(', ').slice(-4, -2).join('|'),
          parseFloat(box.style.width) / 100])"""
    )


def device_nodes(result):
    frame = result.frame
    return frame[(frame["on"] == "device") & (frame["depth"] > 0) & (frame["self_time_ps"] > 0)]


def test_boxes_are_as_wide_as_their_time(page, result):
    nodes = device_nodes(result)
    whole = nodes["self_time_ps"].iloc[0]
    expected = {
        f"{name}|{units.duration(time)}" for name, time in zip(nodes["name"], nodes["self_time_ps"], strict=True)
    }
    seen = drawn(page)
    assert {label for label, _ in seen} <= expected
    assert len(seen) > 3
    widths = sorted((nodes["self_time_ps"] / whole).tolist(), reverse=True)
    assert sorted((width for _, width in seen), reverse=True) == pytest.approx(widths[: len(seen)], abs=1e-3)


def test_rows_say_the_numbers_of_the_frame(page, result):
    rows = page.locator(".jp-XprofTree-row")
    frame = result.frame.set_index("name")
    for row in rows.all():
        name = row.locator(".jp-XprofTree-label").inner_text()
        times = frame.loc[[name], "self_time_ps"].map(units.duration).tolist()
        assert row.locator("[data-field=self]").inner_text() in times


def test_a_click_goes_in_and_escape_comes_out(open_page, corpus, tmp_path):
    page = open_page(xp.open(corpus / "v100-tf").framework_ops().to_html(tmp_path / "page.html").as_uri())
    before = drawn(page)
    assert before[1][1] == pytest.approx(0.49, abs=0.01), "one of two replicas"
    page.locator(BOX).nth(1).click()
    assert drawn(page)[1] == [before[1][0], 1]
    page.keyboard.press("Escape")
    assert drawn(page) == before


def test_forward_and_backward_apart(page, result):
    page.get_by_role("button", name="apart").click()
    root = device_nodes(result).iloc[0]
    seen = dict(drawn(page))
    for name in ("forward", "backward"):
        share = root[f"{name}_time_ps"] / root["self_time_ps"]
        if share > 0.01:
            assert seen[f"{name}|{units.duration(root[f'{name}_time_ps'])}"] == pytest.approx(share, abs=1e-3)


def test_hosts_instead_of_devices(page, result):
    page.get_by_role("button", name="hosts").click()
    hosts = result.frame[result.frame["kind"] == "host"].iloc[0]
    assert drawn(page)[0] == [f"hosts|{units.duration(hosts['self_time_ps'])}", 1]
    expect(page.get_by_role("button", name="apart")).to_be_disabled()


def test_filtered_the_tree_has_what_matches_and_the_way_to_it(page, result):
    frame = result.frame
    op = frame[(frame["kind"] == "op") & (frame["on"] == "device")].iloc[0]
    page.get_by_role("searchbox").fill(str(op["type"]))
    names = page.locator(".jp-XprofTree-row .jp-XprofTree-label").all_inner_texts()
    assert names[0] == "all framework ops"
    assert op["name"] in names
    page.get_by_role("searchbox").fill("nothing is called so")
    expect(page.locator(".jp-XprofTree-none")).to_have_text("No framework op matches.")


def test_choosing_in_one_outlines_in_the_other(page):
    page.locator(f"{BOX}[aria-level]").last.click()
    row = page.locator(".jp-XprofTree-row[aria-selected=true]")
    expect(row).to_have_count(1)
    row.click()
    expect(page.locator(f"{BOX}[aria-selected=true]").first).to_be_visible()


def test_by_keyboard_alone(page):
    icicle = page.get_by_role("tree")
    icicle.focus()
    at = "document.getElementById(document.querySelector('[role=tree]').getAttribute('aria-activedescendant'))"
    for key in ("ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate(f"parseFloat({at}.style.width)") == pytest.approx(100, abs=0.1)
    page.keyboard.press("Escape")
    table = page.get_by_role("treegrid")
    table.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".jp-XprofTree-row").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["cpu", "v100-tf", "tpu-v6e-psum"])
def test_it_draws_itself_from_a_file(open_page, path, corpus, tmp_path, screenshot, run, scheme):
    file = path if run == "cpu" else xp.open(corpus / run).framework_ops().to_html(tmp_path / "page.html")
    page = open_page(file.as_uri(), color_scheme=scheme)
    for width in (480, 2000, 900):
        every_view.resize(page, width, 900)
        expect(page.locator(BOX).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing is cut"
    screenshot(page, f"framework-ops-{run}-{scheme}")
