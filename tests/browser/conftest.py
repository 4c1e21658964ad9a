"""Chromium, cut off from every host but this one, and a JupyterLab for it to look at."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser import lab as labs

REPOSITORY = Path(__file__).parents[2]
SCREENSHOTS = REPOSITORY / "test-output" / "screenshots"
WINDOW = {"width": 1400, "height": 900}
PATIENCE_MS = 30_000
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking"]


@pytest.fixture(autouse=True)
def jp_asyncio_loop():
    """Keep pytest-jupyter's own loop out of these tests: Playwright runs one in this thread."""


@pytest.fixture(autouse=True)
def jp_server_cleanup():
    """Nothing to clean up: the servers of these tests are processes of their own."""


@pytest.fixture(scope="session")
def browser():
    """Chromium as Debian ships it."""
    if (reason := labs.missing()) is not None:
        pytest.fail(f"Browser tests cannot run: {reason}.", pytrace=False)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=labs.chromium(), args=["--no-sandbox", "--disable-gpu", *OFFLINE]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The home folder that holds what the person of these tests has trusted and set."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def lab(browser, home, tmp_path_factory):
    """JupyterLab on a folder with a copy of the notebooks."""
    root = tmp_path_factory.mktemp("lab")
    for notebook in (REPOSITORY / "notebooks").glob("*.ipynb"):
        shutil.copy(notebook, root)
    running = labs.start(root, home)
    yield running
    running.stop()


@pytest.fixture
def open_page(browser, request):
    """Open addresses in fresh pages; no page may have asked another host, nor thrown an error."""
    with watched(browser) as (start, pages):
        yield start
        if getattr(request.node, "call_failed", False):
            for number, page in enumerate(page for page in pages if not page.is_closed()):
                shoot(page, f"failed-{request.node.name}-{number}")


@contextmanager
def watched(browser):
    """Yield what opens an address in a fresh page, and the pages; in the end none may have done what it must not."""
    pages, elsewhere, thrown = [], [], []

    def allow(route):
        address = urlsplit(route.request.url)
        if address.scheme in {"http", "https"} and address.hostname != "127.0.0.1":
            elsewhere.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    def start(url: str, **options):
        context = browser.new_context(viewport=WINDOW, **options)
        context.route("**/*", allow)
        page = context.new_page()
        pages.append(page)
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: thrown.append(str(error)))
        page.goto(url)
        return page

    try:
        yield start, pages
    finally:
        for page in pages:
            page.context.close()
    assert elsewhere == []
    assert thrown == []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Tell the fixtures of a test that it failed."""
    report = (yield).get_result()
    if report.when == "call":
        item.call_failed = report.failed


def shoot(page, name: str) -> None:
    """Keep a picture of the page for whoever reads the results."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name.replace('/', '-')}.png")


@pytest.fixture
def screenshot():
    """Keep a named picture of a page."""
    return shoot
