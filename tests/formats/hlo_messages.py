"""HLO programs for tests: compiled by JAX, parsed from XLA's text, or written message by message."""

from __future__ import annotations

from typing import Any

import pytest

from xprof_nb.formats.hlo import read_program
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.model.program import Program


def compiled(function: Any, *arguments: Any) -> Any:
    """Return the optimised ``HloModule`` XLA made of a function on the CPU."""
    jax = pytest.importorskip("jax")
    cpu = jax.devices("cpu")[0]
    with jax.default_device(cpu):
        executable = jax.jit(function).lower(*arguments).compile().runtime_executable()
    return executable.hlo_modules()[0]


def parsed(text: str) -> Any:
    """Return the ``HloModule`` of HLO text."""
    return pytest.importorskip("jaxlib._hlo").hlo_module_from_text(text)


def proto_of(module: Any) -> bytes:
    """Return a serialized HloProto around a module, as a profile holds it."""
    message = message_class("HloProto")()
    message.hlo_module.MergeFromString(module.as_serialized_hlo_module_proto())
    return message.SerializeToString()


def program_of(module: Any) -> Program:
    return read_program(proto_of(module), program_id=7, name=module.name, file="a.xplane.pb")


def small_proto() -> Any:
    """Return an HloProto message of one computation, ``r = p + p``, for a test to change."""
    message = message_class("HloProto")()
    module = message.hlo_module
    module.name, module.entry_computation_name, module.entry_computation_id = "jit_f", "main", 3
    computation = module.computations.add(name="main", id=3, root_id=2)
    parameter = computation.instructions.add(name="p", opcode="parameter", id=1)
    total = computation.instructions.add(name="r", opcode="add", id=2, operand_ids=[1, 1])
    for instruction in (parameter, total):
        instruction.shape.element_type = 11
        instruction.shape.dimensions.extend([4, 3])
        instruction.shape.layout.minor_to_major.extend([1, 0])
    return message


def program_from(message: Any) -> Program:
    return read_program(message.SerializeToString(), program_id=7, name="jit_f", file="a.xplane.pb")


def chained_proto(steps: int) -> Any:
    """Return the small program followed by ``p -> a0 -> a1 …``, the last the result."""
    message = small_proto()
    computation = message.hlo_module.computations[0]
    for number in range(steps):
        added = computation.instructions.add(name=f"a{number}", opcode="negate", id=3 + number)
        added.operand_ids.append(1 if number == 0 else 2 + number)
        added.shape.CopyFrom(computation.instructions[0].shape)
    computation.root_id = 2 + steps
    return message
