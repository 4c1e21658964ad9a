"""What memory does a program need, and which arrays are it? From XLA's own plan, the buffer assignment.

Every byte is counted once: a parameter that an output takes over is one piece of memory, and so is what one op
computes in place of another. xprof's memory viewer differs, see `xprof_nb.analysis.xprof_buffers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.buffer_lifetimes import Lifetimes, lifetimes, shape_of
from xprof_nb.analysis.op_identity import in_cell, readable_program
from xprof_nb.analysis.programs import label, listed, matching_programs, why_undescribed
from xprof_nb.analysis.selection import Selection
from xprof_nb.errors import DamagedFileError
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.buffers import Allocation, BufferAssignment, ShapeIndex
from xprof_nb.model.columns import words
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.model.shape import HOST_MEMORY_SPACE

COLUMNS = [
    "name",
    "op",
    "opcode",
    "shape",
    "dtype",
    "bytes",
    "unpadded_bytes",
    "padding_bytes",
    "padding_fraction",
    "kind",
    "memory_space",
    "allocation",
    "offset_bytes",
    "start",
    "end",
    "live_at_peak",
    "framework_op",
    "source",
    "output",
    "shared_with",
]
_WORDS = ["name", "op", "opcode", "shape", "dtype", "kind", "framework_op", "source", "output", "shared_with"]
_MOST_POINTS, _MOST_PROGRAMS, _MOST_SHARED = 500, 50, 20
_SPACES = {("tpu", 0): "HBM", ("tpu", 1): "VMEM"}
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan:
    """One memory space of one program.

    Attributes
    ----------
    live_bytes
        Bytes that hold something while the op at each position of the program runs; at least one position.
    """

    program: Program
    color: int
    life: Lifetimes
    live_bytes: Ints

    @property
    def peak(self) -> int:
        """The first position with the most live bytes."""
        return int(np.argmax(self.live_bytes))

    @property
    def peak_bytes(self) -> int:
        """The most bytes live at once."""
        return int(self.live_bytes[self.peak])

    @property
    def allocations(self) -> list[Allocation]:
        """What the program allocates in this memory space; a thread's own few bytes are on its stack."""
        return _allocations(self.program.buffers, self.color)


def buffers(profile: ProfileData, selection: Selection, memory_space: int, like_xprof: bool) -> Answer:
    """Return the buffers of a program in one memory space, the largest first.

    Without ``program=`` it is the program with the largest peak. ``start`` and ``end`` are positions in program order,
    see `live_curve`. ``bytes`` is what is taken, ``unpadded_bytes`` what the shape needs without the padding of its
    layout. The ``bytes`` of the rows that are ``live_at_peak`` sum to ``peak_bytes`` of the summary.

    Raises
    ------
    UsageError
        The profile knows no such program.
    """
    programs = _with_plan(profile, matching_programs(profile, selection.program), memory_space)
    if not programs:
        return Answer(
            pd.DataFrame(columns=COLUMNS), {"sentence": "No program is described."}, _why_none(profile, selection)
        )
    plan = _largest(profile, programs, memory_space)
    if like_xprof:
        from xprof_nb.analysis import xprof_buffers  # noqa: PLC0415  (it needs this module)

        return xprof_buffers.buffers(plan.program, memory_space)
    frame = _table(plan, profile)
    notes = [*_not_applied(selection), *_notes(plan, programs, selection)]
    return Answer(frame, _summary(plan, frame, programs, profile), tuple(notes))


def live_curve(profile: ProfileData, selection: Selection, memory_space: int = 0) -> pd.DataFrame:
    """Return the live bytes at every position of the program that `buffers` is about.

    Returns
    -------
    DataFrame
        ``position, op, live_bytes``; loops and calls are walked into, each once, before the op that calls.
    """
    programs = _with_plan(profile, matching_programs(profile, selection.program), memory_space)
    if not programs:
        return pd.DataFrame({"position": [], "op": [], "live_bytes": []})
    plan = _largest(profile, programs, memory_space)
    count = len(plan.live_bytes)
    names = pd.Series(plan.life.order[:count], dtype=object)
    return pd.DataFrame({"position": np.arange(len(names)), "op": names, "live_bytes": plan.live_bytes[: len(names)]})


def plan_of(program: Program, color: int) -> Plan:
    """Return one memory space of a program over program order."""
    life, assignment = lifetimes(program), program.buffers
    held = sum(allocation.size_bytes for allocation in _allocations(assignment, color) if allocation.is_held)
    changes = np.zeros(max(len(life.order), 1) + 1, np.int64)
    mine = np.flatnonzero(_is_temporary(assignment, color)[life.held])
    sizes = np.array([buffer.size_bytes for buffer in assignment.buffers], np.int64)[life.held[mine]]
    np.add.at(changes, life.start[mine], sizes)
    np.subtract.at(changes, life.end[mine] + 1, sizes)
    return Plan(program, color, life, held + np.cumsum(changes[:-1]))


def _allocations(assignment: BufferAssignment, color: int) -> list[Allocation]:
    return [each for each in assignment.allocations if each.color == color and each.kind != "thread-local"]


def _allocated(program: Program, color: int) -> int:
    return sum(allocation.size_bytes for allocation in _allocations(program.buffers, color))


def _is_temporary(assignment: BufferAssignment, color: int) -> NDArray[np.bool_]:
    """Return which buffers come and go in this memory space."""
    places = assignment.allocations
    return np.array(
        [
            buffer.allocation >= 0
            and places[buffer.allocation].kind == "temporary"
            and places[buffer.allocation].color == color
            for buffer in assignment.buffers
        ],
        np.bool_,
    )


def _with_plan(profile: ProfileData, programs: list[Program], color: int) -> list[Program]:
    """Return the programs that say where they keep their values, what allocates most first."""
    planned = []
    for program in programs:
        with suppress(DamagedFileError):
            if program.buffers.allocations:
                planned.append(program)
    planned.sort(key=lambda program: -_allocated(program, color))
    while planned and readable_program(profile, planned[0].id) is None:
        del planned[0]
    return planned


def _largest(profile: ProfileData, programs: list[Program], color: int) -> Plan:
    """Return the plan with the largest peak; no peak is above what is allocated, so few have to be worked out."""
    best = plan_of(programs[0], color)
    for program in programs[1:]:
        if _allocated(program, color) <= best.peak_bytes:
            break
        if readable_program(profile, program.id) is not None:
            best = max(best, plan_of(program, color), key=lambda plan: plan.peak_bytes)
    return best


def _table(plan: Plan, profile: ProfileData) -> pd.DataFrame:
    assignment, life = plan.program.buffers, plan.life
    spans = pd.DataFrame({"start": life.start, "end": life.end}).groupby(life.held).agg({"start": "min", "end": "max"})
    span_of = spans.to_dict("index")
    live = set(life.held[(life.start <= plan.peak) & (life.end >= plan.peak)].tolist())
    members = _members(life.owner)
    outputs = {row: index for index, rows in life.outputs.items() for row in rows}
    always = {"start": 0, "end": max(len(life.order) - 1, 0)}
    rows: list[dict[str, Any]] = []
    for allocation in assignment.allocations:
        if allocation.color != plan.color or not allocation.size_bytes:
            continue
        if allocation.kind == "temporary":
            for owner in dict.fromkeys(int(life.owner[row]) for row in allocation.buffers):
                size = {"bytes": assignment.buffers[owner].size_bytes, "live_at_peak": owner in live}
                described = _described(owner, members.get(owner, []), allocation, plan, profile)
                rows.append({**described, **size, **span_of.get(owner, {})})
        else:
            shown = _representative(allocation, plan.program, outputs)
            size = {"bytes": allocation.size_bytes, "live_at_peak": allocation.is_held}
            described = _described(shown, allocation.buffers, allocation, plan, profile)
            rows.append({**described, **size, **always, "output": _output(allocation, outputs)})
    frame = pd.DataFrame(rows, columns=COLUMNS)
    for name in _WORDS:
        frame[name] = words(frame[name])
    frame["live_at_peak"] = frame["live_at_peak"].astype(bool)
    return frame.sort_values(["bytes", "start"], ascending=[False, True], kind="stable", ignore_index=True)


def _described(
    row: int, sharing: Sequence[int], allocation: Allocation, plan: Plan, profile: ProfileData
) -> dict[str, Any]:
    """Return what a buffer is and who shares its memory; ``row`` is -1 for an allocation without buffers."""
    place = {"kind": allocation.kind, "memory_space": allocation.color, "allocation": allocation.index}
    if row < 0:
        return {**place, "name": f"allocation {allocation.index}"}
    program = plan.program
    buffer = program.buffers.buffers[row]
    instruction = program.instruction(buffer.instruction)
    shape = shape_of(buffer, program)
    unpadded = None if shape is None else shape.top_level_bytes
    padding = None if unpadded is None else max(buffer.size_bytes - unpadded, 0)
    return {
        **place,
        "name": _name(row, program),
        "op": buffer.instruction,
        "opcode": instruction.opcode if instruction else None,
        "shape": str(shape) if shape is not None else None,
        "dtype": shape.dtype if shape is not None else None,
        "unpadded_bytes": unpadded,
        "padding_bytes": padding,
        "padding_fraction": None if padding is None else padding / max(buffer.size_bytes, 1),
        "offset_bytes": buffer.offset_bytes,
        "framework_op": (instruction.op_name or None) if instruction else None,
        "source": in_cell(instruction.source, profile.metadata) if instruction else None,
        "shared_with": _listed([_name(other, program) for other in sharing if other != row]),
    }


def _name(row: int, program: Program) -> str:
    buffer = program.buffers.buffers[row]
    return f"{buffer.instruction}{_place(buffer.shape_index)}" if buffer.shape_index else buffer.instruction


def _place(index: ShapeIndex) -> str:
    return "{" + ",".join(map(str, index)) + "}"


def _listed(names: list[str]) -> str | None:
    if not names:
        return None
    more = f" and {len(names) - _MOST_SHARED} more" if len(names) > _MOST_SHARED else ""
    return ", ".join(names[:_MOST_SHARED]) + more


def _representative(allocation: Allocation, program: Program, outputs: dict[int, ShapeIndex]) -> int:
    """Return the buffer that says what the allocation is for: the parameter or constant, or what ends up in it."""
    table = program.buffers.buffers
    wanted = "parameter" if allocation.is_parameter else "constant" if allocation.is_constant else None
    for row in allocation.buffers:
        instruction = program.instruction(table[row].instruction)
        if wanted and instruction is not None and instruction.opcode == wanted:
            return row
    ending = [row for row in allocation.buffers if row in outputs]
    return (ending or sorted(allocation.buffers, key=lambda row: -table[row].size_bytes) or [-1])[0]


def _output(allocation: Allocation, outputs: dict[int, ShapeIndex]) -> str | None:
    """Return which part of the program's result ends up in the allocation."""
    if not allocation.is_output:
        return None
    return next((_place(outputs[row]) for row in allocation.buffers if row in outputs), None)


def _members(owner: Ints) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for row, of in enumerate(owner.tolist()):
        members.setdefault(of, []).append(row)
    return members


def _summary(plan: Plan, frame: pd.DataFrame, programs: list[Program], profile: ProfileData) -> dict[str, Any]:
    program, order = plan.program, plan.life.order
    at_peak = frame[frame["live_at_peak"]]
    sums = {kind: int(group.sum()) for kind, group in frame["bytes"].groupby(frame["kind"])}
    temporary = sum(each.size_bytes for each in plan.allocations if each.kind == "temporary")
    held = sum(each.size_bytes for each in plan.allocations if each.is_held)
    said = {
        "program": program.name,
        "program_id": str(program.id),
        "memory_space": plan.color,
        "memory": _space(profile, plan.color),
        "peak_bytes": plan.peak_bytes,
        "peak_position": plan.peak,
        "peak_op": order[plan.peak] if order else None,
        "unpadded_peak_bytes": plan.peak_bytes - int(at_peak["padding_bytes"].sum()),
        "allocated_bytes": _allocated(program, plan.color),
        "parameter_bytes": sum(each.size_bytes for each in plan.allocations if each.is_parameter),
        "output_bytes": sum(each.size_bytes for each in plan.allocations if each.is_output),
        "aliased_bytes": sum(each.size_bytes for each in plan.allocations if each.is_parameter and each.is_output),
        "constant_bytes": sums.get("constant", 0),
        "thread_local_bytes": sums.get("thread-local", 0),
        "temporary_bytes": temporary,
        "fragmentation_fraction": (temporary - (plan.peak_bytes - held)) / temporary if temporary else None,
        "position_count": len(order),
        "curve": _curve(plan),
        "memory_spaces": [
            {
                "memory_space": color,
                "memory": _space(profile, color),
                "allocated_bytes": _allocated(program, color),
                "peak_bytes": plan_of(program, color).peak_bytes,
            }
            for color in program.buffers.colors
        ],
        "programs": [
            {"program": other.name, "program_id": str(other.id), "allocated_bytes": _allocated(other, plan.color)}
            for other in programs[:_MOST_PROGRAMS]
        ],
    }
    return {**said, "sentence": _sentence(said, at_peak)}


def _space(profile: ProfileData, color: int) -> str:
    backend = profile.devices[0].backend if profile.devices else ""
    if color == HOST_MEMORY_SPACE:
        return "host memory"
    return _SPACES.get((backend, color), "main memory" if color == 0 else f"memory space {color}")


def _curve(plan: Plan) -> list[dict[str, Any]]:
    """Return where the live bytes change; of more than a view can show, the largest of each stretch."""
    live, order = plan.live_bytes, plan.life.order
    points = np.flatnonzero(np.diff(live, prepend=live[0] - 1))
    if len(points) > _MOST_POINTS:
        stretches = np.array_split(points, _MOST_POINTS)
        points = np.array([stretch[np.argmax(live[stretch])] for stretch in stretches])
    return [
        {"position": int(point), "op": order[point], "live_bytes": int(live[point])}
        for point in points
        if point < len(order)
    ]


def _sentence(said: dict[str, Any], at_peak: pd.DataFrame) -> str:
    text = f"{said['program']} holds at most {units.size(said['peak_bytes'])} of {said['memory']}"
    if said["peak_op"]:
        text += f", at {said['peak_op']} ({said['peak_position'] + 1} of {said['position_count']} ops)"
    if not len(at_peak):
        return text + "."
    first = at_peak.iloc[0]
    article = "an" if first["kind"] == "output" else "a"
    return f"{text}; the largest is {first['name']}, {article} {first['kind']} of {units.size(first['bytes'])}."


def _notes(plan: Plan, programs: list[Program], selection: Selection) -> list[str]:
    notes = []
    others = [label(program) for program in programs if program is not plan.program]
    if others:
        what = (
            "with the largest peak" if selection.program is None else f"named {selection.program} with the largest peak"
        )
        notes.append(f"This is {label(plan.program)}, the one {what}; program= also takes {listed(others)}.")
    spaces = [color for color in plan.program.buffers.colors if color != plan.color]
    if not plan.peak_bytes:
        notes.append(f"{label(plan.program)} has nothing in memory space {plan.color}.")
    if spaces:
        notes.append(f"memory_space= also takes {', '.join(map(str, spaces))} here.")
    rebuilt = ~plan.life.is_simulated & _is_temporary(plan.program.buffers, plan.color)
    if rebuilt.any() and not plan.program.buffers.traces:
        notes.append("The profile has no heap trace of this program: lifetimes are rebuilt from its schedule.")
    return notes


def _not_applied(selection: Selection) -> list[str]:
    given = [name for name in ("host", "device", "step", "window_ps") if getattr(selection, name) is not None]
    if not given:
        return []
    return [f"{'=, '.join(given)}= is not applied: a program is planned once, for every device and every run."]


def _why_none(profile: ProfileData, selection: Selection) -> tuple[str, ...]:
    programs = [
        program
        for program in matching_programs(profile, selection.program)
        if readable_program(profile, program.id) is not None
    ]
    if not programs:
        return (why_undescribed(profile, selection.program),)
    return (
        f"The profile has the HLO of {listed([label(program) for program in programs])} but not where their values "
        "are kept: the runtime wrote no buffer assignment. A newer jaxlib or libtpu does; "
        "jitted.lower(...).compile().memory_analysis() says the sums.",
    )
