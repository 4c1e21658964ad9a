"""How many bytes a fusion reads and writes: what is inside never leaves the processor.

The rules of XLA's ``HloCostAnalysis::HandleFusion``: the output, plus for each parameter what its users inside
really read of it, plus constants too large to be part of the code.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xprof_nb.analysis.costs.traffic import UNKNOWN_TRAFFIC, Traffic, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xprof_nb.model.program import Computation, Instruction, Program
    from xprof_nb.model.shape import Shape

_LARGEST_IMMEDIATE_ELEMENTS = 1


class Body:
    """A fused computation, with its parameters and the users of each instruction.

    Parameters
    ----------
    computation
        What the fusion calls.
    """

    def __init__(self, computation: Computation) -> None:
        self.instructions = computation.instructions
        self.by_name: Mapping[str, Instruction] = {inner.name: inner for inner in computation.instructions}
        self.root = self.by_name[computation.root]
        self.parameters = {i.parameter_number: i for i in computation.instructions if i.opcode == "parameter"}
        self.indexing = next((i for i in computation.instructions if i.opcode in {"gather", "scatter"}), None)
        self.read_bytes: dict[str, float] = {}
        self.users: dict[str, list[Instruction]] = {}
        for inner in computation.instructions:
            for operand in dict.fromkeys(inner.operands):
                self.users.setdefault(operand, []).append(inner)


def indexing_instruction(fusion: Instruction, program: Program, bodies: dict[str, Body]) -> Instruction | None:
    """Return the gather or scatter a custom fusion is built around; XLA counts that alone."""
    body = _body(fusion, program, bodies)
    return None if body is None or fusion.fusion_kind != "kCustom" else body.indexing


def fusion_traffic(fusion: Instruction, program: Program, bodies: dict[str, Body]) -> Traffic:
    """Return what a fusion reads and writes.

    Parameters
    ----------
    bodies
        Bodies analysed so far, by computation name; those it needs are added.
    """
    body = _body(fusion, program, bodies)
    if body is None:
        return UNKNOWN_TRAFFIC
    parts = _written(fusion.shape, body)
    parts += [
        (inner.shape, float(inner.shape.top_level_bytes))
        for inner in body.instructions
        if inner.opcode == "constant" and inner.shape.elements > _LARGEST_IMMEDIATE_ELEMENTS
    ]
    for parameter in body.parameters.values():
        parts += _read(parameter, body, program, bodies)
    return counted(parts)


def _body(fusion: Instruction, program: Program, bodies: dict[str, Body]) -> Body | None:
    name = fusion.called[0] if fusion.called else ""
    if name not in bodies and name in program.computations:
        bodies[name] = Body(program.computations[name])
    return bodies.get(name)


def _written(shape: Shape, body: Body) -> list[tuple[Shape, float]]:
    """Return each array of the output; of one updated in place only the update."""
    if not shape.is_tuple:
        return [_written_array(shape, body.root, body)]
    members = body.root.operands if body.root.opcode == "tuple" else ()
    parts = []
    for i, member in enumerate(shape.tuple_shapes):
        if member.is_tuple:
            parts += [(leaf, float(leaf.top_level_bytes)) for leaf in member.leaves() if leaf.is_array]
        elif member.is_array:
            parts.append(_written_array(member, body.by_name[members[i]] if i < len(members) else None, body))
    return parts


def _written_array(shape: Shape, source: Instruction | None, body: Body) -> tuple[Shape, float]:
    if source is not None and source.opcode == "dynamic-update-slice":
        return shape, float(body.by_name[source.operands[1]].shape.top_level_bytes)
    return shape, float(shape.top_level_bytes) if shape.is_array else 0.0


def _read(parameter: Instruction, body: Body, program: Program, bodies: dict[str, Body]) -> list[tuple[Shape, float]]:
    """Return what is read of a parameter; of a tuple, of each leaf.

    As XLA: a leaf that nothing inside asks for reads the table of pointers it would be found in.
    """
    parts: list[tuple[Shape, float]] = []
    for path in _leaf_paths(parameter.shape):
        value = parameter
        for place in path:
            value = _member(value, place, body) or value
        parts.append((value.shape, _read_bytes(value, body, program, bodies)))
    return parts


def _leaf_paths(shape: Shape) -> Iterator[tuple[int, ...]]:
    if not shape.is_tuple:
        yield ()
    for place, member in enumerate(shape.tuple_shapes):
        for path in _leaf_paths(member):
            yield (place, *path)


def _member(value: Instruction, place: int, body: Body) -> Instruction | None:
    return next(
        (
            user
            for user in body.users.get(value.name, ())
            if user.opcode == "get-tuple-element" and user.attributes.get("tuple_index", 0) == place
        ),
        None,
    )


def _read_bytes(value: Instruction, body: Body, program: Program, bodies: dict[str, Body]) -> float:
    """Return how much of a parameter is read: slices add up, all other users share one read of the whole.

    Kept with the body: fusions inside fusions would ask for the innermost again and again.
    """
    if value.name not in body.read_bytes:
        body.read_bytes[value.name] = math.nan  # what a body that calls itself reads is unknown
        body.read_bytes[value.name] = _sum_of_reads(value, body, program, bodies)
    return body.read_bytes[value.name]


def _sum_of_reads(value: Instruction, body: Body, program: Program, bodies: dict[str, Body]) -> float:
    whole = value.shape.top_level_bytes
    size = 0.0
    read_whole = False
    for user in body.users.get(value.name, ()):
        target = user.operands[0] == value.name
        if user.opcode == "fusion":
            inner = _body(user, program, bodies)
            for place, operand in enumerate(user.operands):
                if inner is not None and operand == value.name and place in inner.parameters:
                    size += _read_bytes(inner.parameters[place], inner, program, bodies)
        elif user.opcode == "slice" or (user.opcode == "dynamic-slice" and target):
            size += user.shape.top_level_bytes
        elif user.opcode == "dynamic-update-slice" and target:
            continue
        elif user.opcode in {"broadcast", "reshape"}:
            size += whole
        elif not read_whole:
            read_whole = True
            size += whole
    return size
