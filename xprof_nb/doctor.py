"""``doctor``: what is installed, and whether it works together."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from xprof_nb import __version__
from xprof_nb.errors import ProfileError
from xprof_nb.model.known_gaps import known_gaps
from xprof_nb.runs import default_logdir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

State = Literal["ok", "warning", "fault"]
_MARKS: dict[State, str] = {"ok": "ok", "warning": "! ", "fault": "x "}
_SUBSHELL_IPYKERNEL = 7
_PLUGINS = {"gpu": ("jax-cuda", "jax-rocm"), "tpu": ("libtpu",)}


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `cure` is what to do when it is not ok."""

    what: str
    state: State
    found: str
    cure: str = ""


def findings() -> Iterator[Finding]:
    """Look at everything a capture and its view need; each finding stands for itself."""
    from xprof_nb.capture import session, store  # noqa: PLC0415 - the one thing here that may load jax

    yield Finding("xprof_nb", "ok", f"{__version__}, Python {sys.version.split()[0]}")
    yield from (_package(name) for name in ("jax", "jaxlib", "jupyterlab", "anywidget", "xprof"))
    yield from _known_gaps()
    yield _kernel()
    yield _checked("profiler", session.check_free, "free")
    logdir = Path(default_logdir())
    yield _checked("log dir", lambda: store.check_writable(logdir), str(logdir))
    yield _front_end()


def text() -> str:
    """Return the findings as lines, each fault with its cure."""
    return "\n".join(
        f"{_MARKS[finding.state]} {finding.what:12} {finding.found}" + (f" -> {finding.cure}" if finding.cure else "")
        for finding in findings()
    )


def _package(name: str) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        needed = name in ("jax", "jaxlib")
        return Finding(name, "fault" if needed else "warning", "not installed", f"pip install {name}")


def _known_gaps() -> Iterator[Finding]:
    """Name what the installed jax is known not to record on the accelerator its plugin is for."""
    installed = {found.metadata["Name"].lower(): found.version for found in distributions() if found.metadata["Name"]}
    for backend, marks in _PLUGINS.items():
        if any(name.startswith(marks) for name in installed):
            for gap in known_gaps(installed, backend):
                yield Finding(gap.package, "warning", f"{gap.version}, {gap.question} stays empty", gap.text)


def _kernel() -> Finding:
    try:
        found = version("ipykernel")
    except PackageNotFoundError:
        return Finding("ipykernel", "warning", "not installed", "pip install ipykernel")
    if int(found.split(".")[0]) >= _SUBSHELL_IPYKERNEL:
        return Finding("ipykernel", "ok", f"{found}, views answer while a cell runs")
    return Finding("ipykernel", "warning", f"{found}, views wait for the running cell", "pip install 'ipykernel>=7'")


def _checked(what: str, check: Callable[[], None], found: str) -> Finding:
    try:
        check()
    except ProfileError as error:
        return Finding(what, "fault", str(error))
    return Finding(what, "ok", found)


def _front_end() -> Finding:
    built = Path(__file__).parent / "static" / "op_profile.js"
    if built.is_file():
        return Finding("front end", "ok", f"{built.stat().st_size / 2**10:.0f} KiB of views")
    return Finding("front end", "fault", "not built", "npm ci && npm run build, or install the wheel")
