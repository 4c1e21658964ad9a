"""A path to the profile it means, every host decoded and joined."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from weakref import ref

from xprof_nb.errors import ProfileError
from xprof_nb.formats import trace_json, xspace
from xprof_nb.formats.host_trace import HostFile as ReadHost
from xprof_nb.formats.host_trace import read_host
from xprof_nb.formats.source import SMALL_BYTES
from xprof_nb.formats.warm import warm_decoder
from xprof_nb.model import hardware
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.measured import measured
from xprof_nb.model.profile import Origin, ProfileData
from xprof_nb.model.trace import HostTrace
from xprof_nb.runs import layout
from xprof_nb.runs.coverage import coverage_notes
from xprof_nb.runs.hosts import join_hosts
from xprof_nb.runs.identity import identity
from xprof_nb.runs.joining import find_run
from xprof_nb.runs.live_arrays import with_live_arrays


def open_data(path: str | os.PathLike[str], executor: Executor | None = None) -> ProfileData:
    """Decode the profile at a path: a file, a run folder with all its hosts, or a log dir (its newest run).

    Parameters
    ----------
    executor
        Decodes the hosts; threads of this process if None.

    Raises
    ------
    NotFoundError
        No profile there.
    DamagedFileError, NotAProfileError
        No file is a whole, well-formed profile.
    """
    return open_run(find_run(path), executor)


def open_run(run: layout.RunFiles, executor: Executor | None = None) -> ProfileData:
    """Decode the files of a run and join their hosts; one damaged file among several is left out, and named.

    Raises
    ------
    DamagedFileError, NotAProfileError
        No file is a whole, well-formed profile.
    """
    warm_decoder()  # kernels that are needed later load while the file is walked
    if executor is not None:
        outcomes = list(executor.map(_read_host_file, run.files))
    elif len(run.files) == 1:
        outcomes = [_read_host_file(run.files[0])]
    else:
        # Two at a time: a decoder already keeps the memory bus busy.
        with ThreadPoolExecutor(max_workers=2) as pool:
            outcomes = list(pool.map(_read_host_file, run.files))
    failed = [outcome for outcome in outcomes if isinstance(outcome, ProfileError)]
    read = [outcome for outcome in outcomes if not isinstance(outcome, ProfileError)]
    if not read:
        raise failed[0]
    metadata = run.sidecar.readable() if run.sidecar is not None else {}
    alone = len(run.files) == 1
    hosts = join_hosts([(with_live_arrays(host.trace, metadata, alone), host.programs) for host in read])
    return ProfileData(
        name=run.run,
        path=run.folder if len(run.files) > 1 or metadata else run.files[0].path,
        origin=_origin(metadata),
        hosts=tuple(_with_peaks(trace, metadata) for trace in hosts.traces),
        programs=hosts.programs,
        metadata=metadata,
        identify=lambda: identity(run.files),
        notes=(
            *run.notes,
            *run.sidecar_notes,
            *(f"Left out: {error}" for error in failed),
            *hosts.notes,
            *coverage_notes(hosts.traces, hosts.programs),
        ),
    )


def _read_host_file(file: layout.HostFile) -> ReadHost | ProfileError:
    """Return what a file holds, or why it cannot be read: the other hosts of the run may still be worth it."""
    try:
        return read_host(file.host, _Reader(file))
    except ProfileError as error:
        return error


class _Reader:
    """Decodes a file, as it was when it was found, whenever it is asked for.

    Who asks at the same time shares one reading; that of a small file is kept, for the tables that few ask for.
    """

    def __init__(self, file: layout.HostFile) -> None:
        self._file = file
        self._kept: xspace.XSpace | None = None
        self._last: Callable[[], xspace.XSpace | None] = lambda: None

    def __call__(self) -> xspace.XSpace:
        """Return what the file holds.

        Raises
        ------
        ProfileError
            Another run has taken its place since.
        """
        space = self._last()
        if space is None:
            self._file.check_unchanged()
            read = trace_json.read if layout.is_trace_json(self._file.path) else xspace.read
            space = read(self._file.source(), name=self._file.path)
            self._last = ref(space)
            self._kept = space if space.size_bytes <= SMALL_BYTES else None
        return space

    def __reduce__(self) -> tuple[type[_Reader], tuple[layout.HostFile]]:
        return (_Reader, (self._file,))


def _origin(metadata: Mapping[str, Any]) -> Origin:
    origin = metadata.get("origin")
    return origin if origin in ("captured", "sweep") else "opened"


def _with_peaks(trace: HostTrace, metadata: Mapping[str, Any]) -> HostTrace:
    """Give devices that state no roofs those measured where they ran, else those of their datasheet."""
    return replace(trace, devices=tuple(_device_with_peaks(device, metadata) for device in trace.devices))


def _device_with_peaks(device: Device, metadata: Mapping[str, Any]) -> Device:
    if device.peaks.flops_per_s or device.peaks.bytes_per_s:
        return device
    if device.backend == "cpu":
        peaks = _recorded_peaks(metadata) or _measured_here(device.host)
    else:
        peaks = hardware.device_peaks(device.model)
    return replace(device, peaks=peaks) if peaks is not None else device


def _recorded_peaks(metadata: Mapping[str, Any]) -> Peaks | None:
    """Return the roofs the capture wrote into its sidecar, None unless they are roofs: people edit sidecars."""
    recorded = metadata.get("peaks")
    if not recorded:
        return None
    try:
        peaks = Peaks(
            flops_per_s={dtype: Peak(**peak) for dtype, peak in recorded.get("flops_per_s", {}).items()},
            reference_dtype=str(recorded.get("reference_dtype", "")),
            bytes_per_s={memory: Peak(**peak) for memory, peak in recorded.get("bytes_per_s", {}).items()},
            capacity_bytes=recorded.get("capacity_bytes"),
        )
    except (TypeError, AttributeError):
        return None
    roofs = (*peaks.flops_per_s.values(), *peaks.bytes_per_s.values())
    return peaks if all(_is_roof(roof) for roof in roofs) else None


def _is_roof(roof: Peak) -> bool:
    value = roof.value
    texts = isinstance(roof.label, str) and isinstance(roof.source, str)
    return texts and isinstance(value, int | float) and 0 < value < float("inf")


def _measured_here(host: str) -> Peaks | None:
    """Return this machine's measured roofs if the profile comes from it."""
    return measured(host) if host == socket.gethostname() else None
