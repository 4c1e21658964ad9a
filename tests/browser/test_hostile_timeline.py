"""Names that attack, times that cannot be and tracks without end: drawn as text, in a bounded page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.analysis.timelines import hostile_profile
from tests.browser.live_page import served
from tests.browser.timeline import Timeline
from tests.xspace_builder import SpaceBuilder

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TRACKS = 40_000
MOST_ROWS_DRAWN = 200
# Elements of a profile's making; ours are made by us.
FOREIGN = ".jp-Timeline img, .jp-Timeline script, .jp-Timeline iframe, .jp-Timeline b"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """40,000 threads, each with one event, a microsecond after that of the one above."""
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number in range(TRACKS):
        plane.line(f"pool/{number}").event("work", number * 10**6, 5 * 10**8)
    return xp.open(builder.write(tmp_path_factory.mktemp("crowd")))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return hostile_profile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def address(hostile, crowd):
    with served("trace", hostile=hostile.data, crowd=crowd.data) as address:
        yield address


@pytest.fixture
def timeline(open_page, address):
    return Timeline(open_page(f"{address}hostile").locator("body")).wait()


def unfold(view: Timeline, folder: str) -> None:
    view.row(folder).click()
    expect(view.row(folder)).to_have_attribute("aria-expanded", "true")


def test_names_are_text_wherever_they_are_shown(timeline, tmp_path, screenshot):
    page, asked = timeline.page, []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    unfold(timeline, "Threads (8)")
    timeline.area.get_by_role("separator").press("End")
    names = timeline.names()
    assert {"<img src=x onerror=alert(1)>", "</script>", "🚀", "=1+1"} <= set(names)
    assert any(name.startswith("xxx") and len(name) <= 200 for name in names)

    timeline.press("/")
    page.keyboard.type("onerror")
    expect(timeline.area.locator(".jp-Timeline-hits")).to_contain_text("1 of")
    page.keyboard.press("Enter")
    timeline.press("Enter")
    expect(timeline.details).to_contain_text("<img src=x onerror=alert(1)>")
    timeline.press("Escape", "Escape", "0", "x")
    expect(timeline.selection).to_contain_text("</script>")
    screenshot(page, "timeline-hostile")

    saved = {}
    for kind in ("CSV", "SVG"):
        with page.expect_download() as download:
            timeline.menu(f"Download {kind}")
        download.value.save_as(tmp_path / kind)
        saved[kind] = (tmp_path / kind).read_text()
    assert "<img" not in saved["SVG"]
    assert "\u202e" not in saved["SVG"]
    assert not any(cell.lstrip('"').startswith("=") for line in saved["CSV"].splitlines() for cell in line.split(","))
    expect(page.locator(FOREIGN)).to_have_count(0)
    assert asked == []


def test_events_without_length_and_times_before_zero_are_reached(timeline):
    """The clock of this host begins five nanoseconds before zero."""
    unfold(timeline, "Threads (8)")
    for name, found, length in (("a", "of 2", "100 ps"), ("b", "1 of 1", "100 ps"), ("c", "1 of 1", "0 ps")):
        timeline.press("/")
        timeline.page.keyboard.press("Control+A")
        timeline.page.keyboard.type(f"/^{name}$/")
        expect(timeline.area.locator(".jp-Timeline-hits")).to_contain_text(found)
        timeline.page.keyboard.press("Enter")
        timeline.press("Enter")
        expect(timeline.details).to_contain_text(length)
        timeline.press("f")
        timeline.press("Escape", "0")
    timeline.press("/")
    timeline.page.keyboard.press("Control+A")
    timeline.page.keyboard.type("/^<img/")
    expect(timeline.area.locator(".jp-Timeline-hits")).to_contain_text("of 2")
    timeline.page.keyboard.press("Enter")
    timeline.press("Enter")
    expect(timeline.details).to_contain_text("0 ps")


def test_a_hundred_thousand_letters_are_bounded_everywhere(timeline):
    unfold(timeline, "Threads (8)")
    timeline.press("/")
    timeline.page.keyboard.type("xxxxxxxx")
    expect(timeline.area.locator(".jp-Timeline-hits")).to_contain_text("1 of")
    timeline.page.keyboard.press("Enter")
    timeline.press("Enter")
    expect(timeline.details).to_contain_text("more characters")
    assert len(timeline.area.inner_text()) < 20_000
    assert timeline.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing is cut"


def test_forty_thousand_tracks_are_a_bounded_page(open_page, address):
    view = Timeline(open_page(f"{address}crowd").locator("body"))
    expect(view.tree).to_be_visible(timeout=60_000)
    unfold(view, f"Threads ({TRACKS:,})")
    view.wait()
    assert view.tree.get_by_role("treeitem").count() < MOST_ROWS_DRAWN
    view.tree.focus()
    view.page.keyboard.press("End")
    expect(view.row(f"pool/{TRACKS - 1}")).to_have_attribute("aria-selected", "true")
    view.page.keyboard.press(".")
    expect(view.said).to_contain_text("work")
    assert view.coloured() > 0
    view.area.get_by_label("Filter tracks by a regular expression").fill("pool/1234.$")
    expect(view.row("pool/12345")).to_have_count(1)
    view.press("/")
    view.page.keyboard.type("work")
    expect(view.area.locator(".jp-Timeline-hits")).to_contain_text("of 40")
