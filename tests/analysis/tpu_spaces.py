"""Made-up TPU profiles: cores, programs and ops with the stats libtpu writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.formats.hlo_messages import small_proto
from tests.xspace_builder import PlaneBuilder, SpaceBuilder

MS = 10**9
HBM, CMEM, VMEM = 1, 2, 3
READ, WRITE = 1, 2
PEAKS = {
    "device_type_string": "TPU v5 lite",
    "peak_teraflops_per_second": 197.0,
    "peak_hbm_bw_gigabytes_per_second": 819.0,
    "peak_vmem_rd_bw_gigabytes_per_second": 22000.0,
    "peak_vmem_wr_bw_gigabytes_per_second": 15000.0,
    "has_merged_vmem": 1,
    "has_megacore": 0,
}


@dataclass(frozen=True)
class Op:
    """One op of a program.

    Attributes
    ----------
    breakdown
        (space, access, bytes) each.
    text
        Its HLO; made up if empty.
    """

    name: str
    category: str
    program: int = 7
    flops: int = 0
    model_flops: int | None = None
    bytes_accessed: int = 0
    breakdown: tuple[tuple[int, int, int], ...] = ()
    tf_op: str = ""
    stats: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    def add(self, plane: PlaneBuilder, number: int) -> str:
        """Add the op's metadata to a plane; return its name there."""
        text = self.text or f"%{self.name} = f32[8,8]{{1,0}} {self.category.replace(' ', '-')}()"
        text += f", program={self.program}"  # metadata of two programs must not share an entry
        stats: dict[str, Any] = {
            "hlo_category": self.category,
            "program_id": self.program,
            "symbol_id": number,
            "flops": self.flops,
            "model_flops": self.flops if self.model_flops is None else self.model_flops,
            "bytes_accessed": self.bytes_accessed,
            **self.stats,
        }
        if self.breakdown:
            stats["memory_access_breakdown"] = b"".join(_access(*access) for access in self.breakdown)
        if self.tf_op:
            stats["tf_op"] = self.tf_op
        plane.metadata(text, stats, display_name=self.name)
        return text


def _access(space: int, kind: int, size: int) -> bytes:
    body = bytes([8, kind, 16, space, 24]) + _varint(size)
    return bytes([10, len(body)]) + body


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def programs(space: SpaceBuilder, names: Mapping[int, str]) -> None:
    """Describe programs by number and name, with hardly an instruction in them."""
    protos = {}
    for number, name in names.items():
        message = small_proto()
        message.hlo_module.name, message.hlo_module.id = name, number
        protos[f"{name}({number})"] = message.SerializeToString()
    space.hlo(protos)


def core(
    space: SpaceBuilder,
    ordinal: int,
    ops: Sequence[Op],
    events: Sequence[tuple[int, float, float]],
    modules: Sequence[tuple[str, float, float]] = (),
    **stats: Any,
) -> PlaneBuilder:
    """Add a TensorCore.

    Parameters
    ----------
    events
        (row of ``ops``, start, duration) in ms.
    modules
        (``module(program id)``, start, duration) in ms.
    """
    plane = space.plane(f"/device:TPU:{ordinal}", {**PEAKS, **stats})
    names = [op.add(plane, number) for number, op in enumerate(ops, 1)]
    if modules:
        line = plane.line("XLA Modules")
        for run, (name, start, duration) in enumerate(modules, 1):
            line.event(name, round(start * MS), round(duration * MS), run_id=run)
    line = plane.line("XLA Ops")
    for row, start, duration in events:
        line.event(names[row], round(start * MS), round(duration * MS))
    return plane
