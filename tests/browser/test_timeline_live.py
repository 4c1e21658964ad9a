"""The timeline in JupyterLab: answered by the kernel, also while it is busy, and by the server without one."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.analysis.timelines import HOSTILE, hostile_profile, slices_of
from tests.browser import lab as labs
from tests.browser.test_notebook import choose, wait_for_lab
from tests.browser.timeline import Timeline
from xprof_nb.snapshot import MIMETYPE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOTEBOOK = "timeline.ipynb"
RUN_TIMEOUT_MS = 120_000
BUSY_S = 60
SAVE_TIMEOUT_S = 20


@pytest.fixture(scope="module")
def run(lab, cpu_profile):
    """Return the log dir, below the lab's root, of a run that a notebook shows."""
    logdir = lab.root / "timeline-logs"
    folder = logdir / "plugins" / "profile" / "train"
    folder.parent.mkdir(parents=True)
    shutil.copytree(cpu_profile, folder)
    cells = [
        nbformat.v4.new_code_cell(f"import xprof_nb as xp\nprofile = xp.open({str(logdir)!r})\nprofile.trace()"),
        nbformat.v4.new_code_cell("profile.trace()"),
        nbformat.v4.new_code_cell(f"import time\nprint('busy')\ntime.sleep({BUSY_S})"),
        nbformat.v4.new_code_cell("print(f'selected: {len(profile.trace().selection.frame)} names')"),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), lab.root / NOTEBOOK)
    return logdir


@pytest.fixture
def open_notebook(open_page):
    def start(server):
        page = open_page(server.page(NOTEBOOK))
        wait_for_lab(page)
        return page

    return start


def cells(page):
    return page.locator(".jp-Notebook .jp-CodeCell")


def shown(page, index: int = 0) -> Timeline:
    return Timeline(cells(page).nth(index).locator(".jp-OutputArea")).wait()


def run_cell(page, index: int) -> None:
    page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
    cells(page).nth(index).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Shift+Enter")


def first_view(page) -> Timeline:
    """Return the view of the first cell, run now."""
    run_cell(page, 0)
    cells(page).first.locator(".jp-Timeline").wait_for(timeout=RUN_TIMEOUT_MS)
    view = shown(page)
    view.expect_answers_from("kernel")
    return view


def stop_kernels(lab) -> None:
    for session in lab.ask("GET", "api/sessions"):
        lab.ask("DELETE", f"api/sessions/{session['id']}")


def test_the_kernel_answers_it(lab, run, open_notebook, screenshot):
    page = open_notebook(lab)
    view = first_view(page)
    screenshot(page, "timeline-notebook-light")

    x, y = view.point_at_a_box("Ops")
    page.mouse.click(x, y)
    expect(view.details).to_contain_text("self time")
    expect(view.details).to_contain_text("program")
    view.press("f")
    assert not view.is_whole()
    view.press("0", "Escape")

    view.select((0.1, 0.5), (0.9, 0.9))
    expect(view.selection.locator("tbody tr").first).to_contain_text("%")
    expect(view.selection).to_contain_text("busy")
    screenshot(page, "timeline-selection-light")
    view.press("Escape")

    view.press("/")
    page.keyboard.type("dot")
    expect(view.area.locator(".jp-Timeline-hits")).to_contain_text("of")
    page.keyboard.press("Enter")
    expect(view.said).to_contain_text("dot")

    # Unfolding brings tracks that were not asked for before.
    view.press("Escape", "Escape", "0")
    view.row("Source").click()
    view.page.wait_for_timeout(1000)
    assert view.coloured() > 50


def test_in_the_dark_and_by_keyboard_alone(lab, run, open_notebook, screenshot):
    lab.use_theme("JupyterLab Dark")
    try:
        page = open_notebook(lab)
        view = first_view(page)
        view.stage.focus()
        for _ in view.names():
            if view.row("Ops").get_attribute("aria-selected") == "true":
                break
            page.keyboard.press("ArrowDown")
            page.wait_for_timeout(100)
        for key in (".", "f", "x", "Enter"):
            page.keyboard.press(key)
        expect(view.details).to_contain_text("self time")
        expect(view.selection.locator("tbody tr").first).to_be_visible()
        screenshot(page, "timeline-notebook-dark")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "roofline":
                break
        page.keyboard.press("Enter")
        expect(view.area.locator(".jp-Timeline-status")).to_contain_text("profile.explore()")
        view.details.scroll_into_view_if_needed()
        screenshot(page, "timeline-details-dark")
    finally:
        page.close()
        lab.use_theme("JupyterLab Light")


def test_several_views_and_a_busy_kernel(lab, run, open_notebook):
    page = open_notebook(lab)
    for index in (0, 1):
        run_cell(page, index)
        cells(page).nth(index).locator(".jp-Timeline").wait_for(timeout=RUN_TIMEOUT_MS)
    first, second = shown(page), shown(page, 1)
    run_cell(page, 2)
    expect(cells(page).nth(2)).to_contain_text("busy")
    second.expect_answers_from("kernel")
    second.area.scroll_into_view_if_needed()
    x, y = second.point_at_a_box("Ops")
    page.mouse.click(x, y)
    expect(second.details).to_contain_text("self time")
    assert first.is_whole()
    expect(cells(page).nth(2).locator(".jp-InputPrompt")).to_have_text("[*]:")
    for session in lab.ask("GET", "api/sessions"):
        lab.ask("POST", f"api/kernels/{session['kernel']['id']}/interrupt")
    expect(cells(page).nth(2).locator(".jp-InputPrompt")).not_to_have_text("[*]:")


def test_the_run_is_downloaded_for_other_viewers(lab, run, open_notebook, tmp_path):
    page = open_notebook(lab)
    view = first_view(page)
    profile = xp.open(run)
    written, packed = downloaded(view, tmp_path)
    # A kernel of its own home has not measured what this processor can do: curves may be in another unit.
    whole = json.loads(profile.trace().to_chrome_json(tmp_path / "file.json").read_bytes())
    assert drawn(json.loads(written)) == drawn(whole)
    assert slices_of(packed) == slices_of(profile.trace().to_perfetto(tmp_path / "file.pftrace").read_bytes())


def drawn(trace: dict) -> list[dict]:
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def test_python_has_what_is_selected(lab, run, open_notebook):
    page = open_notebook(lab)
    view = first_view(page)
    view.select((0.2, 0.5), (0.7, 0.9))
    expect(view.selection.locator("tbody tr").first).to_be_visible()
    page.wait_for_timeout(500)  # it is told when it has come to rest
    run_cell(page, 3)
    said = cells(page).nth(3).locator(".jp-OutputArea-output").first
    expect(said).to_contain_text("selected:")
    number = view.selection.locator("tbody tr").count()
    expect(said).to_contain_text(f"selected: {number} names")


def test_markers_stay_in_the_notebook_where_the_run_cannot_keep_them(lab, run, open_notebook, screenshot):
    page = open_notebook(lab)
    view = first_view(page)
    view.mark(0.3)
    expect(view.markers).to_contain_text("kept in this notebook: save it")
    name = view.markers.get_by_label("Name of marker A")
    name.fill("warm-up")
    name.press("Enter")
    view.wheel(-240, times=3)
    before = view.window()
    view.press("w")
    window = view.window()
    view.press("s")
    assert view.window() == before != window
    screenshot(page, "timeline-markers-light")
    choose(page, "File", "Save Notebook")
    path, deadline = lab.root / NOTEBOOK, time.monotonic() + SAVE_TIMEOUT_S
    while "warm-up" not in path.read_text() and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    outputs = [out for cell in json.loads(path.read_text())["cells"] for out in cell["outputs"]]
    payload = next(out["data"][MIMETYPE] for out in outputs if MIMETYPE in out.get("data", {}))
    assert [marker["name"] for marker in payload["state"]["made"]["markers"]] == ["warm-up"]

    # With its kernel the view stands as it did after the very last move; without one it has what the notebook has.
    view.stage.press("w")
    page.reload()
    wait_for_lab(page)
    view = shown(page)
    view.expect_answers_from("kernel")
    expect(view.markers.get_by_label("Name of marker warm-up")).to_be_visible()
    assert view.window() == window
    stop_kernels(lab)
    page.reload()
    wait_for_lab(page)
    view = shown(page)
    expect(view.markers.get_by_label("Name of marker warm-up")).to_be_visible()

    view.markers.get_by_label("Delete marker warm-up").click()
    choose(page, "File", "Save Notebook")
    deadline = time.monotonic() + SAVE_TIMEOUT_S
    while "warm-up" in path.read_text() and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    assert "warm-up" not in path.read_text()


def test_markers_are_kept_with_a_run_that_can_be_written(lab, run, open_notebook):
    folder = run / "plugins" / "profile" / "train"
    (folder / "xprof-nb.json").write_text(json.dumps({"version": 1}))
    page = open_notebook(lab)
    view = first_view(page)
    view.mark(0.3)
    expect(view.markers).to_contain_text("kept with the run")
    assert len(json.loads((folder / "xprof-nb.json").read_text())["markers"]) == 1
    (folder / "xprof-nb.json").unlink()


def test_a_saved_notebook_and_another_theme(lab, run, home, tmp_path_factory, open_notebook, screenshot):
    page = open_notebook(lab)
    run_cell(page, 0)
    cells(page).first.locator(".jp-Timeline").wait_for(timeout=RUN_TIMEOUT_MS)
    shown(page)
    choose(page, "File", "Save Notebook")
    path, deadline = lab.root / NOTEBOOK, time.monotonic() + SAVE_TIMEOUT_S
    while MIMETYPE not in path.read_text() and time.monotonic() < deadline:
        page.wait_for_timeout(200)  # not a sleep: this thread lets the page's requests through
    outputs = [out for cell in json.loads(path.read_text())["cells"] for out in cell["outputs"]]
    saved = next(out for out in outputs if MIMETYPE in out.get("data", {}))
    assert len(json.dumps(saved)) < 300_000

    tab = page.context.new_page()
    tab.goto(lab.page(NOTEBOOK))
    wait_for_lab(tab)
    beside = shown(tab)
    beside.expect_answers_from("kernel")
    x, y = beside.point_at_a_box("Ops")
    tab.mouse.click(x, y)
    expect(beside.details).to_contain_text("self time")
    assert shown(page).is_whole()
    tab.close()

    root = tmp_path_factory.mktemp("timeline-reopened")
    shutil.copy(path, root)
    server = labs.start(root, home, *labs.WITHOUT_KERNELS)
    try:
        server.use_theme("JupyterLab Dark")
        page = open_notebook(server)
        page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        view = shown(page)
        view.expect_answers_from("static")
        expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
        assert view.area.locator(".jp-Timeline").get_attribute("data-theme") == "dark"
        screenshot(page, "timeline-reopened-dark")
    finally:
        page.close()  # else it misses its server
        server.use_theme("JupyterLab Light")
        server.stop()


def opened_from_the_panel(page, run: str) -> Timeline:
    page.locator('[data-id="xprof-nb-panel"]').click()
    page.locator("#xprof-nb-panel").get_by_text(run, exact=True).first.dblclick()
    document = page.locator("#jp-main-dock-panel")
    document.get_by_role("tab", name="timeline").click()
    view = Timeline(document.get_by_role("tabpanel").last).wait()
    view.expect_answers_from("server")
    return view


def test_a_document_is_downloaded_for_other_viewers(lab, open_page, tmp_path):
    profile = hostile_profile(tmp_path)
    folder = lab.root / "hostile-logs" / "plugins" / "profile" / "attack"
    folder.mkdir(parents=True)
    shutil.copy(profile.data.hosts[0].file, folder / "vm.xplane.pb")
    view = opened_from_the_panel(open_page(lab.page()), "attack")
    written, packed = downloaded(view, tmp_path)
    text = written.decode()
    assert "<" not in text, "no script ends in it"
    assert drawn(json.loads(text)) == drawn(
        json.loads(profile.trace().to_chrome_json(tmp_path / "a.json").read_bytes())
    )
    assert {name[:100] for name in HOSTILE if name} <= {event["name"][:100] for event in drawn(json.loads(text))}
    assert slices_of(packed) == slices_of(profile.trace().to_perfetto(tmp_path / "a.pftrace").read_bytes())


def downloaded(view: Timeline, folder: Path) -> tuple[bytes, bytes]:
    """Return the run as its menu gives it for Chrome and for Perfetto, unpacked."""
    found = []
    for label, name in (("Download as Chrome trace", "trace.json.gz"), ("Download for Perfetto", "trace.pftrace.gz")):
        with view.page.expect_download() as download:
            view.menu(label)
        assert download.value.suggested_filename.endswith(name.removeprefix("trace"))
        download.value.save_as(folder / name)
        expect(view.area.locator(".jp-Timeline-status")).to_contain_text(name.removeprefix("trace"))
        found.append(gzip.decompress((folder / name).read_bytes()))
    return found[0], found[1]


def test_the_side_panel_shows_it_without_a_kernel(lab, run, open_page, screenshot):
    stop_kernels(lab)
    page = open_page(lab.page())
    view = opened_from_the_panel(page, "train")
    x, y = view.point_at_a_box("Ops")
    page.mouse.click(x, y)
    expect(view.details).to_contain_text("self time")
    stage, details = view.area.locator(".jp-Timeline-stage").bounding_box(), view.details.bounding_box()
    assert stage["y"] + stage["height"] <= details["y"]
    resizer = view.area.locator(".jp-XprofEdge").bounding_box()
    assert resizer["y"] + resizer["height"] <= details["y"]
    screenshot(page, "timeline-document-light")
    assert lab.ask("GET", "api/kernels") == []

    # The document stands as it did when JupyterLab is loaded again.
    view.wheel(-240, times=3)
    view.row("Steps").click()
    view.press("p")
    view.mark(0.5)
    expect(view.markers).to_contain_text("kept in this workspace")
    window = view.window()
    page.wait_for_timeout(2000)  # the layout and what it restores are saved when they have come to rest
    page.goto(f"{lab.url}/lab?token={lab.token}")
    document = page.locator("#jp-main-dock-panel")
    document.get_by_role("tab", name="timeline").wait_for()
    view = Timeline(document.get_by_role("tabpanel").last).wait()
    assert view.window() == window
    expect(view.tree.locator(".jp-Timeline-trackName").first).to_have_text("Steps")
    expect(view.markers.get_by_role("listitem")).to_have_count(1)
    screenshot(page, "timeline-document-restored-light")
