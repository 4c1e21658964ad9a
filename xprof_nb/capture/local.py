"""Capturing a profile of this process: ``with capture("name")``, and as a decorator."""

from __future__ import annotations

import functools
import inspect
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from xprof_nb.capture import activity, cells, metadata, store
from xprof_nb.capture.health import check_devices
from xprof_nb.capture.holders import notebook_names
from xprof_nb.capture.live_arrays import Sampler
from xprof_nb.capture.memory_watch import MemoryWatch
from xprof_nb.capture.options import CaptureOptions, chosen
from xprof_nb.capture.session import Session, check_free, open_session
from xprof_nb.capture.shield import shielded
from xprof_nb.capture.upload import places, upload
from xprof_nb.capture.waiting import Waiting
from xprof_nb.errors import CaptureError, ProfileError
from xprof_nb.runs import default_logdir
from xprof_nb.runs.names import check_name, moment_name
from xprof_nb.runs.sidecar import Sidecar
from xprof_nb.runs.under_way import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from xprof_nb.api import Profile
    from xprof_nb.capture.memory_report import MemoryReport
    from xprof_nb.memory import Memory

F = TypeVar("F", bound=Callable[..., Any])


def capture(
    name: str | None = None,
    logdir: str | os.PathLike[str] | None = None,
    *,
    note: str = "",
    preset: str | None = None,
    memory: bool = False,
    **options: Any,
) -> Capture:
    """Capture what runs inside a ``with`` block, or in each call of a decorated function.

    Parameters
    ----------
    name
        Name of the run; ``-2``, ``-3`` … is added if it is taken. By default the moment it starts.
    logdir
        Where runs are kept; by default ``$XPROF_NB_LOGDIR``, else ``xprof-logs/`` below the working directory. With
        a URL such as ``gs://bucket/logs`` they are saved in ``xprof-logs/`` and copied there.
    note
        Anything worth remembering of this run.
    preset
        ``"full"`` (default), ``"light"``: less of the host and one device, or ``"python"``: Python calls too.
    memory
        Watch device memory meanwhile; ``.memory`` says then what was taken, and who holds it.
    options
        What is to differ from the preset: ``host_tracer_level``, ``python_tracer_level``, ``device_tracing``,
        ``max_devices`` and whatever else `CaptureOptions` has.

    Returns
    -------
    Capture
        Its ``.profile`` answers once the block has ended.

    Raises
    ------
    UsageError
        The name or an option is out of bounds.
    ProfilerBusyError
        On entering: the profiler of this process is in use. Says by whom.
    CaptureError
        On entering: the log dir cannot be written. On leaving: saving failed; the message says where the data is.

    Examples
    --------
    >>> with xp.capture("train-1", note="batch 8") as cap:  # doctest: +SKIP
    ...     train_step(state, batch)
    >>> cap.profile.op_profile()  # doctest: +SKIP
    """
    return Capture(name, logdir, note=note, options=chosen(preset, **options), memory=memory)


class Capture:
    """One capture of this process. It may be entered again once it has ended: each time makes a run of its own.

    Attributes
    ----------
    name
        The name asked for, None for the moment of the start.
    logdir
        Where the run is saved.
    target
        The log dir behind a URL that it is copied to then, None if it stays here.
    cell
        Source of the notebook cell that is captured, None if it is not one.
    folder
        The run's folder, None until it is saved.
    data
        The collected XSpace while it is not on disk yet, else None.
    phase
        Of a capture that is stopping: ``"collecting"`` or ``"saving"``.
    meanwhile
        Called every half second with the seconds passed while it stops: a large profile takes long. By default
        standard error says so after a while.
    memory_report
        What was seen of device memory, None if nobody watched it.
    """

    # Weak: a capture nobody holds any more frees the profiler.
    _running: ClassVar[weakref.ref[Capture] | None] = None

    def __init__(
        self,
        name: str | None = None,
        logdir: str | os.PathLike[str] | None = None,
        *,
        note: str = "",
        options: CaptureOptions | None = None,
        memory: bool = False,
    ) -> None:
        self._session: Session | None = None
        self._sampler: Sampler | None = None
        self._mark: Mark | None = None
        self._watches_memory = memory
        self._memory_watch: MemoryWatch | None = None
        self.memory_report: MemoryReport | None = None
        self.name = None if name is None else check_name(name)
        self.target, self.logdir = places(default_logdir() if logdir is None else logdir)
        self.note = note
        self.options = options or CaptureOptions()
        self.cell: str | None = None
        self.folder: Path | None = None
        self.data: bytes | None = None
        self.phase = ""
        self.meanwhile: Callable[[float], None] | None = None
        self._record = Sidecar()
        self._remembered: dict[str, Any] = {}
        self._cost: dict[str, Any] = {}
        self._remarks: list[str] = []
        self._run = ""
        self._wanted = False
        self._clock = 0.0
        self._stopping = threading.Lock()

    @property
    def profile(self) -> Profile:
        """The profile this made.

        Raises
        ------
        CaptureError
            It has not ended, or could not be saved.
        """
        from xprof_nb import api  # noqa: PLC0415 - it sits on this module

        if self.folder is None:
            raise CaptureError("this capture has no profile yet", hint="It has one after the `with` block.")
        return api.open(self.folder)

    @property
    def memory(self) -> Memory:
        """The device memory taken meanwhile, and who holds it.

        Raises
        ------
        CaptureError
            It has not ended, or was not asked to watch.
        """
        from xprof_nb.memory import of_capture  # noqa: PLC0415 - it sits on this package

        return of_capture(self.memory_report)

    @staticmethod
    def running() -> Capture | None:
        """Return the capture that has the profiler now, whoever made it."""
        known = Capture._running() if Capture._running is not None else None
        return known if known is not None and known._session is not None else None

    def check(self) -> None:
        """Raise what would keep this capture from starting, without starting it."""
        check_free()
        store.check_writable(self.logdir)

    def start(self) -> None:
        """Start profiling; see `capture` for what it raises."""
        self._wanted = True
        shielded(self._start, "xprof_nb start")

    def stop(self, meanwhile: Callable[[float], None] | None = None) -> Path:
        """Stop profiling, save the run and return its folder; an interrupt is raised only after that.

        A capture that somebody else has stopped meanwhile returns its folder as well. ``meanwhile`` is called in place
        of the attribute of that name.
        """
        with Waiting(self) as waiting:
            return shielded(self._stop_once, "xprof_nb stop", meanwhile or self.meanwhile or waiting.say)

    def remember(self, **values: Any) -> None:
        """Keep values beside the profile that it does not hold."""
        self._remembered.update(values)

    def remark(self, *texts: str) -> None:
        """Keep sentences that whoever reads the profile is told."""
        self._remarks += texts

    def cost(self, values: Mapping[str, Any]) -> None:
        """Keep what profiling itself was measured to cost."""
        self._cost.update(values)

    def begin_anew(self) -> None:
        """Drop what was recorded so far, and go on recording."""
        shielded(self._begin_anew, "xprof_nb begin anew")

    def save(self) -> Path:
        """Save what was collected, again if it failed before."""
        if self.data is None:
            raise CaptureError("this capture holds nothing that is not saved")
        self.folder = store.save(self.data, self.logdir, self._run, self._record)
        self.data = None
        return self.folder

    def abandon(self) -> None:
        """Free the profiler if it is ours, and drop what it recorded."""
        self._wanted = False
        session, self._session = self._session, None
        if session is not None:
            session.discard()
        if self._sampler is not None:
            self._sampler.discard()
        if self._memory_watch is not None:
            self._memory_watch.end()
        self._unmark()

    def __enter__(self) -> Self:
        before = self._session
        self.cell = cells.current_cell()
        try:
            activity.prepare_to_wait()
            self.start()
        except BaseException:
            if self._session is not before:  # a capture entered twice goes on as it was
                self.abandon()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._session is not None and self._session.inherited:
            return  # the block is left by a forked child; its parent ends the capture
        try:
            if error is None:
                activity.wait_for_dispatched()
        finally:
            try:
                self.stop()
            except KeyboardInterrupt:
                if self._session is not None:  # it came before stopping had begun
                    self.stop()
                raise
            except CaptureError as failure:
                # The person's own exception matters more than ours.
                if error is None:
                    raise
                error.add_note(str(failure))

    def __del__(self) -> None:
        # An interrupt between the end of a `with` block and the first line of `__exit__` leaves nobody to stop it.
        self.abandon()

    def __call__(self, function: F) -> F:
        """Decorate ``function``: every call is captured as a run of its own."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def captured_async(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)

            return captured_async  # type: ignore[return-value]

        @functools.wraps(function)
        def captured(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return captured  # type: ignore[return-value]

    def _start(self) -> None:
        self.check()
        asked = time.perf_counter()
        moment = datetime.now(UTC)
        run = self.name or moment_name(moment)
        self._mark = Mark.set(self.logdir, run)
        try:
            session = open_session(self.options, f"run {run!r}")
        except BaseException:
            self._unmark()
            raise
        self.folder, self.data, self._run, self._session = None, None, run, session
        self.memory_report = None
        Capture._running = weakref.ref(self)
        self._sampler = Sampler()
        self._memory_watch = MemoryWatch() if self._watches_memory else None
        if not self._wanted:
            self.abandon()
        self._clock = time.perf_counter()
        self._record = Sidecar(
            name=run,
            note=self.note,
            started=moment,
            cell=self.cell,
            options=self.options.to_dict(),
            hostname=socket.gethostname(),
            overhead={"start_s": self._clock - asked},
            other=dict(self._remembered),
        )

    def _begin_anew(self) -> None:
        with self._stopping:
            if self._session is None:
                raise CaptureError("this capture is not running")
            self._session.discard()
            self._session = None
            if self._sampler is not None:
                self._sampler.discard()
            self._session = open_session(self.options, f"run {self._run!r}")
            self._sampler = Sampler()
            self._clock = time.perf_counter()
            self._record = replace(self._record, started=datetime.now(UTC))

    def _stop_once(self) -> Path:
        with self._stopping:
            if self._session is not None and self._session.inherited:
                raise CaptureError("this capture belongs to the process this one was forked from")
            session, self._session = self._session, None
            if session is not None:
                try:
                    return self._stop(session)
                finally:
                    self._see_memory()
                    self._unmark()
        if self.folder is None:
            raise CaptureError("this capture is not running")
        return self.folder

    def _see_memory(self) -> None:
        watch, self._memory_watch = self._memory_watch, None
        if watch is not None:
            with suppress(Exception):  # a device that answers no more must not cost the profile
                self.memory_report = watch.report(notebook_names(), self._ran())

    def _ran(self) -> list[str]:
        """Return the names of the programs that ran, none if nothing was saved."""
        try:
            return [program.name for program in self.profile.programs.values()]
        except ProfileError:
            return []

    def _unmark(self) -> None:
        mark, self._mark = self._mark, None
        if mark is not None:
            mark.remove()

    def _stop(self, session: Session) -> Path:
        sampler, self._sampler = self._sampler, None
        if sampler is not None:
            sampler.end()
        stopped = time.perf_counter()
        self.phase = "collecting"
        data = session.stop()
        collected = time.perf_counter()
        if sampler is not None:
            self._record = replace(self._record, live_arrays=sampler.seen())
        self.phase = "saving"
        self.data = data or None
        store.check_profile(data)
        self._record = self._described(data, duration_s=stopped - self._clock, stop_s=collected - stopped)
        folder = self.save()
        if self.target is not None:
            upload(folder, self.target)
        check_devices(folder)
        return folder

    def _described(self, data: bytes, *, duration_s: float, stop_s: float) -> Sidecar:
        known = replace(
            self._record,
            duration_s=duration_s,
            stop_s=stop_s,
            remarks=tuple(self._remarks),
            overhead={**self._record.overhead, "stop_s": stop_s, **self._cost},
            other={**self._record.other, **self._remembered},
        )
        try:
            return replace(
                known,
                cells=cells.cells_in(data),
                versions=metadata.versions(),
                devices=metadata.devices(),
                xla_flags=metadata.xla_flags(),
                peaks=metadata.peaks(),
            )
        except Exception as error:  # the profile is worth more than its description, and is saved without it
            return replace(known, other={**known.other, "incomplete": f"{type(error).__name__}: {error}"})
