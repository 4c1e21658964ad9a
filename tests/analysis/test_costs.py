"""Costs of instructions: equal to XLA's own analysis, to closed forms and to what a TPU's runtime stated."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis import xla_costs
from tests.analysis.hlo_snippets import SNIPPETS, module_text
from tests.formats.hlo_messages import compiled, parsed, program_from, program_of, proto_of, small_proto
from tests.formats.xspace_messages import parse
from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.costs.rules import convolution_flops
from xprof_nb.analysis.costs.table import instruction_costs
from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.hlo import read_program
from xprof_nb.model.program import Instruction, Program
from xprof_nb.model.shape import Shape

FLOAT32_SUM = 1e-6
WORKLOADS = (
    "mlp_step", "transformer_f32", "transformer_bf16", "convolutions", "batch_groups", "indexing", "control_flow",
    "numbers", "randomness", "linear_algebra",
)  # fmt: skip


def unknown_as_nan(cost: tuple[float, ...]) -> list[float]:
    """Return XLA's cost in our terms: its -1 flops means that nothing is known."""
    return [math.nan] * 3 if cost[0] == -1 else list(cost)


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_instruction_of_a_compiled_program_costs_what_xla_says(name: str) -> None:
    pytest.importorskip("jax")
    from tests.analysis.hlo_workloads import WORKLOADS as functions

    assert set(functions) == set(WORKLOADS)
    function, arguments = functions[name]()
    module = compiled(function, *arguments)
    ours = instruction_costs(program_of(module))
    theirs = xla_costs.instruction_costs(proto_of(module))
    assert theirs
    wrong = {
        instruction: (ours.cost(instruction)[:3], cost)
        for instruction, cost in theirs.items()
        if not np.allclose(ours.cost(instruction)[:3], unknown_as_nan(cost), rtol=FLOAT32_SUM, atol=0, equal_nan=True)
    }
    assert wrong == {}
    if not np.isnan(ours.total.flops):
        assert ours.total[:3] == pytest.approx(xla_costs.module_cost(module), rel=FLOAT32_SUM)


ASYNCHRONOUS = re.compile(r" (copy|all-gather|collective-permute)-(start|done)\(")


@pytest.mark.parametrize("snippet", [snippet for snippet in SNIPPETS if not ASYNCHRONOUS.search(snippet)])
def test_every_opcode_costs_what_xla_says(snippet: str) -> None:
    module = parsed(module_text(snippet))
    program = program_of(module)
    ours = instruction_costs(program).cost(program.computations[program.entry].root)
    assert ours[:3] == pytest.approx(xla_costs.module_cost(module), rel=FLOAT32_SUM)


@pytest.mark.parametrize(
    ("snippet", "read_bytes", "written_bytes"),
    [
        ("(f32[6,5]{1,0}, f32[6,5]{1,0}, u32[]) copy-start(p)", 120, 120),
        ("f32[6,5]{1,0} copy-done(ct)", 0, 0),
        ("(f32[6,5]{1,0}, f32[12,5]{1,0}) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}", 120, 240),
        ("(f32[6,5]{1,0}, f32[6,5]{1,0}) collective-permute-start(p), source_target_pairs={{0,1},{1,0}}", 120, 120),
    ],
)
def test_what_is_asynchronous_counts_once_where_xla_counts_it_again_and_again(
    snippet: str, read_bytes: int, written_bytes: int
) -> None:
    module = parsed(module_text(snippet))
    ours = instruction_costs(program_of(module)).total
    assert ours[:3] == (0, 0, read_bytes + written_bytes)
    assert xla_costs.module_cost(module)[2] > ours.bytes_accessed


def test_a_ragged_dot_counts_its_rows_which_xla_leaves_out() -> None:
    text = """HloModule x
    ENTRY e {
     p = f32[7,5]{1,0} parameter(0)
     r = f32[2,5,3]{2,1,0} parameter(1)
     g = s32[2]{0} parameter(2)
     ROOT x = f32[7,3]{1,0} ragged-dot(p,r,g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
    }"""  # noqa: E501
    module = parsed(text)
    assert instruction_costs(program_of(module)).total.flops == 2 * 7 * 5 * 3
    assert xla_costs.module_cost(module)[0] == 2 * 5 * 3


def test_a_custom_call_is_unknown_and_so_is_what_holds_one() -> None:
    text = """HloModule x
    ENTRY e {
     p = f32[7,5]{1,0} parameter(0)
     a = f32[7,5]{1,0} add(p,p)
     ROOT x = f32[7,5]{1,0} custom-call(a), custom_call_target="mine"
    }"""
    program = program_of(parsed(text))
    costs = instruction_costs(program)
    assert all(math.isnan(value) for value in costs.total)
    root = program.instruction(program.computations[program.entry].root)
    assert root is not None
    assert costs.cost(root.operands[0]).flops == 35
    assert math.isnan(costs.cost("no such instruction").flops)


def test_a_custom_call_that_only_annotates_costs_nothing() -> None:
    text = """HloModule x
    ENTRY e {
     p = f32[7,5]{1,0} parameter(0)
     ROOT x = f32[7,5]{1,0} custom-call(p), custom_call_target="MoveToHost"
    }"""
    assert instruction_costs(program_of(parsed(text))).total[:3] == (0, 0, 0)


def window(**values: int) -> dict[str, Any]:
    names = {"size", "stride", "padding_low", "padding_high", "base_dilation", "window_dilation"}
    assert set(values) <= names
    return values


@settings(max_examples=300, deadline=None)
@given(
    size=st.integers(1, 9),
    kernel=st.integers(1, 5),
    output=st.integers(1, 12),
    stride=st.integers(1, 4),
    padding=st.integers(-3, 6),
    base=st.integers(1, 4),
    dilation=st.integers(1, 4),
)
def test_convolution_counts_the_pairs_that_read_an_element(
    size: int, kernel: int, output: int, stride: int, padding: int, base: int, dilation: int
) -> None:
    dimension = window(size=kernel, stride=stride, padding_low=padding, base_dilation=base, window_dilation=dilation)
    numbers = {
        "input_spatial_dimensions": (2,), "kernel_spatial_dimensions": (2,), "output_spatial_dimensions": (2,),
        "input_feature_dimension": 1, "output_feature_dimension": 1,
    }  # fmt: skip
    attributes = {"window": {"dimensions": (dimension,)}, "convolution_dimension_numbers": numbers}
    result = Shape("f32", (2, 5, output))
    instruction = Instruction("c", "convolution", result, attributes=attributes)
    elements = {position * base for position in range(size)}
    pairs = sum(
        o * stride - padding + k * dilation in elements for o, k in itertools.product(range(output), range(kernel))
    )
    found = convolution_flops(instruction, Shape("f32", (2, 3, size)), Shape("f32", (5, 3, kernel)), result)
    assert found == 2 * 2 * 3 * 5 * pairs


def test_the_textbook_convolution() -> None:
    """A 3x3 kernel with SAME padding over 8x8, 3 to 4 features: 22 valid positions a dimension."""
    pytest.importorskip("jax")
    from jax import lax

    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    module = compiled(convolve, np.ones((1, 8, 8, 3), np.float32), np.ones((3, 3, 3, 4), np.float32))
    assert instruction_costs(program_of(module)).total.flops == 2 * 3 * 4 * 22 * 22 == 11616


def corpus_programs(folder: Path) -> dict[str, Program]:
    (file,) = folder.glob("plugins/profile/*/*.xplane.pb")
    metadata = next(plane for plane in parse(file.read_bytes()).planes if plane.name == "/host:metadata")
    return {
        event.name: read_program(stat.bytes_value, program_id=id_, name=event.name.partition("(")[0], file=str(file))
        for id_, event in metadata.event_metadata.items()
        for stat in event.stats
        if stat.WhichOneof("value") == "bytes_value"
    }


def test_tpu_fusions_cost_what_the_runtime_stated(corpus: Path) -> None:
    program = next(p for name, p in corpus_programs(corpus / "tpu-v6e-psum").items() if name.startswith("jit_f("))
    costs = instruction_costs(program)
    for fusion in ("broadcast_add_fusion", "broadcast_add_fusion.1", "broadcast_add_fusion.2"):
        cost = costs.cost(fusion)
        assert (cost.flops, cost.bytes_accessed, cost.host_bytes) == (1_342_177_280, 10_737_418_240, 0)
    array = 5 * 1024 * 1024 * 256 * 4
    assert costs.cost("copy-start").host_bytes == array  # from the host
    assert costs.cost("copy-start.1").host_bytes == array  # to the host
    assert costs.cost("copy-start.1").bytes_accessed == 2 * array
    assert costs.cost("copy-done.1")[2:] == (0, 0)


def test_gpu_library_calls_cost_what_their_shapes_say(corpus: Path) -> None:
    sizes = set()
    for program in corpus_programs(corpus / "mi300x-jax-gemm").values():
        for instruction in program.instructions.values():
            if instruction.opcode == "custom-call":
                costs = instruction_costs(program).cost(instruction.name)
                m, n = instruction.shape.tuple_shapes[0].dimensions
                lhs, rhs = (program.instruction(name) for name in instruction.operands)
                assert lhs is not None
                assert rhs is not None
                k = lhs.shape.dimensions[1]
                assert rhs.shape.dimensions == (k, n)
                assert costs.flops == 2 * m * n * k
                assert costs.bytes_accessed == 2 * (m * n + m * k + k * n)
                sizes.add((m, n, k))
    assert len(sizes) == 5


def test_gpu_convolution_call_costs_what_its_shapes_say(corpus: Path) -> None:
    programs = corpus_programs(corpus / "mi300x-jax-conv")
    (program,) = (p for name, p in programs.items() if name.startswith("jit_forward_3d_conv"))
    (call,) = (i for i in program.instructions.values() if i.custom_call_target == "__cudnn$convForward")
    data, kernel = (program.instruction(name).shape for name in call.operands)  # type: ignore[union-attr]
    result = call.shape.tuple_shapes[0]
    pairs = 1
    for place, stride in zip((2, 3, 4), (1, 2, 2), strict=True):
        size, taps, outputs = data.dimensions[place], kernel.dimensions[place], result.dimensions[place]
        pairs *= sum(0 <= o * stride - 1 + k < size for o in range(outputs) for k in range(taps))
    features = data.dimensions[1] * result.dimensions[1]
    assert instruction_costs(program).cost(call.name).flops == 2 * data.dimensions[0] * features * pairs


def test_a_computation_that_calls_itself_is_unknown() -> None:
    message = small_proto()
    total = message.hlo_module.computations[0].instructions[1]
    total.opcode = "call"
    total.called_computation_ids.append(3)
    assert math.isnan(instruction_costs(program_from(message)).total.flops)


def test_an_instruction_of_impossible_shape_is_unknown() -> None:
    message = small_proto()
    total = message.hlo_module.computations[0].instructions[1]
    total.opcode = "dot"
    total.dot_dimension_numbers.lhs_contracting_dimensions.append(9)
    assert math.isnan(instruction_costs(program_from(message)).total.flops)


@pytest.fixture(scope="module")
def real_bytes() -> bytes:
    pytest.importorskip("jax")
    from tests.analysis.hlo_workloads import convolutions

    function, arguments = convolutions()
    return proto_of(compiled(function, *arguments))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_damaged_program_that_still_reads_has_a_cost_or_none(real_bytes: bytes, data: st.DataObject) -> None:
    damaged = bytearray(real_bytes)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    program = read_program(bytes(damaged), program_id=1, name="f", file="a.xplane.pb")
    try:
        names = list(program.instructions)
    except DamagedFileError:
        return
    costs = instruction_costs(program)
    assert {type(costs.cost(name).flops) for name in names} == {float}
    assert all(work_kind(category(program.instructions[name], program)) for name in names)
