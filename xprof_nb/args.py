"""The one grammar of ``%xprof``, ``%%xprof`` and ``xprof-nb``: text in, a typed command out.

A notebook can capture what runs in its own process; a shell has nothing to capture, so it offers the other verbs only.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from xprof_nb import __version__
from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Format = Literal["table", "json", "csv", "html", "dot", "hlo", "chrome", "perfetto"]
Action = Literal["wait", "status", "cancel"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv", "html")
EXPORTS: dict[str, tuple[Format, ...]] = {"graph": ("dot", "hlo"), "trace": ("chrome", "perfetto")}
"""Formats that other tools read, by question."""
GROUPINGS = ("program", "category", "framework", "source")
LONGEST_CAPTURE_S = 3600.0
_OF_EVERY_QUESTION = ("run", "logdir", "top", "format", "output")
_QUESTIONS = (
    ("overview", "say where the time of a run went, in short"),
    ("op-profile", "show the tree of programs, fusions and ops by time"),
    ("ops", "list the ops by time"),
    ("steps", "list the steps, marked or inferred"),
    ("framework-ops", "show time by framework op and named scope"),
    ("kernels", "list GPU kernels and copies by time"),
    ("roofline", "place program, steps and ops under the roofs of the device"),
    ("memory", "show the allocator's memory, its peak and who held it"),
    ("buffers", "list the buffers a program was compiled to use"),
    ("graph", "show what an op reads and who reads it"),
    ("collectives", "list collectives and asynchronous copies, and how much of them is exposed"),
    ("input-pipeline", "say what each step waited for"),
    ("trace", "show the timeline, or write it for other viewers"),
    ("events", "list the events of the file"),
    ("sql", "ask in SQL over all tables of a run"),
)
_FILTERS: dict[str, dict[str, Any]] = {
    "--host": {"help": "only this host"},
    "--device": {"help": "only this device: its name or number"},
    "--program": {"help": "only this program: its name or id"},
    "--step": {"metavar": "N", "type": int, "help": "only this step"},
    "--compat": {"choices": ("xprof",), "help": "xprof's own number where it computes one"},
}
_OPTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "op_profile": {
        "--by": {"choices": GROUPINGS, "default": "program", "help": "how to group ops (default: %(default)s)"}
    },
    "buffers": {"--memory-space": {"metavar": "N", "type": int, "help": "XLA's number (default: 0, main memory)"}},
    "graph": {
        "--op": {"help": "the op in the middle (default: the most expensive)"},
        "--radius": {"metavar": "N", "type": int, "help": "how many edges around it (default: 2)"},
    },
    "events": {"--pattern": {"metavar": "REGEX", "help": "only events whose name matches"}},
    "sql": {"text": {"metavar": "SQL", "nargs": "?", "help": "a SELECT; without it the tables are described"}},
}
_UNITS_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0}


@dataclass(frozen=True)
class CaptureCommand:
    """``capture 3s``; of ``%%xprof``, which lasts as long as its cell, `duration_s` is None."""

    duration_s: float | None = None
    name: str | None = None
    note: str = ""
    python_tracer_level: int = 0
    logdir: str | None = None


@dataclass(frozen=True)
class JobCommand:
    """``wait``, ``status`` and ``cancel``: what to do with the capture under way."""

    action: Action


@dataclass(frozen=True)
class ListCommand:
    """``ls``: the runs there are."""

    logdir: str | None = None
    format: Format | None = None


@dataclass(frozen=True)
class OpenCommand:
    """``open``: a run, the newest if `run` is None."""

    run: str | None = None
    logdir: str | None = None


@dataclass(frozen=True)
class QueryCommand:
    """A question about a run: ``overview``, ``op-profile``, and so on.

    Attributes
    ----------
    run
        A run's name or a path, None for the newest run.
    top
        How many rows to show, None for as many as the view thinks good.
    format
        None where nobody asked: the view in a notebook, a table in a shell.
    output
        File to write instead of showing.
    """

    query: str
    run: str | None = None
    logdir: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    top: int | None = None
    format: Format | None = None
    output: str | None = None


@dataclass(frozen=True)
class DoctorCommand:
    """``doctor``: what is installed and whether it works together."""


Command = CaptureCommand | JobCommand | ListCommand | OpenCommand | QueryCommand | DoctorCommand


class HelpAsked(Exception):  # noqa: N818 - no error: the person asked for it
    """``--help`` or ``--version`` was given; the text is the message."""


def parse_magic(line: str) -> Command:
    """Return the command of a ``%xprof`` line.

    Raises
    ------
    UsageError
        The line is not one; says what is.
    HelpAsked
        It asks for help.
    """
    grammar = _grammar("%xprof", "Capture and read XLA profiles.", (_add_capture, _add_questions))
    return _command(grammar, _split(line) or ["--help"])


def parse_cell_magic(line: str) -> CaptureCommand:
    """Return the capture a ``%%xprof`` line asks for; raises what `parse_magic` raises."""
    grammar = _Parser("%%xprof", "Run this cell under the profiler, then show its op profile.")
    _add_capture_options(grammar)
    return CaptureCommand(**vars(grammar.parse_args(_split(line))))


def parse_shell(arguments: Sequence[str]) -> Command:
    """Return the command of ``xprof-nb ARGUMENTS``; raises what `parse_magic` raises."""
    grammar = _grammar("xprof-nb", "Ask about XLA profiles.", (_add_questions,))
    grammar.add_argument(
        "--version", action=_Version, nargs=0, dest=argparse.SUPPRESS, help="say which version this is"
    )
    return _command(grammar, arguments)


def seconds(text: str) -> float:
    """Return a duration in seconds: ``"3s"``, ``"500ms"``, ``"2m"``, ``"1.5"``."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip().lower())
    unit = _UNITS_S.get(match[2] or "s") if match else None
    if match is None or unit is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration; write 3s, 500ms or 2m")
    value = float(match[1]) * unit
    if not 0 < value <= LONGEST_CAPTURE_S:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and {LONGEST_CAPTURE_S:.0f} s")
    return value


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of ending the process."""

    def __init__(self, prog: str, description: str, **options: Any) -> None:
        self.flags: set[str] = set()
        self.has_verbs = False
        super().__init__(prog=prog, description=description, add_help=False, allow_abbrev=False, **options)
        self.add_argument("-h", "--help", action=_Help, nargs=0, dest=argparse.SUPPRESS, help="show this help")

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        self.flags.update(names)
        return super().add_argument(*names, **options)

    def add_subparsers(self, **options: Any) -> Any:
        self.has_verbs = True
        verbs: Any = super().add_subparsers(**options)
        return verbs

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # argparse would take the value after a misspelt option for something else, and complain about that.
        for argument in args or ():
            flag = argument.partition("=")[0]
            if argument == "--" or (not argument.startswith("-") and self.has_verbs):
                break
            if flag.startswith("--") and flag not in self.flags:
                alike = difflib.get_close_matches(flag, self.flags, 1)
                self.error(f"there is no option {flag}" + (f" (did you mean {alike[0]}?)" if alike else ""))
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().split())
        raise UsageError(message, hint=f"{usage[0].upper()}{usage[1:]}")


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise HelpAsked(parser.format_help().rstrip())


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise HelpAsked(f"{parser.prog} {__version__}")


_Verb = Callable[..., _Parser]


def _grammar(prog: str, description: str, parts: Sequence[Callable[[_Verb], None]]) -> _Parser:
    grammar = _Parser(prog, description)
    verbs = grammar.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=_Parser)

    def add_verb(name: str, make: Callable[..., Command], about: str) -> _Parser:
        verb: _Parser = verbs.add_parser(
            name, prog=f"{prog} {name}", help=about, description=f"{about[0].upper()}{about[1:]}."
        )
        verb.set_defaults(make=make)
        return verb

    for add in parts:
        add(add_verb)
    return grammar


def _command(grammar: _Parser, arguments: Sequence[str]) -> Command:
    values = vars(grammar.parse_args(arguments))
    make: Callable[..., Command] = values.pop("make")
    return make(**values)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the line cannot be read: {error}", hint="Close the quote, or escape it.") from error


def _add_capture(add_verb: _Verb) -> None:
    verb = add_verb("capture", CaptureCommand, "profile this process for a while, without blocking the notebook")
    verb.add_argument("duration_s", metavar="DURATION", type=seconds, help="how long: 3s, 500ms, 2m")
    _add_capture_options(verb)
    jobs: tuple[tuple[Action, str], ...] = (
        ("wait", "wait for the capture under way and show it"),
        ("status", "say how the capture under way is doing"),
        ("cancel", "end the capture under way and keep what is there"),
    )
    for action, about in jobs:
        add_verb(action, partial(JobCommand, action), about)


def _add_capture_options(parser: _Parser) -> None:
    parser.add_argument("--name", help="name of the run (default: the moment it starts)")
    parser.add_argument("--note", default="", help="anything worth remembering of this run")
    parser.add_argument(
        "--python",
        dest="python_tracer_level",
        action="store_const",
        const=1,
        default=0,
        help="record Python calls too; slows code that makes many",
    )
    _add_logdir(parser)


def _add_questions(add_verb: _Verb) -> None:
    verb = add_verb("ls", ListCommand, "list the runs")
    _add_logdir(verb)
    _add_format(verb, ("table", "json"))
    verb = add_verb("open", OpenCommand, "say what a run holds")
    _add_run(verb)
    for name, about in _QUESTIONS:
        _add_question(add_verb, name, about)
    add_verb("doctor", DoctorCommand, "say what is installed and whether it works together")


def _add_question(add_verb: _Verb, name: str, about: str) -> None:
    query = name.replace("-", "_")

    def make(**options: Any) -> QueryCommand:
        params = {option: options.pop(option) for option in list(options) if option not in _OF_EVERY_QUESTION}
        return QueryCommand(query, params={key: value for key, value in params.items() if value is not None}, **options)

    verb = add_verb(name, make, about)
    for flag, options in _OPTIONS.get(query, {}).items():
        verb.add_argument(flag, **options)
    _add_run(verb)
    for flag, options in _FILTERS.items():
        verb.add_argument(flag, **options)
    verb.add_argument("--top", metavar="N", type=_row_count, help="how many rows to show")
    _add_format(verb, (*FORMATS, *EXPORTS.get(query, ())))
    verb.add_argument("-o", "--output", metavar="FILE", help="write there instead of showing")


def _add_run(parser: _Parser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="name or path of a run (default: the newest)")
    _add_logdir(parser)


def _add_logdir(parser: _Parser) -> None:
    parser.add_argument(
        "--logdir", metavar="DIR", help="where the runs are kept (default: $XPROF_NB_LOGDIR, else ./xprof-logs)"
    )


def _add_format(parser: _Parser, formats: Sequence[Format]) -> None:
    parser.add_argument("--format", choices=formats, help="how to write the answer")


def _row_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)
