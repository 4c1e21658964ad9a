"""The one profiler session of this process: who holds it, and how we start and stop ours."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from xprof_nb.capture.forking import in_forked_child
from xprof_nb.errors import CaptureError, ProfilerBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xprof_nb.capture.options import CaptureOptions


class _Backend(Protocol):
    """One way of stopping what ``jax.profiler.start_trace`` started."""

    def stop(self) -> bytes: ...

    def discard(self) -> None: ...


@dataclass(eq=False)
class Session:
    """The profiler, while it is ours. ``holder`` says for what, in words a person reads."""

    holder: str
    backend: _Backend
    process: int = field(default_factory=os.getpid)

    @property
    def inherited(self) -> bool:
        """Whether it is the parent's, seen in a forked child: it has no profiler there, and must not end."""
        return self.process != os.getpid()

    def stop(self) -> bytes:
        """Stop profiling and return the serialized XSpace; the profiler is free afterwards, whatever happens.

        Raises
        ------
        CaptureError
            The profiler gave nothing, or somebody else's session was running all the time.
        """
        try:
            return self.backend.stop()
        except CaptureError:
            raise
        except Exception as error:
            if "ALREADY_EXISTS" in str(error):
                raise ProfilerBusyError("somebody else's profiler session was running in this process") from error
            raise CaptureError(
                f"the profiler failed to stop: {error}",
                hint="It gave nothing back that could be saved. It is free now: capture again.",
            ) from error
        finally:
            _forget(self)

    def discard(self) -> None:
        """Free the profiler and drop what it recorded."""
        if self.inherited:
            return
        try:
            self.backend.discard()
        finally:
            _forget(self)


class _Place:
    """Where our session is kept: jax has one profiler a process, so there is one place."""

    lock = threading.Lock()
    session: Session | None = None


_place = _Place()


def open_session(options: CaptureOptions, holder: str) -> Session:
    """Start profiling this process.

    Raises
    ------
    ProfilerBusyError
        Somebody has the profiler; says who, in one line.
    CaptureError
        The profiler does not start.
    """
    import jax  # noqa: PLC0415 - jax only where it is used

    with _place.lock:
        check_free()
        try:
            session = Session(holder, _start(jax, options, holder))
        except ProfilerBusyError:
            raise
        except Exception as error:
            if "already been started" in str(error):
                raise ProfilerBusyError("jax.profiler.start_trace already profiles this process") from error
            raise CaptureError(f"the profiler failed to start: {error}") from error
        _place.session = session
    # A session of somebody else that records nothing of the host shows only now: ours could not switch tracing on.
    if options.host_tracer_level > 0 and not jax.profiler.TraceAnnotation.is_enabled():
        session.discard()
        raise ProfilerBusyError("another profiler session is already open in this process")
    return session


@contextmanager
def undisturbed() -> Iterator[bool]:
    """Keep us from starting the profiler meanwhile; give whether it is free of us now.

    Asking devices for their memory is an event of its own: a look at what is running would take it for work.
    """
    with _place.lock:
        yield _place.session is None


def jax_started() -> bool:
    """Return whether JAX has its devices: nobody profiles, and nothing runs, before it does.

    It is only looked at, and may just be importing in another thread: asking it for its devices, or importing it,
    would fix flags a cell may still set.
    """
    bridge = sys.modules.get("jax._src.xla_bridge")
    ask = getattr(bridge, "backends_are_initialized", None)
    return ask is not None and bool(ask())


def check_free() -> None:
    """Raise ProfilerBusyError, naming the holder, unless the profiler is free."""
    ours = _place.session
    if ours is not None:
        raise ProfilerBusyError(f"{ours.holder} is being captured", hint="`%xprof cancel` ends it early.")
    if not jax_started():
        return
    import jax  # noqa: PLC0415 - it is there

    state = _jax_state()
    if state is not None and state.profile_session is not None:
        raise ProfilerBusyError(
            f"jax.profiler.start_trace({state.log_dir!r}) already profiles this process",
            hint="Call jax.profiler.stop_trace() first.",
        )
    if jax.profiler.TraceAnnotation.is_enabled():
        raise ProfilerBusyError(
            "a client of this process's profiler server, or another library, is profiling it",
            hint="Try again when it has ended.",
        )


def _forget(session: Session) -> None:
    with _place.lock:
        if _place.session is session:
            _place.session = None


def _start(jax: Any, options: CaptureOptions, holder: str) -> _Backend:
    state = _jax_state()
    if state is None:
        folder = Path(tempfile.mkdtemp(prefix="xprof-nb-"))
        jax.profiler.start_trace(str(folder), profiler_options=options.for_jax())
        return _PublicBackend(folder)
    jax.profiler.start_trace("", profiler_options=options.for_jax())
    with state.lock:
        native = state.profile_session
        state.profile_session = _Guard(holder)
    return _NativeBackend(native, state)


def _jax_state() -> Any:
    """Return where jax keeps its session, None where this version has no such place."""
    try:
        from jax._src import profiler  # noqa: PLC0415 - jax only where it is used
    except ImportError:
        return None
    state = getattr(profiler, "_profile_state", None)
    wanted = ("lock", "profile_session", "log_dir", "reset")
    return state if all(hasattr(state, name) for name in wanted) else None


class _NativeBackend:
    """Takes the XSpace from jax's session: jax's own stop also writes a trace.json.gz, which costs as much again."""

    def __init__(self, native: Any, state: Any) -> None:
        self._native = native
        self._state = state

    def stop(self) -> bytes:
        try:
            return bytes(self._native.stop())
        finally:
            self.discard()

    def discard(self) -> None:
        # The profiler stops when its last reference goes.
        self._native = None
        with self._state.lock:
            self._state.reset()


class _PublicBackend:
    """Lets jax write into a private folder and reads the XSpace back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stop(self) -> bytes:
        import jax  # noqa: PLC0415 - jax only where it is used

        try:
            jax.profiler.stop_trace()
        except Exception as first:
            # jax counts the profiler as running until it could write, so it is asked again at a place that exists.
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                jax.profiler.stop_trace()
            except Exception:
                raise CaptureError(
                    f"jax could not write the profile ({first}); what it wrote is kept in {self._folder}",
                    hint="Free some space below $TMPDIR, then call jax.profiler.stop_trace().",
                ) from first
        files = sorted(self._folder.rglob("*.xplane.pb"))
        data = files[-1].read_bytes() if files else b""
        shutil.rmtree(self._folder, ignore_errors=True)
        return data

    def discard(self) -> None:
        self.stop()


def _leave_to_parent() -> None:
    """Begin anew in a forked child; the parent's session is kept from being destroyed here, as it is not ours."""
    if _place.session is not None:
        _kept.append(_place.session)
        state = _jax_state() if jax_started() else None
        if state is not None:
            state.lock = threading.Lock()
            state.reset()
    _place.lock = threading.Lock()
    _place.session = None


_kept: list[Session] = []
in_forked_child(_leave_to_parent)


class _Guard:
    """Stands where jax keeps its session while the session is ours.

    ``start_trace`` then refuses as it always does, and a stray ``stop_trace`` cannot end our capture.
    """

    def __init__(self, holder: str) -> None:
        self._holder = holder

    def stop_and_export(self, *_: object) -> None:
        raise RuntimeError(f"No profile of yours is running: xprof_nb is capturing {self._holder}")

    stop = stop_and_export
