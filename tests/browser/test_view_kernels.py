"""Kernels of GPUs from a file: bars and rows say what the frame says; other devices say why they have none."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import every_view
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

BAR = ".jp-XprofKernels-row"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["mi300x-jax-conv", "v100-tf"])
def test_bars_and_rows_have_the_numbers_of_the_frame(open_page, corpus, tmp_path, screenshot, run, scheme):
    result = xp.open(corpus / run).kernels()
    page = open_page(result.to_html(tmp_path / "page.html").as_uri(), color_scheme=scheme)
    expect(page.locator(BAR).first).to_be_visible()
    by_name = result.frame.groupby("kernel")["time_ps"].sum().sort_values(ascending=False)
    times = page.locator(f"{BAR} .jp-XprofKernels-time").all_inner_texts()
    assert times == [units.duration(time) for time in by_name.head(10)]
    assert page.locator(f"{BAR} .jp-XprofKernels-name").first.text_content() == by_name.index[0]
    rows = page.locator(".jp-XprofGrid-body [data-field=time_ps]").all_inner_texts()
    assert rows == [units.duration(time) for time in result.frame["time_ps"].head(len(rows))]
    screenshot(page, f"kernels-{run}-{scheme}")
    for width in (480, 2000):
        every_view.resize(page, width, 900)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing is cut"


def test_filtered_the_bars_are_those_of_the_rows(open_page, corpus, tmp_path):
    result = xp.open(corpus / "mi300x-jax-conv").kernels()
    page = open_page(result.to_html(tmp_path / "page.html").as_uri())
    page.get_by_role("searchbox").fill("device:GPU:2 kernel:fusion")
    frame = result.frame
    kept = frame[(frame["device"] == "GPU:2") & frame["kernel"].str.contains("fusion")]
    by_name = kept.groupby("kernel")["time_ps"].sum().sort_values(ascending=False)
    assert page.locator(f"{BAR} .jp-XprofKernels-time").all_inner_texts() == [units.duration(t) for t in by_name]
    page.locator(BAR).first.click()
    expect(page.locator(".jp-XprofGrid-row.jp-mod-selected").first).to_contain_text(by_name.index[0])


def test_a_cpu_says_why_it_has_none(open_page, cpu_profile, tmp_path):
    page = open_page(xp.open(cpu_profile).kernels().to_html(tmp_path / "page.html").as_uri())
    expect(page.locator(".jp-XprofEmpty")).to_contain_text("Kernels are what GPUs run")
    expect(page.locator(".jp-XprofKernels")).to_be_hidden()
