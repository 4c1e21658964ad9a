"""The plan of a program's memory: xprof's numbers on every recorded program, XLA's own sums, closed forms."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.captured import captured
from tests.formats.hlo_messages import chained_proto, small_proto
from tests.xprof_oracle import ask_xprof
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.buffer_lifetimes import program_order
from xprof_nb.analysis.buffers import live_curve
from xprof_nb.analysis.memory_plan import plan_of
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.xprof.buffers import replayed
from xprof_nb.errors import UsageError
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.model.program import Program

FILES = ["tpu-v6e-psum", "mi300x-jax-conv", "mi300x-jax-gemm", "mi350-te-attention"]
MIB = 2**20
SUMS = {
    "peak_bytes": "peakHeapMib",
    "unpadded_peak_bytes": "peakUnpaddedHeapMib",
    "parameter_bytes": "entryComputationParametersMib",
    "output_bytes": "maybeLiveOutMib",
    "non_reusable_bytes": "nonReusableMib",
    "held_bytes": "indefiniteBufferAllocationMib",
    "allocated_bytes": "totalBufferAllocationMib",
}


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(tmp_path_factory.mktemp("planned"), "planned")


def xplane(folder: Path) -> Path:
    (found,) = folder.glob("plugins/profile/*/*.xplane.pb")
    return found


def programs(profile: xp.Profile) -> list[Program]:
    """Return one of each kind: many recorded programs are the same."""
    return list({(program.name, len(program.instructions)): program for program in profile.programs.values()}.values())


def equals_xprof(file: Path) -> None:
    profile = xp.open(file)
    for program in programs(profile):
        for color in program.buffers.colors:
            theirs = ask_xprof(
                file, "memory_viewer", module_name=f"{program.name}({program.id})", memory_space=str(color)
            )
            ours = profile.buffers(program=program.id, memory_space=color, compat="xprof")
            heap = replayed(program, color)
            held = ours.summary["held_bytes"]
            for name, key in SUMS.items():
                assert ours.summary[name] == theirs.get(key, 0) * MIB, (program, color, name)
            assert ours.summary["peak_position"] == theirs.get("peakHeapSizePosition", 0)
            assert (heap.events["heap_bytes"] + held).tolist() == [size * MIB for size in theirs.get("heapSizes", [])]
            unpadded = [size * MIB for size in theirs.get("unpaddedHeapSizes", [])]
            assert (heap.events["unpadded_bytes"] + held).tolist() == unpadded
            assert heap.events["op"].tolist() == theirs.get("hloInstructionNames", [])
            spans = theirs.get("logicalBufferSpans", {}).items()
            assert heap.spans == {int(key): (span.get("start", 0), span.get("limit", 0)) for key, span in spans}
            rows = [tuple(row[name] for name in ROW) for row in ours.frame.to_dict("records")]
            assert sorted(rows, key=str) == sorted(map(heap_row, theirs.get("maxHeap", [])), key=str)


ROW = ["name", "bytes", "unpadded_bytes", "shape", "kind", "opcode", "framework_op", "buffer_id"]


def heap_row(row: dict[str, Any]) -> tuple[Any, ...]:
    sizes = [round(row.get(key, 0) * MIB) for key in ("logicalBufferSizeMib", "unpaddedShapeMib")]
    if "instructionName" not in row:
        return (row["label"], *sizes, None, None, None, None, row["logicalBufferId"])
    texts = (row["shapeString"], row["groupName"], row["opCode"], row.get("tfOpName", ""))
    return (row["instructionName"], *sizes, *texts, row.get("logicalBufferId", 0))


@pytest.mark.parametrize("name", FILES)
def test_compat_is_the_memory_viewer_of_every_program_and_space(name: str, corpus: Path) -> None:
    equals_xprof(xplane(corpus / name))


def test_compat_is_the_memory_viewer_on_a_cpu(planned: Path, cpu_profile: Path) -> None:
    equals_xprof(xplane(planned))
    (file,) = cpu_profile.glob("*.xplane.pb")
    equals_xprof(file)


def adds_up(profile: xp.Profile) -> None:
    for program in programs(profile):
        for color in program.buffers.colors:
            result = profile.buffers(program=program.id, memory_space=color)
            frame, summary = result.frame, result.summary
            assert frame["bytes"].is_monotonic_decreasing
            assert frame.loc[frame["live_at_peak"], "bytes"].sum() == summary["peak_bytes"]
            curve = live_curve(profile.data, Selection(program=program.id), color)
            assert curve["live_bytes"].max() == summary["peak_bytes"] == max(p["live_bytes"] for p in summary["curve"])
            assert curve["op"].iloc[summary["peak_position"]] == summary["peak_op"]
            assert summary["peak_bytes"] <= summary["allocated_bytes"]
            kinds = frame.groupby("kind")["bytes"].sum()
            held = kinds.reindex(["parameter", "output", "constant"]).fillna(0).sum()
            assert held + summary["temporary_bytes"] == summary["allocated_bytes"]
            # Only pointers of tuples, which xprof's trace leaves out, are beside xprof's peak.
            theirs = profile.buffers(program=program.id, memory_space=color, compat="xprof").summary["peak_bytes"]
            pointers = frame.loc[(frame["dtype"] == "tuple") & (frame["kind"] == "temporary"), "bytes"].sum()
            assert theirs <= summary["peak_bytes"] <= theirs + pointers
            json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize("name", FILES)
def test_rows_live_at_the_peak_add_up_to_it(name: str, corpus: Path) -> None:
    adds_up(xp.open(xplane(corpus / name)))


def test_rows_live_at_the_peak_add_up_to_it_on_a_cpu(planned: Path, cpu_profile: Path) -> None:
    adds_up(xp.open(planned))
    adds_up(xp.open(cpu_profile))


def test_sums_are_xlas_memory_analysis(planned: Path) -> None:
    profile = xp.open(planned)
    analysis = json.loads((planned / "memory_analysis.json").read_text())
    for name, expected in analysis.items():
        summary = profile.buffers(program=f"jit_{name}").summary
        assert summary["parameter_bytes"] == expected["argument_size_in_bytes"]
        assert summary["output_bytes"] == expected["output_size_in_bytes"]
        assert summary["aliased_bytes"] == expected["alias_size_in_bytes"]
        assert summary["temporary_bytes"] == expected["temp_size_in_bytes"]
    saved = analysis["kept"]["peak_memory_in_bytes"] - analysis["donated"]["peak_memory_in_bytes"]
    peaks = [profile.buffers(program=f"jit_{name}").summary["peak_bytes"] for name in analysis]
    assert peaks[0] - peaks[1] == saved == 256 * 256 * 4


def test_a_donated_parameter_is_one_row_that_says_which_output_takes_it_over(planned: Path) -> None:
    profile = xp.open(planned)
    frame = profile.buffers(program="jit_donated").frame
    taken_over = frame[(frame["kind"] == "parameter") & frame["output"].notna()]
    assert taken_over[["opcode", "output", "bytes"]].values.tolist() == [["parameter", "{0}", 256 * 256 * 4]]
    kept = profile.buffers(program="jit_kept").frame
    outputs = kept[kept["kind"] == "output"].set_index("output")
    assert outputs.loc["{2}", "opcode"] == "sort"
    assert outputs.loc["{2}", "shape"] == "f32[512,256]{1,0}"
    assert set(outputs.index) == {"{}", "{0}", "{1}", "{2}"}
    assert not kept.loc[kept["kind"] == "thread-local", "live_at_peak"].any()


def test_the_second_of_two_programs_can_be_picked(planned: Path) -> None:
    profile = xp.open(planned)
    largest = profile.buffers()
    assert largest.summary["program"] == "jit_kept"
    assert "jit_donated(" in largest.notes[0]
    (number,) = [number for number, program in profile.programs.items() if program.name == "jit_donated"]
    for wanted in ("jit_donated", number, str(number), f"jit_donated({number})"):
        chosen = profile.buffers(program=wanted)
        assert chosen.summary["program"] == "jit_donated"
        assert chosen.summary["program_id"] == str(number)
        assert set(chosen.frame["op"].dropna()) <= set(profile.programs[number].instructions)
    assert largest.summary["sentence"].startswith("jit_kept holds at most 3.25 MiB of main memory, at ")
    with pytest.raises(UsageError, match=r"no program 'jit_other'.*jit_kept\("):
        profile.buffers(program="jit_other")
    assert "is not applied" in profile.buffers(device=0, step=1).notes[0]


def test_every_memory_space_of_a_tpu_is_told(corpus: Path) -> None:
    profile = xp.open(corpus / "tpu-v6e-psum")
    spaces = {space["memory_space"]: space for space in profile.buffers(program="jit_f").summary["memory_spaces"]}
    assert {color: space["memory"] for color, space in spaces.items()} == {
        0: "HBM", 2: "memory space 2", 5: "host memory"
    }  # fmt: skip
    assert spaces[5]["peak_bytes"] == 3 * 5 * 1024 * 1024 * 256 * 4
    host = profile.buffers(program="jit_f", memory_space=5).frame
    assert host[["op", "kind", "output"]].values.tolist() == [
        ["param", "parameter", "{0}"], ["param.1", "parameter", "{1}"], ["param.2", "parameter", "{2}"]
    ]  # fmt: skip
    padded = profile.buffers(program="jit_broadcast_in_dim").frame.set_index("op")
    scalar = padded[padded["kind"] == "parameter"].iloc[0]
    assert (scalar["bytes"], scalar["unpadded_bytes"], scalar["padding_bytes"]) == (512, 4, 508)
    assert scalar["padding_fraction"] == 508 / 512
    nothing = profile.buffers(program="jit_f", memory_space=1)
    assert not len(nothing.frame)
    assert "nothing in memory space 1" in nothing.notes[-2]


@pytest.mark.parametrize("name", FILES)
def test_lifetimes_rebuilt_from_the_schedule_give_the_simulators_peak(name: str, corpus: Path) -> None:
    for program in programs(xp.open(corpus / name)):
        rebuilt_equals_simulated(program)


def test_lifetimes_rebuilt_from_the_schedule_give_the_simulators_peak_on_a_cpu(planned: Path) -> None:
    for program in programs(xp.open(planned)):
        rebuilt_equals_simulated(program)


def rebuilt_equals_simulated(program: Program) -> None:
    without = replace(program.buffers, traces=())
    bare = Program(program.id, program.name, lambda: program.module, lambda: without)
    for color in program.buffers.colors:
        assert plan_of(bare, color).peak_bytes == plan_of(program, color).peak_bytes, (program, color)


def test_program_order_steps_into_loops_before_the_loop(planned: Path) -> None:
    (program,) = [program for program in xp.open(planned).programs.values() if program.name == "jit_kept"]
    order = program_order(program)
    assert len(set(order)) == len(order)
    place = {name: number for number, name in enumerate(order)}
    loops = [each for each in program.instructions.values() if each.opcode == "while"]
    assert loops
    for loop in loops:
        body, condition = (program.computations[name].root for name in loop.called)
        assert place[condition] < place[body] < place[loop.name]
    for name in order:
        assert all(place[operand] < place[name] for operand in program.instructions[name].operands)


def chain(steps: int) -> bytes:
    """Return ``p -> a0 -> a1 …``, each 48 bytes in memory of its own, the last the result; no trace."""
    message = chained_proto(steps)
    plan = message_class("BufferedHlo")()
    assignment = plan.buffer_assignment
    for number in range(steps + 1):
        identity = 1 if number == 0 else 2 + number
        assignment.logical_buffers.add(id=number, size=48).defined_at.instruction_id = identity
    parameter = assignment.buffer_allocations.add(size=48, is_entry_computation_parameter=True)
    parameter.assigned.add(logical_buffer_id=0)
    temporary = assignment.buffer_allocations.add(index=1, size=48 * (steps - 1))
    for number in range(1, steps):
        temporary.assigned.add(logical_buffer_id=number, offset=48 * (number - 1), size=48)
    assignment.buffer_allocations.add(index=2, size=48, maybe_live_out=True).assigned.add(logical_buffer_id=steps)
    return bytes(message.SerializeToString() + plan.SerializeToString())


def opened(tmp_path: Path, **programs: bytes) -> xp.Profile:
    space = SpaceBuilder()
    space.hlo({f"jit_{name}({number})": proto for number, (name, proto) in enumerate(programs.items(), 1)})
    return xp.open(space.write(tmp_path))


def test_a_value_lives_from_its_op_to_its_last_reader(tmp_path: Path) -> None:
    result = opened(tmp_path, chain=chain(5)).buffers()
    frame = result.frame.set_index("op")
    order = ["p", "r", "a0", "a1", "a2", "a3", "a4"]
    assert [(order[s], order[e]) for s, e in frame.loc[["a0", "a1", "a2"], ["start", "end"]].values.tolist()] == [
        ("a0", "a1"), ("a1", "a2"), ("a2", "a3")
    ]  # fmt: skip
    assert frame.loc["a4", ["kind", "output"]].tolist() == ["output", "{}"]
    # The parameter and the output are held throughout; of the chain two are alive at once.
    assert result.summary["peak_bytes"] == 4 * 48
    assert result.summary["fragmentation_fraction"] == 0.5
    assert "rebuilt from its schedule" in result.notes[-1]


def test_work_grows_no_faster_than_the_program(tmp_path: Path) -> None:
    def calls(steps: int) -> int:
        profile, count = opened(tmp_path / str(steps), chain=chain(steps)), 0

        def counted(_frame: FrameType, _event: str, _argument: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            profile.buffers()
        finally:
            sys.setprofile(None)
        return count

    assert calls(5000) <= 11 * calls(500)


def test_no_plan_says_why(corpus: Path, tmp_path: Path) -> None:
    nothing = xp.open(corpus / "v100-tf").buffers()
    assert not len(nothing.frame)
    assert "describes no XLA program" in nothing.notes[0]
    without = opened(tmp_path, bare=small_proto().SerializeToString()).buffers()
    assert not len(without.frame)
    assert "jit_bare(1) but not where their values are kept" in without.notes[0]


def test_a_program_that_ran_but_is_not_described_is_named(tmp_path: Path) -> None:
    space = SpaceBuilder()
    plane = space.plane("/device:TPU:0")
    plane.metadata("%add.1 = f32[] add()", {"program_id": 9, "symbol_id": 1, "hlo_category": "x"}, "add.1")
    plane.line("XLA Ops").event("%add.1 = f32[] add()", 0, 10)
    plane.line("XLA Modules").event("jit_f(9)", 0, 10)
    result = xp.open(space.write(tmp_path)).buffers(program=9)
    assert not len(result.frame)
    assert "lacks the HLO of 9, which ran" in result.notes[0]
    assert np.all([column in result.frame for column in ("name", "bytes", "live_at_peak")])


def test_what_would_still_fit_is_the_capacity_without_the_peak(corpus: Path) -> None:
    profile = xp.open(corpus / "mi350-te-attention")
    summary = profile.buffers().summary
    assert summary["capacity_bytes"] == profile.devices[0].peaks.capacity_bytes == 309_220_868_096
    assert summary["room_bytes"] == 309_220_868_096 - summary["peak_bytes"]
    assert summary["sentence"].endswith("Of 288 GiB, 287 GiB would still fit.")
    listed = profile.buffers(program="jit__normal").summary["programs"]
    assert {each["program_id"] for each in listed} == {str(number) for number in profile.programs}


def test_a_program_larger_than_the_memory_says_by_how_much(corpus: Path) -> None:
    model = xp.open(corpus / "tpu-v6e-psum").devices[0].model
    xp.hardware(model, capacity_bytes=16 * 2**30)
    try:
        summary = xp.open(corpus / "tpu-v6e-psum").buffers().summary
    finally:
        xp.hardware(model, capacity_bytes=None)
    assert summary["room_bytes"] == 16 * 2**30 - summary["peak_bytes"] < 0
    assert "4.00 GiB more than the 16.0 GiB there are" in summary["sentence"]
    sheet = xp.open(corpus / "tpu-v6e-psum").buffers()
    assert sheet.summary["capacity_bytes"] == xp.hardware(model)["capacity_bytes"].item()
    vmem = xp.open(corpus / "tpu-v6e-psum").buffers(memory_space=1).summary
    assert vmem["capacity_bytes"] == 128 * 2**20


def test_a_memory_whose_size_nobody_states_has_no_room(planned: Path) -> None:
    summary = xp.open(planned).buffers().summary
    assert (summary["capacity_bytes"], summary["room_bytes"]) == (None, None)
    assert "fit" not in summary["sentence"]


def test_a_buffer_says_what_work_makes_it_and_where_in_the_model(corpus: Path) -> None:
    frame = xp.open(corpus / "mi350-te-attention").buffers().frame.set_index("name")
    assert frame.loc["gemm_fusion_dot.3", ["work_kind", "scope"]].tolist() == ["matrix", "jit(loss_fn)/bsd,de->bse"]
    assert frame.loc["qkv.1", ["kind", "work_kind"]].tolist() == ["parameter", "control"]
    assert frame.loc["qkv.1", "scope"] is None
    assert set(frame["program_id"]) == {"17"}
