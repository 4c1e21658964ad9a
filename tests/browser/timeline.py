"""The timeline as a person handles it: zoom, pan, point at a box, mark, search."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

FIRST_ANSWER_MS = 60_000  # a first profile may wait for compiled code
SETTLED_MS = 300
POINTINGS = 5
# How many pixels of a canvas are neither its most common colour nor nearly grey.
COLOURED = """canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    count += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40 ? 1 : 0;
  }
  return count;
}"""
# The middle of the widest stretch of one saturated colour in a row of pixels, in CSS pixels from the canvas's corner.
WIDEST = """([canvas, top, bottom]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const pen = canvas.getContext('2d');
  let best = { length: 0 };
  for (let y = Math.round(top * ratio); y < bottom * ratio && y < canvas.height; y += 4) {
    const { data } = pen.getImageData(0, y, canvas.width, 1);
    let from = 0;
    for (let x = 1; x <= canvas.width; x++) {
      const same = x < canvas.width && [0, 1, 2].every(i => data[4 * x + i] === data[4 * from + i]);
      if (!same) {
        const [r, g, b] = data.slice(4 * from, 4 * from + 3);
        if (Math.max(r, g, b) - Math.min(r, g, b) > 40 && x - from > best.length) {
          best = { length: x - from, x: (from + x) / 2 / ratio, y: y / ratio };
        }
        from = x;
      }
    }
  }
  return best;
}"""


@dataclass
class Timeline:
    """One timeline on a page; `area` is whatever holds exactly that one."""

    area: Locator

    @property
    def page(self) -> Page:
        """The page it is on."""
        return self.area.page

    @property
    def stage(self) -> Locator:
        """What takes the keys and the pointer."""
        return self.area.get_by_role("application")

    @property
    def tree(self) -> Locator:
        """The names of the tracks."""
        return self.area.get_by_role("tree")

    @property
    def details(self) -> Locator:
        """What is known of the chosen event."""
        return self.area.locator(".jp-Timeline-details")

    @property
    def selection(self) -> Locator:
        """The table of a stretch of time."""
        return self.area.locator(".jp-Timeline-selection")

    @property
    def card(self) -> Locator:
        """What floats beside the pointer."""
        return self.area.locator(".jp-Timeline-card")

    @property
    def said(self) -> Locator:
        """What a screen reader is told."""
        return self.area.locator(".jp-Timeline-live")

    def wait(self) -> Timeline:
        """Wait until boxes are drawn."""
        canvas = self.area.locator(".jp-Timeline-tracksCanvas")
        expect(canvas).to_be_visible(timeout=FIRST_ANSWER_MS)
        self.page.wait_for_function(f"canvas => ({COLOURED})(canvas) > 50", arg=canvas.element_handle())
        return self

    def expect_answers_from(self, host: str) -> None:
        """Expect that ``kernel``, ``server`` or nobody (``static``) answers what the view asks."""
        expect(self.area.locator(".jp-XprofBadge")).to_have_class(re.compile(rf"\bjp-mod-{host}\b"))

    def window(self) -> str:
        """Return how much of the run is on screen, as the view says it."""
        self.page.wait_for_timeout(SETTLED_MS)
        return self.area.locator(".jp-Timeline-window").inner_text().replace("\u00a0", " ")

    def is_whole(self) -> bool:
        """Whether all of the run is on screen."""
        return self.window().startswith("all of")

    def names(self) -> list[str]:
        """Return the names of the tracks drawn now."""
        return self.tree.locator(".jp-Timeline-trackName").all_inner_texts()

    def row(self, name: str) -> Locator:
        """Return the row of a track."""
        exact = self.page.locator(".jp-Timeline-trackName", has_text=re.compile(rf"^{re.escape(name)}$"))
        return self.tree.get_by_role("treeitem").filter(has=exact).first

    def press(self, *keys: str) -> None:
        """Press keys with the focus on the canvas."""
        self.stage.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def coloured(self) -> int:
        """Return how many pixels are coloured: boxes, not text and lines."""
        return int(self.area.locator(".jp-Timeline-tracksCanvas").evaluate(COLOURED))

    def point_at_a_box(self, track: str) -> tuple[float, float]:
        """Put the pointer on the widest box of a track, once nothing moves any more, and return where that is."""
        for _ in range(POINTINGS):
            self.page.wait_for_timeout(SETTLED_MS)
            place = self._widest_box(track)
            if place is None:
                continue
            self.page.mouse.move(*place)
            self.page.wait_for_timeout(SETTLED_MS)
            if self.card.is_visible() and f"› {track}" in self.card.inner_text():
                break
        assert place is not None, f"no box on {track}"
        return place

    def _widest_box(self, track: str) -> tuple[float, float] | None:
        row, canvas = self.row(track).bounding_box(), self.area.locator(".jp-Timeline-tracksCanvas")
        corner = canvas.bounding_box()
        top = row["y"] - corner["y"]
        script = f"(canvas, [top, bottom]) => ({WIDEST})([canvas, top, bottom])"
        found = canvas.evaluate(script, [top + 6, top + row["height"] - 2])
        if found["length"] <= 1:
            return None
        return corner["x"] + found["x"], corner["y"] + found["y"] + 1

    def wheel(self, by: float, times: int = 1) -> None:
        """Turn the wheel in the middle of the canvas; negative is closer."""
        box = self.stage.bounding_box()
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.wait_for_timeout(SETTLED_MS)
        for _ in range(times):
            self.page.mouse.wheel(0, by)

    def drag(self, start: tuple[float, float], end: tuple[float, float], on: Locator | None = None) -> None:
        """Drag between two places given as shares of the canvas, or of another part."""
        box = (on or self.stage).bounding_box()
        (x0, y0), (x1, y1) = ((box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end))
        self.page.mouse.move(x0, y0)
        self.page.mouse.down()
        self.page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
        self.page.mouse.move(x1, y1)
        self.page.mouse.up()

    def select(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a box of tracks and time."""
        self.page.keyboard.down("Shift")
        self.drag(start, end)
        self.page.keyboard.up("Shift")

    def mark(self, at: float) -> None:
        """Put a marker at a share of the canvas's width."""
        box = self.stage.bounding_box()
        self.page.mouse.move(box["x"] + at * box["width"], box["y"] + 20)
        self.press("m")

    @property
    def markers(self) -> Locator:
        """The list of markers."""
        return self.area.locator(".jp-Timeline-markers")

    def menu(self, item: str) -> None:
        """Choose from the menu of the view."""
        self.area.get_by_role("button", name="More actions").click()
        self.area.get_by_role("menuitem", name=item).click()
