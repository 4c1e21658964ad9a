"""The HTML report, opened from disk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser.op_profile import OpProfile
from tests.views import printed
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

PAPER = {"width": 638, "height": 900}
"""A4 with margins of 2 cm."""
WIDER = """() => [...document.querySelectorAll('table, img, .jp-RenderedText pre')]
  .filter(element => element.getBoundingClientRect().right > innerWidth)
  .map(element => element.innerText || element.outerHTML.slice(0, 160))"""


@pytest.fixture(scope="module")
def report(cpu_profile, tmp_path_factory):
    result = xp.open(cpu_profile).op_profile()
    return result.to_html(tmp_path_factory.mktemp("report") / "report.html"), result


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_itself_from_a_file(open_page, report, screenshot, scheme):
    path, result = report
    page = open_page(path.as_uri(), color_scheme=scheme)
    view = OpProfile(page.locator("body")).wait()
    assert view.total_time() == units.duration(result.frame["time_ps"].iloc[0])
    expect(page.locator("main#table")).to_be_hidden()
    view.expand_all()
    view.ops().first.click()
    expect(view.details.locator(".jp-OpDetails-hlo")).to_contain_text("=")
    screenshot(page, f"report-{scheme}")


def test_on_paper_it_is_a_table(open_page, report):
    page = open_page(report[0].as_uri())
    OpProfile(page.locator("body")).wait()
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    expect(page.locator("main#table table")).to_be_visible()
    expect(page.get_by_role("treegrid")).to_be_hidden()
    assert page.evaluate(WIDER) == []


def test_without_scripts_it_is_a_table(open_page, report):
    page = open_page(report[0].as_uri(), java_script_enabled=False)
    expect(page.locator("main#table caption")).to_contain_text("op profile of")
    expect(page.locator("main#table tbody tr").first).to_contain_text("%")


@pytest.mark.parametrize("run", ["cpu", "tpu-v6e-psum", "mi300x-jax-conv"])
def test_a_printed_notebook_cuts_nothing(open_page, cpu_profile, request, tmp_path, run):
    profile = xp.open(cpu_profile if run == "cpu" else request.getfixturevalue("corpus") / run)
    path = tmp_path / "printed.html"
    path.write_text(printed.page(profile))
    page = open_page(path.as_uri(), java_script_enabled=False)
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    expect(page.locator("table")).to_have_count(len(printed.VIEWS))
    assert page.evaluate(WIDER) == []
