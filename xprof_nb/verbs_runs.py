"""What the verbs that change runs do, whoever asks, and what they say when it is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.args.runs import (
    ExportCommand,
    ImportCommand,
    NoteCommand,
    RemoveCommand,
    RenameCommand,
    RestoreCommand,
    TagCommand,
)
from xprof_nb.model import units
from xprof_nb.runs import archive, default_logdir, manage
from xprof_nb.runs.shelf import checked_logdir

if TYPE_CHECKING:
    from xprof_nb.args.runs import RunCommand


def do(command: RunCommand) -> str:
    """Do a command and return what to print.

    Raises
    ------
    ProfileError
        It cannot be done; nothing has changed then.
    """
    logdir = checked_logdir(command.logdir or default_logdir())
    match command:
        case RestoreCommand():
            return f"restored {manage.restore(command.run, logdir)}"
        case ImportCommand():
            return f"imported {archive.take_in(Path(command.file), logdir)}"
        case _:
            return _changed(command, manage.managed(command.run, logdir))


def _changed(command: RenameCommand | NoteCommand | TagCommand | RemoveCommand | ExportCommand, folder: Path) -> str:
    match command:
        case RenameCommand():
            return f"renamed to {manage.rename(folder, command.name)}"
        case NoteCommand():
            manage.annotate(folder, command.text)
            return f"noted of {folder.name}" if command.text else f"forgot the note of {folder.name}"
        case TagCommand():
            tags = manage.retag(folder, command.add, command.remove)
            return f"tags of {folder.name}: {', '.join(tags) or 'none'}"
        case RemoveCommand():
            return f"moved to {manage.discard(folder)}; `restore {folder.name!r}` brings it back"
        case ExportCommand():
            file = archive.export(folder, command.output or f"{folder.name}.zip")
            return f"wrote {file}, {units.size(file.stat().st_size)}"
