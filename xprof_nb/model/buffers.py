"""Where a compiled program keeps its values: XLA's buffer assignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Kind = Literal["parameter", "output", "constant", "thread-local", "temporary"]
ALLOC, FREE, SHARE_WITH = 0, 1, 2
ShapeIndex = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LogicalBuffer:
    """One array, or one table of pointers of a tuple, that an instruction defines.

    Attributes
    ----------
    instruction, shape_index
        What defines it: the part of an instruction's value, ``()`` for all of it.
    color
        The memory space.
    allocation, offset_bytes
        Row of `BufferAssignment.allocations` it lies in, and where; -1 if in none.
    """

    id: int
    instruction: str
    shape_index: ShapeIndex
    size_bytes: int
    color: int
    allocation: int
    offset_bytes: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """One piece of memory that buffers share.

    Attributes
    ----------
    index
        XLA's number of it.
    parameter_number, parameter_index
        Which part of which parameter of the program it holds, -1 and ``()`` if none.
    buffers
        Rows of `BufferAssignment.buffers` that lie in it.
    """

    index: int
    size_bytes: int
    color: int
    is_thread_local: bool
    is_parameter: bool
    is_output: bool
    is_constant: bool
    is_tuple: bool
    parameter_number: int
    parameter_index: ShapeIndex
    buffers: tuple[int, ...]

    @property
    def kind(self) -> Kind:
        """What it is for; a parameter that an output takes over is a parameter."""
        if self.is_parameter:
            return "parameter"
        if self.is_output:
            return "output"
        if self.is_thread_local:
            return "thread-local"
        return "constant" if self.is_constant else "temporary"

    @property
    def is_held(self) -> bool:
        """Whether it is the program's for the whole run, whatever its buffers do."""
        return self.is_parameter or self.is_output or self.is_constant


@dataclass(frozen=True, eq=False)
class HeapTrace:
    """How XLA's heap simulator filled one allocation: E events in program order.

    Attributes
    ----------
    kind
        `ALLOC`, `FREE` or `SHARE_WITH`.
    buffer, shared_with
        Rows of `BufferAssignment.buffers`; -1 for an id it does not have.
    """

    kind: Ints
    buffer: Ints
    shared_with: Ints

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True)
class BufferAssignment:
    """The buffers of one program.

    Attributes
    ----------
    aliases
        Rows of `buffers` that the value of an instruction at a shape index may be, beside its own.
    donated
        ``(output index, parameter number, parameter index)`` of inputs whose memory an output takes over.
    """

    buffers: tuple[LogicalBuffer, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    traces: tuple[HeapTrace, ...] = ()
    aliases: Mapping[tuple[str, ShapeIndex], tuple[int, ...]] = field(default_factory=dict)
    donated: tuple[tuple[ShapeIndex, int, ShapeIndex], ...] = ()

    @property
    def colors(self) -> tuple[int, ...]:
        """Memory spaces that hold anything."""
        return tuple(sorted({allocation.color for allocation in self.allocations if allocation.size_bytes > 0}))
