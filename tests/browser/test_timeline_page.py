"""The timeline from a file opened from disk: drawn, moved, read, marked and taken along with nobody to ask."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.analysis.timelines import HOSTILE
from tests.browser import every_view
from tests.browser.timeline import Timeline
from tests.xspace_builder import SpaceBuilder

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUNS = ("tpu-v6e-psum", "v100-tf")


@pytest.fixture(scope="module")
def page_file(cpu_profile, tmp_path_factory):
    return xp.open(cpu_profile).trace().to_html(tmp_path_factory.mktemp("timeline") / "trace.html")


@pytest.fixture
def timeline(open_page, page_file):
    return Timeline(open_page(page_file.as_uri()).locator("body")).wait()


@pytest.fixture(scope="module", params=[*RUNS, "cpu"])
def run_file(request, page_file, corpus, tmp_path_factory):
    run = request.param
    if run == "cpu":
        return run, page_file
    return run, xp.open(corpus / run).trace().to_html(tmp_path_factory.mktemp(run) / "trace.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_itself_from_a_file(open_page, run_file, screenshot, scheme):
    run, path = run_file
    page = open_page(path.as_uri(), color_scheme=scheme)
    for width in (480, 900, 1600):
        every_view.resize(page, width, 900)
        view = Timeline(page.locator("body")).wait()
        view.expect_answers_from("static")
        expect(page.locator("main#table")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing is cut"
        screenshot(page, f"timeline-{run}-{width}-{scheme}")


def test_on_paper_it_is_a_table(open_page, page_file):
    page = open_page(page_file.as_uri())
    Timeline(page.locator("body")).wait()
    page.emulate_media(media="print")
    expect(page.locator("main#table table")).to_be_visible()
    expect(page.get_by_role("application")).to_be_hidden()


def test_moving(timeline):
    assert timeline.is_whole()
    timeline.wheel(-240, times=3)
    closer = timeline.window()
    assert not timeline.is_whole()
    timeline.drag((0.5, 0.4), (0.2, 0.4))
    assert timeline.window() == closer, "panning changes no length"
    timeline.press("s")
    assert timeline.window() != closer
    timeline.press("u", "u", "u")
    assert timeline.is_whole()
    timeline.press("U")
    assert timeline.window() == closer
    timeline.press("0")
    assert timeline.is_whole()
    timeline.drag((0.2, 0.5), (0.3, 0.5), on=timeline.area.locator(".jp-Timeline-minimap"))
    assert not timeline.is_whole()


def test_tracks(timeline):
    first = timeline.names()
    assert {"Steps", "Programs", "Ops"} <= set(first)
    timeline.row("Steps").click()
    timeline.press("p")
    expect(timeline.tree.locator(".jp-Timeline-trackName").first).to_have_text("Steps")
    timeline.press("p", "h")
    expect(timeline.row("Steps")).to_have_count(0)
    timeline.menu("Show hidden tracks")
    expect(timeline.row("Steps")).to_have_count(1)
    timeline.row("CPU:0").click()
    expect(timeline.row("Ops")).to_have_count(0)
    timeline.row("CPU:0").click()
    timeline.row("Ops").click(button="right")
    timeline.area.get_by_role("menuitem", name="Move up").click()
    expect(timeline.tree.locator(".jp-Timeline-trackName").nth(first.index("Ops") - 1)).to_have_text("Ops")
    timeline.area.get_by_label("Filter tracks by a regular expression").fill("^Prog|^Steps")
    expect(timeline.row("Ops")).to_have_count(0)
    assert {"Programs", "Steps"} <= set(timeline.names())


def test_reading(timeline, screenshot):
    x, y = timeline.point_at_a_box("Ops")
    expect(timeline.card).to_contain_text("CPU:0 › Ops")
    name = timeline.card.locator(".jp-Timeline-cardName").inner_text()
    timeline.page.mouse.click(x, y)
    expect(timeline.details).to_contain_text(name)
    expect(timeline.details).to_contain_text("xprof_nb.open")
    screenshot(timeline.page, "timeline-details-light")
    timeline.page.mouse.dblclick(x, y)
    assert not timeline.is_whole()
    timeline.page.keyboard.press("Escape")
    expect(timeline.details).to_have_count(0)


def test_searching(timeline):
    timeline.press("/")
    timeline.page.keyboard.type("step")
    hits = timeline.area.locator(".jp-Timeline-hits")
    expect(hits).to_contain_text(re.compile(r"1 of \d+"))
    timeline.page.keyboard.press("Enter")
    timeline.press("n")
    expect(hits).to_contain_text("2 of")
    expect(timeline.said).to_contain_text("step")
    timeline.press("N")
    expect(hits).to_contain_text("1 of")


def test_markers(timeline, screenshot):
    for share in (0.2, 0.6):
        timeline.mark(share)
    markers = timeline.markers
    expect(markers.get_by_role("listitem")).to_have_count(2)
    expect(markers).to_contain_text("to the next")
    name = markers.get_by_label("Name of marker A")
    name.fill("warm-up")
    name.press("Enter")
    expect(markers.get_by_label("Name of marker warm-up")).to_have_value("warm-up")
    timeline.press("]")
    expect(timeline.selection).to_contain_text("Focus")
    screenshot(timeline.page, "timeline-focus-light")
    timeline.press("Escape")
    expect(timeline.selection).to_have_count(0)
    markers.get_by_label("Delete marker warm-up").click()
    expect(markers.get_by_role("listitem")).to_have_count(1)


def test_taking_it_along(timeline, tmp_path):
    saved = {}
    for label in ("Download CSV", "Download PNG", "Download SVG"):
        with timeline.page.expect_download() as download:
            timeline.menu(label)
        saved[label] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[label])
    assert saved["Download CSV"].read_text().startswith("track,lane,name,work_kind,start_ps")
    assert saved["Download PNG"].read_bytes().startswith(b"\x89PNG")
    drawing = saved["Download SVG"].read_text()
    assert drawing.startswith("<svg")
    assert "Ops" in drawing
    assert "<script" not in drawing


def test_by_keyboard_alone(timeline):
    page = timeline.page
    for _ in range(40):
        page.keyboard.press("Tab")
        if timeline.tree.evaluate("tree => tree === document.activeElement"):
            break
    page.keyboard.press("Home")
    for _ in timeline.names():
        page.wait_for_timeout(100)
        if timeline.row("Ops").get_attribute("aria-selected") == "true":
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press(".")
    expect(timeline.said).to_contain_text("CPU:0 › Ops")
    first = timeline.said.inner_text()
    page.keyboard.press(".")
    expect(timeline.said).not_to_have_text(first)
    page.keyboard.press("f")
    assert not timeline.is_whole()
    page.keyboard.press("Enter")
    expect(timeline.details).to_be_visible()
    page.keyboard.press("?")
    keys = timeline.area.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("zoom to the selection")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_it_becomes_taller(timeline):
    handle = timeline.area.get_by_role("separator")
    before = timeline.stage.bounding_box()["height"]
    box = handle.bounding_box()
    timeline.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 3)
    timeline.page.mouse.down()
    timeline.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 123)
    timeline.page.mouse.up()
    timeline.page.wait_for_timeout(200)
    assert timeline.stage.bounding_box()["height"] == pytest.approx(before + 120, abs=3)


def test_what_a_snapshot_cannot_show_it_says(timeline):
    timeline.select((0.2, 0.3), (0.6, 0.9))
    expect(timeline.selection).to_contain_text("xprof_nb.open")
    timeline.press("Escape")
    timeline.wheel(-240, times=14)
    expect(timeline.area.locator(".jp-Timeline-window")).not_to_contain_text("all of")


def test_it_stands_as_it_did_when_the_page_is_opened_again(timeline):
    page = timeline.page
    timeline.wheel(-240, times=3)
    timeline.row("Steps").click()
    timeline.press("p")
    timeline.mark(0.5)
    expect(timeline.markers).to_contain_text("kept in the address of this page")
    timeline.press("/")
    page.keyboard.type("step")
    closer = timeline.window()
    page.wait_for_function("""decodeURIComponent(location.hash).includes('"search":"step"')""")
    page.reload()
    timeline.wait()
    assert timeline.window() == closer
    expect(timeline.tree.locator(".jp-Timeline-trackName").first).to_have_text("Steps")
    expect(timeline.markers.get_by_role("listitem")).to_have_count(1)
    expect(timeline.area.get_by_label("Search names in the whole run")).to_have_value("step")


def test_what_it_holds_opens_in_other_viewers(open_page, tmp_path):
    builder = SpaceBuilder()
    line = builder.plane("/host:CPU").line("python")
    for number, name in enumerate(HOSTILE):
        line.event(name, number * 10**9, 10**9)
    profile = xp.open(builder.write(tmp_path / "hostile"))
    page = open_page(profile.trace().to_html(tmp_path / "trace.html").as_uri())
    view = Timeline(page.locator("body")).wait()
    with page.expect_download() as download:
        view.menu("Download as Chrome trace (.json)")
    download.value.save_as(tmp_path / "trace.json")
    written = (tmp_path / "trace.json").read_text()
    assert "<" not in written
    names = {event["name"] for event in json.loads(written)["traceEvents"]}
    assert {name for name in HOSTILE if 0 < len(name) < 100} <= names
    expect(page.get_by_role("menuitem", name="Perfetto")).to_have_count(0)
