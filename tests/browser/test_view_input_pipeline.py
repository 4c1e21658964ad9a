"""The input pipeline from a file: verdict, shares and bars are the frame's, also after filtering."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import charts
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def share(page, part: str) -> str:
    return page.locator(f'tr[data-part="{part}"] .jp-mod-number').first.text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["tpu-v6e-psum", "v100-tf", "mi300x-jax-gemm", "cpu"])
def test_it_draws_itself_from_a_file(open_page, cpu_profile, corpus, tmp_path, screenshot, run, scheme):
    result = xp.open(cpu_profile if run == "cpu" else corpus / run).input_pipeline()
    page = open_page(result.to_html(tmp_path / "input.html").as_uri(), color_scheme=scheme)
    charts.wait(page.locator("body"))
    verdict = page.locator(".jp-InputPipeline-verdict")
    expect(verdict).to_contain_text(units.percent(result.summary["input_fraction"]))
    expect(verdict).to_contain_text(result.summary["bound"])
    for part, fraction in result.summary["fractions"].items():
        assert share(page, part) == units.percent(fraction)
        expect(page.locator(f'tr[data-part="{part}"]')).to_contain_text(result.summary["definitions"][part])
    np.testing.assert_allclose(charts.drawn(page)["time"], result.frame.groupby("step")["step_time_ps"].mean())
    ops = page.get_by_role("grid", name="Input and transfers on the host")
    if result.summary["input_ops"]:
        expect(ops).to_contain_text(result.summary["input_ops"][0]["op"])
    else:
        expect(page.get_by_text("no transfer of the host, was recorded")).to_be_visible()
    screenshot(page, f"input-pipeline-{run}-{scheme}")


def test_a_device_alone_has_its_own_shares(open_page, corpus, tmp_path):
    result = xp.open(corpus / "v100-tf").input_pipeline()
    page = open_page(result.to_html(tmp_path / "input.html").as_uri())
    charts.wait(page.locator("body"))
    page.get_by_label("Filter rows").fill("device:GPU:6")
    one = result.frame[result.frame["device"] == "GPU:6"]
    fraction = one["compute_ps"].sum() / one["step_time_ps"].sum()
    expect(page.locator('tr[data-part="compute"]')).to_contain_text(units.percent(fraction))
    waiting = one["input_fraction"].iloc[0]
    expect(page.locator(".jp-InputPipeline-verdict")).to_contain_text(units.percent(waiting))
    page.wait_for_function(
        f"Bokeh.documents[0].roots()[0].renderers[0].data_source.data.time[0] === {one['step_time_ps'].iloc[0]}"
    )
