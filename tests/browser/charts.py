"""Charts as a person meets them: what BokehJS was given to draw, where it lies on the screen, what hovering says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_DRAWN = """() => Bokeh.documents.map((each) => each.roots()[0].renderers
  .map(({ data_source }) => Object.fromEntries(Object.entries(data_source.data).map(([k, v]) => [k, [...v]])))[0])"""
_POINT = """([chart, x, y]) => {
  const view = Bokeh.index.find_one(Bokeh.documents[chart].roots()[0]);
  const place = view.el.getBoundingClientRect();
  return [place.x + view.frame.x_scale.compute(x), place.y + view.frame.y_scale.compute(y)];
}"""
_LEVELS = """([chart]) => Bokeh.documents[chart].roots()[0].center
  .filter((each) => each.location !== undefined).map((each) => each.location)"""


def wait(area: Locator) -> None:
    """Wait until a chart is drawn."""
    expect(area.locator(".jp-XprofChart canvas").first).to_be_visible()


def drawn(page: Page, chart: int = 0) -> dict[str, list[Any]]:
    """Return the columns that the bars of a chart are drawn from."""
    return page.evaluate(_DRAWN)[chart]


def levels(page: Page, chart: int = 0) -> list[float]:
    """Return where the horizontal lines of a chart are."""
    return page.evaluate(_LEVELS, [chart])


def click(page: Page, x: float, y: float, chart: int = 0) -> None:
    """Click what a chart shows at a place of its axes."""
    page.mouse.click(*page.evaluate(_POINT, [chart, x, y]))


def hovered(page: Page, x: float, y: float, chart: int = 0) -> Locator:
    """Point at a place of a chart's axes and return what is said of it."""
    page.mouse.move(*page.evaluate(_POINT, [chart, x, y]))
    card = page.locator(".bk-Tooltip, .bk-tooltip").first
    expect(card).to_be_visible()
    return card
