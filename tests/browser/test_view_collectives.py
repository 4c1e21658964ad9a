"""Collectives from a file: kinds, bandwidths and exposed times are those of the answer."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import charts
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["tpu-v6e-psum", "v100-tf"])
def test_it_draws_itself_from_a_file(open_page, corpus, tmp_path, screenshot, run, scheme):
    result = xp.open(corpus / run).collectives()
    page = open_page(result.to_html(tmp_path / "collectives.html").as_uri(), color_scheme=scheme)
    charts.wait(page.locator("body"))
    for kind in result.summary["by_kind"]:
        row = page.locator(f'tr[data-moving="{kind["kind"]}"]')
        expect(row).to_contain_text(units.duration(kind["time_ps"]))
        expect(row).to_contain_text(units.duration(kind["exposed_time_ps"]))
        expect(row).to_contain_text(units.percent(kind["exposed_fraction"]))
        expect(row).to_contain_text(units.bytes_per_s(kind["bus_bytes_per_s"]))
    peak = result.summary["link_peak_bytes_per_s"]
    expect(page.locator(".jp-Collectives-said")).to_contain_text(units.bytes_per_s(peak))
    for kind in (one for one in result.summary["by_kind"] if one["link_utilization"] is not None):
        cell = page.locator(f'tr[data-moving="{kind["kind"]}"] > td').last
        expect(cell).to_contain_text(units.utilization(kind["link_utilization"]))
        bar, mark = (cell.locator(part).bounding_box() for part in (".jp-XprofBarTable-bar", ".jp-Collectives-peak"))
        share = bar["width"] / (mark["x"] - bar["x"] + mark["width"] / 2)
        assert share == pytest.approx(kind["link_utilization"], abs=0.03), "the line is where the bar would be full"
    steps = result.summary["steps"]
    bars = charts.drawn(page)
    assert bars["step"] == [step["step"] for step in steps]
    for column, name in (("collectives", "exposed_ps"), ("copies", "copy_exposed_ps")):
        if column in bars:
            np.testing.assert_allclose(bars[column], [step[name] for step in steps])
    screenshot(page, f"collectives-{run}-{scheme}")


def test_where_nothing_was_exposed_in_a_step_it_says_so(open_page, corpus, tmp_path, screenshot):
    result = xp.open(corpus / "mi300x-jax-gemm").collectives()
    page = open_page(result.to_html(tmp_path / "collectives.html").as_uri())
    expect(page.locator(".jp-Collectives-said")).to_contain_text("in no whole step was anything exposed")
    expect(page.locator(".jp-XprofChart")).to_be_hidden()
    screenshot(page, "collectives-mi300x-jax-gemm-light")


def test_where_nothing_moved_it_says_so(open_page, cpu_profile, tmp_path):
    result = xp.open(cpu_profile).collectives()
    page = open_page(result.to_html(tmp_path / "collectives.html").as_uri())
    expect(page.locator(".jp-XprofEmpty")).to_contain_text("No collective, asynchronous copy or host offload ran")
    expect(page.locator(".jp-Collectives-kinds")).to_be_hidden()


def test_the_kinds_are_those_of_the_rows_that_the_filter_leaves(open_page, corpus, tmp_path):
    result = xp.open(corpus / "tpu-v6e-psum").collectives()
    page = open_page(result.to_html(tmp_path / "collectives.html").as_uri())
    page.get_by_label("Filter rows").fill("kind:all-reduce device:TPU:0")
    frame = result.frame
    left = frame[(frame["kind"] == "all-reduce") & (frame["device"] == "TPU:0")]
    rows = page.locator(".jp-Collectives-kinds tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(units.duration(left["time_ps"].sum()))
    expect(rows).to_contain_text(units.duration(left["exposed_time_ps"].sum()))
    expect(page.locator(".jp-Collectives-said")).to_contain_text("Of the ops shown")
    page.get_by_label("Filter rows").fill("")
    expect(rows).to_have_count(len(result.summary["by_kind"]))
