"""The buffer assignment of an HloProto: names of both kinds of ids, real programs, bytes that are none."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_costs import corpus_programs
from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.hlo_buffers import read_buffers
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.model.buffers import BufferAssignment

TWO = 2 << 32
FOLDERS = ["tpu-v6e-psum", "mi300x-jax-gemm", "mi300x-jax-conv", "mi350-te-attention"]


def small_assignment() -> Any:
    """Return a BufferedHlo message: a parameter that an output takes over, and one temporary."""
    message = message_class("BufferedHlo")()
    computation = message.hlo_module.computations.add(id=2)
    for number, name in enumerate(("p", "twice", "r")):
        computation.instructions.add(name=name, id=number)
    message.hlo_module.input_output_alias.entries.add(output_shape_index=[0], parameter_number=0)
    assignment = message.buffer_assignment
    for number in range(3):
        assignment.logical_buffers.add(id=10 + number, size=100 + number).defined_at.instruction_id = TWO + number
    held = assignment.buffer_allocations.add(
        index=4, size=100, is_entry_computation_parameter=True, maybe_live_out=True
    )
    held.assigned.add(logical_buffer_id=10)
    held.assigned.add(logical_buffer_id=12)
    assignment.buffer_allocations.add(index=5, size=101).assigned.add(logical_buffer_id=11, offset=8)
    trace = assignment.heap_simulator_traces.add()
    trace.events.add(kind=0, buffer_id=11)
    trace.events.add(kind=1, buffer_id=11)
    trace.events.add(kind=2, buffer_id=99, share_with_canonical_id=11)
    return message


def read(message: Any) -> BufferAssignment:
    return read_buffers(message.SerializeToString(), "jit_f(7)", "a.xplane.pb")


def test_buffers_know_their_instruction_and_their_place() -> None:
    found = read(small_assignment())
    assert [buffer.instruction for buffer in found.buffers] == ["p", "twice", "r"]
    assert [buffer.allocation for buffer in found.buffers] == [0, 1, 0]
    assert [buffer.offset_bytes for buffer in found.buffers] == [0, 8, 0]
    assert [allocation.kind for allocation in found.allocations] == ["parameter", "temporary"]
    assert found.allocations[0].is_output
    assert found.allocations[0].buffers == (0, 2)
    assert found.donated == (((0,), 0, ()),)
    (trace,) = found.traces
    assert (trace.kind.tolist(), trace.buffer.tolist(), trace.shared_with.tolist()) == (
        [0, 1, 2],
        [1, 1, -1],
        [-1, -1, 1],
    )


def test_old_ids_are_of_the_module_and_new_ones_of_the_computation() -> None:
    message = small_assignment()
    other = message.hlo_module.computations.add(id=3)
    other.instructions.add(name="elsewhere", id=0)
    assert read(message).buffers[0].instruction == "p"
    message.hlo_module.computations[0].instructions[0].id = TWO
    assert read(message).buffers[0].instruction == "p"
    old = small_assignment()
    for buffer, number in zip(old.buffer_assignment.logical_buffers, (0, 1, 2), strict=True):
        buffer.defined_at.instruction_id = number
    assert [buffer.instruction for buffer in read(old).buffers] == ["p", "twice", "r"]


def test_what_refers_to_nothing_is_left_out() -> None:
    message = small_assignment()
    message.buffer_assignment.buffer_allocations[1].assigned[0].logical_buffer_id = 77
    message.buffer_assignment.logical_buffers[1].defined_at.instruction_id = 1 << 40
    message.buffer_assignment.buffer_aliases.add(source_buffer_id=78)
    found = read(message)
    assert found.allocations[1].buffers == ()
    assert found.buffers[1].allocation == -1
    assert found.buffers[1].instruction == ""
    assert found.aliases == {}


def test_a_program_without_one_is_empty_and_damage_is_told() -> None:
    assert read_buffers(b"", "jit_f(7)", "a.xplane.pb") == BufferAssignment()
    with pytest.raises(DamagedFileError, match=r"jit_f\(7\) is not a complete HloProto .* in a.xplane.pb"):
        read_buffers(small_assignment().SerializeToString()[:-1], "jit_f(7)", "a.xplane.pb")


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_changed_bytes_give_a_plan_or_the_error(position: int, byte: int) -> None:
    content = bytearray(small_assignment().SerializeToString())
    content[position % len(content)] = byte
    with contextlib.suppress(DamagedFileError):
        read_buffers(bytes(content), "jit_f(7)", "a.xplane.pb")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_recorded_program_names_its_buffers(folder: str, corpus: Path) -> None:
    for program in corpus_programs(corpus / folder).values():
        found = program.buffers
        assert found.allocations
        assert {buffer.instruction for buffer in found.buffers} <= set(program.instructions)
        for allocation in found.allocations:
            sizes = [found.buffers[row].offset_bytes + found.buffers[row].size_bytes for row in allocation.buffers]
            assert max(sizes, default=0) <= allocation.size_bytes
