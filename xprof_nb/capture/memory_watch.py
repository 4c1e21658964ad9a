"""How much device memory some code takes: before it, at its peak, after it; or what is held right now."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from xprof_nb.capture.holders import notebook_names
from xprof_nb.capture.live_arrays import held_bytes
from xprof_nb.capture.memory_report import (
    ALLOCATOR,
    LIVE_ARRAYS,
    DeviceMemory,
    MemoryReport,
    largest_arrays,
    planned_programs,
)
from xprof_nb.capture.session import jax_started
from xprof_nb.errors import CaptureError

SAMPLING_PERIOD_S = 0.005


class MemoryWatch:
    """Watches from its making until `report`, which ends it.

    JAX may not have started yet: asking for its devices then would fix flags that the code may still set. Such
    devices held nothing before.
    """

    def __init__(self) -> None:
        self._jax = _jax()
        self._devices: Sequence[Any] = ()
        self._statistics: dict[Any, Mapping[str, int]] = {}
        self._before: dict[Any, int] = {}
        self._known: dict[int, Any] = {}
        if jax_started():
            self._devices = self._jax.local_devices()
            self._statistics = _statistics(self._devices)
            self._known = {id(array): array for array in self._jax.live_arrays()}
            self._before = self._held()
        self._peak = dict(self._before)
        self._ended = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="xprof_nb memory", daemon=True)
        self._sampler.start()

    def report(self, names: Mapping[str, Any], ran: Collection[str] = ()) -> MemoryReport:
        """End the watch and add up.

        Parameters
        ----------
        names
            The variables that may hold what is left.
        ran
            Names of the programs that ran; of all that are alive if nobody knows.
        """
        self.end()
        after = self._held()
        self._raise_peaks(after)
        devices = tuple(
            DeviceMemory(
                device=str(device),
                measured_by=_measured_by(self._statistics[device]),
                before_bytes=self._before.get(device, 0),
                peak_bytes=self._peak[device],
                after_bytes=after[device],
                limit_bytes=self._statistics[device].get("bytes_limit"),
            )
            for device in self._devices
        )
        new = [array for array in self._live() if id(array) not in self._known]
        return MemoryReport(
            devices,
            largest_arrays(new, names),
            planned_programs(self._devices, ran),
            _notes(self._statistics, f", sampled every {SAMPLING_PERIOD_S * 1e3:.0f} ms"),
        )

    def end(self) -> None:
        """End the watch."""
        self._ended.set()
        self._sampler.join()

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLING_PERIOD_S):
            self._raise_peaks(self._held())

    def _raise_peaks(self, held: Mapping[Any, int]) -> None:
        for device, size in held.items():
            self._peak[device] = max(self._peak.get(device, 0), size, self._new_lifetime_peak(device))

    def _new_lifetime_peak(self, device: Any) -> int:
        """Return the allocator's own peak if it was reached during the watch: it never falls, so only if it rose."""
        earlier = self._statistics[device].get("peak_bytes_in_use", 0)
        now = (device.memory_stats() or {}).get("peak_bytes_in_use", 0)
        return int(now) if now > earlier else 0

    def _held(self) -> dict[Any, int]:
        """Return the bytes each device holds."""
        if not self._devices and jax_started():
            self._devices = self._jax.local_devices()
            # Their peaks are all of the time that was watched.
            self._statistics = {
                device: {**stats, "peak_bytes_in_use": 0} if stats else stats
                for device, stats in _statistics(self._devices).items()
            }
        return _held(self._live(), self._statistics)

    def _live(self) -> list[Any]:
        return list(self._jax.live_arrays()) if self._devices else []


def look(names: Mapping[str, Any] | None = None) -> MemoryReport:
    """Return what devices hold now, by whom, and what programs were planned to use.

    Parameters
    ----------
    names
        The variables that may hold arrays; those of the notebook if None.

    Raises
    ------
    CaptureError
        jax is not installed.
    """
    jax = _jax()
    if not jax_started():
        return MemoryReport((), (), (), ("JAX has not started in this process: nothing is on a device yet.",))
    devices, live = jax.local_devices(), jax.live_arrays()
    arrays = largest_arrays(live, notebook_names() if names is None else names)
    return MemoryReport(held_now(), arrays, planned_programs(devices), _notes(_statistics(devices), ""))


def held_now() -> tuple[DeviceMemory, ...]:
    """Return what each device of this process holds; nothing while JAX has not started, which this leaves as it is."""
    if not jax_started():
        return ()
    jax = _jax()
    statistics = _statistics(jax.local_devices())
    held = _held(jax.live_arrays(), statistics)
    return tuple(
        DeviceMemory(
            device=str(device),
            measured_by=_measured_by(stats),
            before_bytes=None,
            peak_bytes=stats.get("peak_bytes_in_use"),
            after_bytes=held[device],
            limit_bytes=stats.get("bytes_limit"),
        )
        for device, stats in statistics.items()
    )


def _jax() -> Any:
    try:
        import jax  # noqa: PLC0415 - reading profiles needs no jax
    except ImportError as missing:
        raise CaptureError("jax is not installed", hint="pip install jax") from missing
    return jax


def _statistics(devices: Sequence[Any]) -> dict[Any, Mapping[str, int]]:
    return {device: device.memory_stats() or {} for device in devices}


def _held(live: Sequence[Any], statistics: Mapping[Any, Mapping[str, int]]) -> dict[Any, int]:
    held = dict.fromkeys(statistics, 0) | held_bytes(live)
    for device, stats in statistics.items():
        if stats:
            held[device] = int((device.memory_stats() or {}).get("bytes_in_use", 0))
    return {device: held[device] for device in statistics}


def _measured_by(stats: Mapping[str, int]) -> str:
    return ALLOCATOR if stats else LIVE_ARRAYS


def _notes(statistics: Mapping[Any, Mapping[str, int]], sampled: str) -> tuple[str, ...]:
    silent = [str(device) for device, stats in statistics.items() if not stats]
    if not silent:
        return ()
    return (
        f"{', '.join(silent)} keeps no allocator statistics: counted are the arrays Python holds{sampled}, without the "
        "temporaries of a running program; the programs' own plan says how much these take.",
    )
