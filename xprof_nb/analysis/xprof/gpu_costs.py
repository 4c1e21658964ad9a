"""What xprof counts for one occurrence of each XLA op on a GPU: the rules of XLA's ``GpuHloCostAnalysis``.

They serve XLA's fusion heuristics and are no measure of useful work: an elementwise op counts clock cycles of one
consumer GPU, a concatenation 6 or 400 an element, and a fused op counts by how often its value is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from xprof_nb.analysis.categories import ELEMENTWISE_OPCODES
from xprof_nb.analysis.costs.rules import (
    TRANSCENDENTAL_OPCODES,
    Work,
    convolution_flops,
    gemm_contracting_dimensions,
    work_of,
)
from xprof_nb.model.program import Computation, Instruction, Program
from xprof_nb.model.shape import Shape

_DEFAULT_CYCLES = 3
_CYCLES: Mapping[str, Mapping[str, int]] = {
    opcode: {dtype: int(count) for dtype, _, count in (pair.partition(":") for pair in text.split())}
    for opcode, text in {
        "add": "f64:97 c128:97",
        "atan2": "f16:482 f32:486 f64:3747 c64:5353 c128:39027",
        "cbrt": "f16:925 f32:867 f64:6339",
        "cosine": "f16:691 f32:662 f64:1717 c128:6613",
        "divide": "s8:370 s16:367 s32:306 s64:918 u8:306 u16:302 u32:115 u64:838 f64:2016 c64:687 c128:7941",
        "exponential": "f16:108 f32:86 f64:1652 c64:1360 c128:4028",
        "exponential-minus-one": "f16:396 f32:381 f64:1900 c64:1400 c128:4161",
        "log": "f16:266 f32:244 f64:608 c64:950 c128:7599",
        "log-plus-one": "f16:284 f32:262 f64:2073 c64:842 c128:6962",
        "logistic": "f16:226 f32:176 f64:2412",
        "multiply": "f64:97 c128:270",
        "power": "s8:392 s16:396 s64:601 u8:388 u16:399 u64:604 f16:975 f32:925 f64:5511 c64:3351 c128:18205",
        "rsqrt": "f16:97 f32:75 f64:698 c64:2383 c128:11318",
        "sine": "f32:662 f64:1789 c128:5878",
        "sqrt": "f16:97 f32:75 f64:986 c64:3193 c128:15606",
        "subtract": "f64:97 c128:97",
        "tanh": "f16:212 f32:190 f64:1609 c128:9939",
    }.items()
}
"""Clock cycles an element, measured through xprof itself; what is not here counts `_DEFAULT_CYCLES`."""
_ELEMENTWISE = (ELEMENTWISE_OPCODES | TRANSCENDENTAL_OPCODES) - {"map"}
_UNVISITED = frozenset({"sort", "custom-call", "all-reduce", "all-reduce-start", "reduce-scatter"})
"""Ops whose called computations XLA's analysis does not look at."""
_FREE = frozenset({"parameter", "constant", "get-tuple-element", "bitcast", "after-all", "add-dependency", "domain"})
_WARP = 32
_LARGEST_IMMEDIATE = 8
_CUBLAS_LT = "__cublas$lt$matmul"


class GpuCost(NamedTuple):
    """Of one occurrence; 0 also where nothing is known, as xprof has it."""

    flops: float
    model_flops: float
    bytes_accessed: float
    hbm_bytes: float


@dataclass(eq=False)
class _Properties:
    """XLA's properties of an instruction; ``output`` by leaf of the result, ``operands`` by operand."""

    flops: float = 0.0
    bytes: float = 0.0
    output: list[float] = field(default_factory=list)
    operands: list[float] = field(default_factory=list)
    utilization: list[float] = field(default_factory=list)


def gpu_costs(program: Program) -> dict[str, GpuCost]:
    """Return the cost of every instruction of a program, by name."""
    analysis = _Analysis(program)
    visited = _visited(program)
    for computation in program.computations.values():
        if computation.name in visited:
            analysis.add(computation)
    return {name: _cost(program, name, properties) for name, properties in analysis.properties.items()}


def _visited(program: Program) -> set[str]:
    found, pending = {program.entry}, [program.entry]
    while pending:
        for instruction in program.computations[pending.pop()].instructions:
            skipped = instruction.opcode in _UNVISITED or _indexing(instruction, program) is not None
            called = () if skipped else instruction.called
            pending += [name for name in called if name not in found]
            found.update(called)
    return found


def _indexing(fusion: Instruction, program: Program) -> Instruction | None:
    """Return the gather or scatter a custom fusion is built around: that alone is counted."""
    if fusion.opcode != "fusion" or fusion.fusion_kind != "kCustom":
        return None
    body = program.computations[fusion.called[0]]
    return next((inner for inner in body.instructions if inner.opcode in {"gather", "scatter"}), None)


def _cost(program: Program, name: str, properties: _Properties) -> GpuCost:
    """Return the properties as xprof's records hold them: unknown is 0, small types count less."""
    instruction = program.instructions[name]
    operands = [program.instructions[operand].shape for operand in instruction.operands]
    model = max(math.trunc(properties.flops), 0)
    bits = [_bits(shape) for shape in operands if shape.is_array]
    counts = instruction.opcode != "custom-call" or instruction.custom_call_target == _CUBLAS_LT
    share = {8: 2, 4: 4}.get(max(bits, default=0), 1) if counts else 1
    moved = max(math.trunc(properties.bytes), 0)
    in_hbm = zip(operands, properties.operands, strict=False)
    read = sum(math.trunc(size) for shape, size in in_hbm if shape.is_array and not shape.memory_space)
    leaves = list(instruction.shape.leaves())
    written = sum(
        math.trunc(size) for leaf, size in zip(leaves, properties.output, strict=False) if not leaf.memory_space
    )
    return GpuCost(model - (model - model // share), model, moved, (max(read, 0) + max(written, 0)) if moved else 0.0)


def _bits(shape: Shape) -> int:
    if shape.dtype == "pred":
        return 1
    return 4 if shape.dtype in {"s4", "u4"} else shape.bytes * 8 // shape.elements if shape.elements else 0


class _Analysis:
    """Properties of the computations seen so far; callees come before callers."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.properties: dict[str, _Properties] = {}
        self.sums: dict[str, _Properties] = {}

    def add(self, computation: Computation) -> None:
        shapes = {instruction.name: instruction.shape for instruction in computation.instructions}
        total = _Properties(output=[0.0])
        for instruction in computation.instructions:
            try:
                found = self._of(instruction, [shapes[name] for name in instruction.operands])
            except (IndexError, ValueError, OverflowError, ZeroDivisionError, KeyError):
                found = _Properties()  # an instruction of a shape its opcode does not allow
            self.properties[instruction.name] = found
            total = _added(total, found)
        self.sums[computation.name] = total

    def _of(self, instruction: Instruction, operands: Sequence[Shape]) -> _Properties:
        shape, opcode = instruction.shape, instruction.opcode
        output = [float(shape.top_level_bytes)] if not shape.is_tuple else [0.0] * len(list(shape.leaves()))
        sizes = [float(operand.top_level_bytes) for operand in operands]
        found = _Properties(0.0, shape.bytes + sum(sizes), output, sizes, [1.0] * len(operands))
        if opcode in _FREE or (opcode == "transpose" and _is_bitcast(instruction, operands[0])):
            return _Properties(0.0, 0.0, [0.0] * len(output), [0.0] * len(sizes), found.utilization)
        if opcode == "tuple":
            return _Properties(0.0, shape.top_level_bytes, output, [0.0] * len(sizes), found.utilization)
        if opcode == "fusion":
            return self._fusion(instruction, found)
        if opcode in {"call", "async-start", "while", "conditional"}:
            return self._calling(instruction)
        if opcode == "custom-call":
            return _custom_call(instruction, operands, found)
        found.flops = self._flops(instruction, operands)
        if opcode in _PARTIAL:
            _PARTIAL[opcode](instruction, operands, found)
        if opcode == "concatenate":
            _concatenate(instruction, operands, found)
        if opcode in {"all-gather", "all-gather-start"}:
            found.bytes = 2 * (
                sum(leaf.bytes for leaf in shape.leaves()) - (sum(sizes) if shape.is_tuple else 0)
            ) + sum(sizes)
        if opcode == "reduce-scatter":
            found.bytes = shape.bytes + 2 * sum(sizes)
        return found

    def _flops(self, instruction: Instruction, operands: Sequence[Shape]) -> float:
        opcode, shape = instruction.opcode, instruction.shape
        if opcode in _ELEMENTWISE:
            return float(_cycles(opcode, shape.dtype) * shape.elements)
        if opcode in {"all-reduce", "all-reduce-start", "reduce-scatter"}:
            body = self.program.computations[instruction.called[0]]
            root = self.program.instructions[body.root]
            return float(_cycles(root.opcode, shape.dtype) * sum(leaf.elements for leaf in shape.leaves()))
        called = [Work(self.sums[name].flops) for name in instruction.called if name in self.sums]
        return work_of(instruction, operands, called).flops

    def _calling(self, instruction: Instruction) -> _Properties:
        called = [self.sums[name] for name in instruction.called if name in self.sums]
        if instruction.opcode == "async-start" or not called:
            return _Properties()
        combined = called[0]
        for other in called[1:]:
            combined = _largest(combined, other) if instruction.opcode == "conditional" else _added(combined, other)
        return replace(combined, output=[0.0]) if instruction.shape.is_tuple else combined

    def _fusion(self, fusion: Instruction, found: _Properties) -> _Properties:
        body = self.program.computations[fusion.called[0]]
        inner = {instruction.name: instruction for instruction in body.instructions}
        indexing = _indexing(fusion, self.program)
        if indexing is not None:
            return self._of(indexing, [inner[name].shape for name in indexing.operands])
        root = inner[body.root]
        roots = [inner[name] for name in root.operands] if root.opcode == "tuple" else [root]
        leaves = list(fusion.shape.leaves())
        found.output = [float(leaf.bytes) if leaf.is_array else 0.0 for leaf in leaves]
        for place, value in enumerate(roots[: len(leaves)]):
            if value.opcode == "dynamic-update-slice":
                found.output[place] = float(inner[value.operands[1]].shape.bytes)
                self.properties[value.name].utilization[0] = 0.0
        used = self._utilizations(body, root)
        found.flops = _f32(sum(used[name] * self.properties[name].flops for name in inner))
        constants = sum(
            instruction.shape.bytes * min(used[instruction.name], 1.0)
            for instruction in body.instructions
            if instruction.opcode == "constant" and instruction.shape.elements > _LARGEST_IMMEDIATE
        )
        for instruction in body.instructions:
            if instruction.opcode == "parameter" and instruction.parameter_number < len(found.operands):
                place = instruction.parameter_number
                found.utilization[place] = used[instruction.name]
                found.operands[place] = self._read(instruction, body, used)
        found.bytes = sum(found.output) + constants + sum(found.operands)
        return found

    @staticmethod
    def _read(parameter: Instruction, body: Computation, used: Mapping[str, float]) -> float:
        if not parameter.shape.is_tuple:
            return float(math.trunc(_f32(parameter.shape.bytes * min(used[parameter.name], 1.0))))
        members = [i for i in body.instructions if i.opcode == "get-tuple-element" and parameter.name in i.operands]
        return float(sum(math.trunc(_f32(i.shape.top_level_bytes * min(used[i.name], 1.0))) for i in members))

    def _utilizations(self, body: Computation, root: Instruction) -> dict[str, float]:
        """Return how often each element of every fused value is computed on average.

        Elementwise users take an operand over with the uses of their own value; any other user asks for a share of
        it anew.
        """
        share = {root.name: 1.0}
        sharers: dict[str, set[str]] = {i.name: set() for i in body.instructions}
        sharers[root.name].add(root.name)
        used: dict[str, float] = {}
        shapes = {i.name: i.shape for i in body.instructions}
        for instruction in reversed(body.instructions):
            mine = sharers[instruction.name]
            used[instruction.name] = sum(share[name] for name in mine)
            passes = instruction.opcode in _ELEMENTWISE | {"tuple", "get-tuple-element", "copy"}
            asked = self.properties[instruction.name].utilization
            for place, operand in enumerate(instruction.operands):
                if passes:
                    sharers[operand] |= mine
                    continue
                sharers[operand].add(operand)
                elements = sum(leaf.elements for leaf in shapes[operand].leaves())
                wanted = _f32(used[instruction.name] * _f32(asked[place] if place < len(asked) else 0.0))
                wanted = _f32(math.ceil(_f32(wanted * elements)) / elements) if elements else 0.0
                share[operand] = _f32(share.get(operand, 0.0) + wanted)
        return used


def _f32(value: float) -> float:
    """Round as XLA does: whether a share rounds up to one more element hangs on it."""
    return float(np.float32(value))


def _added(one: _Properties, other: _Properties) -> _Properties:
    return _combined(one, other, float.__add__)


def _largest(one: _Properties, other: _Properties) -> _Properties:
    return _combined(one, other, max)


def _combined(one: _Properties, other: _Properties, how: Callable[[float, float], float]) -> _Properties:
    """Return the properties of two instructions together, operand by operand, as XLA keys them by number."""

    def each(left: Sequence[float], right: Sequence[float]) -> list[float]:
        return [how(float(a), float(b)) for a, b in zip_longest(left, right, fillvalue=0.0)]

    flops, moved = how(float(one.flops), float(other.flops)), how(float(one.bytes), float(other.bytes))
    alone = other.output if len(other.output) == 1 else [0.0]
    return _Properties(flops, moved, each(one.output, alone), each(one.operands, other.operands))


def _cycles(opcode: str, dtype: str) -> int:
    return _CYCLES.get(opcode, {}).get(dtype, _DEFAULT_CYCLES)


def _is_bitcast(transpose: Instruction, operand: Shape) -> bool:
    before, after = operand.minor_to_major, transpose.shape.minor_to_major
    order = transpose.attributes.get("dimensions", ())
    return before is not None and after is not None and tuple(order[place] for place in after) == before


def _custom_call(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> _Properties:
    """Return what is counted of cuBLASLt and cuDNN; nothing of any other call."""
    result = next(instruction.shape.leaves(), instruction.shape)
    if instruction.custom_call_target.startswith(_CUBLAS_LT):
        contracting = gemm_contracting_dimensions(instruction, operands) or ()
        found.flops = 2.0 * result.elements * math.prod(operands[0].dimensions[place] for place in contracting)
        return found
    if instruction.custom_call_target.startswith("__cudnn$conv"):
        found.flops = convolution_flops(instruction, operands[0], operands[1], result)
        found.bytes += result.bytes - instruction.shape.bytes  # without the library's scratch space
        return found
    return _Properties()


def _concatenate(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    """Count a compare and a branch an element, and what threads of a warp that part ways cost."""
    found.flops = 6.0 * instruction.shape.elements
    axis = next(iter(instruction.attributes.get("dimensions", ())), 0)
    if axis == 0:
        return
    if any(operand.dimensions[axis] % _WARP for operand in operands):
        found.flops = 400.0 * instruction.shape.elements


def _reduce(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    """Count the initial value once for each element of the result."""
    inputs = len(operands) // 2
    elements = next(instruction.shape.leaves()).elements
    for place in range(inputs, len(operands)):
        found.operands[place] = float(elements * operands[place].bytes)
        found.utilization[place] = float(elements)
    found.bytes = instruction.shape.bytes + sum(found.operands)


def _slice(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    size = float(instruction.shape.bytes)
    index = float(operands[1].bytes) if len(operands) > 1 else 0.0
    found.bytes, found.operands[0] = 2 * size + index, size
    found.utilization[0] = instruction.shape.elements / operands[0].elements


def _update(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    size = float(operands[1].bytes)
    found.bytes, found.output, found.operands[0] = 2 * size + operands[2].bytes, [size], 0.0
    found.utilization[0] = (instruction.shape.elements - operands[1].elements) / instruction.shape.elements


def _gather(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    size = float(instruction.shape.bytes)
    found.bytes, found.operands[0] = 2 * size + operands[1].bytes, size
    found.utilization[0] = instruction.shape.elements / operands[0].elements


def _scatter(_: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    targets = len(operands) // 2
    sizes = [float(update.bytes) for update in operands[targets + 1 :]]
    found.operands = [*sizes, float(operands[targets].bytes), *sizes]
    found.bytes = 3 * sum(sizes) + operands[targets].bytes
    if len(found.output) == 1:
        found.output = [sum(sizes)]


def _cholesky(_: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    half = operands[0].bytes / 2
    found.bytes, found.output, found.operands = 2 * half, [half], [half]


def _triangular_solve(instruction: Instruction, operands: Sequence[Shape], found: _Properties) -> None:
    found.bytes = instruction.shape.bytes + operands[0].bytes / 2 + operands[1].bytes
    found.operands = [float(operands[1].bytes), float(operands[1].bytes)]


_PARTIAL: Mapping[str, Callable[[Instruction, Sequence[Shape], _Properties], None]] = {
    "cholesky": _cholesky,
    "dynamic-slice": _slice,
    "dynamic-update-slice": _update,
    "gather": _gather,
    "reduce": _reduce,
    "scatter": _scatter,
    "slice": _slice,
    "triangular-solve": _triangular_solve,
}
