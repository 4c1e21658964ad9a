"""What one occurrence of each instruction of a program costs: operations and bytes.

XLA's ``HloCostAnalysis`` over the HLO of a profile, natively: no XLA needed, and per instruction. Equal to XLA's
numbers (up to its float32 sums) except, on purpose:

* what XLA cannot know is NaN, not -1, and so is every sum it is part of;
* an asynchronous copy or collective counts what it reads and writes once, at its start, and nothing at its end;
* a ragged dot counts its rows;
* matrix multiplications and convolutions handed to a vendor's library count what their shapes say;
* custom calls that only annotate cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xprof_nb.analysis.costs.fusion import Body, fusion_traffic, indexing_instruction
from xprof_nb.analysis.costs.rules import UNKNOWN_WORK, Work, work_of
from xprof_nb.analysis.costs.traffic import UNKNOWN_TRAFFIC, Traffic, traffic_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xprof_nb.model.program import Computation, Instruction, Program
    from xprof_nb.model.shape import Shape

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Cost(NamedTuple):
    """The cost of one occurrence; NaN is unknown."""

    flops: float
    transcendentals: float
    bytes_accessed: float
    host_bytes: float


UNKNOWN_COST = Cost(*[float("nan")] * 4)


@dataclass(frozen=True, eq=False)
class CostTable:
    """The cost of one occurrence of each instruction, as columns.

    Attributes
    ----------
    rows
        Row of an instruction, by name.
    flops
        Floating-point operations, shape [rows], as the other columns; NaN is unknown. A multiply-add is two.
    transcendentals
        Exponentials, square roots and the like, not part of `flops`.
    bytes_accessed
        Bytes read and written, in any memory.
    host_bytes
        The part of them in the host's memory.
    total
        The entry computation once: the body of a loop counts once however often it runs.
    """

    rows: Mapping[str, int]
    flops: Floats
    transcendentals: Floats
    bytes_accessed: Floats
    host_bytes: Floats
    total: Cost

    def __len__(self) -> int:
        """Return the number of instructions."""
        return len(self.rows)

    def cost(self, name: str) -> Cost:
        """Return the cost of the instruction of that name, all NaN if there is none."""
        row = self.rows.get(name)
        if row is None:
            return UNKNOWN_COST
        columns = (self.flops, self.transcendentals, self.bytes_accessed, self.host_bytes)
        return Cost(*(float(column[row]) for column in columns))


def instruction_costs(program: Program) -> CostTable:
    """Return the cost of every instruction of a program.

    A while, call or conditional costs what it calls, once; where its children are seen in a profile, they carry
    the cost.
    """
    analysis = _Analysis(program)
    for computation in program.computations.values():
        analysis.add(computation)
    values = np.array(analysis.costs, dtype=np.float64).reshape(-1, len(Cost._fields))
    flops, transcendentals, bytes_accessed, host_bytes = np.ascontiguousarray(values.T)
    work, traffic = analysis.work.get(program.entry, UNKNOWN_WORK), analysis.traffic.get(program.entry, UNKNOWN_TRAFFIC)
    total = Cost(*work, *traffic)
    return CostTable(analysis.rows, flops, transcendentals, bytes_accessed, host_bytes, total)


@dataclass(eq=False)
class _Analysis:
    """Costs of the computations seen so far; callees come before callers."""

    program: Program
    rows: dict[str, int] = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
    work: dict[str, Work] = field(default_factory=dict)
    traffic: dict[str, Traffic] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)

    def add(self, computation: Computation) -> None:
        shapes: dict[str, Shape] = {}
        sums = [0.0] * len(Cost._fields)
        for instruction in computation.instructions:
            shapes[instruction.name] = instruction.shape
        for instruction in computation.instructions:
            cost = self._cost(instruction, shapes)
            self.rows[instruction.name] = len(self.costs)
            self.costs.append(cost)
            sums = [total + value for total, value in zip(sums, cost, strict=True)]
        self.work[computation.name] = Work(*sums[:2])
        self.traffic[computation.name] = Traffic(*sums[2:])

    def _cost(self, instruction: Instruction, shapes: Mapping[str, Shape]) -> Cost:
        operands = [shapes[name] for name in instruction.operands]
        try:
            if instruction.opcode == "fusion":
                return self._fusion_cost(instruction, operands)
            work = work_of(instruction, operands, [self.work.get(name, UNKNOWN_WORK) for name in instruction.called])
            called = [self.traffic.get(name, UNKNOWN_TRAFFIC) for name in instruction.called]
            return Cost(*work, *traffic_of(instruction, operands, called))
        except (IndexError, ValueError, OverflowError, ZeroDivisionError):
            # An instruction of a shape its opcode does not allow: nothing can be said of its cost.
            return UNKNOWN_COST

    def _fusion_cost(self, fusion: Instruction, operands: Sequence[Shape]) -> Cost:
        indexing = indexing_instruction(fusion, self.program, self.bodies)
        if indexing is not None:
            return self.costs[self.rows[indexing.name]]
        work = work_of(fusion, operands, [self.work.get(name, UNKNOWN_WORK) for name in fusion.called])
        return Cost(*work, *fusion_traffic(fusion, self.program, self.bodies))
