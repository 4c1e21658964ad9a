"""What XLA compiled: a program, its computations, their instructions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xprof_nb.model.buffers import BufferAssignment
from xprof_nb.model.hlo_text import instruction_text
from xprof_nb.model.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Computation", "Instruction", "Module", "Program", "Shape"]


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One HLO instruction.

    Attributes
    ----------
    name
        Unique in its program; what a profile calls the op.
    operands
        Names of the instructions it reads.
    called
        Names of the computations it calls, in XLA's order (body before condition of a while).
    computation
        Name of the computation it belongs to.
    op_name, op_type
        The framework's path and kind, ``"jit(step)/transpose(jvp())/dot_general"``.
    duplicate_of
        Name shared by instructions the compiler made from the same source, ``""`` for none.
    source_file, source_line
        Innermost line of the user's own code, libraries skipped; ``""`` and 0 when unknown.
    source_stack
        ``"file:line:column"`` of every frame known, outermost first.
    backend_config
        What the compiler's backend noted, usually JSON.
    attributes
        The rest by field name of XLA's ``HloInstructionProto``; a field left at its default is absent,
        a message is a mapping, a list a tuple, an enum its name.
    """

    name: str
    opcode: str
    shape: Shape
    operands: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    computation: str = ""
    op_name: str = ""
    op_type: str = ""
    source_file: str = ""
    source_line: int = 0
    source_stack: tuple[str, ...] = ()
    backend_config: str = ""
    fusion_kind: str = ""
    custom_call_target: str = ""
    parameter_number: int = -1
    duplicate_of: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The source line as ``"file:line"``, ``""`` when unknown."""
        return f"{self.source_file}:{self.source_line}" if self.source_file else ""


@dataclass(frozen=True, slots=True, eq=False)
class Computation:
    """A body of instructions, operands before their users.

    Attributes
    ----------
    root
        Name of the instruction whose value the computation returns.
    schedule
        Instruction names in the order they run; None when the program is not scheduled.
    """

    name: str
    instructions: tuple[Instruction, ...]
    root: str
    schedule: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """The content of a program.

    Attributes
    ----------
    entry
        Name of the computation that runs first.
    computations
        By name, callees before callers.
    num_partitions, replica_count
        Over how many devices it was split and copied.
    """

    entry: str
    computations: Mapping[str, Computation]
    num_partitions: int = 1
    replica_count: int = 1


class Program:
    """One compiled XLA program.

    Parameters
    ----------
    id
        The program id events refer to it by.
    name
        Module name, ``"jit_train_step"``.
    load, load_buffers
        Give the content and the buffers; each is called once, when it is first asked for, and may raise
        `xprof_nb.errors.DamagedFileError`.
    serialized
        The ``HloProto`` it is read from; empty when it comes from elsewhere.
    """

    def __init__(
        self,
        id: int,  # noqa: A002
        name: str,
        load: Callable[[], Module],
        load_buffers: Callable[[], BufferAssignment] = BufferAssignment,
        serialized: bytes = b"",
    ) -> None:
        self.id = id
        self.name = name
        self.serialized = serialized
        self._load = load
        self._load_buffers = load_buffers

    def __repr__(self) -> str:
        """Return the name as XLA writes it, ``jit_train_step(7)``."""
        return f"<Program {self.name}({self.id})>"

    def with_id(self, number: int) -> Program:
        """Return the same program under another id."""
        return Program(number, self.name, self._load, self._load_buffers, self.serialized)

    @cached_property
    def module(self) -> Module:
        """The content, read when first asked for."""
        return self._load()

    @property
    def entry(self) -> str:
        """Name of the computation that runs first."""
        return self.module.entry

    @property
    def computations(self) -> Mapping[str, Computation]:
        """Computations by name, callees before callers."""
        return self.module.computations

    @cached_property
    def buffers(self) -> BufferAssignment:
        """Where it keeps its values, read when first asked for; empty when the profile does not say."""
        return self._load_buffers()

    @property
    def num_partitions(self) -> int:
        """Over how many devices one copy of the program is split."""
        return self.module.num_partitions

    @property
    def replica_count(self) -> int:
        """How many copies of the program run."""
        return self.module.replica_count

    @cached_property
    def instructions(self) -> Mapping[str, Instruction]:
        """Every instruction of every computation, by name."""
        return {
            instruction.name: instruction
            for computation in self.computations.values()
            for instruction in computation.instructions
        }

    def instruction(self, name: str) -> Instruction | None:
        """Return the instruction of that name."""
        return self.instructions.get(name)

    def text(self, name: str) -> str:
        """Return one instruction as XLA prints it.

        Raises
        ------
        KeyError
            The program has no instruction of that name.
        """
        return instruction_text(self.instructions[name], self)

    def schedule(self, computation: str) -> tuple[str, ...]:
        """Return instruction names in the order they run; in dependency order when XLA fixed none.

        Raises
        ------
        KeyError
            The program has no computation of that name.
        """
        found = self.computations[computation]
        if found.schedule is not None:
            return found.schedule
        return tuple(instruction.name for instruction in found.instructions)
