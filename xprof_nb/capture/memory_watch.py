"""How much device memory some code took: before it, at its peak, after it, and which arrays hold it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xprof_nb.capture.live_arrays import held_bytes
from xprof_nb.errors import CaptureError

SAMPLING_PERIOD_S = 0.005
MOST_ARRAYS = 10
ALLOCATOR, LIVE_ARRAYS = "the device's allocator", "live arrays"


@dataclass(frozen=True)
class DeviceMemory:
    """What one device held.

    Attributes
    ----------
    measured_by
        `ALLOCATOR`, which sees everything, or `LIVE_ARRAYS`, what Python holds, where a device keeps no statistics.
    """

    device: str
    measured_by: str
    before_bytes: int
    peak_bytes: int
    after_bytes: int

    @property
    def kept_bytes(self) -> int:
        """What the code left behind; negative if it freed more than it made."""
        return self.after_bytes - self.before_bytes


@dataclass(frozen=True)
class LiveArray:
    """An array that was made by the code and is still alive; the name is a variable's, ``""`` if none holds it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int


@dataclass(frozen=True)
class MemoryReport:
    """What a `MemoryWatch` saw."""

    devices: tuple[DeviceMemory, ...]
    arrays: tuple[LiveArray, ...]
    notes: tuple[str, ...]


class MemoryWatch:
    """Watches from its making until `report`, which ends it."""

    def __init__(self) -> None:
        try:
            import jax  # noqa: PLC0415 - reading profiles needs no jax
        except ImportError as missing:
            raise CaptureError("jax is not installed", hint="pip install jax") from missing
        self._jax = jax
        self._devices: Sequence[Any] = jax.local_devices()
        self._statistics = {device: device.memory_stats() or {} for device in self._devices}
        self._known = {id(array): array for array in jax.live_arrays()}
        self._before = self._held()
        self._peak = dict(self._before)
        self._ended = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="xprof_nb memory", daemon=True)
        self._sampler.start()

    def report(self, names: Mapping[str, Any]) -> MemoryReport:
        """End the watch and add up; arrays are called by the variables in ``names`` that hold them."""
        self._ended.set()
        self._sampler.join()
        after = self._held()
        self._raise_peaks(after)
        devices = tuple(
            DeviceMemory(
                device=str(device),
                measured_by=ALLOCATOR if self._statistics[device] else LIVE_ARRAYS,
                before_bytes=self._before[device],
                peak_bytes=self._peak[device],
                after_bytes=after[device],
            )
            for device in self._devices
        )
        return MemoryReport(devices, self._new_arrays(names), self._notes())

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLING_PERIOD_S):
            self._raise_peaks(self._held())

    def _raise_peaks(self, held: Mapping[Any, int]) -> None:
        for device, size in held.items():
            self._peak[device] = max(self._peak[device], size, self._new_lifetime_peak(device))

    def _new_lifetime_peak(self, device: Any) -> int:
        """Return the allocator's own peak if it was reached during the watch: it never falls, so only if it rose."""
        earlier = self._statistics[device].get("peak_bytes_in_use", 0)
        now = (device.memory_stats() or {}).get("peak_bytes_in_use", 0)
        return int(now) if now > earlier else 0

    def _held(self) -> dict[Any, int]:
        """Return the bytes each device holds."""
        arrays = dict.fromkeys(self._devices, 0) | held_bytes(self._jax.live_arrays())
        for device in self._devices:
            if self._statistics[device]:
                arrays[device] = int((device.memory_stats() or {}).get("bytes_in_use", 0))
        return arrays

    def _new_arrays(self, names: Mapping[str, Any]) -> tuple[LiveArray, ...]:
        named = {id(value): name for name, value in names.items() if not name.startswith("_")}
        new = [array for array in self._jax.live_arrays() if id(array) not in self._known]
        new.sort(key=lambda array: int(array.nbytes), reverse=True)
        return tuple(
            LiveArray(named.get(id(array), ""), str(array.dtype), tuple(array.shape), int(array.nbytes))
            for array in new[:MOST_ARRAYS]
        )

    def _notes(self) -> tuple[str, ...]:
        silent = [str(device) for device in self._devices if not self._statistics[device]]
        if not silent:
            return ()
        return (
            f"{', '.join(silent)} keeps no allocator statistics: counted are the arrays Python holds, sampled every "
            f"{SAMPLING_PERIOD_S * 1e3:.0f} ms, without the temporaries of a running program; "
            "profile.buffers() has those as the compiler planned them.",
        )
