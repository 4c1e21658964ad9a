"""Whether JupyterLab, its server and this kernel fit together."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb import __version__
from xprof_nb.capture.cells import running_shell
from xprof_nb.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SUBSHELL_IPYKERNEL = 7
_SUBSHELL_LAB = (4, 4)
_EXTENSION = "xprof-nb"
_SERVER_WORDS = ("jupyter", "notebook")


def look() -> Iterator[Finding]:
    """Look at the kernel, the front end built into this package, JupyterLab's extension and its server's."""
    yield kernel()
    yield _subshells_of_lab()
    yield _views()
    prefix = server_prefix()
    if prefix is not None:
        yield _server_package(prefix)
    yield lab_extension(_data_folders(prefix))
    yield server_extension(_config_folders(prefix))


def kernel() -> Finding:
    """Say whether views answer while a cell runs."""
    try:
        found = version("ipykernel")
    except PackageNotFoundError:
        return Finding("ipykernel", "warning", "not installed", "pip install ipykernel")
    running = getattr(running_shell(), "kernel", None)
    supports = getattr(running, "_supports_kernel_subshells", int(found.split(".")[0]) >= _SUBSHELL_IPYKERNEL)
    if supports:
        return Finding("ipykernel", "ok", f"{found}, views answer while a cell runs")
    return Finding("ipykernel", "warning", f"{found}, views wait for the running cell", "pip install 'ipykernel>=7'")


def server_prefix(root: Path = Path("/")) -> Path | None:
    """Return the environment of the Jupyter server that started this kernel, None if none did or nobody can tell."""
    try:
        process = int(os.environ.get("JPY_PARENT_PID", ""))
        words = (root / "proc" / str(process) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except (OSError, ValueError):
        return None
    if not any(name in word for word in words for name in _SERVER_WORDS):
        return None
    python = Path(words[0])
    return python.parent.parent if python.is_absolute() else None


def lab_extension(folders: Iterable[Path]) -> Finding:
    """Say whether JupyterLab has our extension, enabled, in our version."""
    what = "lab extension"
    found = next((file for folder in folders if (file := folder / _EXTENSION / "package.json").is_file()), None)
    if found is None:
        return Finding(
            what, "warning", "not installed where JupyterLab looks", "pip install xprof-nb in JupyterLab's environment"
        )
    number = str(_json(found).get("version", "unknown"))
    if number != __version__:
        cure = f"pip install xprof-nb=={__version__} there, then reload the page"
        return Finding(what, "fault", f"{number} in {found.parent}, but the kernel has {__version__}", cure)
    settings = (folder / "labconfig" / "page_config.json" for folder in _config_folders(found.parents[4]))
    if any(_is_disabled(_json(file)) for file in settings):
        return Finding(what, "warning", f"{number}, disabled", f"jupyter labextension enable {_EXTENSION}")
    return Finding(what, "ok", f"{number}, enabled")


def server_extension(folders: Iterable[Path]) -> Finding:
    """Say whether Jupyter's server has our extension enabled."""
    what = "server extension"
    for folder in folders:
        for file in (
            folder / "jupyter_server_config.json",
            *sorted((folder / "jupyter_server_config.d").glob("*.json")),
        ):
            enabled = _path_in(_json(file), "ServerApp", "jpserver_extensions").get("xprof_nb")
            if enabled is not None:
                state = Finding(what, "ok", "enabled")
                cure = "jupyter server extension enable xprof_nb"
                return state if enabled else Finding(what, "warning", f"disabled in {file}", cure)
    return Finding(what, "warning", "not enabled", "pip install xprof-nb in JupyterLab's environment")


def _subshells_of_lab() -> Finding:
    try:
        found = version("jupyterlab")
    except PackageNotFoundError:
        return Finding("JupyterLab", "ok", "not in this environment; another may serve this kernel")
    if tuple(int(part) for part in found.split(".")[:2] if part.isdecimal()) >= _SUBSHELL_LAB:
        return Finding("JupyterLab", "ok", f"{found}, asks kernels through subshells")
    return Finding("JupyterLab", "warning", f"{found}, has no subshells", "pip install 'jupyterlab>=4.4'")


def _views() -> Finding:
    built = Path(__file__).parents[1] / "static" / "op_profile.js"
    if built.is_file():
        return Finding("front end", "ok", f"{built.stat().st_size / 2**10:.0f} KiB of views")
    return Finding("front end", "fault", "not built", "npm ci && npm run build, or install the wheel")


def _server_package(prefix: Path) -> Finding:
    """Compare the package where JupyterLab runs with this kernel's."""
    what = "server's package"
    if prefix == Path(sys.prefix):
        return Finding(what, "ok", f"{__version__}, the kernel's own environment")
    installed = sorted(prefix.glob("lib/python*/site-packages/xprof_nb-*.dist-info"))
    numbers = [folder.name.removeprefix("xprof_nb-").removesuffix(".dist-info") for folder in installed]
    if not numbers:
        return Finding(what, "warning", f"not found in {prefix}", "pip install xprof-nb there for the side panel")
    if __version__ in numbers:
        return Finding(what, "ok", f"{__version__} in {prefix}")
    cure = f"pip install xprof-nb=={__version__} there, and restart JupyterLab"
    return Finding(what, "fault", f"{numbers[-1]} in {prefix}, but the kernel has {__version__}", cure)


def _data_folders(prefix: Path | None) -> list[Path]:
    from jupyter_core.paths import jupyter_path  # noqa: PLC0415 - only the doctor asks

    own = [] if prefix is None else [prefix / "share" / "jupyter" / "labextensions"]
    return [*own, *(Path(folder) for folder in jupyter_path("labextensions"))]


def _config_folders(prefix: Path | None) -> list[Path]:
    from jupyter_core.paths import jupyter_config_path  # noqa: PLC0415

    own = [] if prefix is None else [prefix / "etc" / "jupyter"]
    return [*(Path(folder) for folder in jupyter_config_path()), *own]


def _is_disabled(settings: dict[str, Any]) -> bool:
    disabled = settings.get("disabledExtensions")
    if isinstance(disabled, dict):
        return any(name.partition(":")[0] == _EXTENSION and bool(off) for name, off in disabled.items())
    return isinstance(disabled, list) and any(str(name).partition(":")[0] == _EXTENSION for name in disabled)


def _path_in(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = values.get(key)
        values = inner if isinstance(inner, dict) else {}
    return values


def _json(file: Path) -> dict[str, Any]:
    try:
        values = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
