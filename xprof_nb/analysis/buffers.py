"""What memory does a program need, and which arrays are it? From XLA's own plan, the buffer assignment.

Every byte is counted once: a parameter that an output takes over is one piece of memory, and so is what one op
computes in place of another. xprof's memory viewer differs, see `xprof_nb.analysis.xprof.buffers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.buffer_lifetimes import Lifetimes, shape_of
from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.framework_ops import scope_path
from xprof_nb.analysis.memory_plan import Plan, allocated_bytes, in_space, is_temporary, largest_plan, planned_programs
from xprof_nb.analysis.op_identity import in_cell, readable_program
from xprof_nb.analysis.programs import label, matching_programs, why_undescribed
from xprof_nb.analysis.selection import Selection, not_applied
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.buffers import Allocation, ShapeIndex
from xprof_nb.model.columns import Columns, as_frame, summed_by, taken, texts
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.model.roofs import roofs_of
from xprof_nb.model.shape import HOST_MEMORY_SPACE
from xprof_nb.model.thinning import largest_of_stretches
from xprof_nb.model.units import listed

COLUMNS = [
    "name",
    "op",
    "program_id",
    "opcode",
    "shape",
    "dtype",
    "bytes",
    "unpadded_bytes",
    "padding_bytes",
    "padding_fraction",
    "kind",
    "work_kind",
    "memory_space",
    "allocation",
    "offset_bytes",
    "start",
    "end",
    "live_at_peak",
    "framework_op",
    "scope",
    "source",
    "output",
    "shared_with",
]
_WORDS = ["name", "op", "program_id", "opcode", "shape", "dtype", "kind", "work_kind", "framework_op", "scope",
          "source", "output", "shared_with"]  # fmt: skip
_MOST_POINTS, _MOST_PROGRAMS, _MOST_SHARED = 500, 50, 20
_SPACES = {("tpu", 0): "HBM", ("tpu", 1): "VMEM"}
_ON_CHIP = {("tpu", 1): "vmem"}
Ints = NDArray[np.int64]


def buffers(profile: ProfileData, selection: Selection, memory_space: int, like_xprof: bool) -> Answer:
    """Return the buffers of a program in one memory space, the largest first.

    Without ``program=`` it is the program with the largest peak. ``start`` and ``end`` are positions in program order,
    see `live_curve`. ``bytes`` is what is taken, ``unpadded_bytes`` what the shape needs without the padding of its
    layout; ``scope`` is where in the model the op that makes it is. The ``bytes`` of the rows that are
    ``live_at_peak`` sum to ``peak_bytes`` of the summary, whose ``room_bytes`` are what the memory has beyond that.

    Raises
    ------
    UsageError
        The profile knows no such program.
    """
    programs = planned_programs(profile, matching_programs(profile, selection.program), memory_space)
    if not programs:
        return Answer(
            pd.DataFrame(columns=COLUMNS), {"sentence": "No program is described."}, _why_none(profile, selection)
        )
    plan = largest_plan(profile, programs, memory_space)
    everywhere = not_applied(
        selection, ("host", "device", "step", "window_ps"), "a program is planned once, for every device and every run"
    )
    if like_xprof:
        from xprof_nb.analysis.xprof import buffers as xprof_buffers  # noqa: PLC0415  (it needs this module)

        answer = xprof_buffers.buffers(plan.program, memory_space)
        return replace(answer, notes=(*everywhere, *answer.notes))
    frame = _table(plan, profile)
    notes = [*everywhere, *_notes(plan, programs, selection)]
    return Answer(frame, _summary(plan, frame, profile), tuple(notes))


def live_curve(profile: ProfileData, selection: Selection, memory_space: int = 0) -> pd.DataFrame:
    """Return the live bytes at every position of the program that `buffers` is about.

    Returns
    -------
    DataFrame
        ``position, op, live_bytes``; loops and calls are walked into, each once, before the op that calls.
    """
    programs = planned_programs(profile, matching_programs(profile, selection.program), memory_space)
    if not programs:
        return pd.DataFrame({"position": [], "op": [], "live_bytes": []})
    plan = largest_plan(profile, programs, memory_space)
    count = len(plan.live_bytes)
    names = pd.Series(plan.life.order[:count], dtype=object)
    return pd.DataFrame({"position": np.arange(len(names)), "op": names, "live_bytes": plan.live_bytes[: len(names)]})


def _table(plan: Plan, profile: ProfileData) -> pd.DataFrame:
    assignment, life = plan.program.buffers, plan.life
    span_of = _hulls(life)
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
    cells = {name: [row.get(name) for row in rows] for name in COLUMNS}
    columns: Columns = {name: texts(values) if name in _WORDS else _numbers(values) for name, values in cells.items()}
    columns["live_at_peak"] = columns["live_at_peak"].astype(np.bool_)
    return as_frame(taken(columns, np.lexsort((columns["start"], -columns["bytes"]))))


def _hulls(life: Lifetimes) -> dict[int, dict[str, int]]:
    """Return the first and last position at which each owner holds something."""
    owners, owner = np.unique(life.held, return_inverse=True)
    start, end = np.full(len(owners), len(life.order)), np.full(len(owners), -1)
    np.minimum.at(start, owner, life.start)
    np.maximum.at(end, owner, life.end)
    spans = zip(owners.tolist(), start.tolist(), end.tolist(), strict=True)
    return {of: {"start": first, "end": last} for of, first, last in spans}


def _numbers(values: Sequence[float | None]) -> NDArray[Any]:
    """Return whole numbers if all are, else floats with NaN for a missing one."""
    whole = all(isinstance(value, int) for value in values)
    return np.array(values, np.int64 if whole else np.float64)


def _described(
    row: int, sharing: Sequence[int], allocation: Allocation, plan: Plan, profile: ProfileData
) -> dict[str, Any]:
    """Return what a buffer is and who shares its memory; ``row`` is -1 for an allocation without buffers."""
    place = {
        "program_id": str(plan.program.id),
        "kind": allocation.kind,
        "memory_space": allocation.color,
        "allocation": allocation.index,
    }
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
        "scope": "/".join(scope_path(instruction.op_name)[:-1]) or None if instruction else None,
        "source": in_cell(instruction.source, profile.metadata) if instruction else None,
        "work_kind": work_kind(category(instruction, program)) if instruction else None,
        "shared_with": listed([_name(other, program) for other in sharing if other != row], _MOST_SHARED) or None,
    }


def _name(row: int, program: Program) -> str:
    buffer = program.buffers.buffers[row]
    return f"{buffer.instruction}{_place(buffer.shape_index)}" if buffer.shape_index else buffer.instruction


def _place(index: ShapeIndex) -> str:
    return "{" + ",".join(map(str, index)) + "}"


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


def _summary(plan: Plan, frame: pd.DataFrame, profile: ProfileData) -> dict[str, Any]:
    program, order = plan.program, plan.life.order
    at_peak = frame[frame["live_at_peak"]]
    sums = {kind: int(total) for kind, total in summed_by(frame["kind"], frame["bytes"].to_numpy()).items()}
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
        "allocated_bytes": allocated_bytes(program, plan.color),
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
                "allocated_bytes": allocated_bytes(program, color),
                "peak_bytes": in_space(program, color, plan.life).peak_bytes,
            }
            for color in program.buffers.colors
        ],
        "programs": [
            {"program": other.name, "program_id": str(other.id), "allocated_bytes": allocated_bytes(other, plan.color)}
            for other in planned_programs(profile, matching_programs(profile, None), plan.color)[:_MOST_PROGRAMS]
        ],
        "capacity_bytes": (capacity := memory_capacity_bytes(profile, plan.color)),
        "room_bytes": None if capacity is None else capacity - plan.peak_bytes,
    }
    return {**said, "sentence": _sentence(said, at_peak)}


def _space(profile: ProfileData, color: int) -> str:
    backend = profile.devices[0].backend if profile.devices else ""
    if color == HOST_MEMORY_SPACE:
        return "host memory"
    return _SPACES.get((backend, color), "main memory" if color == 0 else f"memory space {color}")


def memory_capacity_bytes(profile: ProfileData, color: int) -> int | None:
    """Return the size of a memory space, the smallest of the devices' if they differ; None if nobody states it."""
    sizes = []
    for device in (each for each in profile.devices if not each.kind):
        on_chip = _ON_CHIP.get((device.backend, color))
        roofs = roofs_of(device)
        size = roofs.on_chip_bytes.get(on_chip) if on_chip else roofs.capacity_bytes
        sizes.append(size if on_chip or color == 0 else None)
    known = [size for size in sizes if size]
    return min(known) if known and len(known) == len(sizes) else None


def _curve(plan: Plan) -> list[dict[str, Any]]:
    """Return where the live bytes change; of more than a view can show, the largest of each stretch."""
    live, order = plan.live_bytes, plan.life.order
    points = np.flatnonzero(np.diff(live, prepend=live[0] - 1))
    curve = [
        {"position": int(point), "op": order[point], "live_bytes": int(live[point])}
        for point in points
        if point < len(order)
    ]
    return largest_of_stretches(curve, "live_bytes", _MOST_POINTS)


def _sentence(said: dict[str, Any], at_peak: pd.DataFrame) -> str:
    text = f"{said['program']} holds at most {units.size(said['peak_bytes'])} of {said['memory']}"
    if said["peak_op"]:
        text += f", at {said['peak_op']} ({said['peak_position'] + 1} of {said['position_count']} ops)"
    if not len(at_peak):
        return text + "."
    first = at_peak.iloc[0]
    article = "an" if first["kind"] == "output" else "a"
    text += f"; the largest is {first['name']}, {article} {first['kind']} of {units.size(first['bytes'])}"
    if said["room_bytes"] is None:
        return text + "."
    capacity = units.size(said["capacity_bytes"])
    if said["room_bytes"] < 0:
        return f"{text}. That is {units.size(-said['room_bytes'])} more than the {capacity} there are."
    return f"{text}. Of {capacity}, {units.size(said['room_bytes'])} would still fit."


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
    rebuilt = ~plan.life.is_simulated & is_temporary(plan.program.buffers, plan.color)
    if rebuilt.any() and not plan.program.buffers.traces:
        notes.append("The profile has no heap trace of this program: lifetimes are rebuilt from its schedule.")
    return notes


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
