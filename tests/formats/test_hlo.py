"""HloProto -> Program: XLA's own text, source lines, schedule, and bytes that are none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pool
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.hlo_snippets import SNIPPETS, module_text
from tests.analysis.test_costs import WORKLOADS, corpus_programs
from tests.formats.hlo_messages import compiled, parsed, program_from, program_of, proto_of, small_proto
from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.hlo import read_program
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.formats.hlo_sources import is_library
from xprof_nb.model.program import Program

# XLA prints the number of a stack frame, we print the line; and some attributes we leave out.
LEFT_OUT = re.compile(
    r" ?stack_frame_id=\d+"
    r'|, frontend_attributes=\{(?:[^{}"]|"[^"]*")*\}'
    r"|, operand_layout_constraints=\{(?:[^{}]|\{[^{}]*\})*\}"
)
OUR_SOURCE = re.compile(r' ?source_file="[^"]*" source_line=\d+')


def texts_of(module: Any) -> dict[str, str]:
    """Return XLA's text of every instruction of a module, by name."""
    lines = (line.strip().removeprefix("ROOT ") for line in module.to_string().splitlines())
    return {
        match.group(1): LEFT_OUT.sub("", line).replace(", metadata={}", "").replace(r"\'", "'")
        for line in lines
        if (match := re.match(r"%([\w.\-]+) = ", line))
    }


def our_text(program: Program, name: str) -> str:
    return OUR_SOURCE.sub("", program.text(name)).replace(", metadata={}", "")


@pytest.mark.parametrize("name", WORKLOADS)
def test_text_is_xlas_own(name: str) -> None:
    pytest.importorskip("jax")
    from tests.analysis.hlo_workloads import WORKLOADS as functions

    function, arguments = functions[name]()
    module = compiled(function, *arguments)
    program = program_of(module)
    theirs = texts_of(module)
    assert set(theirs) == set(program.instructions)
    assert {name: our_text(program, name) for name in theirs} == theirs


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_text_of_every_opcode_is_xlas_own(snippet: str) -> None:
    module = parsed(module_text(snippet))
    program = program_of(module)
    theirs = texts_of(module)
    assert {name: our_text(program, name) for name in theirs} == theirs


@pytest.mark.parametrize(
    "constant",
    [
        "f32[] constant(0.333333343)",
        "f32[] constant(1e-30)",
        "f32[] constant(-inf)",
        "f32[] constant(nan)",
        "f64[] constant(0.1)",
        "bf16[] constant(0.1001)",
        "f16[4]{0} constant({3.1406,0.1,1e-5,2049})",
        "pred[2,2]{1,0} constant({{1,0},{0,1}})",
        "f32[1,1]{1,0} constant({{3}})",
        "f32[2,0]{1,0} constant({{},{}})",
        "pred[] constant(true)",
        "s8[3]{0} constant({-1, 0, 127})",
        "u16[] constant(65535)",
        "s64[] constant(-9000000000000000000)",
        "c64[] constant((1, -2.5))",
        "s32[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })",
        "f32[3]{0} constant({1, 2, 0.1})",
        "f32[0]{0} constant({})",
    ],
)
def test_short_constants_print_their_value(constant: str) -> None:
    module = parsed(f"HloModule x\nENTRY e {{\n ROOT x = {constant}\n}}\n")
    program = program_of(module)
    theirs = texts_of(module)
    assert {name: our_text(program, name) for name in theirs} == theirs


def test_long_constants_are_not_printed() -> None:
    module = parsed("HloModule x\nENTRY e {\n ROOT x = s32[11]{0} constant({1,2,3,4,5,6,7,8,9,10,11})\n}\n")
    program = program_of(module)
    root = program.computations[program.entry].root
    assert program.text(root) == f"%{root} = s32[11]{{0}} constant({{...}})"


@pytest.fixture(scope="module")
def scanned() -> Any:
    jax = pytest.importorskip("jax")

    def step(w, x):
        return jax.lax.scan(lambda h, w: (jax.numpy.tanh(h @ w), h.sum()), x, w)

    return compiled(step, np.ones((3, 16, 16), np.float32), np.ones((8, 16), np.float32))


def test_what_a_program_is_made_of(scanned: Any) -> None:
    program = program_of(scanned)
    assert (program.id, program.name) == (7, "jit_step")
    (loop,) = (i for i in program.instructions.values() if i.opcode == "while")
    assert loop.computation == program.entry
    body, condition = (program.computations[name] for name in loop.called)
    root = program.instruction(condition.root)
    assert root is not None
    assert (root.shape.dtype, body.root in program.instructions) == ("pred", True)
    assert '"known_trip_count":{"n":"3"}' in loop.backend_config
    assert loop.op_name.startswith("jit(step)/")
    for computation in program.computations.values():
        seen: set[str] = set()
        for instruction in computation.instructions:
            assert instruction.computation == computation.name
            assert seen.issuperset(instruction.operands)
            seen.add(instruction.name)
    assert program.instruction("no such instruction") is None
    assert (program.num_partitions, program.replica_count) == (1, 1)


def test_the_schedule_is_the_order_xla_fixed(scanned: Any) -> None:
    program = program_of(scanned)
    text = scanned.to_string()
    assert "is_scheduled=true" in text
    entry = re.search(r"^ENTRY .*?\n(.*?)^}", text, re.DOTALL | re.MULTILINE)
    assert entry is not None
    printed = re.findall(r"^\s+(?:ROOT )?%([\w.\-]+) = ", entry.group(1), re.MULTILINE)
    assert sorted(program.schedule(program.entry)) == sorted(printed)
    place = {name: i for i, name in enumerate(program.schedule(program.entry))}
    for name in printed:
        assert all(place[operand] < place[name] for operand in program.instructions[name].operands)


def test_without_a_schedule_the_order_is_the_files() -> None:
    assert program_from(small_proto()).schedule("main") == ("p", "r")


def test_a_cell_of_a_notebook_is_a_source_line() -> None:
    jax = pytest.importorskip("jax")
    cell = "import jax\ndef inner(x):\n    return jax.nn.gelu(x @ x)\n\ndef outer(x):\n    return inner(x) + 1\n"
    space: dict[str, Any] = {}
    exec(compile(cell, "/tmp/ipykernel_41/3276.py", "exec"), space)
    program = program_of(compiled(space["outer"], jax.numpy.ones((8, 8))))
    found = {i.source for i in program.instructions.values() if i.source}
    assert {"/tmp/ipykernel_41/3276.py:3", "/tmp/ipykernel_41/3276.py:6"} <= found
    (product,) = (i for i in program.instructions.values() if i.opcode == "dot")
    innermost, outer = (place.rpartition(":")[0] for place in product.source_stack[:-3:-1])
    assert (innermost, outer) == ("/tmp/ipykernel_41/3276.py:3", "/tmp/ipykernel_41/3276.py:6")


def with_frames(files: list[str], metadata: dict[str, Any]) -> Program:
    """Return a program whose sum was made by the first file, called from the second and so on, at lines 10, 20 …"""
    message = small_proto()
    index = message.hlo_module.stack_frame_index
    index.file_names.extend(files)
    for number in range(1, len(files) + 1):
        index.file_locations.add(file_name_id=number, line=10 * number, column=number)
        index.stack_frames.add(file_location_id=number, parent_frame_id=number + 1 if number < len(files) else 0)
    total = message.hlo_module.computations[0].instructions[1]
    for name, value in metadata.items():
        setattr(total.metadata, name, value)
    return program_from(message)


LIBRARY = "/venv/lib/python3.12/site-packages/flax/linen.py"


def test_the_source_is_the_innermost_line_of_the_users_own_code() -> None:
    files = ["/venv/lib/python3.12/site-packages/jax/_src/nn.py", LIBRARY, "/home/me/model.py", "/home/me/train.py"]
    total = with_frames(files, {"stack_frame_id": 1}).instructions["r"]
    assert total.source == "/home/me/model.py:30"
    assert total.source_stack == (
        "/home/me/train.py:40:4", "/home/me/model.py:30:3", f"{LIBRARY}:20:2", f"{files[0]}:10:1",
    )  # fmt: skip


def test_where_all_is_library_the_innermost_line_is_the_source() -> None:
    assert with_frames([LIBRARY, LIBRARY], {"stack_frame_id": 1}).instructions["r"].source == f"{LIBRARY}:10"


def test_older_xla_states_file_and_line() -> None:
    total = with_frames([], {"source_file": "a.py", "source_line": 5}).instructions["r"]
    assert (total.source, total.source_stack) == ("a.py:5", ("a.py:5:0",))


@pytest.mark.parametrize("frame", [99, -1])
def test_a_frame_that_is_not_there_is_no_source(frame: int) -> None:
    total = with_frames(["a.py"], {"stack_frame_id": frame}).instructions["r"]
    assert (total.source, total.source_stack) == ("", ())


def test_frames_that_call_each_other_end() -> None:
    message = small_proto()
    index = message.hlo_module.stack_frame_index
    index.file_names.extend(["a.py", "b.py"])
    for number in (1, 2):
        index.file_locations.add(file_name_id=number, line=number)
        index.stack_frames.add(file_location_id=number, parent_frame_id=3 - number)
    message.hlo_module.computations[0].instructions[1].metadata.stack_frame_id = 1
    assert program_from(message).instructions["r"].source == "a.py:1"


@pytest.mark.parametrize(
    ("file", "library"),
    [
        (LIBRARY, True),
        (r"C:\Python\Lib\site-packages\jax\_src\nn.py", True),
        ("/usr/lib/python3.11/contextlib.py", True),
        ("/src/jax/jax/_src/nn.py", True),
        ("<frozen runpy>", True),
        ("/tmp/ipykernel_41/3276.py", False),
        ("/home/me/jax_models/train.py", False),
        ("<stdin>", False),
    ],
)
def test_whose_code_a_file_is(file: str, library: bool) -> None:
    assert is_library(file) == library


def test_ids_with_and_without_the_computation_in_their_upper_half() -> None:
    message = small_proto()
    computation = message.hlo_module.computations[0]
    for instruction in computation.instructions:
        instruction.id |= 3 << 32
    entry = message.hlo_module.schedule.sequences.add(key=3)
    entry.value.instruction_ids.extend([(3 << 32) + 1, 2])
    program = program_from(message)
    assert program.instructions["r"].operands == ("p", "p")
    assert program.schedule("main") == ("p", "r")


def test_fields_of_a_newer_xla_are_skipped() -> None:
    unknown = bytes([0xC2, 0x3E, 3]) + b"new"  # field 1000, three bytes
    instruction = small_proto().hlo_module.computations[0].instructions[1].SerializeToString() + unknown
    message = small_proto()
    message.hlo_module.computations[0].instructions[1].ParseFromString(instruction)
    assert program_from(message).text("r") == "%r = f32[4,3]{1,0} add(%p, %p)"


def test_an_unknown_element_type_has_a_name() -> None:
    message = small_proto()
    message.hlo_module.computations[0].instructions[0].shape.element_type = 999
    assert str(program_from(message).instructions["p"].shape) == "type999[4,3]{1,0}"


def test_an_entry_that_goes_by_another_name_is_found_by_its_id() -> None:
    message = small_proto()
    message.hlo_module.entry_computation_name = "mahn"
    assert program_from(message).entry == "main"
    message.hlo_module.entry_computation_id = 77
    with pytest.raises(DamagedFileError, match="refers to computation 77"):
        _ = program_from(message).entry


def test_every_recorded_program_reads(corpus: Path) -> None:
    count = 0
    for folder in ("tpu-v6e-psum", "mi300x-jax-gemm", "mi300x-jax-conv", "mi350-te-attention"):
        for program in corpus_programs(corpus / folder).values():
            assert program.entry in program.computations
            assert all(program.text(name).startswith(f"%{name} = ") for name in program.instructions)
            count += 1
    assert count > 30


def test_tpu_layouts_print_tiles_and_memory_space(corpus: Path) -> None:
    programs = corpus_programs(corpus / "tpu-v6e-psum")
    program = next(p for name, p in programs.items() if name.startswith("jit_f("))
    assert str(program.instructions["copy-start"].shape) == (
        "(f32[5,1024,1024,256]{3,2,1,0:T(8,128)}, f32[5,1024,1024,256]{3,2,1,0:T(8,128)S(5)}, u32[]{:S(2)})"
    )


def test_nothing_is_read_before_it_is_asked_for() -> None:
    program = read_program(b"\xff not a proto", program_id=3, name="jit_f", file="a.xplane.pb")
    assert repr(program) == "<Program jit_f(3)>"
    with pytest.raises(DamagedFileError, match=r"jit_f\(3\).* in a\.xplane\.pb"):
        _ = program.computations


@pytest.mark.parametrize("data", [b"", b"\xff\xff\xff", b"hello, this is text" * 9])
def test_bytes_that_are_no_program_say_so(data: bytes) -> None:
    with pytest.raises(DamagedFileError):
        _ = read_program(data, program_id=3, name="jit_f", file="a.xplane.pb").entry


def test_an_id_that_refers_to_nothing_says_so() -> None:
    message = small_proto()
    message.hlo_module.computations[0].instructions[1].operand_ids[0] = 99
    with pytest.raises(DamagedFileError, match="instruction 99"):
        _ = program_from(message).computations
    message = small_proto()
    message.hlo_module.computations[0].instructions[1].called_computation_ids.append(55)
    with pytest.raises(DamagedFileError, match="computation 55"):
        _ = program_from(message).computations


@pytest.fixture(scope="module")
def real_bytes(scanned: Any) -> bytes:
    return proto_of(scanned)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_damaged_programs_raise_or_read(real_bytes: bytes, data: st.DataObject) -> None:
    damaged = bytearray(real_bytes[: data.draw(st.integers(0, len(real_bytes)))])
    for _ in range(data.draw(st.integers(0, 5))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    program = read_program(bytes(damaged), program_id=1, name="f", file="a.xplane.pb")
    try:
        names = list(program.instructions)
    except DamagedFileError:
        return
    for name in names:
        assert program.text(name)


def test_the_message_classes_are_ours_alone() -> None:
    message_class("HloProto")
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("xprof_nb.xla.HloProto")
