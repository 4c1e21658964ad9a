"""Peaks measured on a machine, kept for the next time: nobody states a datasheet peak for a laptop's CPU.

One small JSON file a machine in the cache folder. Reading and writing it is here; measuring is
`xprof_nb.capture.calibrate`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.model.cache import cache_dir
from xprof_nb.model.device import Peak, Peaks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VERSION = 1


@dataclass(frozen=True)
class Machine:
    """What a measurement holds for: the same host with another CPU or fewer cores is another machine."""

    hostname: str
    cpu: str
    core_count: int

    @property
    def file_name(self) -> str:
        """Name of its file in the cache folder."""
        digest = hashlib.sha256(f"{self.hostname}\n{self.cpu}\n{self.core_count}".encode()).hexdigest()
        return f"peaks-{digest[:16]}.json"


@dataclass(frozen=True)
class Measurement:
    """Peaks of one machine.

    Attributes
    ----------
    measured_s
        When the latest measurement was made, unix seconds.
    busy_fraction
        How much of the machine others used meanwhile, 0..1; None when that could not be told.
    flops_per_s, bytes_per_s
        Value and source by element type, by memory.
    """

    machine: Machine
    measured_s: float
    busy_fraction: float | None = None
    flops_per_s: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    bytes_per_s: Mapping[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def peaks(self) -> Peaks:
        """The measurement as roofs of a device."""
        return Peaks(
            flops_per_s={dtype: Peak(value, "measured", source) for dtype, (value, source) in self.flops_per_s.items()},
            reference_dtype="f32",
            bytes_per_s={
                memory: Peak(value, "measured", source) for memory, (value, source) in self.bytes_per_s.items()
            },
        )


def this_machine() -> Machine:
    """Return the machine this process runs on; cores are those it may use."""
    return Machine(socket.gethostname(), _cpu_model(), core_count())


def core_count() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def measured(hostname: str) -> Peaks | None:
    """Return the peaks measured on a host, None when it was never measured from here.

    For this host only a measurement of its present CPU and number of cores counts; for another the latest.
    """
    machine = this_machine()
    if hostname == machine.hostname:
        found = read(machine)
    else:
        others = [each for each in _all() if each.machine.hostname == hostname]
        found = max(others, key=lambda each: each.measured_s, default=None)
    return None if found is None else found.peaks


def read(machine: Machine) -> Measurement | None:
    """Return what was measured on a machine, None when nothing was or the file is unusable."""
    return _read(cache_dir() / machine.file_name)


def write(measurement: Measurement) -> Measurement:
    """Keep a measurement, and return what is now known: of every roof the highest ever reached.

    A roof is what the machine can do; a measurement can only fall short of it.
    """
    before = read(measurement.machine)
    merged = measurement
    if before is not None:
        merged = Measurement(
            machine=measurement.machine,
            measured_s=measurement.measured_s,
            busy_fraction=_quieter(before.busy_fraction, measurement.busy_fraction),
            flops_per_s=_higher(before.flops_per_s, measurement.flops_per_s),
            bytes_per_s=_higher(before.bytes_per_s, measurement.bytes_per_s),
        )
    _write(cache_dir() / measurement.machine.file_name, merged)
    return merged


def _quieter(before: float | None, now: float | None) -> float | None:
    known = [value for value in (before, now) if value is not None]
    return min(known, default=None)


def _higher(
    before: Mapping[str, tuple[float, str]], now: Mapping[str, tuple[float, str]]
) -> dict[str, tuple[float, str]]:
    names = dict.fromkeys([*before, *now])
    return {name: max((roofs[name] for roofs in (now, before) if name in roofs), key=lambda r: r[0]) for name in names}


def _all() -> Iterator[Measurement]:
    for path in sorted(cache_dir().glob("peaks-*.json")):
        found = _read(path)
        if found is not None:
            yield found


def _read(path: Path) -> Measurement | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != _VERSION:
            return None
        busy = data["busy_fraction"]
        return Measurement(
            machine=Machine(str(data["hostname"]), str(data["cpu"]), int(data["core_count"])),
            measured_s=float(data["measured_s"]),
            busy_fraction=None if busy is None else float(busy),
            flops_per_s=_roofs(data["flops_per_s"]),
            bytes_per_s=_roofs(data["bytes_per_s"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _roofs(data: dict[str, Any]) -> dict[str, tuple[float, str]]:
    return {name: (float(value), str(source)) for name, (value, source) in data.items() if float(value) > 0}


def _write(path: Path, measurement: Measurement) -> None:
    """Write beside the target and rename, so that a reader never sees half a file."""
    data = {
        "version": _VERSION,
        "hostname": measurement.machine.hostname,
        "cpu": measurement.machine.cpu,
        "core_count": measurement.machine.core_count,
        "measured_s": measurement.measured_s,
        "busy_fraction": measurement.busy_fraction,
        "flops_per_s": measurement.flops_per_s,
        "bytes_per_s": measurement.bytes_per_s,
    }
    handle, staged = tempfile.mkstemp(dir=path.parent, prefix=".peaks-", suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
        Path(staged).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(staged).unlink()
        raise


def _cpu_model() -> str:
    """Return the processor's name, as far as the platform tells."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in {"model name", "Model", "cpu model"} and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()
