"""What does an op read, who reads it, and what is fused into it? Its neighbourhood in the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.op_identity import in_cell, readable_program
from xprof_nb.analysis.programs import label, matching_programs, why_undescribed
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.xprof import compat as xprof_compat
from xprof_nb.errors import UsageError
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame, words
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Computation, Instruction, Program
from xprof_nb.model.units import listed

MOST_NODES, MOST_NEIGHBOURS = 500, 60
_LONGEST_TEXT = 4000
_MOST_PROGRAMS, _MOST_CALLERS = 50, 20
MEASURED = ["occurrences", "time_ps", "self_time_ps", "flops", "bytes_accessed"]
_WORDS = ["node", "op", "program_id", "opcode", "shape", "computation", "inside", "category", "work_kind",
          "framework_op", "source", "called", "hlo_text"]  # fmt: skip
COLUMNS = ["node", "op", "program_id", "opcode", "shape", "computation", "inside", "distance", "category",
           "work_kind", *MEASURED, "operand_count", "user_count", "framework_op", "source", "called",
           "hlo_text"]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Part of one computation around an op.

    Attributes
    ----------
    distance
        Edges from the center, by instruction; in the order they were reached.
    cut
        How many operands and users of an instruction were left out.
    """

    computation: Computation
    center: str
    distance: Mapping[str, int]
    cut: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def graph(profile: ProfileData, selection: Selection, op: str | None, radius: int) -> Answer:
    """Return the ops within ``radius`` edges of an op, in either direction, and what is fused into them.

    Without ``op`` it is about the op of the program that took most time, or the program's root if none ran; the name
    of a computation stands for all of it. ``inside`` names the fusion a node is part of; ``operand_count`` and
    ``user_count`` say how many neighbours it has, shown or not. What the profile measured is in the table; the edges,
    ``[from, to, operand number, shape]``, are in the summary.

    Raises
    ------
    UsageError
        There is no such program, or no such op in it; the message names what comes close.
    """
    programs = matching_programs(profile, selection.program)
    measured = measured_ops(profile, selection)
    chosen = _center(profile, programs, measured, op)
    if chosen is None:
        notes = (why_undescribed(profile, selection.program),)
        return Answer(pd.DataFrame(columns=COLUMNS), {"sentence": "No program is described.", "edges": []}, notes)
    program, center = chosen
    found = _whole(program, center) if center in program.computations else _around(program, center, radius)
    nodes, said = _with_fused(program, found)
    frame = _table(profile, measured, program, nodes)
    edges = [edge for computation in _bodies(program, nodes) for edge in _edges(computation, nodes)]
    if len(programs) > 1 and selection.program is None:
        others = [label(other) for other in programs if other is not program]
        said.append(f"This is {label(program)}; program= also takes {listed(others)}.")
    summary = {
        **_summary(program, found, radius, edges, frame),
        "programs": _programs(matching_programs(profile, None), measured),
    }
    return Answer(frame, summary, tuple(said))


def neighbours(program: Program, op: str) -> tuple[list[str], list[str]]:
    """Return what an op reads and who reads it, looking through get-tuple-element."""
    instructions = program.instructions
    users = _users(program.computations[instructions[op].computation])
    operands = [_through(program, name) for name in instructions[op].operands]
    reached: dict[str, None] = {}
    waiting = list(users.get(op, ()))
    while waiting:
        user = waiting.pop(0)
        if instructions[user].opcode == "get-tuple-element":
            waiting += users.get(user, ())
        else:
            reached[user] = None
    return list(dict.fromkeys(operands)), list(reached)


def _through(program: Program, name: str) -> str:
    instruction = program.instructions[name]
    while instruction.opcode == "get-tuple-element" and instruction.operands:
        instruction = program.instructions[instruction.operands[0]]
    return instruction.name


def _center(
    profile: ProfileData, programs: list[Program], measured: pd.DataFrame, op: str | None
) -> tuple[Program, str] | None:
    """Return the program and the op, or the computation, that the question is about; None if no HLO is readable."""
    busy = measured.groupby(level="program_id")["self_time_ps"].sum().to_dict()
    readable = []
    for program in sorted(programs, key=lambda program: -busy.get(program.id, 0.0)):
        if readable_program(profile, program.id) is None:
            continue
        readable.append(program)
        if op is None:
            times = of_program(measured, program)["self_time_ps"]
            ran = times[(times > 0) & times.index.isin(program.instructions)]
            return program, str(ran.idxmax()) if len(ran) else program.computations[program.entry].root
        if op in program.instructions or op in program.computations:
            return program, op
    if readable and op is not None:
        raise _unknown(readable, op)
    return None


def _unknown(programs: list[Program], op: str) -> UsageError:
    known = [name for program in programs for name in (*program.instructions, *program.computations)]
    close = get_close_matches(op, known[:50_000], n=5, cutoff=0.5) or known[:5]
    where = label(programs[0]) if len(programs) == 1 else "any program of this profile"
    return UsageError(f"no op {op!r} in {where}", hint=f"Close: {', '.join(dict.fromkeys(close))}.")


def measured_ops(profile: ProfileData, selection: Selection) -> pd.DataFrame:
    """Return what ran in the chosen part of the profile, by program id and op, summed over the devices."""
    table = op_tables.op_table(profile, replace(selection, program=None))
    if not len(table):
        index = pd.MultiIndex.from_arrays([[], []], names=["program_id", "op"])
        return pd.DataFrame(columns=MEASURED, index=index, dtype=float)
    records = xprof_compat.by_op(op_tables.corrected(table.columns, table.peaks))
    return as_frame({name: records[name] for name in ("program_id", "op", *MEASURED)}).set_index(["program_id", "op"])


def of_program(measured: pd.DataFrame, program: Program) -> pd.DataFrame:
    """Return the rows of one program, by op."""
    return measured[measured.index.get_level_values("program_id") == program.id].droplevel("program_id")


def _users(computation: Computation) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for instruction in computation.instructions:
        for operand in dict.fromkeys(instruction.operands):
            users.setdefault(operand, []).append(instruction.name)
    return users


def _whole(program: Program, name: str) -> Neighbourhood:
    computation = program.computations[name]
    shown = [instruction.name for instruction in computation.instructions[:MOST_NODES]]
    if computation.root not in shown:
        shown[-1] = computation.root
    rest = len(computation.instructions) - len(shown)
    cut = {computation.root: (rest, 0)} if rest else {}
    return Neighbourhood(computation, computation.root, dict.fromkeys(shown, 0), cut)


def _around(program: Program, center: str, radius: int) -> Neighbourhood:
    """Walk operands and users outward; of a node with very many, the first few of each are taken."""
    computation = program.computations[program.instructions[center].computation]
    users = _users(computation)
    distance, cut = {center: 0}, {}
    ring = [center]
    for step in range(1, radius + 1):
        following: list[str] = []
        for name in ring:
            sides = (list(dict.fromkeys(program.instructions[name].operands)), users.get(name, []))
            room = max(MOST_NODES - len(distance), 0)
            left_out = []
            for side in sides:
                new = [other for other in side if other not in distance]
                taken = new[: min(MOST_NEIGHBOURS, room)]
                room -= len(taken)
                distance.update(dict.fromkeys(taken, step))
                following += taken
                left_out.append(len(new) - len(taken))
            if any(left_out):
                cut[name] = (left_out[0], left_out[1])
        ring = following
    return Neighbourhood(computation, center, distance, cut)


def _with_fused(program: Program, found: Neighbourhood) -> tuple[dict[str, tuple[int, str | None]], list[str]]:
    """Return distance and fusion of every node: the neighbourhood, and what is fused into it while there is room."""
    nodes: dict[str, tuple[int, str | None]] = {name: (distance, None) for name, distance in found.distance.items()}
    folded = []
    for name, distance in found.distance.items():
        inner = [each for body in _fused_bodies(program.instructions[name], program) for each in body.instructions]
        if len(nodes) + len(inner) > MOST_NODES:
            folded.append(name)
        else:
            nodes |= {instruction.name: (distance, name) for instruction in inner if instruction.name not in nodes}
    notes = []
    if folded:
        notes.append(f"What is fused into {listed(folded)} is left out: {MOST_NODES} nodes are shown at most.")
    if found.cut:
        operands, users = (sum(side) for side in zip(*found.cut.values(), strict=True))
        notes.append(
            f"{operands:,} operands and {users:,} users of {listed(found.cut)} are left out: at most "
            f"{MOST_NEIGHBOURS} of each, {MOST_NODES} nodes in all. A smaller radius or another op= shows others."
        )
    return nodes, notes


def _fused_bodies(instruction: Instruction, program: Program) -> Iterator[Computation]:
    if instruction.opcode == "fusion":
        yield from (program.computations[name] for name in instruction.called)


def _bodies(program: Program, nodes: Mapping[str, Any]) -> list[Computation]:
    return [
        program.computations[name] for name in dict.fromkeys(program.instructions[node].computation for node in nodes)
    ]


def _edges(computation: Computation, nodes: Mapping[str, Any]) -> Iterator[list[Any]]:
    shapes = {instruction.name: instruction.shape for instruction in computation.instructions}
    for instruction in computation.instructions:
        if instruction.name in nodes:
            for number, operand in enumerate(instruction.operands):
                if operand in nodes:
                    yield [operand, instruction.name, number, str(shapes[operand])]


def _table(
    profile: ProfileData, measured: pd.DataFrame, program: Program, nodes: Mapping[str, tuple[int, str | None]]
) -> pd.DataFrame:
    ran_ops = of_program(measured, program)
    users = {name: len(readers) for each in _bodies(program, nodes) for name, readers in _users(each).items()}
    rows = []
    for name, (distance, inside) in nodes.items():
        instruction = program.instructions[name]
        text = program.text(name)
        rows.append(
            {
                "node": name,
                "op": name,
                "program_id": str(program.id),
                "opcode": instruction.opcode,
                "shape": str(instruction.shape),
                "computation": instruction.computation,
                "inside": inside,
                "distance": distance,
                "category": (kind := category(instruction, program)),
                "work_kind": work_kind(kind),
                "operand_count": len(set(instruction.operands)),
                "user_count": users.get(name, 0),
                "framework_op": instruction.op_name or None,
                "source": in_cell(instruction.source, profile.metadata),
                "called": ", ".join(instruction.called) or None,
                "hlo_text": text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " …",
            }
        )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    ran = frame["inside"].isna() & frame["op"].isin(ran_ops.index)
    for name in MEASURED:
        column = pd.Series(np.nan, index=frame.index)
        column[ran] = ran_ops[name].reindex(frame.loc[ran, "op"]).to_numpy(np.float64)
        frame[name] = column
    for name in _WORDS:
        frame[name] = words(frame[name])
    return frame.sort_values("distance", kind="stable", ignore_index=True)


def _summary(
    program: Program, found: Neighbourhood, radius: int, edges: list[list[Any]], frame: pd.DataFrame
) -> dict[str, Any]:
    operands, users = neighbours(program, found.center)
    outer = frame[frame["inside"].isna()]
    said = {
        "program": program.name,
        "program_id": str(program.id),
        "center": found.center,
        "computation": found.computation.name,
        "radius": radius,
        "node_count": len(frame),
        "op_count": len(outer),
        "computation_op_count": len(found.computation.instructions),
        "callers": _callers(program, found.computation.name),
        "way": _way(program, found.computation.name),
        "operands": operands,
        "users": users,
        "edges": edges,
        "cut": [{"node": name, "operand_count": left[0], "user_count": left[1]} for name, left in found.cut.items()],
    }
    center = outer[outer["node"] == found.center].iloc[0]
    return {**said, "sentence": _sentence(program, center, operands, users)}


def _callers(program: Program, computation: str) -> list[str]:
    """Return the first ops that call a computation; the entry computation has none."""
    callers = (each.name for each in program.instructions.values() if computation in each.called)
    return list(islice(callers, _MOST_CALLERS))


def _way(program: Program, computation: str) -> list[dict[str, str]]:
    """Return by which calls a computation is reached from the entry, each with the computation that it is in."""
    way: list[dict[str, str]] = []
    seen = {computation}
    while callers := _callers(program, computation):
        computation = program.instructions[callers[0]].computation
        if computation in seen:
            break  # only damaged HLO calls itself
        seen.add(computation)
        way.insert(0, {"computation": computation, "op": callers[0]})
    return way


def _programs(programs: list[Program], measured: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the programs there are to choose from, those that took most time first."""
    busy = measured.groupby(level="program_id")["self_time_ps"].sum().to_dict()
    listed_first = sorted(programs, key=lambda program: -busy.get(program.id, 0.0))[:_MOST_PROGRAMS]
    return [
        {"program": each.name, "program_id": str(each.id), "self_time_ps": busy.get(each.id)} for each in listed_first
    ]


def _sentence(program: Program, center: pd.Series[Any], operands: list[str], users: list[str]) -> str:
    text = f"{center['op']} of {program.name} reads {units.counted(len(operands), 'op')}"
    text += f" and is read by {units.counted(len(users), 'op')}"
    if pd.notna(center["time_ps"]):
        text += (
            f"; it ran {units.counted(center['occurrences'], 'time')} for {units.duration(center['time_ps'])} in all"
        )
    return text + "."
