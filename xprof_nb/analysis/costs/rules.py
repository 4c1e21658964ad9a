"""How many floating-point operations one instruction costs, by opcode.

The rules of XLA's ``HloCostAnalysis`` (xla/service/hlo_cost_analysis.cc), so that our numbers are the ones XLA
plans with. A multiply-add counts as two; types are not weighted.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xprof_nb.analysis.categories import ELEMENTWISE_OPCODES
from xprof_nb.model.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xprof_nb.model.program import Instruction


class Work(NamedTuple):
    """Operations of one occurrence; NaN is unknown."""

    flops: float = 0.0
    transcendentals: float = 0.0

    def times(self, count: int) -> Work:
        """Return the work of `count` repetitions."""
        return Work(self.flops * count, self.transcendentals * count)


NO_WORK = Work()
UNKNOWN_WORK = Work(math.nan, math.nan)
TRANSCENDENTAL_OPCODES = frozenset(
    {
        *("acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosh", "cosine", "erf", "exponential"),
        *("exponential-minus-one", "log", "log-plus-one", "logistic", "power", "rsqrt", "sine", "sinh", "sqrt"),
        *("tan", "tanh"),
    }
)
NO_WORK_TARGETS = frozenset(
    {
        *("AllocateBuffer", "CreateBuffer", "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"),
        *("MoveToDevice", "MoveToHost", "annotate_device_placement", "AssumeGatherIndicesInBound", "Pin", "Unpin"),
    }
)
"""Custom calls that only tell the compiler something: XLA's -1 would make a known 0 unknown."""

_LARGEST_KERNEL = 2**24
_CUDNN_CONVOLUTIONS = {"__cudnn$convForward", "__cudnn$convBiasActivationForward", "__cudnn$convForwardGraph"}


def work_of(instruction: Instruction, operands: Sequence[Shape], called: Sequence[Work]) -> Work:
    """Return what an instruction computes.

    Parameters
    ----------
    operands
        Shapes of its operands.
    called
        Work of the computations it calls, once each, in the order of ``instruction.called``.
    """
    opcode = instruction.opcode
    rule = _RULES.get(opcode)
    if rule is not None:
        return rule(instruction, operands, called)
    if opcode in TRANSCENDENTAL_OPCODES:
        return Work(transcendentals=float(instruction.shape.elements))
    if opcode in ELEMENTWISE_OPCODES:
        return Work(float(instruction.shape.elements))
    return NO_WORK


def dot_flops(result: Shape, lhs: Shape, contracting: Sequence[int]) -> float:
    """Return ``2 * elements of the result * product of the contracted sizes``."""
    return 2.0 * result.elements * math.prod(lhs.dimensions[dimension] for dimension in contracting)


def convolution_flops(instruction: Instruction, lhs: Shape, rhs: Shape, result: Shape) -> float:
    """Return the multiply-adds of a convolution, twice; kernel positions over padding or holes do not count."""
    attributes = instruction.attributes
    numbers = attributes.get("convolution_dimension_numbers", {})
    window = attributes.get("window", {}).get("dimensions", ())
    kernel_places = numbers.get("kernel_spatial_dimensions", ())
    input_places = numbers.get("input_spatial_dimensions", ())
    output_places = numbers.get("output_spatial_dimensions", ())
    pairs = math.prod(
        _valid_pairs(dimension, lhs.dimensions[i], rhs.dimensions[k], result.dimensions[o])
        for dimension, k, i, o in zip(window, kernel_places, input_places, output_places, strict=True)
    )
    input_features = lhs.dimensions[numbers.get("input_feature_dimension", 0)]
    output_features = result.dimensions[numbers.get("output_feature_dimension", 0)]
    batch = lhs.dimensions[numbers.get("input_batch_dimension", 0)]
    multiply_adds = (
        (input_features // max(1, attributes.get("feature_group_count", 1)))
        * output_features
        * (batch // max(1, attributes.get("batch_group_count", 1)))
        * pairs
    )
    return float(2 * multiply_adds)


def _valid_pairs(window: Mapping[str, int], size: int, kernel: int, output: int) -> int:
    """Count the (kernel, output) positions of one dimension that read an element of the input.

    Output ``o`` and kernel ``k`` read position ``o*stride - padding + k*window_dilation`` of the input with its
    holes; it holds an element when it is a multiple of ``base_dilation`` and within ``size`` elements.
    """
    if kernel > _LARGEST_KERNEL:
        raise ValueError(f"a convolution kernel of {kernel} elements in one dimension")
    stride, base = window.get("stride", 1) or 1, window.get("base_dilation", 1) or 1
    shift = window.get("padding_low", 0) - np.arange(kernel, dtype=np.int64) * (window.get("window_dilation", 1) or 1)
    first = np.maximum(0, -(-shift // stride))
    last = np.minimum(output - 1, (shift + (size - 1) * base) // stride)
    # o*stride == shift (mod base) has solutions o == residue (mod period) where the common divisor divides shift.
    divisor = math.gcd(stride, base)
    period = base // divisor
    residue = shift // divisor * pow(stride // divisor, -1, period) % period
    counts = (last - residue) // period - (first - 1 - residue) // period
    return int(np.where((shift % divisor == 0) & (last >= first), counts, 0).sum())


def _dot(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Work]) -> Work:
    numbers = instruction.attributes.get("dot_dimension_numbers", {})
    return Work(dot_flops(instruction.shape, operands[0], numbers.get("lhs_contracting_dimensions", ())))


def _ragged_dot(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Work]) -> Work:
    """Return the work of all groups together: each row meets the matrix of its own group only.

    XLA leaves the number of rows out.
    """
    numbers = instruction.attributes.get("ragged_dot_dimension_numbers", {})
    contracting = numbers.get("dot_dimension_numbers", {}).get("lhs_contracting_dimensions", ())
    flops = dot_flops(instruction.shape, operands[0], contracting)
    groups_in_result = set(numbers.get("lhs_ragged_dimensions", ())) & set(contracting)
    return Work(flops / max(1, instruction.shape.dimensions[0]) if groups_in_result else flops)


def _convolution(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Work]) -> Work:
    return Work(convolution_flops(instruction, operands[0], operands[1], instruction.shape))


def _map(instruction: Instruction, _: Sequence[Shape], called: Sequence[Work]) -> Work:
    return called[0].times(instruction.shape.elements)


def _reduce(instruction: Instruction, operands: Sequence[Shape], called: Sequence[Work]) -> Work:
    return called[0].times(operands[0].elements - _first_array(instruction.shape).elements)


def _reduce_window(instruction: Instruction, _: Sequence[Shape], called: Sequence[Work]) -> Work:
    window = instruction.attributes.get("window", {}).get("dimensions", ())
    outputs = _first_array(instruction.shape).elements
    broadcast_size = _broadcast_reduction(window, instruction.shape)
    if broadcast_size:
        return called[0].times(outputs // broadcast_size + broadcast_size - 1)
    return called[0].times((_window_size(window) - 1) * outputs)


def _broadcast_reduction(window: Sequence[Mapping[str, int]], result: Shape) -> int:
    """Return the size of the one dimension a window reduces over as a whole, 0 if it is an ordinary window.

    Such a window spans the dimension from every place of it, which is a reduce and a broadcast.
    """
    reduced = [(i, dimension) for i, dimension in enumerate(window) if dimension.get("size", 0) != 1]
    padded = [i for i, d in enumerate(window) if d.get("padding_low", 0) or d.get("padding_high", 0)]
    if result.is_tuple or len(reduced) != 1 or len(padded) != 1:
        return 0
    place, dimension = reduced[0]
    low, high = dimension.get("padding_low", 0), dimension.get("padding_high", 0)
    whole = low == high != 0 and dimension.get("size", 0) == 2 * low + 1 and low == result.dimensions[place] - 1
    return result.dimensions[place] if whole else 0


def _select_and_scatter(instruction: Instruction, operands: Sequence[Shape], called: Sequence[Work]) -> Work:
    window = _window_size(instruction.attributes.get("window", {}).get("dimensions", ()))
    sources = operands[1].elements
    select, scatter = called[0].times(sources * (window - 1)), called[1].times(sources)
    return Work(select.flops + scatter.flops, select.transcendentals + scatter.transcendentals)


def _scatter(_: Instruction, operands: Sequence[Shape], called: Sequence[Work]) -> Work:
    return called[0].times(operands[len(operands) // 2 + 1].elements)


def _sort(_: Instruction, operands: Sequence[Shape], __: Sequence[Work]) -> Work:
    elements = operands[0].elements
    return Work(float(elements * (elements - 1).bit_length()) if elements else 0.0)


def _fft(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Work]) -> Work:
    logarithms = math.prod(length.bit_length() - 1 for length in instruction.attributes.get("fft_length", ()))
    return Work(8.0 * logarithms * _first_array(operands[0]).elements)


def _cholesky(_: Instruction, operands: Sequence[Shape], __: Sequence[Work]) -> Work:
    return Work(float(operands[0].dimensions[-1] * operands[0].elements // 3))


def _triangular_solve(_: Instruction, operands: Sequence[Shape], __: Sequence[Work]) -> Work:
    return Work(2.0 * operands[0].dimensions[-1] * operands[1].elements)


def _random(instruction: Instruction, _: Sequence[Shape], __: Sequence[Work]) -> Work:
    return Work(transcendentals=float(sum(leaf.elements for leaf in instruction.shape.leaves())))


def _all_reduce(instruction: Instruction, _: Sequence[Shape], __: Sequence[Work]) -> Work:
    # As XLA: of two participants, whatever the number of devices.
    return Work(float(sum(leaf.elements for leaf in instruction.shape.leaves())))


def _called_once(_: Instruction, __: Sequence[Shape], called: Sequence[Work]) -> Work:
    return Work(sum(work.flops for work in called), sum(work.transcendentals for work in called))


def _conditional(_: Instruction, __: Sequence[Shape], called: Sequence[Work]) -> Work:
    return Work(
        float(np.max([work.flops for work in called], initial=0)),
        float(np.max([work.transcendentals for work in called], initial=0)),
    )


def _custom_call(instruction: Instruction, operands: Sequence[Shape], _: Sequence[Work]) -> Work:
    """Return the work of a library call whose shapes tell it; of any other it is unknown."""
    target = instruction.custom_call_target
    if target in NO_WORK_TARGETS:
        return NO_WORK
    result = _first_array(instruction.shape)
    contracting = gemm_contracting_dimensions(instruction, operands)
    if contracting is not None:
        return Work(dot_flops(result, operands[0], contracting))
    # The dimension numbers of a backward convolution are those of the forward one it belongs to.
    if target in _CUDNN_CONVOLUTIONS:
        return Work(convolution_flops(instruction, operands[0], operands[1], result))
    if target == "__cudnn$convBackwardInput":
        return Work(convolution_flops(instruction, result, operands[1], operands[0]))
    if target == "__cudnn$convBackwardFilter":
        return Work(convolution_flops(instruction, operands[0], result, operands[1]))
    return UNKNOWN_WORK


def gemm_contracting_dimensions(instruction: Instruction, operands: Sequence[Shape]) -> tuple[int, ...] | None:
    """Return the contracted dimensions of the left operand of a matrix-multiplication library call, else None."""
    config = _json(instruction.backend_config)
    if "gemm_backend_config" in config:
        numbers = config["gemm_backend_config"].get("dot_dimension_numbers", {})
        return tuple(int(dimension) for dimension in numbers.get("lhs_contracting_dimensions", ()))
    if instruction.custom_call_target == "__onednn$matmul":
        transposed = config.get("onednn_matmul_config", {}).get("transpose_a", False)
        return (len(operands[0].dimensions) - (2 if transposed else 1),)
    return None


def is_library_call_with_known_shapes(instruction: Instruction, operands: Sequence[Shape]) -> bool:
    """Return whether a custom call is a matrix multiplication or convolution of a vendor's library."""
    return instruction.custom_call_target.startswith("__cudnn$conv") or (
        gemm_contracting_dimensions(instruction, operands) is not None
    )


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text.startswith("{") else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _first_array(shape: Shape) -> Shape:
    return next(shape.leaves(), Shape("invalid"))


def _window_size(window: Sequence[Mapping[str, int]]) -> int:
    return math.prod(dimension.get("size", 0) for dimension in window)


_RULES: Mapping[str, Callable[[Instruction, Sequence[Shape], Sequence[Work]], Work]] = {
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "async-start": _called_once,
    "call": _called_once,
    "cholesky": _cholesky,
    "conditional": _conditional,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "dot": _dot,
    "fft": _fft,
    "fusion": _called_once,
    "map": _map,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "rng": _random,
    "rng-bit-generator": _random,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
    "while": _called_once,
}
