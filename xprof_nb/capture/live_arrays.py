"""How much the arrays that Python holds take on each device: now, or sampled in a thread while a capture runs."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xprof_nb.capture.session import jax_started
from xprof_nb.runs.names import host_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PERIOD_S = 0.01
MOST_STRETCHES = 512
MOST_HELD = 30
LONGEST_TEXT = 200
PATIENCE_S = 2.0
COST_SHARE = 0.05
"""At most this part of the time goes into sampling, however many arrays there are."""

Alike = tuple[tuple[int, ...], Any, Any]
"""Shape, dtype and sharding."""


class Sizes:
    """Bytes by device of arrays that are alike; worked out once, since a model has thousands."""

    def __init__(self) -> None:
        self._known: dict[Alike, tuple[int, tuple[Any, ...]]] = {}

    def of(self, alike: Alike) -> tuple[int, tuple[Any, ...]]:
        """Return what one such array takes on a device, and the devices of this process that it is on."""
        known = self._known.get(alike)
        if known is None:
            shape, dtype, sharding = alike
            size = math.prod(sharding.shard_shape(shape)) * dtype.itemsize
            known = self._known[alike] = (size, tuple(sharding.addressable_devices))
        return known

    def by_device(self, held: Mapping[Alike, int]) -> dict[Any, int]:
        """Return the bytes that arrays take on each device."""
        found: dict[Any, int] = {}
        for alike, count in held.items():
            size, devices = self.of(alike)
            for device in devices:
                found[device] = found.get(device, 0) + count * size
        return found


def held_bytes(arrays: Iterable[Any]) -> dict[Any, int]:
    """Return the bytes that arrays take on each device of this process."""
    return Sizes().by_device(alike(arrays))


def alike(arrays: Iterable[Any]) -> Counter[Alike]:
    """Return how many arrays there are of each shape, dtype and sharding."""
    found: Counter[Alike] = Counter()
    for array in arrays:
        try:
            found[array.shape, array.dtype, array.sharding] += 1
        except RuntimeError:  # deleted by the program since it was listed
            continue
    return found


@dataclass
class _Samples:
    """What was seen so far, in at most `MOST_STRETCHES` stretches: full, two become one that keeps the larger."""

    started_ns: int = 0
    devices: tuple[Any, ...] = ()
    count: int = 0
    cost_s: float = 0.0
    time_ns: list[int] = field(default_factory=list)
    held: dict[Any, list[int]] = field(default_factory=dict)
    peaks: dict[Any, tuple[int, Counter[Alike]]] = field(default_factory=dict)
    error: str = ""
    _in_stretch: int = 0
    _samples_a_stretch: int = 1

    def add(self, time_ns: int, groups: Counter[Alike], held: Mapping[Any, int]) -> None:
        self.count += 1
        if self._in_stretch == 0:
            self._make_room()
            self.time_ns.append(time_ns)
            for device in self.devices:
                self.held.setdefault(device, []).append(0)
        self._in_stretch = (self._in_stretch + 1) % self._samples_a_stretch
        for device in self.devices:
            size = held.get(device, 0)
            stretches = self.held[device]
            stretches[-1] = max(stretches[-1], size)
            if size > self.peaks.get(device, (-1, groups))[0]:
                self.peaks[device] = (size, groups)

    def _make_room(self) -> None:
        if len(self.time_ns) < MOST_STRETCHES:
            return
        self.time_ns = self.time_ns[::2]
        for device, stretches in self.held.items():
            pairs = (stretches[at : at + 2] for at in range(0, len(stretches), 2))
            self.held[device] = [max(pair) for pair in pairs]
        self._samples_a_stretch *= 2


class Sampler:
    """Samples the live arrays of devices without allocator statistics, from its making until `end` or `discard`.

    It never disturbs what it watches: whatever fails ends the sampling and becomes a note.
    """

    def __init__(self) -> None:
        self._samples = _Samples()
        self._ended = threading.Event()
        self._kept = True
        self._thread = threading.Thread(target=self._run, name="xprof_nb live arrays", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as refused:  # a machine out of threads still captures
            self._samples.error = str(refused)

    def end(self) -> None:
        """Sample once more and stop."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(PATIENCE_S)
        if self._thread.is_alive():
            self._samples = _Samples(error="the sampling thread did not end in time")

    def seen(self) -> dict[str, Any] | None:
        """Return what was seen as plain JSON, None where there was nothing to sample."""
        if not self._samples.devices and not self._samples.error:
            return None
        try:
            return _plain(self._samples)
        except Exception as error:
            return _plain(_Samples(error=_told(error)))

    def discard(self) -> None:
        """Stop, without waiting."""
        self._kept = False
        self._ended.set()

    def _run(self) -> None:
        sys.setprofile(None)  # jax's Python tracer hooks every new thread; this one is none of the program's
        try:
            self._sample()
        except Exception as error:
            self._samples.error = _told(error)

    def _sample(self) -> None:
        samples, sizes = self._samples, Sizes()
        if not jax_started():
            return
        import jax  # noqa: PLC0415 - it is there

        samples.devices = tuple(device for device in jax.local_devices() if not device.memory_stats())
        samples.started_ns, start_ns = time.time_ns(), time.monotonic_ns()
        while samples.devices and self._kept:
            is_last = self._ended.is_set()
            began = time.perf_counter()
            groups = alike(jax.live_arrays())
            samples.add(time.monotonic_ns() - start_ns, groups, sizes.by_device(groups))
            cost_s = time.perf_counter() - began
            samples.cost_s += cost_s
            if is_last:
                return
            self._ended.wait(max(PERIOD_S, cost_s / COST_SHARE))


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_TEXT]


def _plain(samples: _Samples) -> dict[str, Any]:
    length_s = samples.time_ns[-1] * 1e-9 if samples.time_ns else 0.0
    return {
        "host": host_name(),
        "started_ns": samples.started_ns,
        "period_s": max(PERIOD_S, length_s / max(samples.count - 1, 1)),
        "sample_count": samples.count,
        "cost_s": samples.cost_s,
        "time_ns": samples.time_ns,
        "devices": [_plain_device(device, samples) for device in samples.devices],
        **({"error": samples.error} if samples.error else {}),
    }


def called(sharding: Any) -> str:
    """Name how arrays are laid out over devices: their partition, or the kind of sharding where it has none."""
    spec = getattr(sharding, "spec", None)
    return (type(sharding).__name__ if spec is None else str(spec))[:LONGEST_TEXT]


def _plain_device(device: Any, samples: _Samples) -> dict[str, Any]:
    size, groups = samples.peaks.get(device, (0, Counter[Alike]()))
    sizes = Sizes()
    mine = [(kind, count, sizes.of(kind)) for kind, count in groups.items()]
    held = [(count * each, kind, count) for kind, count, (each, devices) in mine if device in devices]
    held.sort(key=lambda item: item[0], reverse=True)
    shown, rest = held[:MOST_HELD], held[MOST_HELD:]
    ordinal = getattr(device, "local_hardware_id", None)
    return {
        "name": f"{device.platform.upper()}:{device.id if ordinal is None else ordinal}",
        "bytes": samples.held.get(device, []),
        "peak_bytes": size,
        "arrays": [
            {
                "shape": f"[{','.join(map(str, shape))}]",
                "dtype": str(dtype),
                "sharding": called(sharding),
                "count": count,
                "bytes": taken,
            }
            for taken, (shape, dtype, sharding), count in shown
        ],
        "others": {"count": sum(count for *_, count in rest), "bytes": sum(taken for taken, *_ in rest)},
    }
