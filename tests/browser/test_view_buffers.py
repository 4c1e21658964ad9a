"""The buffers of a program, in a page from disk: every chart has the answer's numbers, and they choose together."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import every_view
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUNS = {"tpu": "tpu-v6e-psum", "gpu": "mi350-te-attention", "cpu": None}
CHART = """(label) => Bokeh.documents.map((each) => each.roots()[0])
  .filter((plot) => plot.below.some(({ axis_label }) => axis_label.startsWith(label))).at(-1)"""
DATA = f"""([label, glyph]) => {{
  const {{ data }} = ({CHART})(label).renderers[glyph].data_source;
  return Object.fromEntries(Object.entries(data).map(([name, values]) => [name, [...values]]));
}}"""
LEVELS = f"""(label) => ({CHART})(label).center.filter(({{ location }}) => location !== undefined)
  .map(({{ location }}) => location)"""
PLACE = f"""([label, x, y]) => {{
  const view = Bokeh.index.find_one(({CHART})(label));
  const {{ left, top }} = view.el.getBoundingClientRect();
  return [left + view.frame.x_scale.compute(x), top + view.frame.y_scale.compute(y)];
}}"""
LEAVES = "(leaves) => leaves.map((leaf) => [leaf.ariaLabel, leaf.offsetWidth * leaf.offsetHeight])"
CURVE, BARS = "op in program order", "buffers, by"


@pytest.fixture(scope="module", params=sorted(RUNS))
def shown(request, corpus, cpu_profile, tmp_path_factory):
    folder = RUNS[request.param]
    result = xp.open(cpu_profile if folder is None else corpus / folder).buffers()
    return request.param, result, result.to_html(tmp_path_factory.mktemp("buffers") / "buffers.html")


def start(open_page, path, **options):
    page = open_page(path.as_uri(), **options)
    page.wait_for_function("globalThis.Bokeh && Bokeh.documents.length === 2")
    expect(page.locator(".jp-XprofChart").nth(1).locator("canvas").first).to_be_visible()
    return page


def live(result):
    return result.frame[result.frame["live_at_peak"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_curve_is_that_of_the_summary_with_its_peak(open_page, shown, screenshot, scheme):
    name, result, path = shown
    page = start(open_page, path, color_scheme=scheme)
    curve, summary = result.summary["curve"], result.summary
    drawn = page.evaluate(DATA, [CURVE, 0])
    assert drawn["left"] == [point["position"] for point in curve]
    assert drawn["right"] == [*drawn["left"][1:], summary["position_count"]]
    assert drawn["live"] == [point["live_bytes"] for point in curve]
    assert page.evaluate(LEVELS, CURVE)[0] == summary["peak_bytes"]
    words = page.locator(".jp-XprofBuffers-words")
    expect(words).to_contain_text(f"{units.size(summary['peak_bytes'])} at the peak")
    if summary["room_bytes"] is not None:
        expect(words).to_contain_text(f"would still fit {units.size(summary['room_bytes'])}")
    screenshot(page, f"buffers-{name}-{scheme}")


def test_the_bars_are_the_buffers_of_the_peak_in_three_orders(open_page, shown):
    _, result, path = shown
    page = start(open_page, path)
    frame = live(result)
    orders = {"program order": ("start", True), "size": ("bytes", False), "padding": ("padding_bytes", False)}
    for order, (column, ascending) in orders.items():
        page.get_by_role("group", name="by", exact=True).get_by_role("button", name=order).click()
        page.wait_for_function(f"(label) => ({CHART})(label) !== undefined", arg=f"buffers, by {order}")
        drawn = page.evaluate(DATA, [f"buffers, by {order}", 0])
        assert sorted(drawn["padded"]) == sorted(frame["bytes"])
        assert sum(drawn["unpadded"]) == frame["bytes"].sum() - frame["padding_bytes"].sum()
        expected = frame.sort_values([column, "bytes"], ascending=[ascending, False], kind="stable")
        assert drawn["padded"] == expected["bytes"].tolist()


def test_the_treemap_has_every_byte_of_the_peak(open_page, shown):
    _, result, path = shown
    page = start(open_page, path)
    leaves = page.locator(".jp-XprofBuffers-leaf").evaluate_all(LEAVES)
    frame = live(result)
    assert len(leaves) == len(frame[frame["bytes"] > 0])
    told = sorted(re.search(r", ([^,]+), [^,]+ of the peak", label)[1] for label, _ in leaves)
    assert told == sorted(units.size(size) for size in frame["bytes"])
    area = page.locator(".jp-XprofBuffers-map").evaluate("(map) => map.clientWidth * map.clientHeight")
    largest = frame.iloc[0]
    (size,) = [px for label, px in leaves if label.startswith(f"{largest['name']}, ")]
    assert size / area == pytest.approx(largest["bytes"] / frame["bytes"].sum(), rel=0.03)


def test_a_filter_narrows_bars_and_treemap_alike(open_page, shown):
    _, result, path = shown
    page = start(open_page, path)
    first = live(result).iloc[0]
    page.get_by_role("searchbox", name="Filter rows").fill(f"kind:{first['kind']}")
    frame = live(result)[live(result)["kind"] == first["kind"]]
    expect(page.locator(".jp-XprofBuffers-leaf")).to_have_count(len(frame))
    page.wait_for_function(
        f"([label, count]) => ({CHART})(label).renderers[0].data_source.data.padded.length === count",
        arg=[BARS, len(frame)],
    )
    assert sorted(page.evaluate(DATA, [BARS, 0])["padded"]) == sorted(frame["bytes"])


def test_curve_bars_map_and_table_choose_together(open_page, shown):
    _, result, path = shown
    page = start(open_page, path)
    largest = live(result).iloc[0]
    leaf = page.locator(f'.jp-XprofBuffers-leaf[aria-label^="{largest["name"]}, "]')
    leaf.click()
    expect(leaf).to_have_class(re.compile("jp-mod-chosen"))
    rows = page.locator('.jp-XprofGrid-row[aria-selected="true"] [data-field="name"]')
    expect(rows.first).to_be_visible()
    held = result.frame[result.frame["op"] == largest["op"]]
    assert set(rows.all_inner_texts()) <= set(held["name"])
    page.wait_for_function(
        f"([label, count]) => ({CHART})(label).center.filter((each) => each.fill_alpha === 0.15).length === count",
        arg=[CURVE, int(held["start"].notna().sum())],
    )


def test_hovering_the_curve_says_the_op_there(open_page, shown):
    _, result, path = shown
    page = start(open_page, path)
    summary = result.summary
    x = summary["peak_position"] + 0.5
    page.locator(".jp-XprofChart").first.scroll_into_view_if_needed()
    page.mouse.move(*page.evaluate(PLACE, [CURVE, x, summary["peak_bytes"] / 2]))
    card = page.locator(".bk-Tooltip").first
    expect(card).to_contain_text(summary["peak_op"])
    expect(card).to_contain_text(f"{units.size(summary['peak_bytes'])} live")


def test_hovering_a_buffer_says_its_shape_layout_and_padding(open_page, shown):
    _, result, path = shown
    page = start(open_page, path)
    largest = live(result).iloc[0]
    page.locator(f'.jp-XprofBuffers-leaf[aria-label^="{largest["name"]}, "]').hover()
    tip = page.locator(".jp-XprofBuffers-scopes .jp-XprofTooltip")
    expect(tip).to_contain_text(largest["shape"])
    expect(tip).to_contain_text("padding")
    expect(tip).to_contain_text(f"{largest['bytes']:,} B".replace(",", "\u2009"))


@pytest.mark.parametrize("width", [480, 2000])
def test_it_fits_narrow_and_wide_pages(open_page, shown, screenshot, width):
    name, _, path = shown
    page = start(open_page, path)
    every_view.resize(page, width, 900)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, f"buffers-{name}-{width}")
