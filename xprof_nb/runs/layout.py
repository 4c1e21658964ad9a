"""Which profile a path means: ``<logdir>/plugins/profile/<run>/<host>.xplane.pb``, entered at any level."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.errors import DamagedFileError, NotFoundError, ProfileError
from xprof_nb.model.units import listed
from xprof_nb.runs import sidecar
from xprof_nb.runs.places import LOCAL, Entry, Place, locate

if TYPE_CHECKING:
    from collections.abc import Callable

SUFFIX = ".xplane.pb"
JSON_SUFFIXES = (".trace.json.gz", ".trace.json")
SUFFIXES = (SUFFIX, *JSON_SUFFIXES)
"""Endings of the files a host's profile is in."""
LOGDIR_VARIABLE = "XPROF_NB_LOGDIR"
DEFAULT_FOLDER = "xprof-logs"


@dataclass(frozen=True)
class HostFile:
    """What one host wrote during a run.

    Attributes
    ----------
    path
        A local path, or a URL when the run is not on this disk.
    modified_ns
        Unix time of the last change; 0 when unknown.
    """

    host: str
    path: str
    size_bytes: int
    modified_ns: int
    place: Place = field(default=LOCAL, repr=False, compare=False)

    def source(self) -> str | bytes:
        """Return what a decoder reads: the path of a local file, the content of a remote one.

        Raises
        ------
        NotFoundError
            The remote file cannot be fetched.
        """
        if self.place is LOCAL:
            return self.path
        try:
            return self.place.read(self.path)
        except OSError as refused:
            raise NotFoundError(f"cannot be fetched: {refused}", file=self.path) from refused

    def part(self, start: int, end: int) -> bytes:
        """Return the content from one position to another; may raise OSError."""
        return self.place.read_part(self.path, start, end)

    def check_unchanged(self) -> None:
        """Raise ProfileError if a local file is no longer the one that was found."""
        if self.place is not LOCAL or not self.modified_ns:
            return
        try:
            now = Path(self.path).stat()
        except OSError as refused:
            raise NotFoundError(f"has gone since it was opened: {refused}", file=self.path) from refused
        if (now.st_size, now.st_mtime_ns) != (self.size_bytes, self.modified_ns):
            raise ProfileError("has changed since it was opened", file=self.path, hint="Open it again.")


@dataclass(frozen=True)
class RunFiles:
    """One run: the profile of each of its hosts.

    Attributes
    ----------
    run
        Name of the run folder; of the file, when it lies outside the layout.
    folder
        Where the files lie.
    logdir
        What holds ``plugins/profile/<run>``; the folder above `folder` when the layout is another.
    files
        Sorted by host.
    notes
        What is to be said of how they were found.
    """

    run: str
    folder: str
    logdir: str
    files: tuple[HostFile, ...]
    notes: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of all hosts together."""
        return sum(file.size_bytes for file in self.files)

    @property
    def modified_ns(self) -> int:
        """Unix time of the youngest file."""
        return max(file.modified_ns for file in self.files)

    @cached_property
    def _recorded(self) -> tuple[sidecar.Sidecar | None, tuple[str, ...]]:
        try:
            found = sidecar.read(self.folder)
        except DamagedFileError as damaged:
            return None, (f"Without what its capture recorded: {damaged}",)
        return found, found.notes if found is not None else ()

    @property
    def sidecar(self) -> sidecar.Sidecar | None:
        """What the capture recorded; None when it recorded nothing, or nothing readable."""
        return self._recorded[0]

    @property
    def sidecar_notes(self) -> tuple[str, ...]:
        """What of the sidecar could not be read, and why."""
        return self._recorded[1]

    @property
    def started_ns(self) -> int:
        """Unix time the run began: as its capture recorded it, else when its files were written."""
        if self.sidecar is not None and self.sidecar.started is not None:
            return int(self.sidecar.started.timestamp() * 1e9)
        return self.modified_ns


@dataclass(frozen=True)
class Limits:
    """How much of a file system a search may look at."""

    depth: int = 6
    entries: int = 200_000
    seconds: float = 20.0


@dataclass(frozen=True)
class Scan:
    """What a search found.

    Attributes
    ----------
    unreadable
        Folders that refused to be listed.
    truncated
        A limit on entries or seconds ended the search before its end.
    """

    runs: tuple[RunFiles, ...]
    folders: int
    unreadable: tuple[str, ...]
    truncated: bool


def default_logdir() -> str:
    """Return where runs go when nobody says: ``$XPROF_NB_LOGDIR``, else ``xprof-logs`` in the working directory."""
    return os.environ.get(LOGDIR_VARIABLE) or str(Path.cwd() / DEFAULT_FOLDER)


def find(path: str | os.PathLike[str], admits: Callable[[str], bool] = lambda _folder: True) -> RunFiles:
    """Return the run a path means.

    Parameters
    ----------
    path
        A profile file (``*.xplane.pb``, ``*.trace.json.gz``), a run folder, a ``profile`` or ``plugins`` folder, a
        log dir, or any folder above one (then the newest run below it); on this disk or behind a URL fsspec can read.
    admits
        Asked for each folder before it is entered in search of the newest run.

    Raises
    ------
    NotFoundError
        No profile there; says what was searched and what was there instead.
    UsageError
        The path is not one.
    """
    place, where = locate(path)
    try:
        if place.is_file(where):
            return _run(place, place.parent(where), [where], alone=where)
        if not place.is_folder(where):
            raise NotFoundError(f"there is no {where}", hint=_nearest(place, where))
    except OSError as refused:
        raise NotFoundError(f"cannot be looked at ({refused.strerror or refused})", file=where) from refused
    here = scan(where, Limits(depth=0), admits)
    found = here if here.runs or here.unreadable else scan(where, admits=admits)
    if not found.runs:
        raise NotFoundError(f"no profile under {where}", hint=_searched(place, where, found))
    return max(found.runs, key=lambda run: (run.started_ns, run.run))


def scan(
    path: str | os.PathLike[str], limits: Limits | None = None, admits: Callable[[str], bool] = lambda _folder: True
) -> Scan:
    """Find every run folder at or under a path, level by level.

    Hidden folders are passed over, as captures are staged in them; a folder reached twice through links counts once.

    Parameters
    ----------
    admits
        Asked for each folder before it is entered.
    """
    limits = limits or Limits()
    place, top = locate(path)
    deadline = time.monotonic() + limits.seconds
    waiting = deque([(top, 0)])
    seen, runs, unreadable = set(), [], []
    entries_left, folders = limits.entries, 0
    while waiting and entries_left > 0 and time.monotonic() < deadline:
        folder, depth = waiting.popleft()
        if not admits(folder):
            continue
        try:
            key = place.same_folder_key(folder)
            if key in seen:
                continue
            seen.add(key)
            listing = list(islice(place.entries(folder), entries_left))
            profiles = [entry.path for entry in listing if _is_profile(entry)]
            if profiles:
                runs.append(_run(place, folder, profiles))
        except OSError:
            unreadable.append(folder)
            continue
        folders += 1
        entries_left -= len(listing)
        if depth < limits.depth:
            waiting.extend((below, depth + 1) for below in _below(listing))
    return Scan(tuple(runs), folders, tuple(unreadable), bool(waiting) or entries_left <= 0)


def _below(listing: list[Entry]) -> list[str]:
    """Return the folders to enter next, last name first: most names are dates, and a cut search should miss the old."""
    inner = [e for e in listing if e.is_folder and not e.name.startswith(".") and e.name != "node_modules"]
    return [entry.path for entry in sorted(inner, key=lambda entry: entry.name, reverse=True)]


def _is_profile(entry: Entry) -> bool:
    return entry.name.endswith(SUFFIXES) and not entry.name.startswith(".") and not entry.is_folder


def host_of(path: str) -> str:
    """Return the host a profile's file is named after."""
    name = folder_name(path)
    endings = (*SUFFIXES, ".json.gz", ".json")
    return next((name.removesuffix(ending) for ending in endings if name.endswith(ending)), name)


def is_trace_json(path: str) -> bool:
    """Tell whether a file is a trace in JSON, by its name."""
    return path.endswith((".json", ".json.gz"))


def _run(place: Place, folder: str, paths: list[str], alone: str | None = None) -> RunFiles:
    files = [_host_file(place, path) for path in _most_telling(paths)]
    above = place.parent(folder)
    root = place.parent(above)
    in_layout = folder_name(above) == "profile" and folder_name(root) == "plugins"
    named_by_file = alone is not None and not in_layout
    return RunFiles(
        run=files[0].host if named_by_file else folder_name(folder),
        folder=folder,
        logdir=place.parent(root) if in_layout else above,
        files=tuple(sorted(files, key=lambda file: file.host)),
    )


def _host_file(place: Place, path: str) -> HostFile:
    facts = place.facts(path)
    return HostFile(host_of(path), path, facts.size_bytes, facts.modified_ns, place)


def _most_telling(paths: list[str]) -> list[str]:
    """Return the profiles of a run folder; traces in JSON, which profilers write beside them, only if alone."""
    best = [path for path in paths if path.endswith(SUFFIX)] or paths
    chosen = {host_of(path): path for path in sorted(best)}
    return list(chosen.values())


def folder_name(path: str) -> str:
    """Return the last part of a path or URL."""
    return path.replace(os.sep, "/").rstrip("/").rpartition("/")[2]


def _searched(place: Place, where: str, found: Scan) -> str:
    """Say what a search in vain looked at, and what was there instead."""
    if not found.folders:
        return f"The folder {_holds(place, where)}"
    said = f"Looked for {', '.join('*' + end for end in SUFFIXES)} in it and in {found.folders - 1:,} folders below"
    if found.truncated:
        said += ", and stopped there"
    if found.unreadable:
        said += f"; could not list {listed(found.unreadable)}"
    return f"{said}. It {_holds(place, where)}"


def _nearest(place: Place, where: str) -> str:
    """Say what the nearest folder above a missing path holds."""
    folder = place.parent(where)
    while not place.is_folder(folder) and place.parent(folder) != folder:
        folder = place.parent(folder)
    return f"The nearest folder, {folder}, {_holds(place, folder)}"


def _holds(place: Place, folder: str) -> str:
    try:
        listing = list(islice(place.entries(folder), 1000))
    except OSError as refused:
        return f"may not be read ({refused.strerror or refused})."
    names = sorted(entry.name + "/" * entry.is_folder for entry in listing)
    return f"holds {listed(names)}." if names else "is empty."
