"""How to ask about runs: one verb a question."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from xprof_nb.args.parser import AddVerb, Parser, add_logdir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Format = Literal["table", "json", "csv", "html", "dot", "hlo", "chrome", "perfetto"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv", "html")
EXPORTS: dict[str, tuple[Format, ...]] = {"graph": ("dot", "hlo"), "trace": ("chrome", "perfetto")}
"""Formats that other tools read, by question."""
GROUPINGS = ("program", "category", "framework", "source")
_OF_EVERY_QUESTION = ("run", "logdir", "top", "format", "output")
QUESTIONS = (
    ("overview", "say where the time of a run went, in short"),
    ("op-profile", "show the tree of programs, fusions and ops by time"),
    ("ops", "list the ops by time"),
    ("steps", "list the steps, marked or inferred"),
    ("kpis", "say step time, throughput, MFU, HFU, bandwidth and peak memory of training"),
    ("compare", "say what became faster or slower from one run to another"),
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
    "compare": {"other": {"metavar": "BEFORE", "help": "name or path of the run to compare with"}},
    "kpis": {
        "--tokens-per-step": {"metavar": "N", "type": float, "help": "tokens a step trains on, for tokens/s and 6ND"},
        "--items-per-step": {"metavar": "N", "type": float, "help": "samples a step trains on"},
        "--parameters": {"metavar": "N", "type": float, "help": "of the model, for MFU by 6ND"},
    },
    "buffers": {"--memory-space": {"metavar": "N", "type": int, "help": "XLA's number (default: 0, main memory)"}},
    "graph": {
        "--op": {"help": "the op in the middle (default: the most expensive)"},
        "--radius": {"metavar": "N", "type": int, "help": "how many edges around it (default: 2)"},
    },
    "events": {"--pattern": {"metavar": "REGEX", "help": "only events whose name matches"}},
    "sql": {"text": {"metavar": "SQL", "nargs": "?", "help": "a SELECT; without it the tables are described"}},
}


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

    format: Format | None = None


def add_questions(add_verb: AddVerb) -> None:
    """Add ``ls``, ``open``, every question and ``doctor``."""
    verb = add_verb("ls", ListCommand, "list the runs")
    add_logdir(verb)
    _add_format(verb, ("table", "json"))
    verb = add_verb("open", OpenCommand, "say what a run holds")
    _add_run(verb)
    for name, about in QUESTIONS:
        _add_question(add_verb, name, about)
    verb = add_verb("doctor", DoctorCommand, "say what is installed and whether it works together")
    _add_format(verb, ("table", "json"))


def _add_question(add_verb: AddVerb, name: str, about: str) -> None:
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


def _add_run(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="name or path of a run (default: the newest)")
    add_logdir(parser)


def _add_format(parser: Parser, formats: Sequence[Format]) -> None:
    parser.add_argument("--format", choices=formats, help="how to write the answer")


def _row_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)
