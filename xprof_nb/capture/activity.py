"""Whether JAX is computing in this process right now."""

from __future__ import annotations

import sys
import time
from typing import Any

from xprof_nb.capture.options import CaptureOptions
from xprof_nb.capture.session import jax_started, open_session
from xprof_nb.formats.cpu import MARKER
from xprof_nb.formats.framing import has_events

PROBE_S = 0.15
MOST_AWAITED = 64
_POLL_S = 0.005


def in_flight() -> bool:
    """Return whether a computation somebody holds the result of has not ended: dispatch is asynchronous."""
    jax = sys.modules.get("jax")
    return jax is not None and jax_started() and any(_pending(array) for array in jax.live_arrays())


def at_work() -> bool:
    """Return whether JAX is computing, whoever started it: a thread, or a cell that left work on the devices.

    Two looks, since neither is enough. An unfinished array proves work and costs nothing; but small programs on a
    CPU run inside the call and never leave one. So the profiler itself watches for a moment: in an idle process it
    records not one event. CPU time of other threads proves nothing: one that waits for a TPU uses none, and one that
    compiles our own code uses plenty.
    """
    if not jax_started():
        return False
    if in_flight():
        return True
    session = open_session(CaptureOptions(hlo=False), "a look at what is running")
    try:
        time.sleep(PROBE_S)
    except BaseException:
        session.discard()
        raise
    return has_events(session.stop()) or in_flight()


def wait_for_dispatched() -> None:
    """Wait until what was dispatched has ended, so that a profile shows it whole."""
    jax = sys.modules.get("jax")
    if jax is None or not jax_started():
        return
    for array in jax.live_arrays():
        if _pending(array):
            array.block_until_ready()
    if jax.default_backend() == "cpu":
        _pass_marker(jax)


def finish_dispatched(patience_s: float) -> None:
    """Wait until what has been dispatched so far has ended, while more may be dispatched; give up after some time.

    Only small results are waited for, since a program has all of its results at once, and whoever waits for an array
    keeps its memory.
    """
    jax = sys.modules.get("jax")
    if jax is None or not jax_started():
        return
    pending = sorted((array for array in jax.live_arrays() if _pending(array)), key=lambda array: int(array.nbytes))
    del pending[MOST_AWAITED:]
    deadline_s = time.perf_counter() + patience_s
    while any(map(_pending, pending)) and time.perf_counter() < deadline_s:
        time.sleep(_POLL_S)


def prepare_to_wait() -> None:
    """Compile what `wait_for_dispatched` will run, before the profiler watches."""
    if jax_started() and (jax := sys.modules["jax"]).default_backend() == "cpu":
        _pass_marker(jax)


def _pass_marker(jax: Any) -> None:
    """Send a program of ours through every CPU device: it runs after what was dispatched before.

    Nothing else waits for a computation whose result was thrown away. Decoders leave the program out by its name.
    """
    if not _markers:
        jitted = jax.jit(_named_marker)
        _markers.extend((jitted, jax.device_put(0.0, device)) for device in jax.local_devices())
    for marker, place in _markers:
        marker(place).block_until_ready()


def _named_marker(value: Any) -> Any:
    return value + 1


_named_marker.__name__ = _named_marker.__qualname__ = MARKER
_markers: list[tuple[Any, Any]] = []


def _pending(array: object) -> bool:
    try:
        return not array.is_deleted() and not array.is_ready()  # type: ignore[attr-defined]
    except RuntimeError:  # donated between the two questions
        return False
