"""Compile, or load from the cache, every kernel before somebody waits for it."""

from __future__ import annotations

import logging
import threading
from importlib import import_module

KERNEL_HOMES = [
    "xprof_nb.formats.xspace",
    "xprof_nb.formats.nesting",
    "xprof_nb.formats.factors",
    "xprof_nb.formats.asynchronous",
    "xprof_nb.formats.gpu_runs",
    "xprof_nb.formats.event_forest",
    "xprof_nb.analysis.step_classes",
    "xprof_nb.analysis.timeline_lanes",
    "xprof_nb.analysis.timeline_lod",
    "xprof_nb.analysis.timeline_curves",
    "xprof_nb.analysis.timeline_sums",
    "xprof_nb.analysis.timeline_stretches",
    "xprof_nb.analysis.timeline_text",
]
"""Modules that register a `xprof_nb.formats.jit.warm_up`."""

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_thread: threading.Thread | None = None


def warm() -> threading.Thread:
    """Start warming in the background, once a process, and return the thread."""
    global _thread  # noqa: PLW0603
    with _lock:
        if _thread is None:
            # Not a daemon: the process must not unload LLVM under a compilation.
            _thread = threading.Thread(target=_run, name="xprof-nb-warm")
            _thread.start()
        return _thread


def _run() -> None:
    try:
        for home in KERNEL_HOMES:
            import_module(home)
        from xprof_nb.formats.jit import WARM_UPS  # noqa: PLC0415  (numba is slow to import)

        for call in list(WARM_UPS):
            if not threading.main_thread().is_alive():
                return
            call()
    except Exception:  # a person who waits for the kernel later meets the error where it can be told
        _log.debug("warming stopped", exc_info=True)
