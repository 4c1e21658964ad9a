"""A capture of other processes from the asking to its run, while everything else goes on."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Literal

from xprof_nb.capture.options import chosen
from xprof_nb.capture.remote import PATIENCE_S, RemoteCapture
from xprof_nb.capture.shield import in_background
from xprof_nb.errors import CaptureError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path

    from xprof_nb.api import Profile

State = Literal["running", "collecting", "done", "failed"]
_LOOK_S = 0.2


def capture_from(
    servers: str | Iterable[str],
    seconds: float,
    name: str | None = None,
    logdir: str | os.PathLike[str] | None = None,
    *,
    note: str = "",
    patience_s: float = PATIENCE_S,
    shared: str | os.PathLike[str] | None = None,
    preset: str | None = None,
    **options: Any,
) -> RemoteJob:
    """Start profiling other processes for ``seconds``, all at once and into one run, and return.

    Their profiler servers send what they recorded; nothing is written on their side. The connection is neither
    encrypted nor authenticated: these servers offer neither. For other machines, use a trusted network or a tunnel.

    Parameters
    ----------
    servers
        ``"host:port"``, several with commas or as a list: where JAX, TensorFlow or PyTorch/XLA started a profiler
        server, or ``%xprof server start`` did.
    seconds
        How long to record.
    name, logdir, note, preset, options
        As `capture` takes them.
    patience_s
        How long to keep trying a server that is not there yet, or is recording for somebody else.
    shared
        A folder that both sides see, for servers of old releases, which can only write to a disk. Those on this
        machine need none.

    Returns
    -------
    RemoteJob
        ``.wait()`` gives the profile; ``.cancel()`` ends it early and keeps what came.

    Raises
    ------
    UsageError
        A server's address, the name or an option is out of bounds.
    UnreachableError
        None of the servers could be reached; says why, each.
    CaptureError
        The log dir cannot be written.

    Examples
    --------
    >>> xp.capture_from("worker-0:9012,worker-1:9012", 3.0).wait().op_profile()  # doctest: +SKIP
    """
    recorded = chosen(preset, **options)
    remote = RemoteCapture(
        servers, seconds, name, logdir, note=note, options=recorded, patience_s=patience_s, shared=shared
    )
    return RemoteJob(remote)


class RemoteJob:
    """A capture of other processes that ends by itself, early if all of them do; see `capture_from`.

    Attributes
    ----------
    error
        Why it failed, None if it has not.
    """

    def __init__(self, capture: RemoteCapture) -> None:
        self.error: CaptureError | None = None
        self._capture = capture
        self._state: State = "running"
        self._enough, self._ended = threading.Event(), threading.Event()
        self._recorded_s = 0.0
        try:
            capture.start()
            self._began_s = self._since_s = time.perf_counter()
            capture.when_over(self._enough.set)
            in_background(self._run, "xprof_nb capture of others")
        except BaseException:
            capture.abandon()
            raise

    @property
    def state(self) -> State:
        """``"running"``, ``"collecting"`` (the servers gather and send, we save), ``"done"`` or ``"failed"``."""
        return self._state

    @property
    def elapsed_s(self) -> float:
        """Seconds since the present state began; of an ended job, how long it recorded."""
        return self._recorded_s if self._ended.is_set() else time.perf_counter() - self._since_s

    @property
    def done_fraction(self) -> float | None:
        """How far the recording is, 0 to 1; None when it has ended."""
        return min(self.elapsed_s / self._capture.seconds, 1) if self._state == "running" else None

    @property
    def doing(self) -> str:
        """What it does, in one line."""
        servers = self._capture.reached
        if self._state == "running":
            return f"Profiling {servers}: {self.elapsed_s:.1f} s of {self._capture.seconds:g} s"
        if self._state == "collecting":
            return f"Waiting for the profile of {servers}: {self.elapsed_s:.1f} s"
        return "Saved." if self._state == "done" else "The capture failed."

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of what came: servers that gave nothing, or where nothing ran. Empty until it is done."""
        return self._capture.notes

    @property
    def folder(self) -> Path | None:
        """The run's folder, None until it is saved."""
        return self._capture.folder

    @property
    def profile(self) -> Profile:
        """The profile, once it is done; raises what `wait` raises."""
        if not self._ended.is_set():
            raise CaptureError("this capture has not ended", hint="`.wait()` waits for it.")
        if self.error is not None:
            raise self.error
        return self._capture.profile

    def ended(self, timeout: float | None = 0) -> bool:
        """Return whether it has ended, waiting up to ``timeout`` seconds for that."""
        return self._ended.wait(timeout)

    def wait(self, timeout: float | None = None) -> Profile:
        """Wait for the end and return the profile.

        Raises
        ------
        TimeoutError
            It has not ended after ``timeout`` seconds; it goes on.
        CaptureError
            No server gave a profile, or it could not be saved; of several servers it says why, each.
        """
        if not self.ended(timeout):
            raise TimeoutError(f"the capture is still {self.state} after {timeout} s")
        return self.profile

    def cancel(self) -> None:
        """End it now and keep what is there; once it is collecting, keep what has come so far. Returns at once."""
        self._enough.set()
        if self._state == "collecting":
            self._capture.give_up()

    def _run(self) -> None:
        try:
            self._let_pass()
            self._since_s = time.perf_counter()
            self._recorded_s = self._since_s - self._began_s
            self._state = "collecting"
            self._capture.stop()
            self._state = "done"
        except CaptureError as error:
            self.error, self._state = error, "failed"
        except BaseException as error:
            self.error, self._state = CaptureError(f"the capture failed: {error!r}"), "failed"
            raise
        finally:
            self._ended.set()

    def _let_pass(self) -> None:
        """Let time pass, until it is enough or the interpreter wants to end."""
        main = threading.main_thread()
        deadline_s = self._began_s + self._capture.seconds
        while main.is_alive() and (left_s := deadline_s - time.perf_counter()) > 0:
            if self._enough.wait(min(left_s, _LOOK_S)):
                break
