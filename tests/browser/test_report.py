"""The HTML report, opened from disk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser.op_profile import OpProfile
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


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
    expect(page.locator("main#table table")).to_be_visible()
    expect(page.get_by_role("treegrid")).to_be_hidden()


def test_without_scripts_it_is_a_table(open_page, report):
    page = open_page(report[0].as_uri(), java_script_enabled=False)
    expect(page.locator("main#table caption")).to_contain_text("op profile of")
    expect(page.locator("main#table tbody tr").first).to_contain_text("%")
