"""Compile, or load from the cache, every kernel before somebody waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from importlib import import_module

DECODER = [
    "xprof_nb.formats.xspace",
    "xprof_nb.formats.nesting",
    "xprof_nb.formats.extents",
    "xprof_nb.formats.factors",
    "xprof_nb.formats.asynchronous",
    "xprof_nb.formats.gpu.runs",
]
"""Modules that register a `xprof_nb.formats.jit.warm_up`, of what every opening of a file needs."""
ANALYSES = [
    "xprof_nb.analysis.timeline.heights",
    "xprof_nb.analysis.timeline.lanes",
    "xprof_nb.analysis.timeline.lod",
    "xprof_nb.analysis.timeline.curves",
    "xprof_nb.analysis.timeline.sums",
    "xprof_nb.analysis.timeline.stretches",
    "xprof_nb.analysis.timeline.text",
    "xprof_nb.formats.event_forest",
    "xprof_nb.analysis.step_classes",
]
"""The others."""

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_threads: dict[str, threading.Thread] = {}


def warm() -> threading.Thread:
    """Start warming every kernel in the background, the decoder's first, once a process; return the thread."""
    return _started("every kernel", [*DECODER, *ANALYSES])


def warm_decoder() -> threading.Thread:
    """Start warming the decoder's kernels alone: those of the analyses would keep who opens a file from its answer."""
    return _threads.get("every kernel") or _started("decoder", DECODER)


def _started(what: str, homes: Sequence[str]) -> threading.Thread:
    with _lock:
        if what not in _threads:
            # Not a daemon: the process must not unload LLVM under a compilation.
            _threads[what] = threading.Thread(target=_run, args=(homes,), name="xprof-nb-warm")
            _threads[what].start()
        return _threads[what]


def _run(homes: Sequence[str]) -> None:
    try:
        from xprof_nb.formats.jit import WARM_UPS  # noqa: PLC0415  (numba is slow to import)

        called = 0
        for home in homes:
            import_module(home)
            for call in WARM_UPS[called:]:
                if not threading.main_thread().is_alive():
                    return
                call()
                called += 1
    except Exception:  # a person who waits for the kernel later meets the error where it can be told
        _log.debug("warming stopped", exc_info=True)
