"""A real kernel, and what a front end would show of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

REPOSITORY = Path(__file__).parents[2]
VIEW = "application/vnd.xprof-nb.view.v1+json"
SETUP = """\
%load_ext xprof_nb
import jax, jax.numpy as jnp, threading, time
import xprof_nb as xp
square = jax.jit(lambda x: x @ x)
operand = jnp.ones((600, 600))
square(operand).block_until_ready()
None
"""
THREAD = """\
enough = threading.Event()
def work():
    while not enough.is_set():
        square(operand).block_until_ready()
thread = threading.Thread(target=work)
thread.start()
"""


@dataclass
class Cell:
    """What one cell wrote, its displays as they are now."""

    status: str = ""
    text: str = ""
    errors: list[str] = field(default_factory=list)
    displays: list[dict[str, Any]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)


class Kernel:
    """Runs cells one after the other and keeps every message, as a notebook does."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.cells: dict[str, Cell] = {}
        self.updates: list[tuple[float, str]] = []
        self._client = client
        self._displayed: dict[str, list[tuple[Cell, int]]] = {}

    def send(self, code: str) -> str:
        """Queue a cell and return its id."""
        identifier = self._client.execute(code, store_history=True)
        self.cells[identifier] = Cell()
        return identifier

    def run(self, code: str, timeout_s: float = 120) -> Cell:
        """Run a cell to its end."""
        return self.finish(self.send(code), timeout_s)

    def finish(self, identifier: str, timeout_s: float = 120) -> Cell:
        """Read messages until a cell has ended."""
        cell = self.cells[identifier]
        self.read_until(lambda: cell.status == "idle", timeout_s)
        return cell

    def read_until(self, condition, timeout_s: float = 120) -> None:
        """Read messages until a condition holds."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"nothing more after {timeout_s} s: {self.cells}")
            try:
                self._take(self._client.get_iopub_msg(timeout=0.2))
            except Empty:
                continue

    def _take(self, message: dict[str, Any]) -> None:
        kind, content = message["msg_type"], message["content"]
        cell = self.cells.get(message["parent_header"].get("msg_id", ""))
        if kind == "update_display_data":
            self._update(content)
            return
        if cell is None:
            assert kind in ("status", "comm_open", "comm_msg", "comm_close", "shutdown_reply", "iopub_welcome"), message
            return
        if kind == "status":
            cell.status = content["execution_state"]
        elif kind == "stream":
            cell.text += content["text"]
        elif kind == "error":
            cell.errors.append(content["ename"])
        elif kind in ("display_data", "execute_result"):
            cell.displays.append(content["data"])
            identifier = content.get("transient", {}).get("display_id")
            self._displayed.setdefault(identifier, []).append((cell, len(cell.displays) - 1))
        if kind in ("stream", "error", "display_data", "execute_result"):
            cell.kinds.append(kind)

    def _update(self, content: dict[str, Any]) -> None:
        places = self._displayed[content["transient"]["display_id"]]
        for cell, at in places:
            cell.displays[at] = content["data"]
        self.updates.append((time.monotonic(), content["data"]["text/plain"]))


@contextmanager
def started(folder: Path) -> Iterator[Kernel]:
    """Start a kernel in ``folder``."""
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder), env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"})
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
