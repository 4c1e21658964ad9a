"""The grammar of what is done with runs that are there: to rename, note, tag, remove, restore, export, import."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xprof_nb.args.parser import AddVerb, Parser, add_logdir
from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class RenameCommand:
    """``rename``: give a run another name."""

    run: str
    name: str
    logdir: str | None = None


@dataclass(frozen=True)
class NoteCommand:
    """``note``: replace what is remembered of a run; "" forgets it."""

    run: str
    text: str
    logdir: str | None = None


@dataclass(frozen=True)
class TagCommand:
    """``tag``: add tags to a run and take others away."""

    run: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    logdir: str | None = None


@dataclass(frozen=True)
class RemoveCommand:
    """``rm``: move a run to the trash."""

    run: str
    logdir: str | None = None


@dataclass(frozen=True)
class RestoreCommand:
    """``restore``: bring back a run from the trash, or one whose saving did not come to its end."""

    run: str
    logdir: str | None = None


@dataclass(frozen=True)
class ExportCommand:
    """``export``: write a run as one zip, `output` or ``<run>.zip``."""

    run: str
    output: str | None = None
    logdir: str | None = None


@dataclass(frozen=True)
class ImportCommand:
    """``import``: put the run of a zip among the others."""

    file: str
    logdir: str | None = None


RunCommand = RenameCommand | NoteCommand | TagCommand | RemoveCommand | RestoreCommand | ExportCommand | ImportCommand


def add_runs(add_verb: AddVerb) -> None:
    """Add the verbs to a grammar."""
    verb = add_verb("rename", RenameCommand, "give a run another name")
    _add_run(verb)
    verb.add_argument("name", metavar="NEW", help="the new name; -2 is added if it is taken")
    add_logdir(verb)
    verb = add_verb("note", NoteCommand, "write down what is worth remembering of a run")
    _add_run(verb)
    verb.add_argument("text", metavar="TEXT", help="the note, in quotes; '' forgets it")
    add_logdir(verb)
    verb = add_verb("tag", _tag, "add tags to a run and take others away: tag RUN +good -slow")
    add_logdir(verb)
    _add_run(verb)
    verb.add_argument("tags", metavar="+TAG|-TAG", nargs=argparse.REMAINDER, help="after RUN: +TAG adds, -TAG removes")
    verb = add_verb("rm", RemoveCommand, "move a run to the trash of its log dir")
    _add_run(verb)
    add_logdir(verb)
    verb = add_verb("restore", RestoreCommand, "bring back a run from the trash, or one that was not saved to its end")
    _add_run(verb)
    add_logdir(verb)
    verb = add_verb("export", ExportCommand, "write a run as one zip")
    _add_run(verb)
    verb.add_argument("-o", "--output", metavar="FILE", help="the zip (default: RUN.zip)")
    add_logdir(verb)
    verb = add_verb("import", ImportCommand, "put the run of a zip among the others")
    verb.add_argument("file", metavar="FILE", help="a zip that `export` wrote")
    add_logdir(verb)


def _add_run(verb: Parser) -> None:
    verb.add_argument("run", metavar="RUN", help="name of a run, or path of its folder")


def _tag(run: str, tags: Sequence[str], logdir: str | None = None) -> TagCommand:
    words = list(tags)
    if "--logdir" in words[:-1]:
        at = words.index("--logdir")
        logdir = words[at + 1]
        del words[at : at + 2]
    odd = next((word for word in words if word[:1] not in ("+", "-") or word[1:2] in ("", "-")), None)
    if odd is not None or not words:
        raise UsageError(
            "say which tags" if odd is None else f"{odd!r} neither adds nor removes a tag",
            hint="Usage: tag RUN +TAG … -TAG …",
        )
    return TagCommand(
        run,
        tuple(word[1:] for word in words if word[0] == "+"),
        tuple(word[1:] for word in words if word[0] == "-"),
        logdir,
    )
