"""What exactly is this op? HLO text, source line, shapes, what is fused into it, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.op_identity import costs_of, readable_program
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.xprof import compat as xprof_compat
from xprof_nb.errors import UsageError
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame, taken
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program

MOST_FUSED = 50
_NUMBERS = ["occurrences", "time_ps", "self_time_ps", "time_fraction", "flops", "flops_per_s", "flops_utilization"]
_NUMBERS += ["bytes_accessed", "bytes_per_s", "hbm_utilization", "wasted_fraction"]


def op_details(profile: ProfileData, program_id: int, op: str, selection: Selection) -> Answer:
    """Return one row of numbers and, in the summary, the identity of an op.

    Raises
    ------
    UsageError
        The op did not run in the chosen part of the profile.
    """
    table = op_tables.op_table(profile, selection)
    chosen = (table.columns["program_id"] == np.uint64(program_id)) & (table.columns["op"] == op)
    if not chosen.any():
        raise UsageError(
            f"op {op!r} of program {program_id} did not run here", hint="See ops().frame for those that did."
        )
    rows = xprof_compat.by_op(op_tables.corrected(taken(table.columns, chosen), table.peaks))
    frame = as_frame(op_tables.with_rates(rows, table.peaks, table.total_ps))
    row = frame.iloc[0]
    program = readable_program(profile, program_id)
    instruction = program.instruction(op) if program else None
    summary: dict[str, Any] = {
        "name": op,
        "program": row["program"],
        "program_id": str(program_id),
        "category": row["category"],
        "work_kind": row["work_kind"],
        "framework_op": row["framework_op"],
        "bound_by": row["bound_by"],
        "compute_dtype": row["compute_dtype"],
        "roof_dtype": row["roof_dtype"],
        **{name: (None if pd.isna(row[name]) else float(row[name])) for name in _NUMBERS},
        **_identity(profile, program, instruction),
    }
    stated = _stated_text(profile, program_id, op)
    if summary["hlo_text"] is None:
        summary["hlo_text"] = stated
    if summary["source"] is None:
        summary["source"] = row["source"]
    notes = () if summary["hlo_text"] else (f"The profile does not describe program {row['program']}: no HLO text.",)
    return Answer(frame[op_tables.COLUMNS[2:]], summary, notes)


def _identity(profile: ProfileData, program: Program | None, instruction: Instruction | None) -> dict[str, Any]:
    if program is None or instruction is None:
        return {
            "opcode": None, "source": None, "cell": None, "cell_source": None, "shape": None,
            "operands": [], "hlo_text": None, "fused": [], "source_stack": [],
        }  # fmt: skip
    source = instruction.source or None
    return {
        "opcode": instruction.opcode,
        "source": source,
        **cell_line(source, profile.metadata),
        "shape": str(instruction.shape),
        "operands": [{"name": name, "shape": str(program.instructions[name].shape)} for name in instruction.operands],
        "hlo_text": program.text(instruction.name),
        "fused": _fused(program, instruction),
        "source_stack": list(instruction.source_stack),
    }


def cell_line(source: str | None, metadata: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the notebook cell and the text of the line a source points to, if it points into one."""
    file, _, line = (source or "").rpartition(":")
    cell = metadata.get("cells", {}).get(file)
    if not cell:
        return {"cell": None, "cell_source": None}
    lines = str(cell["source"]).splitlines()
    number = int(line)
    text = lines[number - 1].strip() if 0 < number <= len(lines) else None
    return {"cell": f"In[{cell['count']}]:{line}", "cell_source": text}


def _fused(program: Program, instruction: Instruction) -> list[dict[str, Any]]:
    if instruction.opcode != "fusion":
        return []
    costs = costs_of(program)
    inside = [item for called in instruction.called for item in program.computations[called].instructions]
    shown: list[dict[str, Any]] = []
    for item in inside:
        if item.opcode in {"parameter", "constant"}:
            continue
        flops = costs.cost(item.name).flops
        shown.append(
            {
                "name": item.name,
                "opcode": item.opcode,
                "shape": str(item.shape),
                "flops": None if np.isnan(flops) else float(flops),
            }
        )
    return sorted(shown, key=lambda item: -(item["flops"] or 0))[:MOST_FUSED]


def _stated_text(profile: ProfileData, program_id: int, op: str) -> str | None:
    """Return the HLO text the runtime wrote beside the op, where the program itself is not in the profile."""
    for trace in profile.hosts:
        rows = np.flatnonzero((trace.keys.program_id == np.uint64(program_id)) & (trace.keys.op == op))
        if len(rows) and trace.keys.hlo_text[rows[0]]:
            return str(trace.keys.hlo_text[rows[0]])
    return None
