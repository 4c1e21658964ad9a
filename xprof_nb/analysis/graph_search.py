"""Which ops have these words in their name, opcode, shape or framework op? Those that took most time first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.graph import MEASURED, measured_ops
from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.analysis.programs import label, matching_programs, why_undescribed
from xprof_nb.analysis.selection import Selection
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program
from xprof_nb.model.units import listed

_WORDS = ["op", "program", "program_id", "opcode", "shape", "computation", "category", "work_kind", "framework_op"]
COLUMNS = [*_WORDS, *MEASURED]


def graph_search(profile: ProfileData, selection: Selection, text: str, limit: int) -> Answer:
    """Return the first ``limit`` ops that have every word of ``text``, those that took most time first.

    All programs are searched unless one is chosen; upper and lower case are the same.

    Raises
    ------
    UsageError
        The profile knows no such program.
    """
    programs = [
        program
        for program in matching_programs(profile, selection.program)
        if readable_program(profile, program.id) is not None
    ]
    if not programs:
        notes = (why_undescribed(profile, selection.program),)
        return Answer(pd.DataFrame(columns=COLUMNS), {"sentence": "No program is described."}, notes)
    sought = text.lower().split()
    hits = [(program, each) for program in programs for each in _matching(program, sought)]
    frame = _table(hits, measured_ops(profile, selection), limit)
    searched = sum(len(program.instructions) for program in programs)
    summary = {
        "text": text,
        "hit_count": len(hits),
        "searched_count": searched,
        "sentence": f"{units.count(len(hits))} of {units.counted(searched, 'op')} found.",
    }
    return Answer(frame, summary, _notes(text, programs, len(hits), limit))


def _matching(program: Program, sought: list[str]) -> Iterator[Instruction]:
    for instruction in program.instructions.values():
        text = f"{instruction.name} {instruction.opcode} {instruction.shape} {instruction.op_name}".lower()
        if all(word in text for word in sought):
            yield instruction


def _table(hits: list[tuple[Program, Instruction]], measured: pd.DataFrame, limit: int) -> pd.DataFrame:
    found = pd.MultiIndex.from_tuples(
        [(program.id, instruction.name) for program, instruction in hits], names=["program_id", "op"]
    )
    ran = measured.reindex(found)
    order = np.argsort(-ran["self_time_ps"].fillna(-1).to_numpy(np.float64), kind="stable")[:limit]
    rows = [_row(*hits[place]) for place in order.tolist()]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    for name in MEASURED:
        frame[name] = ran[name].to_numpy(np.float64)[order]
    for name in _WORDS:
        frame[name] = words(frame[name])
    return frame


def _row(program: Program, instruction: Instruction) -> dict[str, str | None]:
    kind = category(instruction, program)
    return {
        "op": instruction.name,
        "program": program.name,
        "program_id": str(program.id),
        "opcode": instruction.opcode,
        "shape": str(instruction.shape),
        "computation": instruction.computation,
        "category": kind,
        "work_kind": work_kind(kind),
        "framework_op": instruction.op_name or None,
    }


def _notes(text: str, programs: list[Program], hits: int, limit: int) -> tuple[str, ...]:
    if not hits:
        where = listed([label(program) for program in programs])
        return (
            f"No op of {where} has {text!r} in its name, opcode, shape or framework op: a part of a word is enough, "
            "every word has to be there.",
        )
    return (f"The {limit:,} that took most time are listed; limit= gives more.",) if hits > limit else ()
