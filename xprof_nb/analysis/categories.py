"""What kind of work an op is: XLA's category of an instruction, and the kind of work a category stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xprof_nb.model.program import Instruction, Program

WorkKind = Literal["matrix", "elementwise", "data", "collective", "custom", "host", "control", "idle"]

MATRIX_OPCODES = frozenset({"dot", "convolution", "ragged-dot", "cholesky", "triangular-solve"})
DATA_OPCODES = frozenset(
    {
        *(
            "bitcast",
            "bitcast-convert",
            "broadcast",
            "concatenate",
            "copy",
            "copy-start",
            "copy-done",
            "dynamic-reshape",
        ),
        *("dynamic-slice", "dynamic-update-slice", "gather", "iota", "pad", "reshape", "reverse", "scatter", "slice"),
        *("transpose", "data formatting", "get-dimension-size", "set-dimension-size"),
    }
)
COLLECTIVE_OPCODES = frozenset(
    {
        *("all-gather", "all-reduce", "all-to-all", "collective-broadcast", "collective-permute", "ragged-all-to-all"),
        *("reduce-scatter", "send", "recv"),
    }
)
ELEMENTWISE_OPCODES = frozenset(
    {
        *("abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert", "cbrt", "ceil"),
        *("clamp", "compare", "complex", "convert", "cos", "cosh", "count-leading-zeros", "divide", "erf"),
        *(
            "exponential",
            "exponential-minus-one",
            "floor",
            "imag",
            "is-finite",
            "log",
            "log-plus-one",
            "logistic",
            "map",
        ),
        *("maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision"),
        *("remainder", "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "shift-left"),
        *("shift-right-arithmetic", "shift-right-logical", "sign", "sine", "cosine", "sinh", "sqrt"),
        *("stochastic-convert", "subtract", "tan", "tanh", "xor"),
    }
)
_FORMATTING_OPCODES = frozenset({"copy", "dynamic-reshape", "reshape", "transpose"})
_FUSIONS = {"kLoop": "loop fusion", "kInput": "input fusion", "kOutput": "output fusion", "kCustom": "custom fusion"}
_NO_WORK = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"})
_MOVING = DATA_OPCODES - {"bitcast", "broadcast", "iota"}
_INDEXING = frozenset({"add", "and", "clamp", "compare", "convert", "multiply", "or", "select", "subtract"})
_HOST_WORDS = ("infeed", "outfeed", "host ", "host-")
_CONTROL = frozenset(
    {
        *("while", "call", "conditional", "tuple", "get-tuple-element", "parameter", "constant", "after-all"),
        *("add-dependency", "domain", "opt-barrier", "optimization-barrier", "partition-id", "replica-id"),
        *("async", "rng-get-and-update-state", "unknown", ""),
    }
)
_TENSORFLOW_MATRIX_OPS = (
    *("matmul", "batchmatmul", "batchmatmulv2", "batchmatmulv3", "_fusedmatmul", "einsum", "conv2d", "conv3d"),
    *("conv2dbackpropfilter", "conv2dbackpropinput", "conv3dbackpropfilterv2", "conv3dbackpropinputv2"),
    *("_fusedconv2d", "depthwiseconv2dnative"),
)
_KINDS: Mapping[str, WorkKind] = {
    **dict.fromkeys(DATA_OPCODES, "data"),
    **dict.fromkeys(COLLECTIVE_OPCODES, "collective"),
    **dict.fromkeys(MATRIX_OPCODES, "matrix"),
    **dict.fromkeys(_CONTROL, "control"),
    **dict.fromkeys(("custom-call", "kernel", "command buffer"), "custom"),
    **dict.fromkeys(("device-to-device copy", "peer-to-peer copy", "copy", "memory fill"), "data"),
    **dict.fromkeys(_TENSORFLOW_MATRIX_OPS, "matrix"),
    "collective": "collective",
    "idle": "idle",
}


def category(instruction: Instruction, program: Program) -> str:
    """Return what xprof calls the instruction's category.

    XLA's own names (``HloInstruction::ToCategory``: the opcode, "data formatting", "non-fusion elementwise",
    "loop fusion" …) with what TPU profiles say where that is more telling: a fusion around a dot or convolution
    is a "convolution fusion", one that only moves data is "data formatting"; an asynchronous wrapper is named
    after the collective it starts.
    """
    opcode = instruction.opcode
    if opcode == "fusion":
        return _fusion_category(instruction, program)
    if opcode == "convolution":
        return _convolution_category(instruction)
    if opcode in {"send", "send-done", "recv", "recv-done"} and instruction.attributes.get("is_host_transfer"):
        return f"host {opcode}"
    if opcode in {"async-start", "async-update", "async-done"}:
        return _async_category(instruction, program)
    if opcode in _FORMATTING_OPCODES:
        return "data formatting"
    return "non-fusion elementwise" if opcode in ELEMENTWISE_OPCODES else opcode


def work_kind(category: str) -> WorkKind:
    """Return the kind of work a category stands for, of any runtime's vocabulary."""
    name = category.lower()
    if any(word in name for word in _HOST_WORDS):
        return "host"
    base = name.removesuffix(" fusion")
    for suffix in ("-start", "-update", "-done"):
        base = base.removesuffix(suffix)
    base = "convolution" if base.startswith("convolution") else base
    return _KINDS.get(base, "elementwise")


def _fusion_category(instruction: Instruction, program: Program) -> str:
    inner = list(_fused(instruction, program))
    opcodes = {each.opcode for each in inner} - _NO_WORK
    if opcodes & MATRIX_OPCODES:
        return "convolution fusion"
    if _only_moves_data(inner, opcodes):
        return "data formatting"
    return _FUSIONS.get(instruction.fusion_kind, "fusion")


def _fused(fusion: Instruction, program: Program) -> Iterator[Instruction]:
    """Yield what a fusion computes, fusions inside it opened."""
    pending, seen = list(fusion.called), set(fusion.called)
    while pending:
        body = program.computations.get(pending.pop())
        for inner in body.instructions if body is not None else ():
            if inner.opcode != "fusion":
                yield inner
                continue
            pending += [name for name in inner.called if name not in seen]
            seen.update(inner.called)


def _only_moves_data(inner: Sequence[Instruction], opcodes: set[str]) -> bool:
    """Return whether every value computed in a fusion is an element moved, or an index for that."""
    if not opcodes & _MOVING or opcodes - DATA_OPCODES - _INDEXING:
        return False
    # Clamping and wrapping a start index is integer arithmetic on a scalar.
    return all(
        not each.shape.dimensions and each.shape.dtype[:1] in {"s", "u", "p"}
        for each in inner
        if each.opcode in _INDEXING
    )


def _convolution_category(instruction: Instruction) -> str:
    dimensions = instruction.attributes.get("window", {}).get("dimensions", ())
    name = "convolution"
    if any(dimension.get("base_dilation", 1) > 1 for dimension in dimensions):
        name += " base-dilated"
    if any(dimension.get("window_dilation", 1) > 1 for dimension in dimensions):
        name += " window-dilated"
    return name


def _async_category(instruction: Instruction, program: Program) -> str:
    """Return ``"all-to-all-start"`` for an ``async-start`` around an all-to-all."""
    wrapped = next((program.computations.get(name) for name in instruction.called), None)
    root = None if wrapped is None else program.instruction(wrapped.root)
    stage = instruction.opcode.removeprefix("async")
    return instruction.opcode if root is None else category(root, program) + stage
