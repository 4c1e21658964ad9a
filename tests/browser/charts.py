"""Charts as a person meets them: what BokehJS was given to draw, where it lies on the screen, what hovering says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SETTLED_MS = 500
# Columns of the source of a named glyph; NaN, which JSON has not, is null.
DATA = """name => {
  const plot = Bokeh.documents.flatMap(document => document.roots()).at(-1);
  const glyph = plot?.renderers.find(one => one.name === name);
  if (!glyph) return null;
  const plain = value => typeof value === 'number' && !Number.isFinite(value) ? null : value;
  const columns = Object.entries(glyph.data_source.data);
  return Object.fromEntries(columns.map(([key, column]) => [key, [...column].map(plain)]));
}"""
# Columns of what a chart draws first.
DRAWN = """chart => Object.fromEntries(Object.entries(
  Bokeh.documents.at(chart).roots()[0].renderers[0].data_source.data).map(([key, column]) => [key, [...column]]))"""
LEVELS = """chart => Bokeh.documents.at(chart).roots()[0].center
  .filter((each) => each.location !== undefined).map((each) => each.location)"""
# Where a point of a plot is, in pixels from the corner of the page.
PLACE = """([x, y, chart]) => {
  const view = Bokeh.index.find_one(Bokeh.documents.at(chart).roots()[0]);
  const { x_scale, y_scale } = view.frame;
  const box = view.canvas_view.el.getBoundingClientRect();
  return [box.left + x_scale.compute(x), box.top + y_scale.compute(y)];
}"""
LABELS = """() => Bokeh.documents.flatMap(document => document.roots()).at(-1).center
  .filter(one => one.type === 'Label').map(one => one.text)"""
RANGE = """axis => {
  const plot = Bokeh.documents.flatMap(document => document.roots()).at(-1);
  return [plot[axis + '_range'].start, plot[axis + '_range'].end];
}"""


def wait(area: Locator) -> None:
    """Wait until a chart is drawn in a part of the page."""
    expect(area.locator(".jp-XprofChart canvas").first).to_be_visible()


def wait_for_chart(page: Page) -> None:
    """Wait until a chart is on screen."""
    page.wait_for_function("window.Bokeh !== undefined && Bokeh.documents.length > 0")
    page.locator(".jp-XprofChart canvas, .jp-XprofChart .bk-Canvas").first.wait_for(state="attached")
    page.wait_for_timeout(SETTLED_MS)


def data(page: Page, name: str) -> dict[str, list[Any]] | None:
    """Return the columns that a glyph is drawn from, None where it is not drawn."""
    found: dict[str, list[Any]] | None = page.evaluate(DATA, name)
    return found


def drawn(page: Page, chart: int = -1) -> dict[str, list[Any]]:
    """Return the columns that the bars of a chart are drawn from."""
    columns: dict[str, list[Any]] = page.evaluate(DRAWN, chart)
    return columns


def levels(page: Page, chart: int = -1) -> list[float]:
    """Return where the horizontal lines of a chart are."""
    found: list[float] = page.evaluate(LEVELS, chart)
    return found


def labels(page: Page) -> list[str]:
    """Return the texts written into the chart."""
    texts: list[str] = page.evaluate(LABELS)
    return texts


def axis(page: Page, name: str) -> list[float]:
    """Return from where to where an axis goes."""
    ends: list[float] = page.evaluate(RANGE, name)
    return ends


def point_at(page: Page, x: float, y: float) -> None:
    """Put the pointer on a place of the chart."""
    page.mouse.move(*page.evaluate(PLACE, [x, y, -1]))


def click(page: Page, x: float, y: float, chart: int = -1) -> None:
    """Click a place of a chart."""
    page.mouse.click(*page.evaluate(PLACE, [x, y, chart]))


def hovered(page: Page, x: float, y: float, chart: int = -1) -> Locator:
    """Point at a place of a chart and return what is said of it."""
    page.mouse.move(*page.evaluate(PLACE, [x, y, chart]))
    card = page.locator(".bk-Tooltip, .bk-tooltip").first
    expect(card).to_be_visible()
    return card


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag from a place of the chart to another."""
    page.mouse.move(*page.evaluate(PLACE, [*start, -1]))
    page.mouse.down()
    page.mouse.move(*page.evaluate(PLACE, [*end, -1]), steps=8)
    page.mouse.up()


def rows_of(grid: Locator, field: str) -> list[str]:
    """Return the exact values of a column of a table, as far as its rows are on screen."""
    cells = grid.locator(f'.jp-XprofGrid-row [data-field="{field}"]')
    return [str(cells.nth(number).get_attribute("title")) for number in range(cells.count())]
