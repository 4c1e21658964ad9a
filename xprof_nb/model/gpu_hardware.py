"""Which GPU is it, and what can it do: told from what its driver counts, since profiles seldom name the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xprof_nb.model import hardware
from xprof_nb.model.device import Peak, Peaks

_GIB_PER_GB = 2**30 / 1e9
_PER_UNIT_AND_CYCLE = {
    (7, 0): {"f32": 128, "f16": 1024},
    (7, 5): {"f32": 128, "f16": 1024},
    (8, 0): {"f32": 128, "tf32": 1024, "bf16": 2048, "f16": 2048},
    (8, 6): {"f32": 256, "tf32": 512, "bf16": 1024, "f16": 1024},
    (8, 9): {"f32": 256, "tf32": 512, "bf16": 1024, "f16": 1024, "f8": 2048},
    (9, 0): {"f32": 256, "tf32": 2048, "bf16": 4096, "f16": 4096, "f8": 8192},
    (10, 0): {"tf32": 4096, "bf16": 8192, "f16": 8192, "f8": 16384},
}
"""Dense FLOPs of one SM in one cycle by compute capability, from NVIDIA's architecture papers."""


@dataclass(frozen=True)
class GpuFacts:
    """What a driver says of a GPU; 0 and ``""`` are unknown.

    Attributes
    ----------
    vendor
        ``"NVIDIA"`` or ``"AMD"``; runtimes that name none are of NVIDIA.
    compute_units
        SMs, or compute units of AMD.
    capability
        NVIDIA's compute capability, (8, 0).
    """

    vendor: str = ""
    name: str = ""
    compute_units: int = 0
    clock_hz: float = 0.0
    memory_bytes: int = 0
    memory_bytes_per_s: float = 0.0
    capability: tuple[int, int] = (0, 0)

    @property
    def is_amd(self) -> bool:
        """Whether it is made by AMD."""
        return self.vendor.lower() == "amd"


def gpu_peaks(facts: GpuFacts) -> tuple[str, Peaks]:
    """Return the model, ``""`` if it cannot be told, and the roofs the profile vouches for.

    ROCm states half of an AMD GPU's bandwidth: it counts one transfer a cycle where HBM makes two. What a known
    model's datasheet adds is not repeated here; see `xprof_nb.model.roofs.roofs_of`.
    """
    entry = hardware.find(facts.name) if facts.name else _by_counts(facts)
    sheet = Peaks() if entry is None else entry.peaks
    speeds: dict[str, Peak] = {}
    if facts.memory_bytes_per_s > 0 and not facts.is_amd:
        speeds["hbm"] = Peak(facts.memory_bytes_per_s, "profile", "memory bandwidth stated by the driver")
    elif facts.memory_bytes_per_s > 0 and sheet.hbm is None:
        source = "twice what ROCm states, which leaves out that HBM transfers twice a cycle"
        speeds["hbm"] = Peak(2 * facts.memory_bytes_per_s, "calculated", source)
    elif sheet.hbm is not None and facts.is_amd:
        stated = f"; ROCm states {facts.memory_bytes_per_s / 1e9:,.0f} GB/s" if facts.memory_bytes_per_s else ""
        speeds["hbm"] = replace(sheet.hbm, source=f"{sheet.hbm.source}{stated}")
    flops = sheet.flops_per_s or _calculated(facts)
    reference = sheet.reference_dtype or next((dtype for dtype in ("bf16", "f16", "f32") if dtype in flops), "")
    capacity = facts.memory_bytes or sheet.capacity_bytes
    peaks = replace(
        sheet,
        flops_per_s=flops,
        reference_dtype=reference,
        bytes_per_s={**sheet.bytes_per_s, **speeds},
        capacity_bytes=capacity,
    )
    return (facts.name or (entry.name if entry is not None else "")), peaks


def _by_counts(facts: GpuFacts) -> hardware.Hardware | None:
    """Return the entry of as many units, as much memory and as fast; of two such the one with the nearer clock."""
    vendor = "AMD" if facts.is_amd else "NVIDIA"
    fitting = [
        entry
        for entry in hardware.entries()
        if entry.vendor == vendor
        and entry.compute_units == facts.compute_units
        and _fits_memory(entry, facts)
        and _fits_bandwidth(entry, facts)
    ]
    return min(fitting, key=lambda entry: abs((entry.clock_hz or 0.0) - facts.clock_hz), default=None)


def _fits_memory(entry: hardware.Hardware, facts: GpuFacts) -> bool:
    capacity = entry.peaks.capacity_bytes
    # Vendors' GB are often GiB, less what the driver keeps.
    return capacity is None or 0.93 <= facts.memory_bytes / capacity <= _GIB_PER_GB + 0.01


def _fits_bandwidth(entry: hardware.Hardware, facts: GpuFacts) -> bool:
    stated = facts.memory_bytes_per_s * (2 if facts.is_amd else 1)
    return entry.peaks.hbm is None or 0.95 <= stated / entry.peaks.hbm.value <= 1.05


def _calculated(facts: GpuFacts) -> dict[str, Peak]:
    """Return units times clock times what a unit does in a cycle, none where that is not known."""
    per_cycle = _PER_UNIT_AND_CYCLE.get(facts.capability, {}) if not facts.is_amd else {}
    if not facts.compute_units or not facts.clock_hz:
        return {}
    text = f"{facts.compute_units} SMs x {facts.clock_hz / 1e6:,.0f} MHz x"
    return {
        dtype: Peak(facts.compute_units * facts.clock_hz * flops, "calculated", f"{text} {flops} FLOP a cycle")
        for dtype, flops in per_cycle.items()
    }
