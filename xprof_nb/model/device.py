"""What ran the work: one TensorCore, GPU, NeuronCore, or (process, ordinal) of XLA on a CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Backend = Literal["tpu", "gpu", "cpu", "neuron"]


@dataclass(frozen=True)
class Peak:
    """One roof, and why to believe it.

    Attributes
    ----------
    value
        FLOP/s or bytes/s, as the field that holds it says.
    label
        ``"profile"`` (written by the runtime), ``"datasheet"``, ``"computed"`` from units and clock, ``"measured"``
        or ``"user"``.
    source
        The document, the profile's own statement, or how and when it was measured.
    """

    value: float
    label: Literal["profile", "datasheet", "computed", "measured", "user"]
    source: str


@dataclass(frozen=True)
class Peaks:
    """The roofs of one device; a roof nobody vouches for is absent, never 0.

    Attributes
    ----------
    flops_per_s
        By element type, ``{"bf16": Peak(...), "f32": Peak(...)}``; dense, no sparsity.
    reference_dtype
        The element type utilisation is quoted against when an op does not say its own.
    bytes_per_s
        By memory: ``"hbm"`` (main memory; DRAM on a CPU), ``"vmem_read"``, ``"vmem_write"``, ``"cmem_read"`` …,
        and ``"link"``: out of the device to its neighbours, all links together, in one direction.
    capacity_bytes
        Size of the main memory, if known.
    on_chip_bytes
        Sizes of the memories nearer than that, by name.
    """

    flops_per_s: Mapping[str, Peak] = field(default_factory=dict)
    reference_dtype: str = ""
    bytes_per_s: Mapping[str, Peak] = field(default_factory=dict)
    capacity_bytes: int | None = None
    on_chip_bytes: Mapping[str, int] = field(default_factory=dict)

    @property
    def reference(self) -> Peak | None:
        """The FLOP/s roof of the reference element type."""
        return self.flops_per_s.get(self.reference_dtype)

    @property
    def hbm(self) -> Peak | None:
        """The roof of the main memory."""
        return self.bytes_per_s.get("hbm")

    @property
    def link(self) -> Peak | None:
        """The roof of the links to other devices."""
        return self.bytes_per_s.get("link")


@dataclass(frozen=True)
class Device:
    """One device of one host.

    Attributes
    ----------
    name
        As people call it: ``"TPU:0"``, ``"CPU:3"``.
    ordinal
        The number in the name.
    chip
        Local chip the core sits on; cores of one chip share it.
    global_chip
        Number of that chip among those of all hosts, if the runtime says it.
    model
        ``"TPU v6 Lite"``, or the processor's name, ``""`` if unknown.
    kind
        ``"SparseCore"`` for a core beside the main one of a chip, which times of the device leave out; else ``""``.
    vendor
        Of a GPU as its runtime states it, in capitals; ``""`` if unknown.
    stated
        Numbers a GPU's runtime states of it, in its words and units: ``core_count``, ``clock_rate`` (kHz) …; and
        ``host_gpu_count``, those of the host that ran nothing included.
    """

    host: str
    backend: Backend
    ordinal: int
    name: str
    model: str = ""
    chip: int | None = None
    global_chip: int | None = None
    peaks: Peaks = field(default_factory=Peaks)
    kind: str = ""
    vendor: str = ""
    stated: Mapping[str, float] = field(default_factory=dict)
