"""The overview from a file: tiles, steps, ops and the split are those of the answers they come from."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import charts, every_view
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUNS = ("tpu-v6e-psum", "v100-tf", "mi300x-jax-gemm")


def tile(page, name: str):
    return page.locator(f'[data-tile="{name}"]')


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", [*RUNS, "cpu"])
def test_it_answers_on_one_screen(open_page, cpu_profile, corpus, tmp_path, screenshot, run, scheme):
    profile = xp.open(cpu_profile if run == "cpu" else corpus / run)
    result = profile.overview()
    page = open_page(result.to_html(tmp_path / "overview.html").as_uri(), color_scheme=scheme)
    charts.wait(page.locator("body"))
    frame = result.frame.set_index("name")["value"]
    expect(tile(page, "step_time")).to_contain_text(units.duration(frame["step_time_mean_ps"]))
    expect(tile(page, "busy")).to_contain_text(units.percent(frame["device_busy_fraction"]))
    expect(tile(page, "flops")).to_contain_text(units.percent(frame["flops_utilization"]))
    expect(tile(page, "bandwidth")).to_contain_text(units.percent(frame["hbm_utilization"]))
    expect(tile(page, "memory")).to_contain_text(units.size(frame["peak_memory_bytes"]))
    if result.summary["peak_memory_source"] == "planned":
        expect(tile(page, "memory")).to_contain_text(f"as planned for {result.summary['peak_memory_of']}")
    bottom = page.locator(".jp-XprofAnswer-folded > summary").bounding_box()
    assert bottom["y"] + bottom["height"] <= page.viewport_size["height"], "it fits on one screen"
    screenshot(page, f"overview-{run}-{scheme}")


@pytest.fixture(scope="module")
def profile(cpu_profile):
    return xp.open(cpu_profile)


@pytest.fixture(scope="module")
def page_file(profile, tmp_path_factory):
    return profile.overview().to_html(tmp_path_factory.mktemp("overview") / "overview.html")


@pytest.fixture
def page(open_page, page_file):
    page = open_page(page_file.as_uri())
    charts.wait(page.locator("body"))
    return page


@pytest.mark.parametrize("width", [480, 900, 2000])
def test_nothing_is_cut(page, screenshot, width):
    every_view.resize(page, width, 900)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    cut = "els => els.filter(el => el.scrollWidth > el.clientWidth + 1).map(el => el.textContent)"
    assert page.locator(".jp-Overview-value, .jp-Overview-tile").evaluate_all(cut) == []
    screenshot(page, f"overview-cpu-{width}-light")


def test_the_chart_is_the_input_pipeline(page, profile):
    frame = profile.input_pipeline().frame.groupby("step").mean(numeric_only=True)
    bars = charts.drawn(page)
    assert bars["step"] == frame.index.tolist()
    np.testing.assert_allclose(bars["time"], frame["step_time_ps"])
    tops = [name for name in bars if re.fullmatch(r"level\d+", name)]
    np.testing.assert_allclose(bars[f"level{len(tops) - 1}"], frame["step_time_ps"])
    np.testing.assert_allclose(bars["level1"], frame["compute_ps"])
    assert charts.levels(page) == [pytest.approx(profile.overview().summary["step_time_mean_ps"])]


def test_a_step_and_an_op_are_chosen(page, profile):
    bars = charts.drawn(page)
    card = charts.hovered(page, 1, bars["time"][1] / 2)
    expect(card).to_contain_text(f"step {bars['step'][1]}")
    expect(card).to_contain_text(units.duration(bars["time"][1]))
    charts.click(page, 1, bars["time"][1] / 2)
    page.wait_for_function("Bokeh.documents[0].roots()[0].renderers[0].data_source.data.edge[1] === 1")
    first = profile.overview().summary["top_ops"][0]
    op = page.locator(".jp-Overview-op").first
    expect(op).to_contain_text(first["op"])
    expect(op).to_contain_text(units.percent(first["busy_fraction"]))
    op.focus()
    page.keyboard.press("Enter")
    expect(op).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(op).to_have_attribute("aria-pressed", "false")


def test_a_tile_explains_itself_and_names_its_evidence(page, profile):
    definition = profile.overview().frame.set_index("name")["definition"]["flops_utilization"]
    tile(page, "flops").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(definition)
    tile(page, "flops").click()
    expect(page.locator(".jp-XprofStatus")).to_contain_text(".roofline()")


def test_the_table_below_has_every_value(page, profile):
    page.locator(".jp-XprofAnswer-folded > summary").click()
    shown = page.locator(".jp-XprofGrid-row [data-field=value]")
    expect(shown.first).to_be_visible()
    frame = profile.overview().frame
    expected = [units.quantity(value, unit) for value, unit in zip(frame["value"], frame["unit"], strict=True)]
    assert shown.all_text_contents()[:10] == expected[:10]


def test_tiles_open_tabs(open_page, profile, tmp_path):
    page = open_page(profile.to_html(tmp_path / "run.html").as_uri())
    charts.wait(page.locator("body"))
    for name, view in (
        ("step_time", "steps"),
        ("input", "input_pipeline"),
        ("flops", "roofline"),
        ("bandwidth", "roofline"),
        # On a CPU no allocator reports: the peak is what the compiler planned.
        ("memory", "buffers"),
        ("busy", "op_profile"),
    ):
        tile(page, name).click()
        expect(page.locator(f'[role="tab"][data-view="{view}"]')).to_have_attribute("aria-selected", "true")
        page.locator('[role="tab"][data-view="overview"]').click()
