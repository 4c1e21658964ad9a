"""When in its program does each buffer hold something? From which op to which.

What XLA's heap simulator replayed is taken as it is. Where a program has no such trace, and for the few buffers a
trace leaves out, lifetimes follow from the schedule: from the op that defines a buffer to the last op that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xprof_nb.model.buffers import ALLOC, FREE, SHARE_WITH, BufferAssignment, HeapTrace, LogicalBuffer, ShapeIndex
from xprof_nb.model.program import Instruction, Program
from xprof_nb.model.shape import Shape

Ints = NDArray[np.int64]
Sources = dict[ShapeIndex, tuple[int, ...]]
_STEPPED_INTO = frozenset({"while", "call", "conditional", "async-start"})


@dataclass(frozen=True, eq=False)
class Lifetimes:
    """Lifetimes of the buffers of a program, B rows as in ``program.buffers.buffers``.

    Attributes
    ----------
    order
        Names of the instructions in the order they run; loops and calls are walked into, before the op that calls.
    owner
        Row of the buffer whose memory this one uses: another's, or its own.
    held, start, end
        S spans: the owner that holds something, and the first and last position in ``order`` at which it does. One
        that a loop carries along may let go and take again.
    outputs
        Rows of the buffers that are the program's result, by their place in it.
    is_simulated
        Whether XLA's simulator placed it.
    """

    order: tuple[str, ...]
    owner: Ints
    held: Ints
    start: Ints
    end: Ints
    outputs: Mapping[ShapeIndex, tuple[int, ...]]
    is_simulated: NDArray[np.bool_]


def lifetimes(program: Program) -> Lifetimes:
    """Return when each buffer of a program is in use."""
    assignment = program.buffers
    order = program_order(program)
    position = {name: place for place, name in enumerate(order)}
    flow = _Flow(program, assignment, order)
    count = len(assignment.buffers)
    owner = np.arange(count, dtype=np.int64)
    defined = np.array([position.get(buffer.instruction, 0) for buffer in assignment.buffers], np.int64)
    is_simulated = np.zeros(count, np.bool_)
    spans: list[tuple[int, int, int]] = []
    for trace in assignment.traces:
        events = replay(trace, owner)
        is_simulated[trace.buffer[trace.buffer >= 0]] = True
        spans += _placed(events, trace, owner, defined, flow.last_use, len(order))
    spans += _by_schedule(assignment, is_simulated, owner, defined, np.maximum(defined, flow.last_use))
    held, start, end = np.array(spans, np.int64).reshape(-1, 3).T
    return Lifetimes(order, owner, held, start, end, flow.outputs, is_simulated)


def program_order(program: Program) -> tuple[str, ...]:
    """Return the instructions in the order XLA's simulator walks them: what an op calls comes before it."""
    order: list[str] = []
    seen: set[str] = set()

    def walk(computation: str) -> None:
        if computation in seen or computation not in program.computations:
            return
        seen.add(computation)
        for name in program.schedule(computation):
            instruction = program.instructions[name]
            if instruction.opcode in _STEPPED_INTO:
                # XLA lists the body of a loop first and runs its condition first.
                called = instruction.called[::-1] if instruction.opcode == "while" else instruction.called
                for inner in called:
                    walk(inner)
            order.append(name)

    walk(program.entry)
    return tuple(order)


def replay(trace: HeapTrace, owner: Ints) -> list[tuple[int, int, int]]:
    """Return ``(buffer row, event it is allocated at, event it is freed at)`` and note in ``owner`` who shares.

    Memory is freed when the last of those who share it lets go. Who shares what is already free takes it over, as a
    loop's next value takes over the one it is computed from.
    """
    place_of: dict[int, int] = {}  # the buffer that a piece of memory was first allocated for
    holder: dict[int, int] = {}
    users: dict[int, int] = {}
    opened: dict[int, int] = {}
    spans: list[tuple[int, int, int]] = []
    columns = zip(trace.kind.tolist(), trace.buffer.tolist(), trace.shared_with.tolist(), strict=True)
    for event, (kind, buffer, other) in enumerate(columns):
        if buffer < 0:
            continue
        if kind in (ALLOC, SHARE_WITH):
            place = place_of[buffer] = place_of.get(other, buffer) if kind == SHARE_WITH else buffer
            if users.get(place, 0):
                owner[buffer] = holder[place]
            else:
                holder[place], opened[place] = buffer, event
            users[place] = users.get(place, 0) + 1
        elif kind == FREE and users.get(place := place_of.get(buffer, -1), 0):
            users[place] -= 1
            if not users[place]:
                spans.append((holder[place], opened.pop(place), event))
    return [*spans, *((holder[place], first, len(trace)) for place, first in opened.items())]


def _placed(
    events: list[tuple[int, int, int]], trace: HeapTrace, owner: Ints, defined: Ints, last_use: Ints, length: int
) -> list[tuple[int, int, int]]:
    """Return spans of events as spans of positions.

    An allocation happens at its op. A free names the op of its buffer, not when: it is between the allocations
    around it, and within those bounds at the last use.
    """
    takes = (trace.kind != FREE) & (trace.buffer >= 0)
    reached = np.maximum.accumulate(np.where(takes, defined[trace.buffer], 0))
    following = np.minimum.accumulate(np.where(takes, reached, length)[::-1])[::-1]
    reached, following = np.append(reached, max(length - 1, 0)), np.append(following, length)
    used_until = last_use.copy()
    np.maximum.at(used_until, owner, last_use)
    spans = []
    for row, taken, freed in events:
        low = int(reached[freed])
        high = max(low, int(following[freed]) - 1)
        spans.append((row, int(reached[taken]), min(max(int(used_until[row]), low), high)))
    return spans


def _by_schedule(
    assignment: BufferAssignment, is_simulated: NDArray[np.bool_], owner: Ints, start: Ints, end: Ints
) -> list[tuple[int, int, int]]:
    """Return the spans of what no trace has.

    Buffers that follow each other in one place of an allocation, the last still read when the next is made, have
    one owner: the next is computed in place.
    """
    spans: list[tuple[int, int, int]] = []
    for allocation in assignment.allocations:
        rows = [row for row in allocation.buffers if not is_simulated[row]]
        rows.sort(key=lambda row: (assignment.buffers[row].offset_bytes, start[row]))
        before: LogicalBuffer | None = None
        for row in rows:
            buffer = assignment.buffers[row]
            in_place = before is not None and before.offset_bytes == buffer.offset_bytes and start[row] <= spans[-1][2]
            if in_place:
                kept, first, last = spans[-1]
                owner[row] = kept
                spans[-1] = (kept, first, max(last, int(end[row])))
            else:
                spans.append((row, int(start[row]), int(end[row])))
            before = buffer
    return spans


class _Flow:
    """Which buffers the value of each instruction may be, and the last position that reads each buffer."""

    def __init__(self, program: Program, assignment: BufferAssignment, order: tuple[str, ...]) -> None:
        self._program = program
        self._own: dict[tuple[str, ShapeIndex], tuple[int, ...]] = dict(assignment.aliases)
        for row, buffer in enumerate(assignment.buffers):
            defined = (buffer.instruction, buffer.shape_index)
            self._own[defined] = (row, *self._own.get(defined, ()))
        self._callers = _callers(program)
        self._sources: dict[str, Sources] = {}
        self.last_use = np.full(len(assignment.buffers), -1, np.int64)
        for place, name in enumerate(order):
            instruction = program.instructions[name]
            for row in self._read_by(instruction):
                self.last_use[row] = place
            self._sources[name] = {
                index: self._own.get((name, index)) or self._passed_on(instruction, index)
                for index in indices(instruction.shape)
            }
        root = program.computations[program.entry].root
        self.outputs = self._sources.get(root, {})
        for rows in self.outputs.values():
            self.last_use[list(rows)] = len(order) - 1

    def _of(self, name: str, index: ShapeIndex) -> tuple[int, ...]:
        return self._sources.get(name, {}).get(index, ())

    def _read_by(self, instruction: Instruction) -> Iterator[int]:
        """Yield the buffers an instruction reads; some only pass pointers on."""
        if instruction.opcode == "tuple":
            return
        top_alone = instruction.opcode in ("get-tuple-element", "copy")
        for operand in instruction.operands:
            if top_alone:
                yield from self._of(operand, ())
            else:
                for rows in self._sources.get(operand, {}).values():
                    yield from rows

    def _passed_on(self, instruction: Instruction, index: ShapeIndex) -> tuple[int, ...]:
        """Return the buffers of others that a value without a buffer of its own is made of."""
        origins = self._origins(instruction, index)
        if origins is None:
            origins = [(operand, inner) for operand in instruction.operands for inner in self._sources.get(operand, {})]
        return tuple(dict.fromkeys(row for origin in origins for row in self._of(*origin)))

    def _origins(self, instruction: Instruction, index: ShapeIndex) -> list[tuple[str, ShapeIndex]] | None:
        """Return the values, and where in them, that a part of a value may be; None where it may be any operand."""
        opcode, operands = instruction.opcode, instruction.operands
        if not operands and not instruction.called and opcode != "parameter":
            return []
        match opcode:
            case "get-tuple-element":
                origins = [(operands[0], (int(instruction.attributes.get("tuple_index", 0)), *index))]
            case "tuple":
                origins = [(operands[index[0]], index[1:])] if index and index[0] < len(operands) else []
            case "parameter":
                origins = [(name, index) for name in self._argument(instruction)]
            case "while" | "call" | "conditional":
                origins = [(self._program.computations[name].root, index) for name in instruction.called]
            case "copy-start" if index == (1,):
                origins = [(operands[0], ())]
            case "bitcast" | "optimization-barrier" | "add-dependency":
                origins = [(operands[0], index)]
            case "copy-done":
                origins = [(operands[0], (0, *index))]
            case _:
                return None
        return origins

    def _argument(self, parameter: Instruction) -> tuple[str, ...]:
        """Return the operand of the calling op that a parameter stands for, if anything calls its computation."""
        if parameter.computation not in self._callers:
            return ()
        caller, branch = self._callers[parameter.computation]
        number = {"while": 0, "conditional": branch + 1}.get(caller.opcode, parameter.parameter_number)
        return caller.operands[number : number + 1]


def _callers(program: Program) -> dict[str, tuple[Instruction, int]]:
    """Return who calls each computation, and as which of those it calls."""
    return {
        called: (instruction, branch)
        for computation in program.computations.values()
        for instruction in computation.instructions
        if instruction.opcode in _STEPPED_INTO
        for branch, called in enumerate(instruction.called)
    }


def indices(shape: Shape, prefix: ShapeIndex = ()) -> Iterator[ShapeIndex]:
    """Yield the places in a shape, outer before inner: ``()``, then ``(0,)``, ``(0, 0)`` and so on."""
    yield prefix
    for number, inner in enumerate(shape.tuple_shapes):
        yield from indices(inner, (*prefix, number))


def shape_of(buffer: LogicalBuffer, program: Program) -> Shape | None:
    """Return the shape of what a buffer holds; None where the program lacks its instruction."""
    instruction = program.instruction(buffer.instruction)
    shape = None if instruction is None else instruction.shape
    for number in buffer.shape_index:
        shape = shape.tuple_shapes[number] if shape is not None and number < len(shape.tuple_shapes) else None
    return shape
