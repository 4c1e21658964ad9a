"""Capturing what TensorFlow or PyTorch/XLA runs in this process, with the profiler that each brings along.

Each has a profiler of its own: jax's does not see their work. They write a log dir; the run is taken from there and
kept as every other.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from contextlib import ContextDecorator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from xprof_nb.capture import cells, metadata, store
from xprof_nb.capture.options import chosen
from xprof_nb.capture.shield import shielded
from xprof_nb.errors import CaptureError, ProfilerBusyError
from xprof_nb.runs import default_logdir
from xprof_nb.runs.layout import SUFFIX
from xprof_nb.runs.names import check_name, moment_name
from xprof_nb.runs.shelf import checked_logdir
from xprof_nb.runs.sidecar import Sidecar

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from types import TracebackType

    from xprof_nb.api import Profile
    from xprof_nb.capture.options import CaptureOptions


def capture_tensorflow(
    name: str | None = None,
    logdir: str | os.PathLike[str] | None = None,
    *,
    note: str = "",
    preset: str | None = None,
    **options: Any,
) -> FrameworkCapture:
    """Capture what TensorFlow runs inside a ``with`` block, or in each call of a decorated function.

    To capture another process, start ``tf.profiler.experimental.server.start(port)`` there, and use `capture_from`.

    Parameters
    ----------
    name, logdir, note, preset, options
        As `capture` takes them; TensorFlow's profiler knows the levels of host and Python, and whether to record
        devices.

    Returns
    -------
    FrameworkCapture
        Its ``.profile`` answers once the block has ended.

    Raises
    ------
    UsageError
        The name or an option is out of bounds.
    ProfilerBusyError
        On entering: TensorFlow is already being profiled in this process.
    CaptureError
        On entering: TensorFlow is not installed, or the log dir cannot be written. On leaving: saving failed.

    Examples
    --------
    >>> with xp.capture_tensorflow("fit") as cap:  # doctest: +SKIP
    ...     model.fit(data)
    >>> cap.profile.op_profile()  # doctest: +SKIP
    """
    recorded = chosen(preset, **options)
    return FrameworkCapture(_TensorFlow(recorded), name, logdir, note, recorded.to_dict())


def capture_torch_xla(
    name: str | None = None, logdir: str | os.PathLike[str] | None = None, *, note: str = ""
) -> FrameworkCapture:
    """Capture what PyTorch/XLA runs inside a ``with`` block, or in each call of a decorated function.

    Its profiler takes no options. To capture another process, keep what ``torch_xla.debug.profiler.start_server(port)``
    returns there, and use `capture_from`. Parameters, result and errors are those of `capture_tensorflow`.
    """
    return FrameworkCapture(_TorchXla(), name, logdir, note, {})


class _Profiler(Protocol):
    """A framework's profiler: started with a log dir, it has written it when it has stopped."""

    packages: tuple[str, ...]

    def start(self, logdir: str) -> None: ...

    def wait_for_dispatched(self) -> None: ...

    def stop(self) -> None: ...


class FrameworkCapture(ContextDecorator):
    """One capture with a framework's own profiler. Entered again, it makes another run.

    Attributes
    ----------
    folder
        The run's folder, None until it is saved.
    """

    def __init__(
        self,
        profiler: _Profiler,
        name: str | None,
        logdir: str | os.PathLike[str] | None,
        note: str,
        options: Mapping[str, Any],
    ) -> None:
        self.name = None if name is None else check_name(name)
        self.logdir = checked_logdir(default_logdir() if logdir is None else logdir)
        self.folder: Path | None = None
        self._profiler = profiler
        self._note, self._options = note, options
        self._scratch: Path | None = None
        self._record = Sidecar()
        self._began_s = 0.0

    @property
    def profile(self) -> Profile:
        """The profile this made; raises CaptureError while there is none."""
        from xprof_nb import api  # noqa: PLC0415 - it sits on this module

        if self.folder is None:
            raise CaptureError("this capture has no profile yet", hint="It has one after the `with` block.")
        return api.open(self.folder)

    def __enter__(self) -> Self:
        if self._scratch is not None:
            raise ProfilerBusyError("this capture is running")
        shielded(self._start, "xprof_nb start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._profiler.wait_for_dispatched()
        finally:
            try:
                shielded(self._stop, "xprof_nb stop")
            except CaptureError as failure:
                # The person's own exception matters more than ours.
                if error is None:
                    raise
                error.add_note(str(failure))

    def _start(self) -> None:
        store.check_writable(self.logdir)
        scratch = Path(tempfile.mkdtemp(prefix="xprof-nb-"))
        asked_s = time.perf_counter()
        try:
            self._profiler.start(str(scratch))
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        self._scratch, self._began_s = scratch, time.perf_counter()
        moment = datetime.now(UTC)
        self._record = Sidecar(
            name=self.name or moment_name(moment),
            note=self._note,
            started=moment,
            cell=cells.current_cell(),
            options=self._options,
            versions=metadata.versions(self._profiler.packages),
            xla_flags=metadata.xla_flags(),
            peaks=metadata.peaks(),
            overhead={"start_s": self._began_s - asked_s},
        )

    def _stop(self) -> None:
        scratch, self._scratch = self._scratch, None
        if scratch is None:
            raise CaptureError("this capture is not running")
        stopped_s = time.perf_counter()
        try:
            self._profiler.stop()
            files = sorted(scratch.rglob(f"*{SUFFIX}"))
            data = files[0].read_bytes() if files else b""
        except CaptureError:
            raise
        except Exception as error:
            raise CaptureError(f"the profiler failed to stop: {error}") from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        store.check_profile(data)
        stop_s = time.perf_counter() - stopped_s
        record = replace(self._record, duration_s=stopped_s - self._began_s, stop_s=stop_s, cells=cells.cells_in(data))
        self.folder = store.save(data, self.logdir, record.name, record)


class _TensorFlow:
    """``tf.profiler.experimental``."""

    packages: tuple[str, ...] = ("tensorflow", "tensorflow-cpu", "tensorflow-rocm", "keras")

    def __init__(self, options: CaptureOptions) -> None:
        self._options = options

    def start(self, logdir: str) -> None:
        profiler = _imported("tensorflow").profiler.experimental
        if _theirs("tensorflow.python.profiler.profiler_v2", "_profiler") is not None:
            raise _busy("tf.profiler.experimental.start already profiles this process")
        options = profiler.ProfilerOptions(
            host_tracer_level=self._options.host_tracer_level,
            python_tracer_level=self._options.python_tracer_level,
            device_tracer_level=int(self._options.device_tracing),
        )
        try:
            profiler.start(logdir, options)
        except Exception as error:
            if type(error).__name__ != "AlreadyExistsError":
                raise CaptureError(f"the profiler of TensorFlow failed to start: {error}") from error
            if _theirs("tensorflow.python.profiler.profiler_v2", "_profiler") is not None:
                profiler.stop(save=False)  # TensorFlow keeps the session that failed, and would refuse every later one
            raise _busy("a client of its profiler server already profiles this process") from error

    def wait_for_dispatched(self) -> None:
        _imported("tensorflow").test.experimental.sync_devices()

    def stop(self) -> None:
        _imported("tensorflow").profiler.experimental.stop()


class _TorchXla:
    """``torch_xla.debug.profiler``."""

    packages: tuple[str, ...] = ("torch", "torch_xla", "libtpu")

    def start(self, logdir: str) -> None:
        profiler = _imported("torch_xla.debug.profiler")
        try:
            profiler.start_trace(logdir)
        except Exception as error:
            if "already" in str(error).lower() or "another profil" in str(error).lower():
                raise _busy("torch_xla.debug.profiler already profiles this process") from error
            raise CaptureError(f"the profiler of PyTorch/XLA failed to start: {error}") from error

    def wait_for_dispatched(self) -> None:
        _imported("torch_xla.core.xla_model").wait_device_ops()

    def stop(self) -> None:
        _imported("torch_xla.debug.profiler").stop_trace()


def _imported(module: str) -> Any:
    """Return a module of a framework.

    Raises
    ------
    CaptureError
        It is not installed, or does not load.
    """
    from importlib import import_module  # noqa: PLC0415 - only here

    try:
        return import_module(module)
    except ImportError as missing:
        package = module.partition(".")[0]
        raise CaptureError(f"{package} cannot be imported ({missing})", hint=f"pip install {package}") from missing


def _theirs(module: str, name: str) -> Any:
    """Return what a framework keeps in a module that it has loaded, None where this release has no such thing."""
    return getattr(sys.modules.get(module), name, None)


def _busy(what: str) -> ProfilerBusyError:
    return ProfilerBusyError(what, hint="Stop that first: a process has one profiler.")
