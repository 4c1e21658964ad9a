"""The graph as a drawing, in a page from disk: ops, edges and numbers of the answer, walked by mouse and keyboard."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.analysis.test_graph import dot_graph, fan, opened
from tests.browser import every_view
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

OP = ".jp-XprofGraph-op"
BOXES = f"""() => [...document.querySelectorAll('{OP}')].map((group) => {{
  const {{ x, y, right, bottom }} = group.querySelector('.jp-XprofGraph-face').getBoundingClientRect();
  return [group.dataset.op, x, y, right, bottom];
}})"""
LINES = "() => [...document.querySelectorAll('.jp-XprofGraph-edge')].map(({ dataset }) => [dataset.from, dataset.to])"
RUNS = {
    "tpu": ("tpu-v6e-psum", {"program": "jit_f", "op": "broadcast_add_fusion.2", "radius": 3}),
    "gpu": ("mi350-te-attention", {"radius": 2}),
    "cpu": (None, {"radius": 2}),
}


@pytest.fixture(scope="module", params=sorted(RUNS))
def drawn(request, corpus, cpu_profile, tmp_path_factory):
    folder, params = RUNS[request.param]
    result = xp.open(cpu_profile if folder is None else corpus / folder).graph(**params)
    return request.param, result, result.to_html(tmp_path_factory.mktemp("graph") / "graph.html")


def start(open_page, path, **options):
    page = open_page(path.as_uri(), **options)
    page.locator(OP).first.wait_for()
    return page


def op(page, name: str):
    return page.locator(f'{OP}[data-op="{name}"]')


def ops(page) -> set[str]:
    return set(page.locator(OP).evaluate_all("(groups) => groups.map(({ dataset }) => dataset.op)"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_the_neighbourhood_and_opens_fusions(open_page, drawn, screenshot, scheme):
    name, result, path = drawn
    page = start(open_page, path, color_scheme=scheme)
    outer = result.frame[result.frame["inside"].isna()]
    assert ops(page) == set(outer["op"])
    edges = result.summary["edges"]
    among = {(a, b) for a, b, *_ in edges if {a, b} <= set(outer["op"])}
    assert {tuple(pair) for pair in page.evaluate(LINES)} == among
    screenshot(page, f"graph-{name}-{scheme}")
    page.get_by_role("button", name="Expand or collapse all fusions").click()
    page.get_by_role("button", name="Show all of it").click()
    assert ops(page) == set(result.frame["op"])
    fusions = result.frame.set_index("op")["inside"].dropna().to_dict()
    boxes = {box[0]: box[1:] for box in page.evaluate(BOXES)}
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        if fusions.get(one) == fusions.get(other):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (one, other)
        elif fusions.get(one) == other:
            assert max(b[0] - a[0], b[1] - a[1], a[2] - b[2], a[3] - b[3]) <= 0, (one, other)
    for source, target, *_ in edges:
        assert boxes[source][3] <= boxes[target][1], (source, target)
    screenshot(page, f"graph-{name}-open-{scheme}")


def test_the_numbers_are_those_of_the_frame(open_page, drawn):
    _, result, path = drawn
    page = start(open_page, path)
    frame = result.frame[result.frame["inside"].isna()].set_index("op")
    page.get_by_role("group", name="colour by").get_by_role("button", name="time").click()
    most = frame["self_time_ps"].max()
    strength = {}
    for name, row in frame.iterrows():
        lines = op(page, name).locator(".jp-XprofGraph-line")
        expect(lines.nth(1)).to_have_text(re.compile("^" + re.escape(units.duration(row["self_time_ps"])) + "(,|$)"))
        strength[name] = float(op(page, name).locator(".jp-XprofGraph-face").get_attribute("fill-opacity"))
        known = row["self_time_ps"] > 0
        expected = 0.06 + 0.54 * row["self_time_ps"] / most if known else 0
        assert strength[name] == pytest.approx(expected, abs=1e-3)
    page.get_by_role("group", name="colour by").get_by_role("button", name="bytes").click()
    center = result.summary["center"]
    text = op(page, center).locator(".jp-XprofGraph-line").nth(1)
    expect(text).to_have_text(re.compile("^" + re.escape(units.size(frame.loc[center, "bytes_accessed"]))))


def test_a_click_chooses_for_the_table_too_and_a_filter_pales_the_rest(open_page, drawn):
    _, result, path = drawn
    page = start(open_page, path)
    center = result.summary["center"]
    op(page, center).click(position={"x": 40, "y": 30})
    chosen = page.locator('.jp-XprofGrid-row[aria-selected="true"] [data-field="node"]')
    expect(chosen).to_have_text(center)
    expect(op(page, center)).to_have_attribute("aria-pressed", "true")
    about = page.locator(".jp-XprofGraph-about")
    expect(about).to_contain_text(result.frame["shape"].iloc[0])
    page.get_by_role("searchbox", name="Filter rows").fill(f"op:{center}")
    shown = page.locator('.jp-XprofGrid-row [data-field="node"]').all_inner_texts()
    pale = page.locator(f"{OP}.jp-mod-pale").evaluate_all("(groups) => groups.map(({ dataset }) => dataset.op)")
    assert set(pale) == ops(page) - set(shown)


def test_it_is_walked_searched_and_zoomed_by_keyboard(open_page, drawn):
    _, result, path = drawn
    page = start(open_page, path)
    center = result.summary["center"]
    op(page, center).focus()
    sources = {source for source, target, *_ in result.summary["edges"] if target == center}
    page.keyboard.press("ArrowUp")
    reached = page.evaluate("document.activeElement.dataset.op")
    assert reached in sources
    page.keyboard.press("Space")
    expect(op(page, reached)).to_have_attribute("aria-pressed", "true")
    before = op(page, reached).bounding_box()["width"]
    page.keyboard.press("+")
    assert op(page, reached).bounding_box()["width"] == pytest.approx(before * 1.25, rel=0.02)
    find = page.get_by_role("combobox", name="Find ops in the program")
    find.fill(center)
    page.get_by_role("option").first.wait_for()
    find.press("Enter")
    expect(op(page, center)).to_have_attribute("aria-pressed", "true")
    find.fill("no such op")
    expect(page.locator(".jp-XprofGraph-counted")).to_contain_text("None, among the")


def test_dragging_pans_and_the_wheel_zooms_with_ctrl_alone(open_page, drawn):
    _, result, path = drawn
    page = start(open_page, path)
    place = op(page, result.summary["center"])
    before = place.bounding_box()
    stage = page.locator(".jp-XprofGraph-stage").bounding_box()
    page.mouse.move(stage["x"] + 12, stage["y"] + 12)
    page.mouse.down()
    page.mouse.move(stage["x"] + 62, stage["y"] + 42, steps=4)
    page.mouse.up()
    after = place.bounding_box()
    assert (after["x"] - before["x"], after["y"] - before["y"]) == (pytest.approx(50, abs=1), pytest.approx(30, abs=1))
    page.mouse.wheel(0, -150)
    assert place.bounding_box()["width"] == pytest.approx(after["width"], rel=1e-3)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -150)
    page.keyboard.up("Control")
    page.wait_for_function(
        f"document.querySelector('{OP}.jp-mod-center').getBoundingClientRect().width > {1.2 * after['width']}"
    )


def taken(page, what: str) -> str:
    page.get_by_role("button", name="More actions").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=what, exact=True).click()
    return download.value.path().read_text("utf-8")


def test_it_is_taken_out_as_svg_dot_and_hlo(open_page, drawn):
    _, result, path = drawn
    page = start(open_page, path)
    outer = result.frame[result.frame["inside"].isna()]
    drawing = ElementTree.fromstring(taken(page, "Download SVG"))
    texts = [text.text or "" for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(text.startswith(str(outer["opcode"].iloc[0])) for text in texts) >= 1
    styles = {each.get("style") for each in drawing.iter("{http://www.w3.org/2000/svg}rect")}
    assert any(style and "fill:rgb" in style for style in styles)
    assert "var(--" not in ElementTree.tostring(drawing, encoding="unicode")
    nodes, edges = dot_graph(taken(page, "Download DOT"))
    assert len(nodes) == len(outer)
    known = set(outer["op"])
    assert len(edges) == sum({edge[0], edge[1]} <= known for edge in result.summary["edges"])
    assert taken(page, "Download HLO of the ops drawn").count("\n") >= len(outer)


def test_a_program_of_fifty_thousand_ops_is_drawn_in_part(open_page, tmp_path):
    result = opened(tmp_path, fan(50_000)).graph(op="p", radius=1)
    page = start(open_page, result.to_html(tmp_path / "large.html"))
    assert len(ops(page)) == len(result.frame) == 61
    hidden = int(result.frame.set_index("op").loc["p", "user_count"]) - 60
    expect(op(page, "p")).to_contain_text(f"↓ {hidden:,} more".replace(",", "\u2009"))


@pytest.mark.parametrize("width", [480, 2000])
def test_it_fits_narrow_and_wide_pages(open_page, drawn, screenshot, width):
    name, _, path = drawn
    page = start(open_page, path)
    every_view.resize(page, width, 900)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, f"graph-{name}-{width}")
