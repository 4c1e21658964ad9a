"""A parser that raises instead of ending the process, and the kinds of value that every room of the grammar reads."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from collections.abc import Callable
from typing import Any, NoReturn

from xprof_nb import __version__
from xprof_nb.errors import UsageError

LONGEST_CAPTURE_S = 3600.0
_UNITS_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0}


class HelpAsked(Exception):  # noqa: N818 - no error: the person asked for it
    """``--help`` or ``--version`` was given; the text is the message."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of ending the process."""

    def __init__(self, prog: str, description: str, **options: Any) -> None:
        self.flags: set[str] = set()
        self.has_verbs = False
        super().__init__(prog=prog, description=description, add_help=False, allow_abbrev=False, **options)
        self.add_argument("-h", "--help", action=_Help, nargs=0, dest=argparse.SUPPRESS, help="show this help")

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add it, and remember the flag to compare misspelt ones with."""
        self.flags.update(names)
        return super().add_argument(*names, **options)

    def add_subparsers(self, **options: Any) -> Any:
        """Add verbs, each with a parser of its own."""
        self.has_verbs = True
        verbs: Any = super().add_subparsers(**options)
        return verbs

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read arguments; name a misspelt option, and the nearest there is."""
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
        """Raise UsageError, with the usage as its hint."""
        usage = " ".join(self.format_usage().split())
        raise UsageError(message, hint=f"{usage[0].upper()}{usage[1:]}")


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise HelpAsked(parser.format_help().rstrip())


class Version(argparse.Action):
    """Says which version this is."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Ask for the text to be shown."""
        raise HelpAsked(f"{parser.prog} {__version__}")


AddVerb = Callable[..., Parser]
"""Adds a verb to a grammar: its name, what makes its command of its options, and what it does."""


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


def split(line: str) -> list[str]:
    """Return the words of a line, as a shell would read them; raise UsageError where a quote is open."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the line cannot be read: {error}", hint="Close the quote, or escape it.") from error


def add_logdir(parser: Parser) -> None:
    """Add ``--logdir``."""
    parser.add_argument(
        "--logdir", metavar="DIR", help="where the runs are kept (default: $XPROF_NB_LOGDIR, else ./xprof-logs)"
    )
