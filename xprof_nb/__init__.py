"""The performance notebook for XLA: ``%xprof capture 3s``, and every answer a DataFrame.

The public names load on first use, so ``import xprof_nb`` stays cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "open": "xprof_nb.api",
    "Profile": "xprof_nb.api",
    "Result": "xprof_nb.api",
    "runs": "xprof_nb.api",
    "compare": "xprof_nb.api",
    "hardware": "xprof_nb.api",
    "sql_schema": "xprof_nb.api",
    "capture": "xprof_nb.api",
    "capture_for": "xprof_nb.api",
    "kpis": "xprof_nb.tuning.key_figures",
    "benchmark_generation": "xprof_nb.tuning.generation",
    "memory_snapshot": "xprof_nb.memory",
    "explain_oom": "xprof_nb.memory",
    "capture_from": "xprof_nb.api",
    "capture_tensorflow": "xprof_nb.api",
    "capture_torch_xla": "xprof_nb.api",
    "sweep": "xprof_nb.tuning.sweep",
    "open_sweep": "xprof_nb.tuning.sweep",
    "Sweep": "xprof_nb.tuning.sweep",
    "ProfileError": "xprof_nb.errors",
}
__all__ = [*_HOMES]  # noqa: PLE0604


class _Package(ModuleType):
    """Keeps ``runs`` and ``capture`` the functions: importing the rooms of the same names would put these there."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'xprof_nb' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])


def load_ipython_extension(ipython: Any) -> None:
    """Add ``%xprof`` and ``%%xprof`` (called by ``%load_ext xprof_nb``)."""
    from xprof_nb.jupyter.magics import load

    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Remove the magics and the hooks they set (called by ``%unload_ext xprof_nb``)."""
    from xprof_nb.jupyter.magics import unload

    unload(ipython)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "xprof-nb"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "xprof_nb.jupyter.server"}]
