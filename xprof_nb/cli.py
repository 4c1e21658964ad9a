"""``xprof-nb``: the questions of the notebook, from a shell."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from xprof_nb import args, doctor, verbs, verbs_remote, verbs_runs
from xprof_nb.errors import ProfileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, CANNOT, MISUSED = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 done, 1 the profile cannot answer, 2 usage."""
    _write_any_text()
    try:
        text, status = run(args.parse_shell(sys.argv[1:] if arguments is None else arguments))
        _print(text)
    except args.HelpAsked as asked:
        _print(str(asked))
        return DONE
    except UsageError as error:
        return _complain(error, MISUSED)
    except (ProfileError, OSError) as error:
        return _complain(error, CANNOT)
    return status


def run(command: args.Command) -> tuple[str, int]:
    """Do one command and return what to print, and the exit status."""
    status = DONE
    match command:
        case args.ListCommand():
            text = verbs.runs_text(verbs.list_runs(command), command.format or "table")
        case args.OpenCommand():
            text = verbs.describe(verbs.open_run(command))
        case args.QueryCommand():
            text = verbs.write(verbs.ask(command), command)
        case args.DoctorCommand():
            report = doctor.examine()
            text, status = report.to_text(command.format or "table"), CANNOT if report.has_fault else DONE
        case args.RemoteCommand():
            text = verbs_remote.capture(command, _tell)
        case args.CaptureCommand() | args.JobCommand() | args.PanelCommand() | args.ServerCommand():
            raise UsageError("a process captures itself from inside", hint="Use %xprof capture in a notebook.")
        case _:
            text = verbs_runs.do(command)
    return text, status


def _write_any_text() -> None:
    """Let what the terminal's encoding cannot say be written as an escape: a profile's text may be anything."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _print(text: str) -> None:
    try:
        print(text, flush=True)  # noqa: T201 - this is what a command line is for
    except BrokenPipeError:
        # The reader has seen enough (`| head`); keep the interpreter from complaining when it flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(text: str) -> None:
    """Say how it goes, beside the answer."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def _complain(error: Exception, status: int) -> int:
    print(f"xprof-nb: {error}", file=sys.stderr)  # noqa: T201
    return status


if __name__ == "__main__":
    sys.exit(main())
