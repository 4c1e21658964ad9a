"""Capturing other processes, here or on other machines, through their profiler servers: all at once, into one run."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from xprof_nb import __version__
from xprof_nb.capture import metadata, store
from xprof_nb.capture.addresses import Address, addresses
from xprof_nb.capture.options import CaptureOptions
from xprof_nb.capture.profiler_service import Order, ProfilerService, reach
from xprof_nb.capture.shield import in_background
from xprof_nb.errors import CaptureError, UnreachableError, UsageError
from xprof_nb.formats.framing import has_events, host_names
from xprof_nb.formats.profiler_schema import message_class
from xprof_nb.runs import default_logdir
from xprof_nb.runs.layout import SUFFIX
from xprof_nb.runs.names import check_name, file_stem, moment_name
from xprof_nb.runs.shelf import checked_logdir
from xprof_nb.runs.sidecar import Sidecar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Future

    from xprof_nb.api import Profile

PATIENCE_S = 1.0
LONGEST_S = 3600.0
LONGEST_PATIENCE_S = 24 * 3600.0
_MOST_NAMED = 4


@dataclass(frozen=True, eq=False)
class _Recording:
    """One server under way."""

    service: ProfilerService
    order: Order
    data: Future[bytes]


class RemoteCapture:
    """One capture of other processes.

    Attributes
    ----------
    folder
        The run's folder, None until it is saved.
    notes
        What is to be said of what came: servers that gave nothing, or on which nothing ran.
    """

    def __init__(
        self,
        servers: str | Iterable[str],
        seconds: float,
        name: str | None = None,
        logdir: str | os.PathLike[str] | None = None,
        *,
        note: str = "",
        options: CaptureOptions | None = None,
        patience_s: float = PATIENCE_S,
        shared: str | os.PathLike[str] | None = None,
    ) -> None:
        if not 0 < seconds <= LONGEST_S:
            raise UsageError(f"a capture of {seconds} s", hint=f"Give a time above 0, up to {LONGEST_S:.0f} s.")
        if not 0 <= patience_s <= LONGEST_PATIENCE_S:
            raise UsageError(f"a patience of {patience_s} s", hint=f"Give 0 to {LONGEST_PATIENCE_S:.0f} s.")
        self.addresses = addresses(servers)
        self.seconds = seconds
        self.name = None if name is None else check_name(name)
        self.logdir = checked_logdir(default_logdir() if logdir is None else logdir)
        self.note = note
        self.options = options or CaptureOptions()
        self.patience_s = patience_s
        self.folder: Path | None = None
        self.notes: tuple[str, ...] = ()
        self._shared = None if shared is None else str(checked_logdir(shared))
        self._scratch: Path | None = None
        self._recordings: list[_Recording] = []
        self._failed: dict[Address, CaptureError] = {}
        self._profile: Profile | None = None
        self._started = datetime.now(UTC)
        self._ends_s = 0.0

    @property
    def profile(self) -> Profile:
        """The profile this made; raises CaptureError while there is none."""
        if self._profile is None:
            raise CaptureError("this capture has no profile yet", hint="It has one when it has ended.")
        return self._profile

    @property
    def reached(self) -> str:
        """The servers that record, in words."""
        services = [recording.service.address for recording in self._recordings]
        return _listed(services) if len(services) <= _MOST_NAMED else f"{len(services)} servers"

    def check(self) -> None:
        """Raise what would keep this capture from being saved."""
        store.check_writable(self.logdir)

    def start(self) -> None:
        """Reach the servers, and start all that were reached at once.

        Raises
        ------
        UnreachableError
            None of them could be reached; says why, each.
        CaptureError
            The log dir cannot be written.
        """
        self.check()
        with ThreadPoolExecutor(len(self.addresses)) as pool:
            reached = list(pool.map(self._reach, self.addresses))
        services = [service for service in reached if service is not None]
        if not services:
            raise self._nothing()
        self._started = datetime.now(UTC)
        options = _options(self.options, self.seconds)
        # Not at a moment agreed on: a server whose clock is behind would wait for it, for hours if need be.
        self._recordings = [self._record(service, options) for service in services]
        self._ends_s = time.monotonic() + self.seconds

    def stop(self) -> Path:
        """Wait for what the servers send, having ended those that still record, and save it as one run."""
        began = time.monotonic()
        if began < self._ends_s:
            for recording in self._recordings:
                if not recording.data.done():
                    recording.service.end(recording.order.session)
        try:
            received = self._received()
            files = _named({address: data for address, data in received.items() if has_events(data)})
            if not files:
                raise self._nothing(idle=tuple(received))
            self.folder = self._save(received, files, time.monotonic() - began)
        finally:
            self.abandon()
        self._profile = _opened(self.folder)
        self.notes = tuple(self._notes(received, files))
        return self.folder

    def when_over(self, call: Callable[[], None]) -> None:
        """Call ``call`` when no server records any more: each has sent what it had, or failed."""

        def one_is_over(_: object) -> None:
            if all(recording.data.done() for recording in self._recordings):
                call()

        for recording in self._recordings:
            recording.data.add_done_callback(one_is_over)

    def give_up(self) -> None:
        """Wait no longer for servers that have not sent their profile; what others sent is kept."""
        for recording in self._recordings:
            recording.service.give_up()

    def abandon(self) -> None:
        """Let the servers go, and drop what they have not sent."""
        self.give_up()
        for recording in self._recordings:
            recording.service.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _reach(self, address: Address) -> ProfilerService | None:
        try:
            return reach(address, self.patience_s)
        except CaptureError as error:
            self._failed[address] = error
            return None

    def _record(self, service: ProfilerService, options: bytes) -> _Recording:
        order = Order(uuid4().hex, max(1, round(self.seconds * 1e3)), options, self._folder_for(service))

        def work() -> bytes:
            return service.profile(order, self.patience_s) or _written(order)

        return _Recording(service, order, in_background(work, f"xprof_nb capture of {service.address}"))

    def _folder_for(self, service: ProfilerService) -> str | None:
        if self._shared is None and service.on_this_machine:
            if self._scratch is None:
                self._scratch = Path(tempfile.mkdtemp(prefix="xprof-nb-"))
            return str(self._scratch)
        return self._shared

    def _received(self) -> dict[Address, bytes]:
        """Return what each server sent; remember why the others did not."""
        received = {}
        for recording in self._recordings:
            address = recording.service.address
            try:
                data = recording.data.result()
                store.check_profile(data)
            except CaptureError as error:
                self._failed[address] = error
            else:
                received[address] = data
        return received

    def _save(self, received: Mapping[Address, bytes], files: Mapping[Address, str], waited_s: float) -> Path:
        idle = [{"address": str(each), "error": "Nothing ran there."} for each in received if each not in files]
        failed = [{"address": str(each), "error": str(error)} for each, error in self._failed.items()]
        here = all(recording.service.on_this_machine for recording in self._recordings)
        run = self.name or moment_name(self._started)
        record = Sidecar(
            name=run,
            note=self.note,
            started=self._started,
            duration_s=min(self.seconds, (datetime.now(UTC) - self._started).total_seconds()),
            stop_s=waited_s,
            options=self.options.to_dict(),
            versions={"xprof_nb": __version__},
            peaks=metadata.peaks() if here else None,
            sources=(*({"address": str(each), "file": name} for each, name in files.items()), *idle, *failed),
        )
        return store.save_hosts({name: received[each] for each, name in files.items()}, self.logdir, run, record)

    def _nothing(self, idle: tuple[Address, ...] = ()) -> CaptureError:
        """Return why there is nothing at all, as one error."""
        if len(self._failed) == 1 and not idle:
            return next(iter(self._failed.values()))
        if idle and not self._failed:
            return CaptureError(
                f"{_listed(idle)} answered, but nothing ran there during {self.seconds:g} s",
                hint="Capture while it works, or for longer.",
            )
        reasons = [*map(str, self._failed.values()), *(f"{each}: nothing ran there." for each in idle)]
        kind = UnreachableError if all(isinstance(e, UnreachableError) for e in self._failed.values()) else CaptureError
        return (kind if not idle else CaptureError)(f"no server gave a profile: {' '.join(reasons)[:2000].rstrip('.')}")

    def _notes(self, received: Mapping[Address, bytes], files: Mapping[Address, str]) -> Iterable[str]:
        yield from (f"{error}" for error in self._failed.values())
        idle = [each for each in received if each not in files]
        if idle:
            yield f"{_listed(idle)} answered, but nothing ran there during {self.seconds:g} s."
        by_host = {name.removesuffix(SUFFIX): address for address, name in files.items()}
        silent = [trace.host for trace in self.profile.data.hosts if not len(trace.ops)]
        if silent:
            where = _listed([by_host.get(host, host) for host in silent])
            yield f"{where}: host events only, no XLA op or GPU kernel ran during {self.seconds:g} s."


def _options(options: CaptureOptions, seconds: float) -> bytes:
    """Return options as the service takes them, every one set."""
    message = message_class("ProfileOptions")(
        version=1,  # without it the server takes its own defaults, and not these
        include_dataset_ops=options.dataset_ops,
        host_tracer_level=options.host_tracer_level,
        device_tracer_level=int(options.device_tracing),
        python_tracer_level=options.python_tracer_level,
        enable_hlo_proto=options.hlo,
        duration_ms=max(1, round(seconds * 1e3)),
    )
    # Whether there are TPUs or GPUs is known there alone; each takes what is named after it.
    for key, value in {**options.advanced_for("gpu"), **options.advanced_for("tpu")}.items():
        kind = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "string"
        message.advanced_configuration.add(key=key, value={f"{kind}_value": value})
    return bytes(message.SerializeToString())


def _written(order: Order) -> bytes:
    """Return what a server wrote to the order's folder instead of sending it."""
    assert order.folder is not None
    folder = Path(order.folder) / order.session
    try:
        data = b"".join(file.read_bytes() for file in folder.glob(f"*{SUFFIX}"))
    except OSError as refused:
        raise CaptureError(f"the server's profile cannot be read ({refused.strerror})", file=folder) from refused
    if not data:
        raise CaptureError(
            "the server neither sent its profile nor wrote it where both sides see it",
            file=order.folder,
            hint="Name a folder that both machines see (--shared DIR).",
        )
    shutil.rmtree(folder, ignore_errors=True)
    return data


def _named(received: Mapping[Address, bytes]) -> dict[Address, str]:
    """Return a file name for each server: its host, with the port where a host has several."""
    hosts = {
        each: next(map(file_stem, host_names(data)), "") or file_stem(each.host) for each, data in received.items()
    }
    count = Counter(hosts.values())
    names = {each: host if count[host] == 1 else f"{host}_{each.port}" for each, host in hosts.items()}
    taken = Counter(names.values())
    return {each: (name if taken[name] == 1 else file_stem(str(each))) + SUFFIX for each, name in names.items()}


def _opened(folder: Path) -> Profile:
    from xprof_nb import api  # noqa: PLC0415 - it sits on this module

    return api.open(folder)


def _listed(servers: Iterable[object]) -> str:
    return ", ".join(map(str, servers))
