"""What a sweep has measured, kept in its log dir point by point: it goes on where it was interrupted."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xprof_nb.errors import DamagedFileError, ProfileError
from xprof_nb.runs.names import check_name
from xprof_nb.runs.whole_text import write_text
from xprof_nb.tuning.grid import Setting
from xprof_nb.tuning.point import Point

FOLDER = "xprof-nb-sweeps"
VERSION = 1
LARGEST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Store:
    """The file of one sweep.

    Attributes
    ----------
    definition
        What its points depend on; those of another definition are not its own.
    axis
        The parameter along which it grows, None if none is a number.
    """

    path: Path
    definition: Mapping[str, Any]
    axis: str | None = None

    def read(self) -> dict[str, Point]:
        """Return the points that are kept, by `key` of their settings; none if the file is of another definition.

        Raises
        ------
        DamagedFileError
            It is no sweep's file.
        """
        try:
            found, points = opened(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        if found.definition != json.loads(json.dumps(self.definition)):
            return {}
        return {key(point.setting): point for point in points}

    def write(self, points: list[Point]) -> None:
        """Replace the file, whole or not at all.

        Raises
        ------
        ProfileError
            It cannot be written.
        """
        written = {
            "version": VERSION,
            "definition": self.definition,
            "axis": self.axis,
            "points": [point.to_json() for point in points],
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self.path, json.dumps(written))
        except OSError as refused:
            raise ProfileError(
                f"what the sweep measured cannot be kept ({refused.strerror or refused})",
                file=self.path,
                hint="Give another logdir=.",
            ) from refused


def opened(path: Path) -> tuple[Store, list[Point]]:
    """Return what a sweep's file holds.

    Raises
    ------
    DamagedFileError
        It is no sweep's file.
    OSError
        It cannot be read.
    """
    if path.stat().st_size > LARGEST_BYTES:
        raise DamagedFileError("is too large for a sweep", file=path, hint="Move it away.")
    try:
        found = json.loads(path.read_text("utf-8"))
        points = [Point.from_json(point) for point in found["points"]]
        return Store(path, dict(found["definition"]), found.get("axis")), points
    except (ValueError, TypeError, KeyError, AttributeError) as damaged:
        raise DamagedFileError(
            f"is not what a sweep keeps ({damaged})", file=path, hint="Move it away to measure anew."
        ) from damaged


def names(logdir: Path) -> list[str]:
    """Return the names of the sweeps of a log dir, the latest first."""
    files = [(file.stat().st_mtime_ns, file.stem) for file in (logdir / FOLDER).glob("*.json")]
    return [name for _, name in sorted(files, reverse=True)]


def store(logdir: Path, name: str, definition: Mapping[str, Any], axis: str | None = None) -> Store:
    """Return the file of the sweep of a name.

    Raises
    ------
    UsageError
        The name cannot be a file's.
    """
    return Store(logdir / FOLDER / f"{check_name(name)}.json", definition, axis)


def definition_of(make_step: Callable[..., Any], **told: Any) -> dict[str, Any]:
    """Return what tells one sweep from another: the code of its step, if it can be read, and how it is measured."""
    code = hashlib.blake2b(_source(make_step).encode(), digest_size=8).hexdigest()
    return {"make_step": getattr(make_step, "__name__", "step"), "code": code, **told}


def _source(make_step: Callable[..., Any]) -> str:
    known = getattr(make_step, "source", None)  # of a cell
    if isinstance(known, str):
        return known
    try:
        return inspect.getsource(make_step)
    except (OSError, TypeError):
        return str(getattr(make_step, "__qualname__", type(make_step).__qualname__))


def key(setting: Setting) -> str:
    """Return a setting as text, in the order of its names."""
    return json.dumps(setting, sort_keys=True)
