"""The steps from a file: the bars are the frame, also after filtering and sorting; a step is chosen and alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import charts

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RUN = "tpu-v6e-psum"


@pytest.fixture(scope="module")
def result(corpus):
    return xp.open(corpus / RUN).steps()


@pytest.fixture(scope="module")
def page_file(result, tmp_path_factory):
    return result.to_html(tmp_path_factory.mktemp("steps") / "steps.html")


@pytest.fixture
def page(open_page, page_file):
    page = open_page(page_file.as_uri())
    charts.wait(page.locator("body"))
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", [RUN, "v100-tf", "mi300x-jax-gemm", "cpu"])
def test_it_draws_itself_from_a_file(open_page, cpu_profile, corpus, tmp_path, screenshot, run, scheme):
    steps = xp.open(cpu_profile if run == "cpu" else corpus / run).steps()
    page = open_page(steps.to_html(tmp_path / "steps.html").as_uri(), color_scheme=scheme)
    charts.wait(page.locator("body"))
    times = steps.frame["step_time_ps"].fillna(steps.frame["duration_ps"]).groupby(steps.frame["step"]).mean()
    np.testing.assert_allclose(charts.drawn(page)["time"], times)
    mean, median = charts.levels(page)
    assert mean == pytest.approx(steps.summary["step_time_mean_ps"])
    assert median == pytest.approx(steps.summary["step_time_median_ps"])
    screenshot(page, f"steps-{run}-{scheme}")


def test_parts_fill_the_step_and_no_more(page, result):
    bars = charts.drawn(page)
    levels = np.array([bars[name] for name in bars if re.fullmatch(r"level\d+", name)])
    assert (np.diff(levels, axis=0) >= 0).all()
    np.testing.assert_allclose(levels[-1], bars["time"])
    times = result.frame["step_time_ps"].fillna(result.frame["duration_ps"]).groupby(result.frame["step"])
    np.testing.assert_allclose(bars["shortest"], times.min())
    np.testing.assert_allclose(bars["longest"], times.max())


def test_after_filtering_and_sorting_they_are_the_rows_shown(page, result):
    page.get_by_label("Filter rows").fill("device:TPU:1")
    one = result.frame[result.frame["device"] == "TPU:1"]
    page.wait_for_function("Bokeh.documents[0].roots()[0].renderers[0].data_source.data.spread.every((each) => !each)")
    times = one["step_time_ps"].fillna(one["duration_ps"])
    np.testing.assert_allclose(charts.drawn(page)["time"], times)
    assert charts.levels(page)[0] == pytest.approx(one["step_time_ps"].mean())
    page.locator('[role="columnheader"] button[data-field="step_time_ps"]').click()
    shown = page.locator('.jp-XprofGrid-row [data-field="step_time_ps"]').first.get_attribute("title")
    assert float(re.sub(r"[^\d.]", "", shown)) == one["step_time_ps"].max()
    assert charts.drawn(page)["step"] == one["step"].tolist()


def test_a_bar_chooses_its_step(page):
    bars = charts.drawn(page)
    button = page.get_by_role("button", name="Narrow all views to a step")
    expect(button).to_have_attribute("aria-disabled", "true")
    charts.click(page, 7, bars["time"][7] / 2)
    rows = page.locator(".jp-XprofGrid-row.jp-mod-selected [data-field=step]")
    expect(rows.first).to_have_text("7")
    page.get_by_role("button", name="Narrow all views to step 7").click()
    expect(page.get_by_text("Narrowed to step 7")).to_be_visible()
    expect(page.locator(".jp-XprofStatus")).to_contain_text("saved snapshot")


def test_hovering_names_the_parts(page):
    bars = charts.drawn(page)
    card = charts.hovered(page, 3, bars["time"][3] / 2)
    for words in ("step 3, inferred of jit_f", "mean of 4 devices", "host offload", "compute"):
        expect(card).to_contain_text(words)
