"""Everything a person does with a timeline, on a TPU's, a GPU's and a CPU's run, light and dark, with a live host."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser.conftest import shoot, watched
from tests.browser.live_page import served
from tests.browser.timeline import Timeline

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUNS = ("tpu", "gpu", "cpu")
MOST_ZOOMS = 6
RUN = re.compile(r"[\d\s]+ events")
DEVICES = {"tpu": "TPU:0", "gpu": "GPU:4", "cpu": "CPU:0"}


@pytest.fixture(scope="module")
def address(corpus, cpu_profile):
    folders = {"tpu": corpus / "tpu-v6e-psum", "gpu": corpus / "v100-tf", "cpu": cpu_profile}
    with served("trace", **{run: xp.open(folder).data for run, folder in folders.items()}) as address:
        yield address


@pytest.fixture(scope="module", params=[(run, scheme) for run in RUNS for scheme in ("light", "dark")], ids="-".join)
def shown(request, browser, address):
    """One page for all tests of a run and a scheme."""
    run, scheme = request.param
    with watched(browser) as (start, _):
        page = start(address + run, color_scheme=scheme)
        yield DEVICES[run], Timeline(page.locator("body")).wait()
        shoot(page, f"timeline-live-{run}-{scheme}")


@pytest.fixture
def device(shown):
    return shown[0]


@pytest.fixture
def timeline(shown):
    """The timeline as it comes: nothing selected, all of the run on screen."""
    view = shown[1]
    view.press("Escape", "Escape", "Escape", "0")
    view.page.mouse.move(2, 2)
    return view


def look_at_an_op(timeline) -> None:
    """Zoom to the first op of the first device: on a GPU that waits a lot all others are slivers."""
    timeline.row("Ops").click()
    zoom_to_an_event(timeline)


def zoom_to_an_event(timeline) -> None:
    """Zoom to what is next on the chosen track until that is one event, not a run of several."""
    for _ in range(MOST_ZOOMS):
        timeline.press(".")
        expect(timeline.said).to_contain_text("› Ops")
        timeline.press("f")
        timeline.page.wait_for_timeout(500)
        if RUN.match(timeline.said.inner_text()) is None:
            break
    assert not timeline.is_whole()


def test_every_depth_has_a_picture(timeline):
    timeline.expect_answers_from("kernel")
    look_at_an_op(timeline)
    for _ in range(12):
        assert timeline.coloured() > 50, "never a blank frame"
        timeline.press("s", "s")
    timeline.press("0")
    assert timeline.is_whole()


def test_tracks_fold_hide_move_and_are_filtered(timeline, device):
    names = timeline.names()
    assert {device, "Ops"} <= set(names)
    timeline.row(device).click()
    expect(timeline.row(device)).to_have_attribute("aria-expanded", "false")
    timeline.row(device).click()
    expect(timeline.row(device)).to_have_attribute("aria-expanded", "true")
    timeline.row("Ops").click()
    timeline.press("p")
    expect(timeline.tree.locator(".jp-Timeline-trackName").first).to_have_text("Ops")
    timeline.press("p", "h")
    timeline.menu("Show hidden tracks")
    expect(timeline.row("Ops")).not_to_have_count(0)
    box = timeline.area.get_by_label("Filter tracks by a regular expression")
    box.fill("^Ops$")
    expect(timeline.row("Ops")).not_to_have_count(0)
    expect(timeline.row("Steps")).to_have_count(0)
    box.fill("")


def test_moves_and_their_undoing(timeline):
    timeline.wheel(-240, times=3)
    closer = timeline.window()
    timeline.drag((0.5, 0.4), (0.3, 0.4))
    assert timeline.window() == closer
    for _ in range(4):  # turns of the wheel that follow soon are one move
        timeline.press("u")
        if timeline.is_whole():
            break
    assert timeline.is_whole()
    timeline.drag((0.2, 0.5), (0.3, 0.5), on=timeline.area.locator(".jp-Timeline-minimap"))
    assert not timeline.is_whole()
    timeline.press("u", "/")
    timeline.page.keyboard.type("/./")
    expect(timeline.area.locator(".jp-Timeline-hits")).to_contain_text(re.compile(r"1 of \d"))
    timeline.page.keyboard.press("Escape")


def test_reading_an_event_and_a_box(timeline):
    look_at_an_op(timeline)
    x, y = timeline.point_at_a_box("Ops")
    expect(timeline.card).to_contain_text("› Ops")
    timeline.page.mouse.click(x, y)
    expect(timeline.details).to_contain_text("self time")
    timeline.press("Escape", "0")
    timeline.select((0.05, 0.1), (0.95, 0.9))
    expect(timeline.selection.locator("tbody tr").first).to_contain_text("%")
    expect(timeline.selection).to_contain_text("busy")


def test_markers_and_focus_between_them(timeline):
    box = timeline.stage.bounding_box()
    for share in (0.3, 0.7):
        timeline.page.mouse.move(box["x"] + share * box["width"], box["y"] + 20)
        timeline.press("m")
    markers = timeline.area.locator(".jp-Timeline-markers")
    expect(markers.get_by_role("listitem")).to_have_count(2)
    expect(markers).to_contain_text("to the next")
    timeline.press("]")
    expect(timeline.selection).to_contain_text("Focus")
    for _ in range(2):
        markers.get_by_role("button", name="Delete marker").first.click()
    expect(markers.get_by_role("listitem")).to_have_count(0)


def test_taking_it_along(timeline, tmp_path):
    begins = {"CSV": b"track,lane,name", "PNG": b"\x89PNG", "SVG": b"<svg"}
    for kind, begin in begins.items():
        with timeline.page.expect_download() as download:
            timeline.menu(f"Download {kind}")
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(begin)


def test_by_keyboard_alone(timeline):
    page = timeline.page
    timeline.tree.focus()
    page.keyboard.press("Home")
    for _ in timeline.names():
        page.wait_for_timeout(50)
        if timeline.row("Ops").get_attribute("aria-selected") == "true":
            break
        page.keyboard.press("ArrowDown")
    zoom_to_an_event(timeline)
    page.keyboard.press("Enter")
    expect(timeline.details).to_contain_text("self time")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.keyboard.press("w")
    page.keyboard.press("m")
    expect(timeline.area.locator(".jp-Timeline-markers").get_by_role("listitem")).to_have_count(1)
    timeline.area.get_by_role("button", name="Delete marker").press("Enter")
    timeline.press("x")
    expect(timeline.selection).to_contain_text("busy")
