"""Capturing from the page while a cell runs: the widget of ``%xprof panel``, and the side panel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import psutil
import pytest
from playwright.sync_api import expect

from tests.browser import lab as labs

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SETUP = """\
import time
import jax, jax.numpy as jnp
square = jax.jit(lambda x: x @ x)
operand = jnp.ones((300, 300))
square(operand).block_until_ready()
def loop(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        square(operand).block_until_ready()
    print("ready")
loop(0)
"""
STEPS = """\
for number in range({}):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        square(operand).block_until_ready()
        time.sleep(0.02)
print("ready")
"""
PANEL, LOAD, LOOP = "%load_ext xprof_nb\n%xprof panel", "%load_ext xprof_nb", "loop({})"


@pytest.fixture(scope="module")
def server(browser, home, tmp_path_factory):
    """A JupyterLab whose kernels compute on the CPU."""
    running = labs.start(tmp_path_factory.mktemp("capture"), home)
    yield running
    running.stop()


class Notebook:
    """A notebook in JupyterLab, its cells by number."""

    def __init__(self, page, root: Path) -> None:
        self.page, self.root = page, root

    def cell(self, index: int):
        return self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')

    def run(self, index: int) -> None:
        """Send a cell to the kernel, as Ctrl+Enter does, and go on."""
        self.page.evaluate(
            """index => {
                const panel = [...jupyterapp.shell.widgets('main')].find(widget => widget.content?.widgets);
                panel.content.activeCellIndex = index;
                jupyterapp.shell.activateById(panel.id);
                void jupyterapp.commands.execute('notebook:run-cell');
            }""",
            index,
        )

    def wait(self, index: int, words: str = "ready") -> None:
        """Wait until a cell has printed something."""
        expect(self.cell(index).locator(".jp-OutputArea-output", has_text=words).first).to_be_visible()

    def still_runs(self, index: int) -> bool:
        return self.cell(index).locator(".jp-InputPrompt", has_text="[*]").count() == 1

    def output(self, index: int) -> str:
        return "\n".join(self.cell(index).locator(".jp-OutputArea-output").all_inner_texts())

    @property
    def runs(self) -> list[Path]:
        return sorted(self.root.glob("xprof-logs/plugins/profile/*"))


@pytest.fixture
def open_notebook(server, open_page):
    """Open a fresh notebook with some cells, the first of them run."""

    def start(name: str, *cells: str, theme: str = "JupyterLab Light") -> Notebook:
        root = server.root / name
        root.mkdir()
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(book, root / f"{name}.ipynb")
        server.use_theme(theme)
        page = open_page(server.page(f"{name}/{name}.ipynb"))
        page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
        notebook = Notebook(page, root)
        notebook.run(0)
        notebook.wait(0)
        return notebook

    yield start
    for session in server.ask("GET", "api/sessions"):
        server.ask("DELETE", f"api/sessions/{session['id']}")


def listening(root: Path) -> set[tuple[int, int]]:
    """Return the ports the kernel that works in a folder listens at, with its process."""
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        if "ipykernel_launcher" in " ".join(process.info["cmdline"] or ()) and process.cwd() == str(root):
            found |= {(process.pid, c.laddr.port) for c in process.net_connections("tcp") if c.status == "LISTEN"}
    return found


def capture(place, seconds: float) -> None:
    place.get_by_label("How long").fill(str(seconds))
    place.get_by_role("button", name="Capture", exact=True).click()


def test_the_widget_captures_while_another_cell_runs(open_notebook, screenshot):
    notebook = open_notebook("widget", SETUP, PANEL, LOOP.format(14))
    page = notebook.page
    notebook.run(1)
    widget = notebook.cell(1).locator(".jp-XprofCapture")
    expect(widget.locator(".jp-XprofCapture-facts")).to_contain_text("profiler free")
    before = listening(notebook.root)
    assert before
    notebook.run(2)
    page.wait_for_timeout(500)
    capture(widget, 2)
    expect(widget.locator(".jp-XprofCapture-running")).to_be_visible()
    screenshot(page, "capture-widget-running-light")
    run = widget.locator(".jp-XprofCapture-run")
    expect(run).to_be_visible()
    assert notebook.still_runs(2)
    assert len(notebook.runs) == 1
    assert run.locator("strong").inner_text() == notebook.runs[0].name
    notebook.wait(2)
    assert notebook.output(2).split() == ["ready"]
    assert listening(notebook.root) == before
    expect(run.locator(".jp-XprofCapture-sentence")).not_to_be_empty()
    run.get_by_role("button", name="Op profile").click()
    expect(notebook.cell(1).locator(".jp-OpProfile")).to_be_visible()
    screenshot(page, "capture-widget-done-light")

    page.evaluate("[...jupyterapp.shell.widgets('main')][0].sessionContext.session.kernel.restart().then(() => null)")
    page.locator(".jp-StatusBar-TextItem", has_text="| Idle").wait_for()
    capture(widget, 1)
    expect(widget.locator(".jp-XprofCapture-waiting")).to_contain_text("The kernel does not answer")


def test_the_panel_captures_a_kernel_that_is_busy_when_it_is_opened(open_notebook, screenshot):
    notebook = open_notebook("panel", f"{LOAD}\n{SETUP}", LOOP.format(20), theme="JupyterLab Dark")
    page = notebook.page
    notebook.run(1)
    page.evaluate("jupyterapp.commands.execute('xprof-nb:open-panel')")
    kernel = page.locator(".jp-XprofRunning-kernel")
    expect(kernel.locator(".jp-XprofCapture-facts")).to_contain_text("profiler free")
    capture(kernel, 1)
    expect(kernel.locator(".jp-XprofCapture-running")).to_be_visible()
    screenshot(page, "capture-panel-running-dark")
    run = kernel.locator(".jp-XprofCapture-run")
    expect(run).to_be_visible()
    name = run.locator("strong").inner_text()
    expect(page.locator(".jp-XprofRuns-name", has_text=name)).to_be_visible()

    capture(kernel, 600)
    expect(kernel.locator(".jp-XprofCapture-running")).to_be_visible()
    page.wait_for_timeout(1000)
    kernel.get_by_role("button", name="Cancel").click()
    expect(kernel.locator(".jp-XprofCapture-run strong")).not_to_have_text(name)
    assert notebook.still_runs(1)
    assert len(notebook.runs) == 2
    screenshot(page, "capture-panel-done-dark")
    notebook.wait(1)
    assert notebook.output(1).split() == ["ready"]
    run.get_by_role("button", name="Open").click()
    expect(page.locator(".jp-XprofDocument .jp-XprofView").first).to_be_visible()


def test_the_panel_offers_to_load_us_and_says_who_holds_the_profiler(open_notebook, screenshot):
    notebook = open_notebook("other", SETUP, "jax.profiler.start_trace('theirs'); print('ready')")
    page = notebook.page
    page.evaluate("jupyterapp.commands.execute('xprof-nb:open-panel')")
    kernel = page.locator(".jp-XprofRunning-kernel")
    kernel.get_by_role("button", name="Load xprof_nb in this kernel").click()
    facts = kernel.locator(".jp-XprofCapture-facts")
    expect(facts).to_contain_text("profiler free")
    notebook.run(1)
    notebook.wait(1)
    expect(facts).to_contain_text("jax.profiler.start_trace('theirs')")
    capture(kernel, 1)
    refusal = kernel.locator(".jp-XprofCapture-refusal")
    expect(refusal).to_contain_text("already profiles this process")
    assert "\n" not in refusal.inner_text()
    screenshot(page, "capture-panel-refused")

    page.evaluate("void [...jupyterapp.shell.widgets('main')][0].sessionContext.session.kernel.restart()")
    expect(kernel.get_by_role("button", name="Load xprof_nb in this kernel")).to_be_visible()


def test_steps_memory_and_the_doctor_in_the_page(open_notebook, screenshot):
    notebook = open_notebook(
        "steps",
        f"{LOAD}\n{SETUP}",
        "%xprof capture --steps 5 --name steps --preset light",
        STEPS.format(200),
        "%%xprof --memory --name memory\nheld = [square(operand).block_until_ready() for _ in range(20)]",
        "%xprof doctor",
    )
    notebook.run(1)
    notebook.wait(1, "Armed")
    notebook.run(2)
    expect(notebook.cell(1).locator(".jp-OpProfile")).to_be_visible()
    assert notebook.still_runs(2)
    expect(notebook.cell(1)).to_contain_text("Overhead ×")
    notebook.wait(2)
    notebook.run(3)
    expect(notebook.cell(3).locator(".jp-OpProfile")).to_be_visible()
    expect(notebook.cell(3)).to_contain_text("held")
    notebook.run(4)
    notebook.wait(4, "front end")
    assert [run.name for run in notebook.runs] == ["memory", "steps"]
    screenshot(notebook.page, "capture-steps-light")
