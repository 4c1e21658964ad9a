"""A table of 100,000 rows in somebody's hands: sorted, filtered, scrolled, resized, copied, by pointer and by keys."""

from __future__ import annotations

import base64
import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser import every_view
from xprof_nb import assets
from xprof_nb.model import columns, units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ROWS = 100_000
HOSTILE = '=HYPERLINK("//x")<img src=x onerror="pwned=1">\u202e,"\n\ttail'
BODY_ROW = ".jp-XprofGrid-body [role=row]"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(7)
    names = [f"fusion.{number}" for number in range(ROWS)]
    names[ROWS // 2] = HOSTILE
    return pd.DataFrame(
        {
            "op": names,
            "device": [f"TPU:{row % 4}" for row in range(ROWS)],
            "self_time_ps": random.permutation(ROWS).astype(np.int64) * 1_234_567 + 1,
            "occurrences": random.integers(1, 10**7, ROWS).astype(np.int32),
            "flops_per_s": np.where(np.arange(ROWS) % 3 == 0, np.nan, random.uniform(1e6, 9e14, ROWS)),
            "category": ["loop fusion" if row % 2 else "copy" for row in range(ROWS)],
            "time_fraction": random.uniform(0, 1e-4, ROWS),
            "framework_op": [
                f"jit(step)/layer_{row % 50}/a/rather/long/path/of/scopes/dot_general" for row in range(ROWS)
            ],
        }
    )


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    payload = {
        "version": 1, "view": "sql", "title": "rows of many", "params": {}, "summary": {}, "notes": [],
        "details": {},
        "run": {"name": "many", "path": "/runs/many", "origin": "", "hosts": ["h"], "devices": [], "identity": "many"},
        "table": base64.b64encode(columns.encode(frame)).decode(), "rows_total": ROWS,
    }  # fmt: skip
    module = base64.b64encode(assets.module("table").encode()).decode()
    text = json.dumps(payload).replace("<", "\\u003c")
    file = tmp_path_factory.mktemp("table") / "table.html"
    file.write_text(
        '<!doctype html><meta charset="utf-8"><div id="view"></div>'
        f'<script id="data" type="application/json">{text}</script>'
        f'<script type="module">import {{ mountPage }} from "data:text/javascript;base64,{module}";'
        'mountPage(JSON.parse(document.getElementById("data").textContent), document.getElementById("view"));</script>'
    )
    return file


@pytest.fixture
def page(open_page, path):
    page = open_page(path.as_uri(), permissions=["clipboard-read", "clipboard-write"])
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(ROWS + 1))
    return page


def shown(page, field):
    """Return the texts of a column in the rows that are really on screen."""
    return page.evaluate(
        """field => {
          const grid = document.querySelector('[role=grid]').getBoundingClientRect();
          return [...document.querySelectorAll(`.jp-XprofGrid-body [data-field=${field}]`)]
            .filter(cell => { const { top, bottom } = cell.getBoundingClientRect();
              return top >= grid.top + 23 && bottom <= grid.bottom + 1; })
            .map(cell => cell.textContent);
        }""",
        field,
    )


def sort_by(page, field):
    page.locator(f"button[data-field={field}]").click()


def test_sorted_it_shows_the_rows_of_the_frame(page, frame):
    assert shown(page, "op") == list(frame["op"][:12]), "twelve rows, from the first"
    sort_by(page, "self_time_ps")
    largest = frame.sort_values("self_time_ps", ascending=False)
    assert shown(page, "op") == list(largest["op"][:12])
    assert shown(page, "self_time_ps") == [units.duration(ps) for ps in largest["self_time_ps"][:12]]
    exact = page.locator(f"{BODY_ROW} [data-field=self_time_ps]").first.get_attribute("title")
    assert int("".join(filter(str.isdigit, exact))) == largest["self_time_ps"].iloc[0]
    sort_by(page, "self_time_ps")
    assert shown(page, "op") == list(largest["op"][::-1][:12])
    sort_by(page, "flops_per_s")
    page.get_by_role("grid").press("Control+End")
    assert shown(page, "flops_per_s")[-1] == "–", "what is missing is last"


def test_filtered_it_shows_the_rows_that_match(page, frame):
    box = page.get_by_role("searchbox")
    box.fill("tpu:2 self_time>100ms category:copy")
    kept = frame[(frame["device"] == "TPU:2") & (frame["self_time_ps"] > 10**11) & (frame["category"] == "copy")]
    expect(page.locator(".jp-XprofAnswer-counted")).to_contain_text(f"{units.count(len(kept))} of")
    assert shown(page, "op") == list(kept["op"][:12])
    box.fill("nothing <b>like</b> this")
    expect(page.locator(".jp-XprofGrid-none")).to_have_text("No row matches “nothing <b>like</b> this”.")
    box.press("Escape")
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(ROWS + 1))


def test_scrolled_it_draws_what_is_there(page, frame):
    grid = page.get_by_role("grid")
    head = page.locator("[role=columnheader]").first
    before = head.bounding_box()["y"]
    for share in (0.25, 0.5, 0.99):
        page.evaluate(
            "share => { const g = document.querySelector('[role=grid]'); g.scrollTop = share * g.scrollHeight; }", share
        )
        page.wait_for_function("document.querySelector('.jp-XprofGrid-body').firstChild.offsetTop > 24 * 20000")
        page.wait_for_timeout(50)
        rows = shown(page, "op")
        first = list(frame["op"]).index(rows[0])
        assert rows == list(frame["op"][first : first + len(rows)])
        assert head.bounding_box()["y"] == before, "the head stays"
        assert grid.locator("[role=row]").count() < 60
    assert page.evaluate("window.pwned") is None


def test_names_stay_and_columns_stay_together(page):
    every_view.resize(page, 800)
    name = page.locator(f"{BODY_ROW} [role=rowheader]").first
    before = name.bounding_box()["x"]
    page.evaluate("document.querySelector('[role=grid]').scrollLeft = 300")
    assert name.bounding_box()["x"] == before
    heads = page.locator("[role=columnheader]")
    cells = page.locator(BODY_ROW).first.locator("> *")
    for index in range(heads.count()):
        assert heads.nth(index).bounding_box()["x"] == pytest.approx(cells.nth(index).bounding_box()["x"], abs=0.6)
    for width in (480, 900, 2000):
        every_view.resize(page, width)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        numbers = page.locator(".jp-XprofGrid-body .jp-mod-number")
        cut = numbers.evaluate_all("cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).length")
        assert cut == 0, "no number is cut"


def test_resized_by_pointer_and_by_keys(page):
    head = page.locator("[role=columnheader]").filter(has=page.locator("button[data-field=framework_op]"))
    cell = page.locator(f"{BODY_ROW} [data-field=framework_op]").first
    edge = head.locator(".jp-XprofGrid-edge")
    edge.scroll_into_view_if_needed()
    width, box = head.bounding_box()["width"], edge.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] - 57, box["y"] + 8, steps=4)
    page.mouse.up()
    assert head.bounding_box()["width"] == pytest.approx(width - 60, abs=1.5)
    assert cell.bounding_box()["width"] == pytest.approx(width - 60, abs=1.5)
    head.locator("button").press("Shift+ArrowRight")
    assert cell.bounding_box()["width"] == pytest.approx(width - 44, abs=1.5)
    edge.dblclick()
    assert cell.bounding_box()["width"] == pytest.approx(width, abs=1.5)
    bottom = page.get_by_role("separator")
    height = page.get_by_role("grid").bounding_box()["height"]
    bottom.press("ArrowDown")
    bottom.press("ArrowDown")
    assert page.get_by_role("grid").bounding_box()["height"] == pytest.approx(height + 48, abs=1.5)
    box = bottom.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 99, steps=3)
    page.mouse.up()
    assert len(shown(page, "op")) == 12 + 2 + 4


def test_by_keyboard_alone(page, frame):
    grid = page.get_by_role("grid")
    for _ in range(20):
        page.keyboard.press("Tab")
        if grid.evaluate("grid => grid === document.activeElement"):
            break
    at = "document.getElementById(document.querySelector('[role=grid]').getAttribute('aria-activedescendant'))"
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{at}.textContent") == frame["op"][13]
    page.keyboard.press("Control+End")
    assert page.evaluate(f"{at}.textContent") == frame["framework_op"].iloc[-1]
    box, cell = (
        grid.bounding_box(),
        page.evaluate(f"(() => {{ const r = {at}.getBoundingClientRect(); return [r.right, r.bottom]; }})()"),
    )
    assert cell[0] <= box["x"] + box["width"] + 1
    assert cell[1] <= box["y"] + box["height"] + 1, "where the keyboard is can be seen"
    page.keyboard.press("Home")
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert shown(page, "op")[0] == frame["op"][frame["self_time_ps"].idxmax()]
    page.keyboard.press("Alt+ArrowLeft")
    heads = page.locator(".jp-XprofGrid-label").all_inner_texts()
    assert heads[:3] == ["op", "self time", "device"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    page.keyboard.type("fusion.99999")
    assert shown(page, "op") == ["fusion.99999"]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("narrower or wider")


def test_copied_and_exported_it_is_what_is_shown(page, frame, tmp_path):
    page.get_by_role("searchbox").fill("op:fusion.4999 flops_per_s>1M")
    kept = frame[frame["op"].str.contains("fusion.4999", regex=False) & (frame["flops_per_s"] > 1e6)]
    kept = kept.sort_values("occurrences", ascending=False)
    sort_by(page, "occurrences")
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("menuitemcheckbox", name="framework op").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Copy table (TSV)").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    copied = pd.read_csv(io.StringIO(page.evaluate("navigator.clipboard.readText()")), sep="\t")
    wanted = kept.drop(columns="framework_op").reset_index(drop=True)
    pd.testing.assert_frame_equal(copied, wanted, check_dtype=False)
    with page.expect_download() as download:
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("menuitem", name="Download CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "table.csv"), wanted, check_dtype=False)


def test_a_hostile_name_is_text_everywhere(page, tmp_path):
    page.get_by_role("searchbox").fill("onerror")
    row = page.locator(BODY_ROW).first
    assert row.locator("[data-field=op]").text_content() == HOSTILE
    row.click()
    page.keyboard.press("Control+c")
    expect(page.get_by_text("Copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("'=HYPERLINK")
    assert copied.count("\t") == 7
    with page.expect_download() as download:
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("menuitem", name="Download CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        assert next(iter(csv.DictReader(file)))["op"] == f"'{HOSTILE}"
    assert page.evaluate("window.pwned") is None
    row.locator("[data-field=category]").dblclick(position={"x": 16, "y": 12})
    assert page.evaluate("String(getSelection())").strip() in {"copy", "loop", "fusion"}, "text can be marked"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_looks_like_this(open_page, path, screenshot, scheme):
    page = open_page(path.as_uri(), color_scheme=scheme)
    page.locator(f"{BODY_ROW} [data-field=self_time_ps]").nth(3).click()
    screenshot(page, f"table-{scheme}")
