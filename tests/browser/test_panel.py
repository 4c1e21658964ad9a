"""The side panel in a real JupyterLab: finding runs, opening, changing, comparing and dragging them."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import lab as labs
from tests.browser.axe import expect_accessible
from tests.browser.conftest import shoot, watched
from tests.browser.panel import Panel, add_run

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOTEBOOK = "notes.ipynb"
HOSTILE = "<img src=x onerror=alert(1)>"
REFRESH_SECONDS = 2
MANY = 10_000
RUNS = "**/xprof-nb/api/v1/runs*"


@pytest.fixture(scope="module")
def profile(cpu_profile) -> Path:
    """The file of a real capture."""
    return next(cpu_profile.glob("*.xplane.pb"))


@pytest.fixture(scope="module")
def logdir(profile, tmp_path_factory) -> Path:
    """A log dir in a folder of its own, with three runs."""
    folder = tmp_path_factory.mktemp("panel") / "logs"
    copied = folder.parent / "profile"
    copied.write_bytes(profile.read_bytes())
    add_run(folder, copied, "baseline", note="before the rewrite", tags=("good", "v1"), hours_ago=3)
    add_run(folder, copied, "fused", hosts=("worker-0", "worker-1"), tags=("v2",), hours_ago=2)
    add_run(folder, copied, "sweep-b8", origin="sweep", hours_ago=1)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Notes")])
    nbformat.write(book, folder.parent / NOTEBOOK)
    return folder


@pytest.fixture(scope="module")
def panel(browser, home, logdir):
    """One JupyterLab without kernels, one page, its panel open beside a notebook."""
    server = labs.start(logdir.parent, home, *labs.WITHOUT_KERNELS)
    settings = json.dumps({"refreshSeconds": REFRESH_SECONDS})
    server.ask("PUT", "lab/api/settings/xprof-nb:panel", {"raw": settings})
    server.use_theme("JupyterLab Light")
    with watched(browser) as (open_page, _pages):
        page = open_page(server.page(NOTEBOOK), permissions=["clipboard-read", "clipboard-write"])
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        page.evaluate("jupyterapp.commands.execute('xprof-nb:open-panel')")
        made = Panel(page, logdir)
        made.server = server
        expect(made.names).to_have_count(3)
        yield made
    server.ask("PUT", "lab/api/settings/xprof-nb:panel", {"raw": "{}"})
    server.stop()


@pytest.fixture(autouse=True)
def as_it_began(panel, request):
    """Every test begins with an empty search and an open tree, and leaves a picture if it fails."""
    panel.find("")
    yield
    if getattr(request.node, "call_failed", False):
        shoot(panel.page, f"failed-{request.node.name}")
        panel.page.keyboard.press("Escape")


def cells(panel) -> list[str]:
    return panel.page.evaluate(
        """() => [...jupyterapp.shell.widgets('main')].find(widget => widget.content?.model?.cells)
            .content.model.sharedModel.cells.map(cell => cell.getSource())"""
    )


def test_the_tree_says_what_is_known_of_each_run(panel, screenshot):
    expect(panel.tree.locator(".jp-XprofRuns-logdir")).to_contain_text(str(panel.logdir))
    expect(panel.names).to_have_text(["sweep-b8", "fused", "baseline"])
    row = panel.row("baseline")
    expect(row).to_contain_text("3 h ago")
    expect(row.locator(".jp-XprofRuns-facts")).to_have_text(
        re.compile(r"1\.25 s · [\d.]+ KiB · TPU v6 lite × 2 · captured")
    )
    expect(row.locator(".jp-XprofRuns-tag")).to_have_text(["good", "v1"])
    expect(row.locator(".jp-XprofRuns-note")).to_have_text("before the rewrite")
    expect(panel.row("sweep-b8").locator(".jp-XprofRuns-facts")).to_contain_text("sweep · ")
    expect(panel.row("fused")).to_contain_text("2 hosts")
    panel.row("fused").locator(".jp-XprofRuns-twisty").click()
    expect(panel.tree.locator(".jp-XprofRuns-host")).to_have_text(["worker-0", "worker-1"])
    panel.choose("fused")
    expect(row.locator("svg")).to_have_accessible_name(re.compile(r"^devices busy [\d.]+ % · step [\d.]+ [mµ]?s$"))
    expect_accessible(panel.area, "the panel")
    screenshot(panel.page, "panel-runs-light")
    panel.row("fused").locator(".jp-XprofRuns-twisty").click()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("tag:v1", ["baseline"]),
        ("rewrite", ["baseline"]),
        ("origin:sweep", ["sweep-b8"]),
        ("device:tpu tag:v", ["fused", "baseline"]),
        ("nothing is called this", []),
    ],
)
def test_a_search_finds_by_what_it_names(panel, words, found):
    panel.find(words)
    expect(panel.names).to_have_text(found)
    expect(panel.area.get_by_role("status").filter(visible=True)).to_contain_text(f"{len(found)} of 3 runs.")
    if not found:
        expect(panel.area).to_contain_text(f"No run matches “{words}”.")


def test_a_tag_is_a_search_and_orders_are_chosen(panel):
    panel.row("fused").locator(".jp-XprofRuns-tag").click()
    expect(panel.search).to_have_value("tag:v2")
    expect(panel.names).to_have_text(["fused"])
    panel.find("")
    order = panel.area.get_by_label("Which runs come first")
    order.select_option("name")
    expect(panel.names).to_have_text(["baseline", "fused", "sweep-b8"])
    order.select_option("size")
    expect(panel.names.first).to_have_text("fused")
    order.select_option("newest")
    expect(panel.names).to_have_text(["sweep-b8", "fused", "baseline"])


def test_everything_is_done_by_keyboard(panel):
    page = panel.page
    panel.search.focus()
    page.keyboard.press("ArrowDown")
    expect(panel.tree).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(panel.names).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.type("fu")
    expect(panel.row("fused")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Shift+ArrowDown")
    expect(panel.tree.locator('[aria-selected="true"]')).to_have_count(2)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+F10")
    menu = page.locator(".lm-Menu")
    expect(menu).to_be_visible()
    row, shown = panel.row("fused").bounding_box(), menu.bounding_box()
    assert abs(shown["y"] - row["y"] - row["height"]) < 60
    page.keyboard.press("Escape")
    page.keyboard.press("F2")
    panel.answer("Cancel")


def test_a_run_opens_at_the_view_that_is_chosen(panel):
    page = panel.page
    panel.choose("baseline")
    panel.menu("Open View", "Roofline")
    document = page.locator(".jp-XprofDocument").filter(visible=True)
    tab = document.locator('[role="tab"][aria-selected="true"]')
    expect(tab).to_have_attribute("data-view", "roofline")
    panel.menu("Open View", "Op profile")
    expect(tab).to_have_attribute("data-view", "op_profile")
    expect(page.locator(".jp-XprofDocument")).to_have_count(1)
    page.evaluate("jupyterapp.shell.currentWidget.close()")
    panel.row("baseline").dblclick()
    expect(document.locator(".jp-XprofView").first).to_be_visible()
    page.evaluate("jupyterapp.shell.currentWidget.close()")


def test_a_run_becomes_a_cell_by_menu_and_by_dragging(panel):
    page = panel.page
    panel.choose("baseline")
    panel.menu("Insert Code Cell")
    path = panel.logdir / "plugins" / "profile" / "baseline"
    line = f'import xprof_nb as xp\n\nxp.open("{path}")'
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(1)
    assert cells(panel) == ["# Notes", line]
    start = panel.row("fused").bounding_box()
    goal = page.locator(".jp-Notebook .jp-Cell").first.bounding_box()
    page.mouse.move(start["x"] + 60, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(start["x"] + 80, start["y"] + 20, steps=3)
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + 10, steps=5)
    page.mouse.up()
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(2)
    assert cells(panel)[0] == line.replace("baseline", "fused")


def test_two_runs_are_compared_and_one_with_another(panel):
    before = len(cells(panel))
    panel.choose("fused", "baseline")
    panel.menu("Compare")
    page, runs = panel.page, panel.logdir / "plugins" / "profile"
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(before)
    line = f'xp.compare(xp.open("{runs / "baseline"}"), xp.open("{runs / "fused"}"))'
    assert sum(line in source for source in cells(panel)) == 1
    panel.choose("baseline")
    panel.menu("Compare With…")
    page.locator(".jp-Dialog select").select_option(index=0)
    panel.answer("Compare")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(before + 1)


def test_paths_and_lines_are_copied(panel):
    panel.choose("fused", "baseline")
    panel.menu("Copy Path")
    runs = panel.logdir / "plugins" / "profile"
    read = "navigator.clipboard.readText()"
    assert panel.page.evaluate(read).split("\n") == [str(runs / "fused"), str(runs / "baseline")]
    panel.choose("fused")
    panel.menu("Copy as Python")
    assert panel.page.evaluate(read).endswith(f'xp.open("{runs / "fused"}")')


def test_runs_that_appear_leave_everything_where_it_was(panel):
    panel.choose("baseline")
    panel.row("baseline").evaluate("row => { row.dataset.same = 'yes'; }")
    add_run(panel.logdir, panel.logdir.parent / "profile", "appeared", hours_ago=0)
    expect(panel.names.first).to_have_text("appeared")
    expect(panel.row("baseline")).to_have_attribute("aria-selected", "true")
    expect(panel.row("baseline")).to_have_attribute("data-same", "yes")


def test_names_notes_and_tags_are_changed(panel):
    panel.choose("appeared")
    panel.menu("Rename…")
    panel.answer("Rename", "renamed")
    expect(panel.row("renamed")).to_be_visible()
    panel.choose("renamed")
    panel.menu("Edit Note…")
    panel.answer("Save", f"two\nlines {HOSTILE}")
    expect(panel.row("renamed").locator(".jp-XprofRuns-note")).to_contain_text(HOSTILE)
    panel.choose("renamed", "fused")
    panel.menu("Tags…")
    panel.answer("Save", f"both, {HOSTILE}")
    expect(panel.row("renamed").locator(".jp-XprofRuns-tag")).to_have_text(["both", HOSTILE])
    expect(panel.row("fused").locator(".jp-XprofRuns-tag")).to_have_text(["v2", "both", HOSTILE])
    assert panel.page.locator(".jp-XprofPanel img").count() == 0


def test_a_run_is_thrown_away_and_comes_back(panel):
    panel.choose("renamed")
    panel.page.keyboard.press("Delete")
    expect(panel.row("renamed")).to_have_count(0)
    assert not (panel.logdir / "plugins" / "profile" / "renamed").exists()
    panel.page.get_by_role("button", name="Undo").click()
    expect(panel.row("renamed")).to_be_visible()


def test_a_run_is_exported_and_imported(panel, tmp_path):
    panel.choose("baseline")
    with panel.page.expect_download() as downloading:
        panel.menu("Export as Zip")
    run = panel.logdir / "plugins" / "profile" / "baseline"
    assert parse_qs(urlsplit(downloading.value.url).query)["run"] == [str(run)]
    assert downloading.value.suggested_filename == "baseline.zip"
    zipped = tmp_path / "sent.zip"
    downloading.value.save_as(zipped)
    assert zipfile.ZipFile(zipped).read("baseline/worker-0.xplane.pb") == (run / "worker-0.xplane.pb").read_bytes()
    with panel.page.expect_file_chooser() as choosing:
        panel.menu("Import…")
    choosing.value.set_files(zipped)
    expect(panel.row("baseline-2")).to_be_visible()


def test_ten_thousand_runs_stay_fluid(panel):
    alike = {"logdir": "/many", "host_count": 1, "hosts": ["worker-0"], "duration_s": 1.0, "origin": "captured"}
    rows = [
        {**alike, "run": f"run-{number:05d}", "path": f"/many/run-{number:05d}", "tags": ["odd"] * (number % 2)}
        for number in range(MANY)
    ]
    page = panel.page
    found = {"runs": rows, "roots": ["/many"], "truncated": False, "scanning": True}
    page.route(RUNS, lambda route: route.fulfill(json=found, headers={"ETag": '"many"'}))
    panel.refresh()
    expect(panel.area.get_by_role("status").filter(visible=True)).to_contain_text("Still looking for runs…")
    expect(panel.names.first).to_have_text("run-00000")
    panel.names.first.click()
    page.keyboard.press("End")
    expect(panel.row(f"run-{MANY - 1:05d}")).to_have_attribute("aria-selected", "true")
    assert panel.tree.get_by_role("treeitem").count() < 100
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(panel.tree.locator(".jp-XprofRuns-host.jp-mod-active")).to_have_text("worker-0")
    panel.find("tag:odd run-0777")
    expect(panel.names).to_have_count(5)
    page.unroute(RUNS)


def test_work_of_the_server_is_seen_and_ended(panel, screenshot):
    page = panel.page
    work = [{"id": "j-1", "run": "/logs/big", "query": "trace", "state": "running", "elapsed_s": 12.5}]
    ended = []

    def answer(route):
        if route.request.method == "DELETE":
            ended.append(urlsplit(route.request.url).path.rsplit("/", 1)[1])
            work.clear()
            route.fulfill(status=204)
        else:
            route.fulfill(json={"jobs": work})

    jobs = re.compile(r"/api/v1/jobs\b")
    page.route(jobs, answer)
    page.evaluate("jupyterapp.shell.collapseLeft()")
    page.evaluate("jupyterapp.commands.execute('xprof-nb:open-panel')")
    shown = panel.area.locator(".jp-XprofJobs")
    expect(shown).to_contain_text("timeline of big")
    expect(shown).to_contain_text("12.5 s so far")
    expect_accessible(panel.area, "the panel at work")
    screenshot(page, "panel-jobs-light")
    shown.get_by_role("button", name="Cancel timeline of big").click()
    expect(shown).to_be_hidden()
    assert ended == ["j-1"]
    page.unroute(jobs)


def test_an_empty_panel_teaches_the_first_capture(panel, screenshot):
    page = panel.page
    page.route(RUNS, lambda route: route.fulfill(json={"runs": [], "roots": ["/logs"], "truncated": False}))
    panel.refresh()
    before = len(cells(panel))
    panel.area.get_by_role("button", name="Insert into a notebook").click()
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(before)
    assert "%load_ext xprof_nb\n%xprof capture 3s" in cells(panel)
    expect_accessible(panel.area, "the empty panel")
    screenshot(page, "panel-empty-light")
    page.unroute(RUNS)
    panel.refresh()
    expect(panel.names.first).to_be_visible()


def test_a_server_without_the_extension_is_named_with_its_cure(panel):
    page = panel.page
    page.route(RUNS, lambda route: route.fulfill(status=404, body="<html>"))
    panel.refresh()
    failure = panel.area.get_by_role("alert")
    expect(failure).to_contain_text("The Jupyter server has no xprof_nb extension.")
    expect(failure).to_contain_text("Install xprof-nb into the environment that runs JupyterLab and restart it.")
    expect(panel.row("baseline")).to_be_visible()
    expect(failure.get_by_role("button")).to_be_visible()
    page.unroute(RUNS)
    panel.refresh()
    expect(failure).to_have_count(0)


def test_it_follows_the_theme(panel, screenshot):
    page = panel.page
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    panel.choose("fused")
    expect_accessible(panel.area, "the dark panel")
    screenshot(page, "panel-runs-dark")


def test_a_reload_keeps_the_order_and_what_is_open(panel):
    page = panel.page
    panel.area.get_by_label("Which runs come first").select_option("name")
    panel.row("fused").locator(".jp-XprofRuns-twisty").click()
    panel.wait_until_kept(order="name", open_run="fused")
    page.reload()
    expect(panel.names.first).to_have_text("baseline")
    expect(panel.area.get_by_label("Which runs come first")).to_have_value("name")
    expect(panel.tree.locator(".jp-XprofRuns-host")).to_have_text(["worker-0", "worker-1"])
    page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()


def test_a_link_opens_the_run(panel):
    page = panel.page
    panel.choose("sweep-b8")
    panel.menu("Copy Link")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{panel.server.url}/lab?xprof=")
    page.goto(link)
    document = page.locator(".jp-XprofDocument").filter(visible=True)
    expect(document.locator(".jp-XprofHeader-run").first).to_have_text("sweep-b8")
    assert "xprof=" not in page.url
    page.goto(link[:-9])
    expect(page.locator(".Toastify__toast", has_text="The XProf link is damaged")).to_be_visible()
