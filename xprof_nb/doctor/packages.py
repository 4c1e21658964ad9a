"""Which packages there are, what their releases are known to lack, and whether xprof loads."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from xprof_nb import __version__
from xprof_nb.doctor.finding import Finding
from xprof_nb.model.known_gaps import known_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDED = ("jax", "jaxlib", "numba", "protobuf")
_SHOWN = (*_NEEDED, "jupyterlab", "anywidget", "bokeh")
_PLUGINS = {"gpu": ("jax-cuda", "jax-rocm"), "tpu": ("libtpu",)}
_LOADING_S = 30.0
_LOAD_XPROF = "from xprof.convert import raw_to_tool_data"


def look() -> Iterator[Finding]:
    """Look at what is installed."""
    yield Finding("xprof_nb", "ok", f"{__version__}, Python {sys.version.split()[0]}, {sys.prefix}")
    yield from map(_package, _SHOWN)
    yield from _plugins()
    yield from gaps()
    yield _xprof()


def gaps() -> Iterator[Finding]:
    """Name what the installed jax is known not to record on the accelerator its plugin is for."""
    installed = _installed()
    for backend, marks in _PLUGINS.items():
        if any(name.startswith(marks) for name in installed):
            for gap in known_gaps(installed, backend):
                yield Finding(gap.package, "warning", f"{gap.version}, {gap.question} stays empty", gap.text)


def _package(name: str) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        return Finding(name, "fault" if name in _NEEDED else "warning", "not installed", f"pip install {name}")


def _plugins() -> Iterator[Finding]:
    marks = tuple(mark for marks in _PLUGINS.values() for mark in marks)
    found = {name: number for name, number in _installed().items() if name.startswith(marks)}
    yield from (Finding(name, "ok", number) for name, number in sorted(found.items()))


def _installed() -> dict[str, str]:
    return {found.metadata["Name"].lower(): found.version for found in distributions() if found.metadata["Name"]}


def _xprof() -> Finding:
    """Load xprof in a process of its own: where its generated code and protobuf disagree, importing it fails."""
    try:
        number = version("xprof")
    except PackageNotFoundError:
        number = ""
    if not number or find_spec("xprof") is None:
        return Finding("xprof", "warning", "not installed; nothing here needs it but xprof's own tools")
    try:
        command = [sys.executable, "-c", _LOAD_XPROF]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LOADING_S, check=False)  # noqa: S603
        why = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1] if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as failed:
        why = type(failed).__name__
    if not why:
        return Finding("xprof", "ok", f"{number}, loads")
    return Finding("xprof", "warning", f"{number}, does not load: {why[:200]}", "pip install -U xprof protobuf")
