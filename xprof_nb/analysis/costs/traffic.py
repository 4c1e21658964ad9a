"""How many bytes one instruction reads and writes, by opcode.

The rules of XLA's ``HloCostAnalysis`` (xla/service/hlo_cost_analysis.cc): the output and every operand once,
except where an instruction touches only a part, or nothing. Unlike XLA, an asynchronous operation is counted once,
where it starts, not again where it is waited for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from xprof_nb.analysis.costs.rules import NO_WORK_TARGETS, is_library_call_with_known_shapes
from xprof_nb.model.shape import HOST_MEMORY_SPACE, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xprof_nb.model.program import Instruction


class Traffic(NamedTuple):
    """Bytes of one occurrence; NaN is unknown.

    Attributes
    ----------
    accessed_bytes
        Read and written together, in whatever memory.
    host_bytes
        The part of it that crosses to or from the host's memory.
    """

    accessed_bytes: float = 0.0
    host_bytes: float = 0.0


NO_TRAFFIC = Traffic()
UNKNOWN_TRAFFIC = Traffic(math.nan, math.nan)


def traffic_of(instruction: Instruction, operands: Sequence[Shape], called: Sequence[Traffic]) -> Traffic:
    """Return what an instruction reads and writes; of a fusion see `cost_fusion.fusion_traffic`.

    Parameters
    ----------
    operands
        Shapes of its operands.
    called
        Traffic of the computations it calls, once each.
    """
    rule = _RULES.get(instruction.opcode)
    return _everything(instruction, operands) if rule is None else rule(instruction, operands, called)


def counted(parts: Sequence[tuple[Shape, float]]) -> Traffic:
    """Return the sum over (shape, bytes of it that move)."""
    return Traffic(
        float(sum(moved for _, moved in parts)),
        float(sum(moved for shape, moved in parts if shape.memory_space == HOST_MEMORY_SPACE)),
    )


def _everything(instruction: Instruction, operands: Sequence[Shape]) -> Traffic:
    """Count the output and every operand; an operand that is a tuple is read as its table of pointers."""
    shape = instruction.shape
    accessed = shape.bytes
    host = _host_bytes(shape)
    for operand in operands:
        accessed += operand.top_level_bytes
        if operand.memory_space == HOST_MEMORY_SPACE:
            host += operand.bytes
    return Traffic(float(accessed), float(host))


def _host_bytes(shape: Shape) -> int:
    return sum(leaf.bytes for leaf in shape.leaves() if leaf.memory_space == HOST_MEMORY_SPACE)


def _nothing(_: Instruction, __: Sequence[Shape], ___: Sequence[Traffic]) -> Traffic:
    return NO_TRAFFIC


def _pointers(instruction: Instruction, _: Sequence[Shape], __: Sequence[Traffic]) -> Traffic:
    return Traffic(float(instruction.shape.top_level_bytes))


def _transpose(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    """Nothing moves when the layouts make the transpose a change of names."""
    before, after = operands[0].minor_to_major, instruction.shape.minor_to_major
    order = instruction.attributes.get("dimensions", ())
    if before is not None and after is not None and tuple(order[place] for place in after) == before:
        return NO_TRAFFIC
    return _everything(instruction, operands)


def _slice(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    size = instruction.shape.top_level_bytes
    return counted([(instruction.shape, size), (operands[0], size)])


def _dynamic_slice(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    size = instruction.shape.top_level_bytes
    index = operands[1]
    return counted([(instruction.shape, size), (operands[0], size), (index, index.top_level_bytes)])


def _dynamic_update_slice(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    update, index = operands[1], operands[2]
    size = update.top_level_bytes
    return counted([(instruction.shape, size), (update, size), (index, index.top_level_bytes)])


def _gather(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    size = instruction.shape.top_level_bytes
    indices = operands[1]
    return counted([(instruction.shape, size), (operands[0], size), (indices, indices.top_level_bytes)])


def _scatter(_: Instruction, operands: Sequence[Shape], __: Sequence[Traffic]) -> Traffic:
    targets = len(operands) // 2
    indices = operands[targets]
    parts: list[tuple[Shape, float]] = [(indices, indices.top_level_bytes)]
    for target, update in zip(operands[:targets], operands[targets + 1 :], strict=True):
        size = update.top_level_bytes
        parts += [(target, 2 * size), (update, size)]
    return counted(parts)


def _cholesky(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    half = operands[0].top_level_bytes / 2
    return counted([(operands[0], half), (instruction.shape, half)])


def _triangular_solve(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    a, b = operands[0], operands[1]
    out = instruction.shape
    return counted([(out, out.top_level_bytes), (a, a.top_level_bytes / 2), (b, b.top_level_bytes)])


def _all_reduce(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    arrays = [(leaf, leaf.top_level_bytes) for leaf in instruction.shape.leaves() if leaf.is_array]
    return counted([*arrays, *((operand, operand.top_level_bytes) for operand in operands)])


def _infeed(instruction: Instruction, _: Sequence[Shape], __: Sequence[Traffic]) -> Traffic:
    size = float(sum(leaf.top_level_bytes for leaf in instruction.shape.leaves()))
    return Traffic(size, size)


def _outfeed(_: Instruction, operands: Sequence[Shape], __: Sequence[Traffic]) -> Traffic:
    size = float(sum(leaf.top_level_bytes for operand in operands for leaf in operand.leaves()))
    return Traffic(size, size)


def _copy_start(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    """Count one read and one write; across to the host goes what is copied, if one of the ends is there."""
    target = instruction.shape.tuple_shapes[0]
    return counted([(operands[0], operands[0].bytes), (target, target.bytes)])


def _exchange_start(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    """Count what goes in and what comes out: the output is a tuple of both, and of the compiler's own."""
    members = instruction.shape.tuple_shapes
    result = members[1] if len(members) > 1 else instruction.shape
    return counted([(leaf, leaf.bytes) for shape in (*operands, result) for leaf in shape.leaves()])


def _called_once(_: Instruction, __: Sequence[Shape], called: Sequence[Traffic]) -> Traffic:
    return Traffic(sum(t.accessed_bytes for t in called), sum(t.host_bytes for t in called))


def _conditional(_: Instruction, __: Sequence[Shape], called: Sequence[Traffic]) -> Traffic:
    # NaN, an unknown branch, wins over any number.
    worst = max(called, key=lambda t: (math.isnan(t.accessed_bytes), t.accessed_bytes), default=NO_TRAFFIC)
    return Traffic(worst.accessed_bytes, max((t.host_bytes for t in called), default=0.0))


def _custom_call(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Traffic]) -> Traffic:
    """Return the operands and results of a library call that reads each once; of any other it is unknown."""
    if instruction.custom_call_target in NO_WORK_TARGETS:
        return NO_TRAFFIC
    if not is_library_call_with_known_shapes(instruction, operands):
        return UNKNOWN_TRAFFIC
    results = list(instruction.shape.leaves())
    if len(results) > 1 and results[-1].dtype in {"s8", "u8"}:
        results.pop()  # the library's scratch space
    return counted([(shape, shape.top_level_bytes) for shape in (*results, *operands)])


_RULES: Mapping[str, Callable[[Instruction, Sequence[Shape], Sequence[Traffic]], Traffic]] = {
    "add-dependency": _nothing,
    "after-all": _nothing,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "all-gather-done": _nothing,
    "all-gather-start": _exchange_start,
    "all-reduce-done": _nothing,
    "async-done": _nothing,
    "async-start": _called_once,
    "async-update": _nothing,
    "bitcast": _nothing,
    "call": _called_once,
    "cholesky": _cholesky,
    "conditional": _conditional,
    "constant": _nothing,
    "collective-permute-done": _nothing,
    "collective-permute-start": _exchange_start,
    "copy-done": _nothing,
    "copy-start": _copy_start,
    "custom-call": _custom_call,
    "domain": _nothing,
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
    "gather": _gather,
    "get-tuple-element": _nothing,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "parameter": _nothing,
    "recv-done": _nothing,
    "scatter": _scatter,
    "send-done": _nothing,
    "slice": _slice,
    "transpose": _transpose,
    "triangular-solve": _triangular_solve,
    "tuple": _pointers,
    "while": _called_once,
}
