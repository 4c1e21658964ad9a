"""The side panel as a person finds and uses it, and runs for it to list."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import expect

from xprof_nb.runs import sidecar
from xprof_nb.runs.sidecar import Sidecar

DEVICES = ({"kind": "TPU v6 lite", "platform": "tpu", "id": 0}, {"kind": "TPU v6 lite", "platform": "tpu", "id": 1})


def add_run(logdir: Path, profile: Path, name: str, hosts=("worker-0",), hours_ago=1.0, **about) -> Path:
    """Make a run of a real profile, with what its capture would have recorded."""
    folder = logdir / "plugins" / "profile" / name
    folder.mkdir(parents=True)
    for host in hosts:
        (folder / f"{host}.xplane.pb").hardlink_to(profile)
    started = datetime.now(UTC) - timedelta(hours=hours_ago)
    sidecar.write(folder, Sidecar(name=name, started=started, duration_s=1.25, devices=DEVICES, **about))
    return folder


class Panel:
    """The panel as a person finds and uses it."""

    def __init__(self, page, logdir: Path) -> None:
        self.page, self.logdir = page, logdir
        self.area = page.locator(".jp-XprofPanel")
        self.tree = page.get_by_role("tree", name="Profiled runs")
        self.search = self.area.get_by_role("searchbox")
        self.names = self.tree.locator(".jp-XprofRuns-run .jp-XprofRuns-name")

    def row(self, name: str):
        exactly = self.page.locator(".jp-XprofRuns-name", has_text=re.compile(f"^{re.escape(name)}$"))
        return self.tree.get_by_role("treeitem").filter(has=exactly)

    def choose(self, name: str, *others: str) -> None:
        self.row(name).click()
        for other in others:
            self.row(other).click(modifiers=["Control"])

    def menu(self, *items: str) -> None:
        """Choose from the menu of what is chosen, submenus by their items in turn."""
        self.tree.locator('[role=treeitem][aria-selected="true"]').last.click(button="right")
        for item in items:
            label = self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{re.escape(item)}$"))
            label.filter(visible=True).click()

    def answer(self, button: str, text: str | None = None) -> None:
        """Fill and close the dialog that asks."""
        dialog = self.page.locator(".jp-Dialog")
        if text is not None:
            dialog.locator("input, textarea").first.fill(text)
        dialog.get_by_role("button", name=button).click()
        expect(dialog).to_have_count(0)

    def refresh(self) -> None:
        self.page.evaluate("jupyterapp.commands.execute('xprof-nb:refresh-runs')")

    def find(self, words: str) -> None:
        self.search.fill(words)

    def wait_until_kept(self, order: str, open_run: str) -> None:
        """Wait until JupyterLab, which saves its state a while after a change, has saved how the panel stands."""
        self.page.evaluate(
            """async ([order, run]) => {
                for (;;) {
                    const { workspaces } = await (await fetch('/lab/api/workspaces')).json();
                    const standing = workspaces.values[0]?.data['xprof-nb:panel'];
                    if (standing?.order === order && standing.toggled.some(key => key.endsWith('/' + run))) {
                        return;
                    }
                    await new Promise(resolve => setTimeout(resolve, 200));
                }
            }""",
            [order, open_run],
        )
