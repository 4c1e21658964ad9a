"""One memory space of one program: what is live at each of its ops, and which program needs most."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.buffer_lifetimes import Lifetimes, lifetimes
from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.errors import DamagedFileError
from xprof_nb.model.buffers import Allocation, BufferAssignment
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan:
    """One memory space of one program.

    Attributes
    ----------
    live_bytes
        Bytes that hold something while the op at each position of the program runs; at least one position.
    """

    program: Program
    color: int
    life: Lifetimes
    live_bytes: Ints

    @property
    def peak(self) -> int:
        """The first position with the most live bytes."""
        return int(np.argmax(self.live_bytes))

    @property
    def peak_bytes(self) -> int:
        """The most bytes live at once."""
        return int(self.live_bytes[self.peak])

    @property
    def allocations(self) -> list[Allocation]:
        """What the program allocates in this memory space."""
        return allocations_in(self.program.buffers, self.color)


def plan_of(program: Program, color: int) -> Plan:
    """Return one memory space of a program over program order."""
    return in_space(program, color, lifetimes(program))


def in_space(program: Program, color: int, life: Lifetimes) -> Plan:
    """Return one memory space of a program whose lifetimes are known."""
    assignment = program.buffers
    held = sum(allocation.size_bytes for allocation in allocations_in(assignment, color) if allocation.is_held)
    changes = np.zeros(max(len(life.order), 1) + 1, np.int64)
    mine = np.flatnonzero(is_temporary(assignment, color)[life.held])
    sizes = np.array([buffer.size_bytes for buffer in assignment.buffers], np.int64)[life.held[mine]]
    np.add.at(changes, life.start[mine], sizes)
    np.subtract.at(changes, life.end[mine] + 1, sizes)
    return Plan(program, color, life, held + np.cumsum(changes[:-1]))


def allocations_in(assignment: BufferAssignment, color: int) -> list[Allocation]:
    """Return what a program allocates in a memory space; a thread's own few bytes are on its stack."""
    return [each for each in assignment.allocations if each.color == color and each.kind != "thread-local"]


def allocated_bytes(program: Program, color: int) -> int:
    """Return what a program allocates in a memory space, whatever of it is live at once."""
    return sum(allocation.size_bytes for allocation in allocations_in(program.buffers, color))


def is_temporary(assignment: BufferAssignment, color: int) -> NDArray[np.bool_]:
    """Return which buffers come and go in this memory space."""
    places = assignment.allocations
    return np.array(
        [
            buffer.allocation >= 0
            and places[buffer.allocation].kind == "temporary"
            and places[buffer.allocation].color == color
            for buffer in assignment.buffers
        ],
        np.bool_,
    )


def planned_programs(profile: ProfileData, programs: list[Program], color: int) -> list[Program]:
    """Return the programs that say where they keep their values, what allocates most first."""
    planned = []
    for program in programs:
        with suppress(DamagedFileError):
            if program.buffers.allocations:
                planned.append(program)
    planned.sort(key=lambda program: -allocated_bytes(program, color))
    while planned and readable_program(profile, planned[0].id) is None:
        del planned[0]
    return planned


def largest_plan(profile: ProfileData, programs: list[Program], color: int) -> Plan:
    """Return the plan with the largest peak; no peak is above what is allocated, so few have to be worked out."""
    best = plan_of(programs[0], color)
    for program in programs[1:]:
        if allocated_bytes(program, color) <= best.peak_bytes:
            break
        if readable_program(profile, program.id) is not None:
            best = max(best, plan_of(program, color), key=lambda plan: plan.peak_bytes)
    return best
