"""The one grammar of ``%xprof``, ``%%xprof`` and ``xprof-nb``: text in, a typed command out.

A notebook can capture what runs in its own process; a shell has nothing of its own to capture, only other processes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from xprof_nb.args.capture import (
    Action,
    CaptureCommand,
    JobCommand,
    PanelCommand,
    add_capture_options,
    cell_command,
)
from xprof_nb.args.parser import AddVerb, HelpAsked, Parser, Version, seconds, split
from xprof_nb.args.questions import (
    EXPORTS,
    FORMATS,
    GROUPINGS,
    QUESTIONS,
    DoctorCommand,
    Format,
    ListCommand,
    OpenCommand,
    QueryCommand,
    add_questions,
)
from xprof_nb.args.remote import RemoteCommand, ServerCommand, add_capture_of_others, add_captures
from xprof_nb.args.runs import RunCommand, add_runs
from xprof_nb.args.sweep import VERB as SWEEP
from xprof_nb.args.sweep import SweepCommand, parse_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "EXPORTS",
    "FORMATS",
    "GROUPINGS",
    "QUESTIONS",
    "SWEEP",
    "Action",
    "CaptureCommand",
    "Command",
    "DoctorCommand",
    "Format",
    "HelpAsked",
    "JobCommand",
    "ListCommand",
    "OpenCommand",
    "PanelCommand",
    "QueryCommand",
    "RemoteCommand",
    "RunCommand",
    "ServerCommand",
    "SweepCommand",
    "parse_cell_magic",
    "parse_magic",
    "parse_shell",
    "seconds",
]

Command = (
    CaptureCommand
    | RemoteCommand
    | JobCommand
    | PanelCommand
    | ServerCommand
    | ListCommand
    | OpenCommand
    | QueryCommand
    | RunCommand
    | DoctorCommand
)


def parse_magic(line: str) -> Command:
    """Return the command of a ``%xprof`` line.

    Raises
    ------
    UsageError
        The line is not one; says what is.
    HelpAsked
        It asks for help.
    """
    grammar = _grammar("%xprof", "Capture and read XLA profiles.", (add_captures, add_questions, add_runs))
    return _command(grammar, split(line) or ["--help"])


def parse_cell_magic(line: str) -> CaptureCommand | SweepCommand:
    """Return the capture or sweep a ``%%xprof`` line asks for; raises what `parse_magic` raises."""
    words = split(line)
    if words[:1] == [SWEEP]:
        return parse_sweep(words[1:])
    grammar = Parser(
        "%%xprof",
        "Run this cell under the profiler, then show its op profile. `%%xprof sweep` measures it with many values of a "
        "variable instead: `%%xprof sweep --help`.",
    )
    add_capture_options(grammar)
    return cell_command(**vars(grammar.parse_args(words)))


def parse_shell(arguments: Sequence[str]) -> Command:
    """Return the command of ``xprof-nb ARGUMENTS``; raises what `parse_magic` raises."""
    grammar = _grammar(
        "xprof-nb",
        "Capture other processes, and ask about XLA profiles.",
        (add_capture_of_others, add_questions, add_runs),
    )
    grammar.add_argument("--version", action=Version, nargs=0, dest=argparse.SUPPRESS, help="say which version this is")
    return _command(grammar, arguments)


def _grammar(prog: str, description: str, parts: Sequence[Callable[[AddVerb], None]]) -> Parser:
    grammar = Parser(prog, description)
    verbs = grammar.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=Parser)

    def add_verb(name: str, make: Callable[..., Command], about: str) -> Parser:
        verb: Parser = verbs.add_parser(
            name, prog=f"{prog} {name}", help=about, description=f"{about[0].upper()}{about[1:]}."
        )
        verb.set_defaults(make=make)
        return verb

    for add in parts:
        add(add_verb)
    return grammar


def _command(grammar: Parser, arguments: Sequence[str]) -> Command:
    values = vars(grammar.parse_args(arguments))
    make: Callable[..., Command] = values.pop("make")
    return make(**values)
