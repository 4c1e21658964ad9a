"""The op profile from a file: shares of a step, spread over devices, and the way to other views."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import every_view
from xprof_nb.model import units

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

WIDE = {"width": 2000, "height": 900}


def test_steps_and_devices_have_the_numbers_of_the_spread(open_page, corpus, tmp_path, screenshot):
    profile = xp.open(corpus / "tpu-v6e-psum")
    spread = profile.ask("op_spread").frame.dropna(subset=["op"]).set_index("op")
    page = open_page(profile.op_profile().to_html(tmp_path / "page.html").as_uri())
    every_view.resize(page, **WIDE)
    rows = page.locator(".jp-XprofTree-row[aria-level='4']")
    expect(rows.first).to_be_visible()
    seen = 0
    for row in rows.all():
        name = row.locator(".jp-XprofTree-label").inner_text()
        if name in spread.index:
            seen += 1
            assert row.locator("[data-field=step]").inner_text() == units.percent(spread.loc[name, "step_fraction"])
            above = units.percent(spread.loc[name, "device_imbalance_fraction"])
            assert row.locator("[data-field=devices]").inner_text() == f"+{above}"
    assert seen >= 4
    page.locator("button[data-field=devices]").click()
    rows.filter(has_text="copy-done.4").click()
    expect(page.locator(".jp-OpDetails-numbers")).to_contain_text(spread.loc["copy-done.4", "slowest_device"])
    screenshot(page, "op-profile-tpu-wide")


def test_sorted_by_wasted_the_worst_come_first(open_page, cpu_profile, tmp_path):
    result = xp.open(cpu_profile).op_profile()
    page = open_page(result.to_html(tmp_path / "page.html").as_uri())
    page.locator("[data-choice=wasted_fraction]").click()
    frame = result.frame
    programs = frame[frame["kind"] == "program"].sort_values("wasted_fraction", ascending=False)
    names = page.locator(".jp-XprofTree-row[aria-level='2'] .jp-XprofTree-label").all_inner_texts()
    assert [name for name in names if name != "idle"] == list(programs["name"][: len(names) - names.count("idle")])


def test_the_details_lead_to_the_other_views(open_page, cpu_profile, tmp_path):
    page = open_page(xp.open(cpu_profile).explore().to_html(tmp_path / "page.html").as_uri())
    page.get_by_role("tab", name="op profile").click()
    ops = page.locator(".jp-XprofTree-row[aria-level='4']")
    ops.first.click()
    name = page.locator(".jp-OpDetails-name strong").inner_text()
    page.locator(".jp-OpDetails-elsewhere [data-view=roofline]").click()
    expect(page.get_by_role("tab", name="roofline")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="ops", exact=True).click()
    expect(page.locator(".jp-XprofGrid-row.jp-mod-selected").first).to_contain_text(name)
    page.get_by_role("tab", name="op profile").click()
    expect(page.locator(".jp-XprofTree-row[aria-selected=true]")).to_contain_text(name)
