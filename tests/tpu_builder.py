"""Made-up TPU cores: ops, program runs, asynchronous ops and steps, on one clock, in microseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.xspace_builder import PlaneBuilder, SpaceBuilder

US = 10**6
PROGRAM = 7
PEAKS = {
    "device_type_string": "TPU v5 lite",
    "peak_teraflops_per_second": 197.0,
    "peak_hbm_bw_gigabytes_per_second": 819.0,
}
Span = tuple[str, int, int]
"""Name, start and duration in microseconds."""


class Core:
    """One TensorCore or SparseCore."""

    def __init__(self, space: SpaceBuilder, name: str = "/device:TPU:0", **stats: Any) -> None:
        self.plane: PlaneBuilder = space.plane(name, PEAKS | stats)
        self._prefix = "Sparse Core " if "SparseCore" in name else ""
        self._symbols = 0

    def op(self, name: str, category: str, text: str = "", **stats: Any) -> None:
        """Describe an op; unless ``text`` gives it, its HLO text is one of no consequence."""
        self._symbols += 1
        known = {"hlo_category": category, "program_id": PROGRAM, "symbol_id": self._symbols, **stats}
        self.plane.metadata(text or f"%{name} = f32[8]{{0}} {category}()", known, name)
        self.plane.alias(name, text or f"%{name} = f32[8]{{0}} {category}()")

    def ops(self, spans: Iterable[Span]) -> Any:
        """Let described ops run."""
        return self._line(f"{self._prefix or 'XLA '}Ops", spans)

    def runs(self, spans: Iterable[Span]) -> None:
        """Let programs run; the name is ``module(id)``."""
        line = self.plane.line(f"{self._prefix or 'XLA '}Modules")
        for number, (name, start, duration) in enumerate(spans, 1):
            line.event(name, start * US, duration * US, run_id=number)

    def steps(self, spans: Iterable[Span]) -> None:
        """Mark steps by number."""
        self._line(f"{self._prefix}Steps", spans)

    def asynchronous(self, spans: Iterable[Span]) -> None:
        """Show asynchronous ops from start to done; the name is that of the start half."""
        self._line("Async XLA Ops", spans)

    def _line(self, name: str, spans: Iterable[Span]) -> Any:
        line = self.plane.line(name)
        for op, start, duration in spans:
            line.event(op, start * US, duration * US)
        return line
