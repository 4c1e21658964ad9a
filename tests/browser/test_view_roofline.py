"""The roofline in a page from disk: what is drawn is what the frame says, also after filtering."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import charts, every_view

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUNS = ("tpu-v6e-psum", "mi300x-jax-gemm", "cpu")


def opened(run, cpu_profile, corpus):
    return xp.open(cpu_profile if run == "cpu" else corpus / run)


def expected(frame):
    drawn = frame[(frame["flops_per_s"] > 0) & (frame["hbm_arithmetic_intensity"] > 0)]
    return sorted(zip(drawn["hbm_arithmetic_intensity"], drawn["flops_per_s"], strict=True))


def drawn(page):
    points = charts.data(page, "points")
    return sorted(zip(points["x"], points["y"], strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", RUNS)
def test_points_roofs_and_ridges_are_those_of_the_answer(
    open_page, cpu_profile, corpus, tmp_path, screenshot, run, scheme
):
    result = opened(run, cpu_profile, corpus).roofline()
    page = open_page(result.to_html(tmp_path / "roofline.html").as_uri(), color_scheme=scheme)
    charts.wait_for_chart(page)
    assert drawn(page) == expected(result.frame)
    roofs = {roof["name"]: roof for roof in result.summary["roofs"]}
    for name, roof in roofs.items():
        line = charts.data(page, f"roof {name} {roof['label']}")
        if line is not None:  # of equal roofs one is drawn
            heights = [y / x if roof["unit"] == "bytes_per_s" else y for x, y in zip(line["x"], line["y"], strict=True)]
            assert heights == pytest.approx([roof["value"]] * 2)
    ridges = charts.data(page, "ridges") or {"x": []}
    known = {ridge["flops_per_byte"] for ridge in result.summary["ridges"] if ridge["memory"] == "hbm"}
    assert sorted(set(ridges["x"])) == pytest.approx(sorted(known))
    if known:
        label = result.summary["roofs"][0]["label"]
        assert any("FLOP/B (" in text and label in text for text in charts.labels(page)), "a value, and whose peaks"
    points = charts.data(page, "points")
    looks: dict[str, set[str]] = {}
    shapes: dict[str, set[str]] = {}
    for row, fill, marker in zip(points["row"], points["fill"], points["marker"], strict=True):
        if result.frame["level"].iloc[row] == "op":
            bound = re.sub("[vc]mem_.*", "on chip", str(result.frame["bound_by"].iloc[row]))
            looks.setdefault(bound, set()).add(fill)
            shapes.setdefault(result.frame["work_kind"].iloc[row], set()).add(marker)
    for seen in (looks, shapes):
        assert all(len(one) == 1 for one in seen.values())
        assert len(set.union(*seen.values())) == len(seen), "one colour a bound, one shape a kind of work"
    for width in (480, 900, 2000):
        every_view.resize(page, width, 900)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"cut at {width}"
        screenshot(page, f"roofline-{run}-{width}-{scheme}")


def test_the_area_of_an_op_is_its_time(open_page, corpus, tmp_path):
    frame = xp.open(corpus / "mi300x-jax-gemm").roofline().frame
    page = open_page(xp.open(corpus / "mi300x-jax-gemm").roofline().to_html(tmp_path / "r.html").as_uri())
    charts.wait_for_chart(page)
    points = charts.data(page, "points")
    sizes = [
        (size**2, frame["time_ps"].iloc[row])
        for size, row in zip(points["size"], points["row"], strict=True)
        if frame["level"].iloc[row] == "op" and size > 7
    ]
    assert len(sizes) >= 4
    assert [area / sizes[0][0] for area, _ in sizes] == pytest.approx([time / sizes[0][1] for _, time in sizes])


def test_filters_leave_the_same_points_and_rows(open_page, corpus, tmp_path):
    result = xp.open(corpus / "mi300x-jax-gemm").roofline()
    page = open_page(result.to_html(tmp_path / "roofline.html").as_uri())
    charts.wait_for_chart(page)
    frame = result.frame
    page.get_by_label("all bounds").select_option("compute")
    counted = page.locator(".jp-XprofAnswer-counted")
    expect(counted).to_have_text(f"{int((frame['bound_by'] == 'compute').sum())} of {len(frame)} rows shown")
    page.wait_for_timeout(500)
    assert drawn(page) == expected(frame[frame["bound_by"] == "compute"])
    page.get_by_label("all bounds").select_option("")
    page.get_by_label("Filter rows").fill("level:step")
    page.wait_for_timeout(500)
    assert drawn(page) == expected(frame[frame["level"] == "step"])
    page.get_by_label("Filter rows").fill("")
    page.get_by_role("columnheader", name="time", exact=True).get_by_role("button").click()
    page.wait_for_timeout(500)
    assert drawn(page) == expected(frame)


def test_a_click_chooses_an_op_and_hovering_explains_it(open_page, corpus, tmp_path):
    result = xp.open(corpus / "mi300x-jax-gemm").roofline()
    page = open_page(result.to_html(tmp_path / "roofline.html").as_uri())
    charts.wait_for_chart(page)
    largest = result.frame[result.frame["level"] == "op"].iloc[0]
    at = (largest["hbm_arithmetic_intensity"], largest["flops_per_s"])
    charts.point_at(page, *at)
    expect(page.locator(".bk-Tooltip")).to_contain_text("attainable at this intensity")
    charts.click(page, *at)
    chosen = page.locator(".jp-XprofGrid-row.jp-mod-selected")
    expect(chosen.first.get_by_role("rowheader")).to_have_text(largest["op"])
    points = charts.data(page, "points")
    outlined = {row for row, width in zip(points["row"], points["width"], strict=True) if width > 1}
    ops = result.frame[(result.frame["op"] == largest["op"]) & (result.frame["program_id"] == largest["program_id"])]
    assert outlined == set(ops.index)


def test_suspicious_points_are_marked(open_page, cpu_profile, tmp_path):
    result = xp.open(cpu_profile).roofline()
    page = open_page(result.to_html(tmp_path / "roofline.html").as_uri())
    charts.wait_for_chart(page)
    points = charts.data(page, "points")
    for row, mark in zip(points["row"], points["mark"], strict=True):
        assert mark == ("⚠" if result.frame["is_suspicious"].iloc[row] else "")


def test_what_is_not_drawn_is_said(open_page, corpus, tmp_path):
    result = xp.open(corpus / "tpu-v6e-psum").roofline()
    page = open_page(result.to_html(tmp_path / "roofline.html").as_uri())
    charts.wait_for_chart(page)
    ops = result.frame[result.frame["level"] == "op"]
    without = ops[ops["flops_per_s"] == 0]
    said = page.locator(".jp-Roofline-undrawn").first
    expect(said).to_contain_text(f"{len(without)} ops without FLOPs are not drawn")
    levels = page.locator("[data-level]")
    expect(levels).to_have_text(["HBM", "links"])
    levels.nth(1).click()
    page.wait_for_timeout(500)
    on_links = result.frame[(result.frame["flops_per_s"] > 0) & (result.frame["link_arithmetic_intensity"] > 0)]
    found = charts.data(page, "points")
    assert sorted(found["x"]) == pytest.approx(sorted(on_links["link_arithmetic_intensity"]))
