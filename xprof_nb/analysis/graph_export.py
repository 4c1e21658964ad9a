"""A graph, or a whole program, as text for other tools: DOT and HLO."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd

from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.analysis.programs import label, matching_programs, why_undescribed
from xprof_nb.analysis.selection import FILTERS, Selection, not_applied
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
from xprof_nb.model.hlo_text import instruction_text
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Computation, Instruction, Program

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_LONGEST_LABEL = 200
LONGEST_TEXT = 16_000_000
_FILLS = {
    "parameter": "#fff3e0",
    "constant": "#eceff1",
    "fusion": "#e3f2fd",
    "dot": "#c5cae9",
    "convolution": "#c5cae9",
}
_CENTER_FILL = "#ffe082"


def dot(answer: Answer) -> str:
    """Return an answer of `xprof_nb.analysis.graph.graph` as a graph in the DOT language.

    What is fused is in a box of its fusion. Names are hostile text: they are quoted, and control characters replaced.
    """
    frame, summary = answer.frame, answer.summary
    number = {name: place for place, name in enumerate(frame["node"])} if len(frame) else {}
    lines = [
        "digraph program {",
        f"  label={_quoted(summary.get('sentence', ''))};",
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="monospace"];',
    ]
    inside: dict[str, list[Any]] = {}
    for row in frame.itertuples() if len(frame) else ():
        if row.inside is None:
            lines.append(f"  {_node(row, number[row.node], str(summary['center']))}")
        else:
            inside.setdefault(str(row.inside), []).append(row)
    for fusion, rows in inside.items():
        lines.append(f"  subgraph cluster_{number[fusion]} {{")
        lines.append(f"    label={_quoted(fusion)}; style=dashed;")
        lines += [f"    {_node(row, number[row.node], '')}" for row in rows]
        lines.append("  }")
    for origin, target, operand, shape in summary.get("edges", ()):
        lines.append(f"  n{number[origin]} -> n{number[target]} [label={_quoted(shape)}, tooltip={_quoted(operand)}];")
    return "\n".join([*lines, "}", ""])


def graph_text(profile: ProfileData, selection: Selection) -> Answer:
    """Return the HLO text of a program, a row a line; of several that match, the first that can be read.

    A text of more than `LONGEST_TEXT` characters is left out, and a note says who writes it to a file.

    Raises
    ------
    UsageError
        The profile knows no such program.
    """
    filters = [name for name in FILTERS if name != "program"]
    notes = not_applied(selection, filters, "a program's text is the same wherever and whenever it ran")
    programs = matching_programs(profile, selection.program)
    program = next((each for each in programs if readable_program(profile, each.id) is not None), None)
    lines: list[str] = []
    summary: dict[str, Any] = {"sentence": "No program is described."}
    if program is None:
        notes.append(why_undescribed(profile, selection.program))
    else:
        written = text(program, is_long=True)
        lines = written.splitlines()
        summary = {
            "program": program.name,
            "program_id": str(program.id),
            "line_count": len(lines),
            "sentence": f"{label(program)} has {len(lines):,} lines of HLO text.",
        }
        if len(written) > LONGEST_TEXT:
            lines = []
            notes.append(
                f"The text of {label(program)} has {len(written):,} characters, too many to pass on at once: "
                f"profile.graph(program={program.id}).to_text('program.hlo', long=True) writes it to a file."
            )
    return Answer(pd.DataFrame({"line": words(pd.Series(lines, dtype=object))}), summary, tuple(notes))


def text(program: Program, is_long: bool = False) -> str:
    """Return a program as HLO text, callees before callers.

    The short form leaves out framework ops, source lines and what the compiler's backend noted.
    """
    parts = [f"HloModule {_identifier(program.name)}"]
    parts += [_computation(computation, program, is_long) for computation in program.computations.values()]
    return "\n\n".join(parts) + "\n"


def _computation(computation: Computation, program: Program, is_long: bool) -> str:
    parameters = sorted(
        (each for each in computation.instructions if each.opcode == "parameter"),
        key=lambda each: each.parameter_number,
    )
    arguments = ", ".join(f"{each.name}: {each.shape}" for each in parameters)
    root = program.instructions[computation.root]
    entry = "ENTRY " if computation.name == program.entry else ""
    lines = [f"{entry}%{computation.name} ({arguments}) -> {root.shape} {{"]
    by_name = {instruction.name: instruction for instruction in computation.instructions}
    for name in program.schedule(computation.name):
        shown = by_name[name] if is_long else _short(by_name[name])
        lines.append(f"  {'ROOT ' if name == computation.root else ''}{instruction_text(shown, program)}")
    return "\n".join([*lines, "}"])


def _short(instruction: Instruction) -> Instruction:
    return replace(instruction, op_name="", op_type="", source_file="", source_line=0, backend_config="")


def _identifier(name: str) -> str:
    return re.sub(r"[^\w.\-]", "_", name) or "program"


def _node(row: Any, number: int, center: str) -> str:
    lines = [row.node, f"{row.opcode} {row.shape}"]
    if row.framework_op:
        lines.append(row.framework_op)
    if pd.notna(row.time_ps):
        lines.append(units.duration(row.time_ps))
    fill = _CENTER_FILL if row.node == center else _FILLS.get(row.opcode, "#ffffff")
    label = "\\n".join(_escaped(line) for line in lines)
    return f'n{number} [label="{label}", fillcolor="{fill}", tooltip={_quoted(row.source or "")}];'


def _quoted(value: object) -> str:
    return f'"{_escaped(str(value))}"'


def _escaped(value: str) -> str:
    """Return text that is safe inside quotes; a backslash would be a command to graphviz."""
    shown = value if len(value) <= _LONGEST_LABEL else value[:_LONGEST_LABEL] + "…"
    return _CONTROL.sub("\ufffd", shown).replace("\\", "\\\\").replace('"', '\\"')
