"""What holds for every view: where Tab goes, what moves by itself, what is cut, which numbers its rows say."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from playwright.sync_api import TimeoutError as Late

from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from playwright.sync_api import Locator, Page

DRAWN = (
    ".jp-Overview-tile, .jp-XprofGrid-row, .jp-XprofTree-row, .jp-XprofGraph-op, .jp-XprofEmpty, .jp-Timeline-header"
)
MOST_TABS = 120
DEAD_AFTER_MS = 10_000
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
# What Enter is to press. A choice made is left alone, and the whole of a timeline cannot be zoomed out of.
IDLE = ':disabled, [aria-disabled="true"], [aria-pressed="true"], [aria-selected="true"], [aria-label^="Zoom out"]'
PRESSABLE = f"button:not({IDLE}), a[href], summary"
WATCH = """pressable => {
  globalThis.pressed = [...document.querySelectorAll(pressable)].filter(element => element.checkVisibility());
  globalThis.clicked = null;
  globalThis.changes = 0;
  addEventListener('click', ({ target }) => { clicked = target.closest(pressable); }, true);
  const all = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(found => { changes += found.length; }).observe(document, all);
  const { createObjectURL } = URL;
  URL.createObjectURL = (...content) => { changes++; return createObjectURL.apply(URL, content); };
  return pressed.length;
}"""
GO_TO = """async number => {
  const element = pressed[number];
  element.focus();
  await new Promise(requestAnimationFrame);
  clicked = null;
  changes = 0;
  return document.activeElement === element && element.checkVisibility();
}"""
ANSWERED = "number => clicked === pressed[number] && changes > 0"
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

# Tables beside the main one: what they are called, and their rows in the summary of the answer.
BESIDE: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "Input and transfers on the host": lambda summary: summary["input_ops"],
    "Who held the memory": lambda summary: [
        {**held, "total_fraction": held["bytes"] / allocator["peak_bytes"]}
        for allocator in summary["allocators"]
        for held in allocator["held"]
    ],
}
# The columns of a tree, and what the frame has to say in each.
SAID: dict[str, Callable[[Any], str]] = {
    "name": lambda row: str(row["name"]),
    "share": lambda row: units.percent(row["time_fraction"]),
    "self": lambda row: units.duration(row["self_time_ps"]),
    "count": lambda row: units.count(row["occurrences"]),
    "flops": lambda row: _rate(units.flops_per_s, row["flops_per_s"], row["flops_utilization"]),
    "bandwidth": lambda row: _rate(units.bytes_per_s, row["hbm_bytes_per_s"], row["hbm_utilization"]),
}
TREE = """fields => [...document.querySelectorAll('.jp-XprofTree-row')].map(row => Object.fromEntries(
  fields.map(field => [field, row.querySelector(`[data-field="${field}"]`)]).filter(([, cell]) => cell !== null)
    .map(([field, cell]) => [field, (cell.querySelector('.jp-XprofTree-label') ?? cell).textContent])
))"""
TABLE = """grid => [...grid.querySelectorAll('.jp-XprofGrid-row')].map(row => Object.fromEntries(
  [...row.querySelectorAll('.jp-mod-number')].map(cell => [cell.dataset.field, cell.title])
))"""
NUMBER = re.compile(r"-?[\d.\u2009]+(e[+-]?\d+)?")


def wait(page: Page) -> None:
    """Wait until a view is drawn, its charts too."""
    page.locator(DRAWN).filter(visible=True).first.wait_for()
    page.wait_for_function("document.querySelector('.jp-XprofChart .jp-XprofStatus') === null")
    settle(page)


def resize(page: Page, width: int, height: int = 700) -> None:
    """Give the page a size, and what is in it the time to follow."""
    page.set_viewport_size({"width": width, "height": height})
    settle(page)


def settle(page: Page) -> None:
    """Let three frames pass: a table sees its new width in one, and chooses its columns in the next."""
    frame = "await new Promise(done => requestAnimationFrame(done));"
    page.evaluate(f"async () => {{ {3 * frame} }}")


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


def dead(page: Page) -> list[str]:
    """Press Enter on every button and link, and return those that are not clicked by it or where nothing happens."""
    found = []
    for number in range(page.evaluate(WATCH, PRESSABLE)):
        if not page.evaluate(GO_TO, number):
            continue  # an earlier button has closed or replaced it
        page.keyboard.press("Enter")
        try:
            page.wait_for_function(ANSWERED, arg=number, timeout=DEAD_AFTER_MS)
        except Late:
            found.append(page.evaluate("number => pressed[number].outerHTML.slice(0, 160)", number))
        page.keyboard.press("Escape")
    return found


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


def measures(grid: Locator) -> list[str]:
    """Return the columns in sight that are numbers, and are known in some row drawn."""
    return [name for name, values in table(grid).items() if not np.isnan(values).all()]


def table(grid: Locator) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of the rows drawn, in full: what hovering says."""
    rows: list[dict[str, str]] = grid.evaluate(TABLE)
    return {name: np.array([_number(row[name]) for row in rows]) for name in rows[0]} if rows else {}


def numbers(frame: pd.DataFrame, names: list[str]) -> NDArray[np.float64]:
    """Return columns of a frame as numbers, what is missing as NaN."""
    columns = [pd.to_numeric(frame[name]).astype("Float64").to_numpy(np.float64, na_value=np.nan) for name in names]
    return np.stack(columns, axis=1)


def expect_rows_of(frame: pd.DataFrame, drawn: dict[str, NDArray[np.float64]]) -> None:
    """Expect that every row drawn is a row of the frame, in all of its numbers."""
    names = [name for name in drawn if name in frame]
    there = numbers(frame, names)
    for row in np.stack([drawn[name] for name in names], axis=1):
        assert np.isclose(there, row, rtol=1e-6, atol=0, equal_nan=True).all(axis=1).any(), dict(
            zip(names, row, strict=True)
        )


def expect_tables_beside(page: Page, summary: Any) -> None:
    """Expect that every row drawn beside the main table is one of the answer, in all of its numbers."""
    for name, rows_of in BESIDE.items():
        grid = page.get_by_role("grid", name=name)
        if grid.count() > 0:
            expect_rows_of(pd.DataFrame(rows_of(summary)), table(grid))


def expect_tree_of(page: Page, frame: pd.DataFrame) -> None:
    """Expect that every row drawn of a tree is a row of the frame, in all that it says."""
    drawn: list[dict[str, str]] = page.evaluate(TREE, list(SAID))
    if drawn:
        nodes = frame.to_dict("records")
        there = {tuple(SAID[field](node) for field in drawn[0]) for node in nodes}
        assert [row for row in drawn if tuple(row.values()) not in there] == []


def _rate(write: Callable[[float], str], rate: float, share: float) -> str:
    """Return a rate and its share of the peak as a tree has them: none where there is no such work, doubts in front."""
    if not rate > 0:
        return units.MISSING
    mark = "⚠ " if share > units.SUSPICIOUS_FRACTION else ""
    return write(rate) + ("" if np.isnan(share) else mark + units.percent(share))


def _number(text: str) -> float:
    if (flag := {"–": np.nan, "yes": 1.0, "no": 0.0}.get(text)) is not None:
        return flag
    found = NUMBER.match(text)
    assert found is not None, f"{text!r} is no number"
    return float(found[0].replace("\u2009", ""))
