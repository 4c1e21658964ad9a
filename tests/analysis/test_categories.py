"""What an op is called, and the kind of work that stands for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.hlo_snippets import module_text
from tests.analysis.test_costs import corpus_programs
from tests.formats.hlo_messages import compiled, parsed, program_from, program_of, small_proto
from xprof_nb.analysis.categories import category, work_kind


def category_of(snippet: str) -> str:
    program = program_of(parsed(module_text(snippet)))
    root = program.instruction(program.computations[program.entry].root)
    assert root is not None
    return category(root, program)


@pytest.mark.parametrize(
    ("snippet", "name", "kind"),
    [
        ("f32[6,6]{1,0} dot(p,p), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "dot", "matrix"),
        ("f32[6,5]{1,0} add(p,q)", "non-fusion elementwise", "elementwise"),
        ("f32[6,5]{1,0} tanh(p)", "non-fusion elementwise", "elementwise"),
        ("f32[] reduce(p,s), dimensions={0,1}, to_apply=add", "reduce", "elementwise"),
        ("f32[6,5]{1,0} copy(p)", "data formatting", "data"),
        ("f32[5,6]{1,0} transpose(p), dimensions={1,0}", "data formatting", "data"),
        ("f32[6,5]{1,0} dynamic-update-slice(p,u,z,z)", "dynamic-update-slice", "data"),
        ("(f32[6,5]{1,0}, f32[6,5]{1,0}, u32[]) copy-start(p)", "copy-start", "data"),
        ("f32[6,5]{1,0} sort(p), dimensions={1}, to_apply=ge", "sort", "elementwise"),
        ("f32[6,5]{1,0} all-reduce(p), replica_groups={}, to_apply=add", "all-reduce", "collective"),
        ("(f32[6,5]{1,0}, f32[12,5]{1,0}) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}",
         "all-gather-start", "collective"),
        ("f32[6,5]{1,0} custom-call(p), custom_call_target=\"mine\"", "custom-call", "custom"),
        ("((f32[6,5]{1,0}), token[]) infeed(tok)", "infeed", "host"),
        ("(f32[6,5]{1,0}, s32[]) while(wt), condition=condition, body=body", "while", "control"),
        ("f32[6,5]{1,0} call(p), to_apply=twice", "call", "control"),
        ("f32[6,5]{1,0} conditional(z,p,p), branch_computations={%twice, %curve}", "conditional", "control"),
        ("(f32[2,5]{1,0}, f32[8,5]{1,0}) fusion(a8), kind=kLoop, calls=nesting", "loop fusion", "elementwise"),
        ("f32[2,5]{1,0} fusion(p,gi), kind=kCustom, calls=gathering", "custom fusion", "elementwise"),
    ],
)  # fmt: skip
def test_names_and_kinds(snippet: str, name: str, kind: str) -> None:
    assert category_of(snippet) == name
    assert work_kind(name) == kind


def test_a_convolution_says_how_it_is_dilated() -> None:
    pytest.importorskip("jax")
    from jax import lax

    def convolve(x, w, **dilation):
        numbers = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, w, (1, 1), [(1, 1)] * 2, dimension_numbers=numbers, **dilation)

    def names(**dilation):
        module = compiled(lambda x, w: convolve(x, w, **dilation), np.ones((1, 9, 9, 3)), np.ones((3, 3, 3, 4)))
        program = program_of(module)
        return [category(i, program) for i in program.instructions.values() if i.opcode == "convolution"]

    assert names(rhs_dilation=(2, 1)) == ["convolution window-dilated"]
    assert names(lhs_dilation=(2, 1), rhs_dilation=(2, 1)) == ["convolution base-dilated window-dilated"]
    assert work_kind("convolution base-dilated window-dilated") == "matrix"


def test_a_fusion_is_named_after_the_heaviest_thing_in_it() -> None:
    pytest.importorskip("jax")
    import jax

    def step(w, x):
        hidden, _ = jax.lax.scan(lambda h, w: (jax.numpy.tanh(h @ w), h), x, w)
        return hidden

    program = program_of(compiled(step, np.ones((3, 64, 64), np.float32), np.ones((8, 64), np.float32)))
    named = {i.name: category(i, program) for i in program.instructions.values() if i.opcode == "fusion"}
    bodies = {name: program.computations[program.instructions[name].called[0]] for name in named}
    around = {name: {inner.opcode for inner in body.instructions} for name, body in bodies.items()}
    assert {named[name] for name, opcodes in around.items() if "dot" in opcodes} == {"convolution fusion"}
    moving = [name for name, opcodes in around.items() if "dynamic-slice" in opcodes and "tanh" not in opcodes]
    assert moving
    assert {named[name] for name in moving} == {"data formatting"}
    assert {named[name] for name, opcodes in around.items() if opcodes == {"parameter", "tanh"}} == {"loop fusion"}


def test_an_async_wrapper_is_named_after_what_it_starts() -> None:
    name = category_of("((f32[6,5]{1,0}), f32[6,5]{1,0}, s32[]) async-start(p), calls=moving")
    assert name == "all-to-all-start"
    assert work_kind(name) == "collective"


def test_a_transfer_to_the_host_is_told_from_one_between_devices() -> None:
    message = small_proto()
    total = message.hlo_module.computations[0].instructions[1]
    total.opcode = "send"
    assert category(program_from(message).instructions["r"], program_from(message)) == "send"
    total.is_host_transfer = True
    assert category(program_from(message).instructions["r"], program_from(message)) == "host send"
    assert (work_kind("send"), work_kind("host send")) == ("collective", "host")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("convolution fusion", "matrix"),
        ("output fusion", "elementwise"),
        ("all-reduce fusion", "collective"),
        ("async-done", "control"),
        ("host recv-done", "host"),
        ("copy-done", "data"),
        ("IDLE", "idle"),
        ("unknown", "control"),
        ("something new", "elementwise"),
    ],
)
def test_words_of_other_runtimes(name: str, kind: str) -> None:
    assert work_kind(name) == kind


def test_names_agree_with_the_tpu_runtime(corpus: Path) -> None:
    """What libtpu wrote for the same instructions."""
    programs = corpus_programs(corpus / "tpu-v6e-psum")
    program = next(p for name, p in programs.items() if name.startswith("jit_f("))
    expected = {"broadcast_add_fusion": "loop fusion", "copy-start": "copy-start", "copy-done.3": "copy-done"}
    assert {name: category(program.instructions[name], program) for name in expected} == expected
