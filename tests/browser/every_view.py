"""What holds for every view: where Tab goes, whether the focus can be seen, what moves by itself."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.sync_api import TimeoutError as Late

if TYPE_CHECKING:
    from playwright.sync_api import Page

DRAWN = (
    ".jp-Overview-tile, .jp-XprofGrid-row, .jp-XprofTree-row, .jp-XprofGraph-op, .jp-XprofEmpty, .jp-Timeline-header"
)
MOST_TABS = 120
# All that takes the focus now; of elements that hand one place on (tabindex 0 of many), the one.
STOPS = """() => {
  const all = document.querySelectorAll('button, input, select, summary, a[href], [tabindex="0"]');
  const takes = element => element.tabIndex >= 0 && !element.disabled && element.checkVisibility();
  return [...all].filter(takes).map((element, number) => {
    element.dataset.stop = number;
    return element.outerHTML.slice(0, 160);
  });
}"""
AT = """() => {
  const element = document.activeElement;
  // A scrollable area, or a chart, takes the focus without saying so in its attributes.
  const others = document.querySelectorAll('[data-stop^=other]').length;
  if (element !== document.body) element.dataset.stop ??= `other ${element.className} ${others}`;
  const { stop } = element.dataset;
  const outlined = each => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1;
  };
  const inside = [...element.querySelectorAll('.jp-mod-active'), element.closest('.jp-XprofChart-place') ?? element];
  const face = element.querySelector(':scope > .jp-XprofGraph-face');
  const ringed = face !== null && parseFloat(getComputedStyle(face).strokeWidth) >= 2;
  return { stop: element === document.body ? null : stop, seen: ringed || [element, ...inside].some(outlined) };
}"""
MOVING = """() => {
  const long = durations => durations.split(', ').some(duration => parseFloat(duration) > 0.001);
  const moves = element => {
    const style = getComputedStyle(element);
    return long(style.transitionDuration) || style.scrollBehavior !== 'auto'
      || (style.animationName !== 'none' && long(style.animationDuration));
  };
  const still = [...document.querySelectorAll('*')].filter(moves).map(element => element.outerHTML.slice(0, 160));
  return [...still, ...document.getAnimations().map(({ effect }) => effect.target.outerHTML.slice(0, 160))];
}"""

# What is wider than its place, unless it ends in an ellipsis and is no number, or is a picture to move about in.
CUT = """() => {
  const isCut = element => {
    const { overflowX, textOverflow } = getComputedStyle(element);
    return overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1
      && (textOverflow !== 'ellipsis' || element.classList.contains('jp-mod-number'));
  };
  const pictures = '.jp-XprofFlame-area, .jp-XprofBuffers-map, .jp-XprofGraph-stage, .jp-Timeline-stage, pre, input';
  const shown = [...document.querySelectorAll('body *:not(svg *)')].filter(element => element.checkVisibility());
  const cut = shown.filter(element => isCut(element) && element.closest(pictures) === null);
  const wide = document.documentElement.scrollWidth > innerWidth ? [document.body] : [];
  // A dot between two parts of the header is to be seen, or is left of a header that shows nothing there.
  const header = document.querySelector('.jp-XprofHeader');
  const from = part => part.getBoundingClientRect().left - header.getBoundingClientRect().left;
  const isHalf = part => (from(part) > 0 && from(part) < 16) || getComputedStyle(header).clipPath === 'none';
  const dots = header === null ? [] : [...header.querySelectorAll('.jp-XprofHeader-part:not(:empty)')].filter(isHalf);
  return [...cut, ...wide, ...dots].map(element => element.outerHTML.slice(0, 160));
}"""


def wait(page: Page) -> None:
    """Wait until a view is drawn, its charts too."""
    page.locator(DRAWN).filter(visible=True).first.wait_for()
    page.wait_for_function("document.querySelector('.jp-XprofChart .jp-XprofStatus') === null")


def stops(page: Page) -> dict[str, str]:
    """Return the beginning of every element that takes the focus, by its number."""
    return {str(number): html for number, html in enumerate(page.evaluate(STOPS))}


def walk(page: Page, key: str) -> dict[str, bool]:
    """Press a key until the focus has left the page; return where it was, and whether that could be seen."""
    seen: dict[str, bool] = {}
    for _ in range(MOST_TABS):
        page.keyboard.press(key)
        at: dict[str, Any] = page.evaluate(AT)
        if at["stop"] is None or at["stop"] in seen:
            break
        seen[at["stop"]] = at["seen"]
    return seen


def moving(page: Page) -> list[str]:
    """Return what moves by itself, or would when it changes."""
    found: list[str] = page.evaluate(MOVING)
    return found


def rows(page: Page) -> list[str]:
    """Return what the rows of tables and trees, or the ops of a graph, say once a view is drawn.

    Dashes in the end are left out: a column without a value in the rows saved is not saved.
    """
    wait(page)
    texts = page.locator(".jp-XprofGrid-row, .jp-XprofTree-row, .jp-XprofGraph-op").all_text_contents()
    return [text.rstrip("–") for text in texts]


def cut(page: Page) -> list[str]:
    """Return what has no room in a window of this width, once the view has taken it in."""
    with suppress(Late):
        page.wait_for_function(f"({CUT})().length === 0")
    found: list[str] = page.evaluate(CUT)
    return found
