"""A real JupyterLab of our own: its folder, its port, its home, and what it takes to read about a failure."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_path

from xprof_nb.model.cache import cache_dir

if TYPE_CHECKING:
    from playwright.sync_api import Page

START_TIMEOUT_S = 60
POLL_S = 0.2
# No kernel can start, so whatever a reopened notebook shows, no kernel helped.
WITHOUT_KERNELS = ("--KernelSpecManager.ensure_native_kernel=False", "--KernelSpecManager.allowed_kernelspecs=none")


@dataclass
class Lab:
    """A running server; `root` is what its file browser shows."""

    root: Path
    url: str
    token: str
    log: Path
    process: subprocess.Popen[bytes]

    def page(self, path: str = "") -> str:
        """Return the address that opens a file, or an empty workspace."""
        return f"{self.url}/lab{'/tree/' + path if path else ''}?token={self.token}&reset"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send one REST request and return its JSON."""
        request = urllib.request.Request(
            f"{self.url}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def use_theme(self, name: str) -> None:
        """Choose the theme of every page loaded from now on."""
        raw = json.dumps({"theme": name})
        self.ask("PUT", "lab/api/settings/@jupyterlab/apputils-extension:themes", {"raw": raw})

    def wait_until_layout_has(self, page: Page, name: str) -> None:
        """Wait until JupyterLab, which saves its layout a while after a change, has saved one with this document."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while name not in json.dumps(self.ask("GET", "lab/api/workspaces")):
            assert time.monotonic() < deadline, f"no saved layout has {name}"
            # Not a sleep: what the page sends goes through this thread, see `conftest.watched`.
            page.wait_for_timeout(POLL_S * 1e3)

    def stop(self) -> None:
        """End the server, and with it its kernels."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(root: Path, home: Path, *options: str) -> Lab:
    """Start JupyterLab on ``root`` with a home of its own, and wait until it answers."""
    settings = home / "config" / "labconfig"
    settings.mkdir(parents=True, exist_ok=True)
    # The news toast covers what a test wants to click.
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (settings / "page_config.json").write_text(json.dumps(quiet))
    port, token, log = _free_port(), secrets.token_hex(8), home / "lab.log"
    command = [
        sys.executable,
        *("-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={token}"),
        *options,
    ]
    environment = {name: value for name, value in os.environ.items() if name != "XPROF_NB_LOGDIR"}
    environment |= {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        # Compiling the kernels anew for each home would take longer than many a test.
        "XPROF_NB_CACHE_DIR": str(cache_dir()),
    }
    with log.open("ab") as output:
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=output, stderr=output)
    lab = Lab(root, f"http://127.0.0.1:{port}", token, log, process)
    _wait_until_it_answers(lab)
    return lab


def missing() -> str | None:
    """Return what keeps browser tests from running on this machine and how to get it, None if nothing does."""
    if chromium() is None:
        return "Chromium is missing: `apt-get install chromium`, or set CHROMIUM to its path"
    extension = [Path(folder) / "xprof-nb" / "package.json" for folder in jupyter_path("labextensions")]
    if not any(path.is_file() for path in extension):
        return "the lab extension is not installed in this environment: `make build` and `pip install .` put it there"
    import xprof_nb

    view = Path(xprof_nb.__file__).parent / "static" / "op_profile.js"
    return None if view.is_file() else f"the views are not built ({view} is missing): `npm run build`"


def chromium() -> str | None:
    """Return the path of Chromium on this machine."""
    found = (shutil.which(name) for name in (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser"))
    return next(filter(None, found), None)


def _wait_until_it_answers(lab: Lab) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and lab.process.poll() is None:
        try:
            lab.ask("GET", "api/status")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(POLL_S)
        else:
            return
    lab.stop()
    raise RuntimeError(f"JupyterLab did not start:\n{lab.log.read_text()[-4000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
