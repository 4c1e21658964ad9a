"""What the verbs of the grammar do, whoever asks: find the run, ask the question, write the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb import api
from xprof_nb.args import EXPORTS
from xprof_nb.errors import NotFoundError, UsageError
from xprof_nb.model import units
from xprof_nb.model.columns import plain_rows
from xprof_nb.result import Graph, Result
from xprof_nb.runs import default_logdir
from xprof_nb.views import fallback
from xprof_nb.views.layouts import Column

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from xprof_nb.args import Format, ListCommand, OpenCommand, QueryCommand

_BY_SUFFIX: dict[str, Format] = {
    ".json": "json",
    ".csv": "csv",
    ".html": "html",
    ".htm": "html",
    ".dot": "dot",
    ".hlo": "hlo",
    ".pftrace": "perfetto",
    ".perfetto-trace": "perfetto",
}
_FILES: dict[Format, tuple[tuple[str, str], Callable[[Any, str], Path]]] = {
    "html": (("a page", "page.html"), lambda result, path: result.to_html(path)),
    "chrome": (("a trace", "run.trace.json.gz"), lambda result, path: result.to_chrome_json(path)),
    "perfetto": (("a trace", "run.pftrace"), lambda result, path: result.to_perfetto(path)),
}
"""Formats too long for a terminal: what each is, a name for it, and who writes it."""
_RUN_COLUMNS = {
    "run": "run",
    "started": "started",
    "duration": "duration_s",
    "hosts": "host_count",
    "size": "bytes",
    "origin": "origin",
    "device": "device",
    "tags": "tags",
    "note": "note",
}
_WORDS = ("run", "started", "origin", "device", "tags", "note")


def open_run(command: OpenCommand | QueryCommand) -> api.Profile:
    """Open the run a command means: a path, the name of a run in the log dir, or the newest there."""
    logdir = Path(command.logdir or default_logdir())
    if command.run is None:
        return api.open(logdir)
    if Path(command.run).exists():
        return api.open(command.run)
    named = logdir / "plugins" / "profile" / command.run
    if named.is_dir():
        return api.open(named)
    if "/" not in command.run:
        raise NotFoundError(
            f"there is no run {command.run!r} in {logdir}, and no such file", hint="`ls` lists the runs."
        )
    return api.open(command.run)


def ask(command: QueryCommand) -> Result:
    """Ask a command's question about its run; of a tree `top` are the largest nodes, of a list the first rows."""
    params = dict(command.params)
    is_tree = command.query == "op_profile"
    if is_tree and command.top is not None:
        params["limit"] = command.top
    result = (
        _compared(command, params) if command.query == "compare" else open_run(command).ask(command.query, **params)
    )
    if is_tree or command.top is None or answer_format(command) in EXPORTS.get(command.query, ()):
        return result
    first = replace(result.answer, frame=result.frame.head(command.top))
    return type(result)(first, result.query, result.params, result.profile)


def _compared(command: QueryCommand, params: dict[str, Any]) -> Result:
    """Compare the run a command is about, the newest if it names none, with the one it names first."""
    before = open_run(replace(command, run=params.pop("other")))
    return before.compare(open_run(command), **params)


def list_runs(command: ListCommand) -> pd.DataFrame:
    """List the runs of a log dir, newest first."""
    return api.runs(command.logdir)


def answer_format(command: QueryCommand) -> Format | None:
    """Return the format a command asks for, if only by the name of its output file."""
    if command.format is not None or command.output is None:
        return command.format
    return _BY_SUFFIX.get(Path(command.output).suffix.lower(), "table")


def describe(profile: api.Profile) -> str:
    """Return what a run holds, as text."""
    recorded = profile.data.metadata
    programs = [program.name for program in profile.programs.values()]
    lines = {
        "run": profile.name,
        "path": profile.path,
        "note": recorded.get("note"),
        "recorded": str(recorded.get("started") or ""),
        "hosts": ", ".join(profile.hosts),
        "devices": ", ".join(f"{device.name} {device.model}".strip() for device in profile.devices),
        "programs": ", ".join(dict.fromkeys(programs)),
        "versions": ", ".join(f"{name} {number}" for name, number in recorded.get("versions", {}).items()),
        "flags": recorded.get("xla_flags"),
        "notes": "; ".join(profile.data.notes),
    }
    return "\n".join(f"{name:9} {value}" for name, value in lines.items() if value)


def write(result: Result, command: QueryCommand) -> str:
    """Write an answer as its command wants it, and return what is left to print."""
    chosen = answer_format(command) or "table"
    writer = _FILES.get(chosen)
    if writer is not None:
        if command.output is None:
            what, example = writer[0]
            raise UsageError(f"{what} is written to a file", hint=f"Say which: -o {example}")
        return f"wrote {writer[1](result, command.output)}"
    text = text_of(result, chosen, command.top)
    if command.output is None:
        return text
    Path(command.output).write_text(text + "\n", encoding="utf-8")
    return f"wrote {command.output}"


def text_of(result: Result, chosen: Format, top: int | None) -> str:
    """Return an answer as text: a table in human units, or all of it as JSON or CSV with units in the names."""
    if chosen == "json":
        return json.dumps(result.to_dict(), indent=1, allow_nan=False)
    if chosen == "csv":
        return (result.to_csv() or "").rstrip("\r\n")
    if isinstance(result, Graph) and chosen in ("dot", "hlo"):
        return ((result.to_dot() if chosen == "dot" else result.to_text(long=True)) or "").rstrip()
    return fallback.plain(fallback.table(result, rows=top or fallback.ROWS))


def runs_text(frame: pd.DataFrame, chosen: Format) -> str:
    """Return the list of runs as text."""
    if chosen == "json":
        rows = [{**row, "started": _moment(row["started"])} for row in plain_rows(frame)]
        return json.dumps(rows, indent=1, allow_nan=False)
    columns = tuple(
        Column(head, tuple(_cell(name, value) for value in frame[name]), is_text=name in _WORDS)
        for head, name in _RUN_COLUMNS.items()
        if name != "tags" or frame[name].map(len).any()
    )
    notes = tuple(frame.attrs.get("notes", ()))
    return fallback.plain(
        fallback.Table(f"{len(frame)} run{'s' * (len(frame) != 1)}", "", columns, (0,) * len(frame), notes)
    )


def _moment(value: Any) -> str | None:
    return None if value is None else str(value.isoformat(timespec="milliseconds")).replace("+00:00", "Z")


def _cell(name: str, value: Any) -> str:
    if name == "started" and hasattr(value, "strftime"):
        return units.text(value.strftime("%Y-%m-%d %H:%M:%S"))
    return str(units.formatter(name)(", ".join(value) if name == "tags" else value))
