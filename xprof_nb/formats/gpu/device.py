"""Which GPU a plane is of, and its roofs: as the profile states them, of its datasheet, or computed from its clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xprof_nb.formats import plausible
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model import hardware
from xprof_nb.model.device import Device, Peak, Peaks

GPU = re.compile(r"/device:GPU:(\d{1,9})$")
_STATED = "stated by the GPU's runtime in the profile"

_NUMBERS = ("core_count", "clock_rate", "memory_bandwidth", "memory_size", "compute_cap_major", "compute_cap_minor")
_NVIDIA_RATES: Mapping[tuple[int, int], Mapping[str, int]] = {
    (7, 0): {"f16": 1024, "f32": 128},
    (7, 5): {"f16": 1024, "f32": 128, "s8": 2048},
    (8, 0): {"bf16": 2048, "f16": 2048, "tf32": 1024, "f32": 128, "s8": 4096},
    (8, 6): {"bf16": 1024, "f16": 1024, "tf32": 512, "f32": 256, "s8": 2048},
    (8, 9): {"bf16": 1024, "f16": 1024, "tf32": 512, "f32": 256, "f8": 2048, "s8": 2048},
    (9, 0): {"bf16": 4096, "f16": 4096, "tf32": 2048, "f32": 256, "f8": 8192, "s8": 8192},
    (10, 0): {"bf16": 8192, "f16": 8192, "tf32": 4096, "f32": 256, "f8": 16384},
}
"""Dense operations per multiprocessor and cycle by compute capability, a multiply-add as two (NVIDIA's
architecture papers); one that is not here has no computed peak."""

_AMD_RATES: Mapping[tuple[int, int], Mapping[str, int]] = {
    (9, 0): {"bf16": 1024, "f16": 1024, "f32": 256, "s8": 1024},
    (9, 4): {"bf16": 2048, "f16": 2048, "tf32": 1024, "f32": 256, "f8": 4096, "s8": 4096},
    (9, 5): {"bf16": 4096, "f16": 4096, "f32": 256, "f8": 8192, "s8": 8192},
}
"""The same per compute unit of AMD's gfx90a, gfx942 and gfx950 (AMD's CDNA papers)."""


def gpu_device(plane: XPlane, host: str, host_count: int = 1) -> Device:
    """Return the device of a plane named ``/device:GPU:N``, one of the host's, with its roofs."""
    found = GPU.match(plane.name)
    assert found is not None
    model = _model(plane.stats)
    return Device(
        host=host,
        backend="gpu",
        ordinal=int(found[1]),
        name=f"GPU:{found[1]}",
        model=model,
        peaks=_peaks(plane.stats, model),
        vendor=_vendor(plane.stats),
        stated={
            "host_gpu_count": float(host_count),
            **{name: value for name in _NUMBERS if (value := plausible.positive(plane.stats, name)) > 0},
        },
    )


def _vendor(stats: Mapping[str, Any]) -> str:
    return str(stats.get("device_vendor", "")).upper()


def _is_amd(stats: Mapping[str, Any]) -> bool:
    return _vendor(stats) == "AMD"


def _model(stats: Mapping[str, Any]) -> str:
    """Return the name the driver gives; without one, the model that has as many units, as much memory, as fast.

    Of two such, which differ by clock alone, the one whose clock is nearer.
    """
    name = str(stats.get("gpu_device_name", ""))
    if name:
        return name
    vendor = _vendor(stats) or "NVIDIA"
    clock_hz = plausible.positive(stats, "clock_rate") * 1000
    fitting = [entry for entry in hardware.entries() if entry.vendor.upper() == vendor and _fits(entry, stats)]
    return min(fitting, key=lambda entry: abs((entry.clock_hz or 0.0) - clock_hz)).name if fitting else ""


def _fits(entry: hardware.Hardware, stats: Mapping[str, Any]) -> bool:
    """Whether a model has what the runtime counts; vendors' GB are often GiB, less what the driver keeps."""
    units, memory = plausible.positive(stats, "core_count"), plausible.positive(stats, "memory_size")
    bandwidth = plausible.positive(stats, "memory_bandwidth") * (2 if _is_amd(stats) else 1)
    capacity, roof = entry.peaks.capacity_bytes, entry.peaks.hbm
    return (
        units > 0
        and units == entry.compute_units
        and (capacity is None or 0.93 <= memory / capacity <= 1.085)
        and (roof is None or 0.95 <= bandwidth / roof.value <= 1.05)
    )


def _peaks(stats: Mapping[str, Any], model: str) -> Peaks:
    known = hardware.device_peaks(model) if model else None
    flops, reference = _flops(stats, known)
    memory = _memory(stats, known)
    capacity = int(plausible.positive(stats, "memory_size")) or (known.capacity_bytes if known is not None else None)
    return Peaks(flops, reference, {"hbm": memory} if memory is not None else {}, capacity)


def _flops(stats: Mapping[str, Any], known: Peaks | None) -> tuple[Mapping[str, Peak], str]:
    """Return the FLOP/s roofs by element type and the type utilisation is quoted against."""
    stated = plausible.positive(stats, "peak_teraflops_per_second") * 1e12
    computed = _computed_flops(stats)
    reference = known.reference_dtype if known is not None else next(iter(computed), "")
    flops = dict(known.flops_per_s) if known is not None else dict(computed)
    if stated > 0:
        reference = reference or "bf16"
        flops[reference] = Peak(stated, "profile", _STATED)
    return flops, reference


def _computed_flops(stats: Mapping[str, Any]) -> dict[str, Peak]:
    """Return units x clock x operations per unit and cycle: what the clock allows, no datasheet's promise."""
    version = (int(plausible.positive(stats, "compute_cap_major")), int(plausible.positive(stats, "compute_cap_minor")))
    per_cycle = (_AMD_RATES if _is_amd(stats) else _NVIDIA_RATES).get(version, {})
    units, clock_hz = plausible.positive(stats, "core_count"), plausible.positive(stats, "clock_rate") * 1000
    if not units or not clock_hz:
        return {}
    unit = "compute units" if _is_amd(stats) else "multiprocessors"
    return {
        dtype: Peak(
            units * clock_hz * rate,
            "computed",
            f"{units:.0f} {unit} x {clock_hz / 1e9:.3g} GHz x {rate} operations a cycle, dense",
        )
        for dtype, rate in per_cycle.items()
    }


def _memory(stats: Mapping[str, Any], known: Peaks | None) -> Peak | None:
    """Return the roof of the main memory.

    AMD's runtime states half of the bandwidth (it counts one transfer a cycle): the datasheet's is used, else twice
    what is stated.
    """
    peak = plausible.positive(stats, "peak_hbm_bw_gigabytes_per_second") * 1e9
    if peak > 0:
        return Peak(peak, "profile", _STATED)
    stated = plausible.positive(stats, "memory_bandwidth")
    if not _is_amd(stats) and stated > 0:
        return Peak(stated, "profile", _STATED)
    if known is not None and known.hbm is not None:
        note = "; AMD's runtime states half of it" if stated else ""
        return replace(known.hbm, source=f"{known.hbm.source}{note}")
    return Peak(stated * 2, "computed", "twice what AMD's runtime states, which is half") if stated > 0 else None
