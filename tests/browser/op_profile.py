"""The op profile as a person handles it: find it, open a row, filter, read the details."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

DEVICE_TIME = re.compile(r"([\d.]+\s\w+) of device time")
FIRST_ANSWER_MS = 60_000  # a first profile may wait for compiled code
NUMBER = re.compile(r"\d")


@dataclass
class OpProfile:
    """One op profile on a page; `area` is whatever holds exactly that one."""

    area: Locator

    @property
    def table(self) -> Locator:
        """The tree table."""
        return self.area.get_by_role("treegrid")

    @property
    def rows(self) -> Locator:
        """The rows drawn now, without the head."""
        return self.table.locator('[role="row"][aria-level]')

    @property
    def details(self) -> Locator:
        """The pane beside the table."""
        return self.area.locator(".jp-OpDetails")

    def wait(self) -> OpProfile:
        """Wait until it shows rows with numbers."""
        expect(self.rows.first).to_contain_text(NUMBER, timeout=FIRST_ANSWER_MS)
        return self

    def cell(self, row: Locator, field: str) -> Locator:
        """Return a cell of a row by what it shows: ``name``, ``time`` …"""
        return row.locator(f'[data-field="{field}"]')

    def total_time(self) -> str:
        """Return the device time of the whole run, as its header says it."""
        header = self.area.locator(".jp-XprofHeader").first
        expect(header).to_contain_text(DEVICE_TIME)
        return DEVICE_TIME.search(header.text_content())[1].replace("\u00a0", " ")

    def expect_answers_from(self, host: str) -> None:
        """Expect that ``kernel``, ``server`` or nobody (``static``) answers what the view asks."""
        expect(self.area.locator(".jp-XprofBadge")).to_have_class(re.compile(rf"\bjp-mod-{host}\b"))

    def names(self) -> list[str]:
        """Return the names of the rows drawn now."""
        return self.rows.locator(".jp-XprofTree-label").all_inner_texts()

    def expand_all(self) -> None:
        """Open closed rows one by one, until an op is on screen."""
        for _ in range(6):
            closed = self.table.locator('[role="row"][aria-expanded="false"]')
            if self.ops().count() or not closed.count():
                return
            closed.first.locator(".jp-XprofTree-twisty").click()

    def ops(self) -> Locator:
        """Return the rows drawn now that are single ops of XLA: dots and fusions carry a number after a dot."""
        return self.rows.filter(has=self.area.page.locator(".jp-XprofTree-label", has_text=OP_NAME))

    def expand(self, row: Locator) -> int:
        """Open a row and return how many rows that added."""
        before = self.rows.count()
        row.locator(".jp-XprofTree-twisty").click()
        expect(row).to_have_attribute("aria-expanded", "true")
        return self.rows.count() - before

    def filter(self, text: str) -> None:
        """Type into the filter box."""
        box = self.area.get_by_role("searchbox")
        box.fill(text)


OP_NAME = re.compile(r"^[a-z][\w-]*(fusion|dot|reduce|convert|transpose|copy|exponential)[\w.-]*$")
