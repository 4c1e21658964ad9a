"""Capturing for a time while everything else goes on."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Literal

from xprof_nb.capture.local import Capture, capture
from xprof_nb.capture.shield import in_background
from xprof_nb.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from xprof_nb.api import Profile

State = Literal["recording", "collecting", "done", "failed"]
_LOOK_S = 0.2


def capture_for(seconds: float, name: str | None = None, logdir: Any = None, **options: Any) -> BackgroundCapture:
    """Start profiling this process for ``seconds`` and return at once.

    Parameters
    ----------
    seconds
        How long to record.
    name, logdir, options
        As `capture` takes them.

    Returns
    -------
    BackgroundCapture
        Wait for it, end it early, or ask how it is doing.

    Raises
    ------
    UsageError, ProfilerBusyError, CaptureError
        As `capture` does on entering.
    """
    return BackgroundCapture(capture(name, logdir, **options), seconds)


class BackgroundCapture:
    """A capture that ends by itself.

    Attributes
    ----------
    seconds
        How long it was to record.
    error
        Why it failed, None if it has not.
    """

    def __init__(self, capture: Capture, seconds: float) -> None:
        if not seconds > 0:
            raise UsageError(f"a capture of {seconds} s", hint="Give a time above 0.")
        self.seconds = seconds
        self.error: CaptureError | None = None
        self._capture = capture
        self._state: State = "recording"
        self._enough = threading.Event()
        self._ended = threading.Event()
        self._recorded_s = 0.0
        try:
            capture.start()
            self._began = self._since = time.perf_counter()
            in_background(self._run, "xprof_nb capture")
        except BaseException:
            capture.abandon()
            raise

    @property
    def state(self) -> State:
        """``"recording"``, ``"collecting"`` (jax gathers, we save), ``"done"`` or ``"failed"``."""
        return self._state

    @property
    def elapsed_s(self) -> float:
        """Seconds since the present state began; of a finished capture, how long it recorded."""
        return self._recorded_s if self._ended.is_set() else time.perf_counter() - self._since

    @property
    def profile(self) -> Profile:
        """The profile, once it is done; raises what `wait` raises."""
        if not self._ended.is_set():
            raise CaptureError("this capture has not ended", hint="`.wait()` waits for it.")
        if self.error is not None:
            raise self.error
        return self._capture.profile

    def wait(self, timeout: float | None = None) -> Profile:
        """Wait for the end and return the profile.

        Raises
        ------
        TimeoutError
            It has not ended after ``timeout`` seconds; it goes on.
        CaptureError
            It failed.
        """
        if not self.ended(timeout):
            raise TimeoutError(f"the capture is still {self.state} after {timeout} s")
        return self.profile

    def ended(self, timeout: float | None = 0) -> bool:
        """Return whether it has ended, waiting up to ``timeout`` seconds for that."""
        return self._ended.wait(timeout)

    def cancel(self) -> None:
        """End it now and keep what is there; returns at once."""
        self._enough.set()

    def _run(self) -> None:
        try:
            self._record()
            self._since = time.perf_counter()
            self._recorded_s = self._since - self._began
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

    def _record(self) -> None:
        """Let time pass, until it is enough or the interpreter wants to end."""
        main = threading.main_thread()
        deadline = self._began + self.seconds
        while main.is_alive() and (left := deadline - time.perf_counter()) > 0:
            if self._enough.wait(min(left, _LOOK_S)):
                break
