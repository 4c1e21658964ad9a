"""The grammar of ``%%xprof sweep batch_size=1,2,4,8``: which variables of a cell take which values."""

from __future__ import annotations

import argparse
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xprof_nb.args.parser import Parser, add_logdir
from xprof_nb.errors import UsageError

VERB = "sweep"
AUTO = "auto"
BATCH = "batch_size"
_WORDS = {"True": True, "true": True, "False": False, "false": False}


@dataclass(frozen=True)
class SweepCommand:
    """A cell to run with variables set to one value after the other; what is None was not asked for.

    Attributes
    ----------
    parameters
        Values by name of the variable; of ``batch_size=auto`` none.
    items
        Expression of how many items a step works on.
    most_runs
        Run only so many settings, and predict the others.
    """

    parameters: Mapping[str, Sequence[int | float | bool | str]] = field(default_factory=dict)
    steps: int = 20
    name: str | None = None
    logdir: str | None = None
    items: str | None = None
    most_runs: int | None = None
    profile: bool = True
    verify: bool = False
    fresh: bool = False


def parse_sweep(words: Sequence[str]) -> SweepCommand:
    """Return the command of what follows ``%%xprof sweep``.

    Raises
    ------
    UsageError
        It is not one; says what is.
    HelpAsked
        It asks for help.
    """
    grammar = Parser(
        "%%xprof sweep",
        "Run this cell with a variable set to one value after the other, and say which is best. The last line of the "
        "cell is the step that is timed; the lines above it prepare a setting.",
    )
    add = grammar.add_argument
    add("settings", metavar="NAME=VALUE,…", nargs="+", help="a variable and its values; batch_size=auto finds them")
    add("--steps", metavar="N", type=_whole, default=20, help="how many steps to time (default: %(default)s)")
    add("--items", metavar="EXPRESSION", help="items a step works on, such as batch*sequence (default: the batch size)")
    add("--few", dest="most_runs", metavar="N", type=_whole, help="run only N settings and predict the others")
    add("--no-profile", dest="profile", action="store_false", help="only time the steps")
    add("--verify", action="store_true", help="measure the size that is advised next, too")
    add("--fresh", action="store_true", help="measure again what was measured before")
    add("--name", help="name of the sweep, and the beginning of those of its runs (default: by the cell's code)")
    add_logdir(grammar)
    values = vars(grammar.parse_args(list(words)))
    return SweepCommand(_parameters(values.pop("settings")), **values)


def _parameters(settings: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for setting in settings:
        name, is_said, values = setting.partition("=")
        if not is_said or not name.isidentifier() or keyword.iskeyword(name):
            raise UsageError(f"{setting!r} sets no variable", hint="Write a name and its values: batch_size=1,2,4.")
        if name in found:
            raise UsageError(f"{name} is given twice", hint=f"Write all its values in one: {name}=1,2,4.")
        found[name] = tuple(_value(text) for text in values.split(","))
    if (AUTO,) in found.values():
        if set(found) != {BATCH}:
            raise UsageError(
                f"only {BATCH} alone can be {AUTO}", hint="Write the values: batch=1,2,4 sequence=128,256."
            )
        return {}
    return found


def _value(text: str) -> int | float | bool | str:
    if not text:
        raise UsageError("a value is empty", hint="Write values with commas between, without spaces: batch_size=1,2,4.")
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]{1,2})?", text):
        return float(text)
    return text


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
