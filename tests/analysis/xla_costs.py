"""Per-instruction costs as XLA's own HloCostAnalysis gives them: the oracle of ours.

XLA's Python API totals a whole module, so every instruction is put, with the computations it calls, into a module of
its own whose parameters stand for its operands.
"""

from __future__ import annotations

from typing import Any

import pytest

from xprof_nb.formats.hlo_schema import message_class

KEYS = ("flops", "transcendentals", "bytes accessed")
FREE = {"parameter", "constant"}


def module_cost(module: Any) -> tuple[float, ...]:
    """Return flops, transcendentals and bytes of a module; -1 is unknown to XLA."""
    jax = pytest.importorskip("jax")
    analyse = pytest.importorskip("jaxlib._jax").hlo_module_cost_analysis
    properties = analyse(jax.devices("cpu")[0].client, module)
    return tuple(float(properties.get(key, 0)) for key in KEYS)


def instruction_costs(proto: bytes) -> dict[str, tuple[float, ...]]:
    """Return the cost of every instruction of an HloProto but parameters and constants."""
    hlo = pytest.importorskip("jaxlib._hlo")
    message = message_class("HloProto")()
    message.ParseFromString(proto)
    module = message.hlo_module
    computations = {computation.id: computation for computation in module.computations}
    costs = {}
    for computation in module.computations:
        by_id = {instruction.id & 0xFFFFFFFF: instruction for instruction in computation.instructions}
        for instruction in computation.instructions:
            if instruction.opcode not in FREE:
                alone = _module_around(instruction, computation.id, by_id, computations)
                costs[instruction.name] = module_cost(hlo.HloModule.from_serialized_hlo_module_proto(alone))
    return costs


def _module_around(instruction: Any, computation_id: int, by_id: dict[int, Any], computations: dict[int, Any]) -> bytes:
    module = message_class("HloModule")()
    module.name, module.entry_computation_name, module.entry_computation_id = "alone", "alone", computation_id
    for id_ in _closure(instruction, computations):
        module.computations.add().CopyFrom(computations[id_])
    entry = module.computations.add(name="alone", id=computation_id, root_id=instruction.id)
    shapes = []
    for number, id_ in enumerate(dict.fromkeys(instruction.operand_ids)):
        operand = by_id[id_ & 0xFFFFFFFF]
        stand_in = entry.instructions.add(name=operand.name, opcode="parameter", id=id_, parameter_number=number)
        stand_in.shape.CopyFrom(operand.shape)
        shapes.append(operand.shape)
    root = entry.instructions.add()
    root.CopyFrom(instruction)
    del root.control_predecessor_ids[:]
    # The signature (ProgramShapeProto: parameters, result, names), which profiles' readers have no use for.
    signature = b"".join(_field(1, shape.SerializeToString()) for shape in shapes)
    signature += _field(2, instruction.shape.SerializeToString()) + b"".join(_field(3, b"p") for _ in shapes)
    return module.SerializeToString() + _field(4, signature)


def _closure(instruction: Any, computations: dict[int, Any]) -> list[int]:
    """Return the ids of what an instruction calls, directly or not, callees first."""
    found: list[int] = []
    for id_ in instruction.called_computation_ids:
        for inner in computations[id_].instructions:
            found += _closure(inner, computations)
        found.append(id_)
    return list(dict.fromkeys(found))


def _field(number: int, payload: bytes) -> bytes:
    size, length = len(payload), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + payload
