"""Runs of several hosts, of which some did nothing: an op leads to its own program, and no view waits for ever."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser.live_page import served
from tests.browser.test_explore import EXPLORED, open_tab
from tests.formats.hlo_messages import parsed, proto_of
from tests.xspace_builder import PS_PER_MS, SpaceBuilder

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

OPCODES = {"host0": "negate", "host1": "exponential"}
PROGRAM = """
HloModule jit_step

ENTRY main (p: f32[8]) -> f32[8] {{
  p = f32[8]{{0}} parameter(0)
  op.1 = f32[8]{{0}} {0}(p)
  ROOT op.2 = f32[8]{{0}} {0}(op.1)
}}
"""
REASON = re.compile(r"(No|The profile|Nothing|Kernels|XLA)\b.{30}")
ALL_HOSTS = {"trace", "graph"}
"""Views that a choice of host does not narrow to nothing: the timeline moves, a graph is that of a program."""


def host(name: str) -> SpaceBuilder:
    """Return a host of a TPU that ran two ops, called the same on every host, of its own program with the one id."""
    space = SpaceBuilder(name)
    core = space.plane("/device:TPU:0", {"device_type_string": "TPU v5 lite"})
    line = core.line("XLA Ops")
    for number in (1, 2):
        text = f"%op.{number} = f32[8]{{0}} {OPCODES[name]}()"
        core.metadata(text, {"program_id": 7, "symbol_id": 1, "hlo_category": "loop fusion"}, f"op.{number}")
        line.event(text, number * PS_PER_MS, PS_PER_MS)
    space.hlo({"jit_step(7)": proto_of(parsed(PROGRAM.format(OPCODES[name])))})
    return space


@pytest.fixture(scope="module")
def profile(tmp_path_factory) -> xp.Profile:
    folder: Path = tmp_path_factory.mktemp("hosts")
    for name in OPCODES:
        host(name).write(folder)
    return xp.open(folder)


def test_an_op_of_a_host_leads_to_its_program_in_the_graph(open_page, profile):
    with served("explore", run=profile.data) as address:
        page = open_page(address + "run")
        for name, opcode in OPCODES.items():
            place = open_tab(page.locator("body"), "ops")
            place.get_by_label("Filter rows").fill(f"host:{name}")
            row = place.locator(".jp-XprofGrid-row").filter(has_text="op.2")
            expect(row).to_have_count(1)
            row.click()
            chosen = open_tab(page.locator("body"), "graph").locator(".jp-XprofGraph-op.jp-mod-chosen")
            expect(chosen).to_have_attribute("data-op", "op.2")
            expect(chosen).to_contain_text(opcode)
        page.close()


def idle_host() -> SpaceBuilder:
    """Return a host on which nothing ran."""
    space = SpaceBuilder("host0")
    space.plane("/host:CPU").line("main/1")
    return space


def test_every_view_of_a_host_that_did_nothing_says_why(open_page, tmp_path):
    for space in (idle_host(), host("host1")):
        space.write(tmp_path)
    with served("explore", run=xp.open(tmp_path).data) as address:
        page = open_page(address + "run")
        area = page.locator("body")
        area.get_by_label("host", exact=True).select_option("host0")
        for view in [name for name in EXPLORED if name not in ALL_HOSTS]:
            place = open_tab(area, view)
            said = place if view == "overview" else place.locator(".jp-XprofEmpty")
            expect(said).to_contain_text(REASON)
        page.close()


def test_a_timeline_without_events_says_why(open_page, tmp_path):
    idle_host().write(tmp_path)
    page = open_page(xp.open(tmp_path).trace().to_html(tmp_path / "trace.html").as_uri())
    expect(page.locator(".jp-XprofEmpty")).to_contain_text("nothing ran while it was captured")
    expect(page.locator(".jp-Timeline-main")).to_have_count(0)
