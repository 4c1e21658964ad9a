"""Which files belong to one run? Those of its folder, and of sibling folders other hosts filled at the same time.

Each host names its run folder by its own clock, so hosts of one capture can end in folders seconds apart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from xprof_nb.runs import layout
from xprof_nb.runs.layout import HostFile, RunFiles
from xprof_nb.runs.places import Place, locate

Window = tuple[int, int]
LARGEST_GAP = timedelta(minutes=10)
"""Folders named by times further apart are not of one capture."""
MOST_SIBLINGS = 500
LEAST_OVERLAP = 0.5
_STAMP = "%Y_%m_%d_%H_%M_%S"


def find_run(path: str | os.PathLike[str], admits: Callable[[str], bool] = lambda _path: True) -> RunFiles:
    """Return the run a path means, as `layout.find`, with the hosts in sibling folders; a file means itself alone.

    Parameters
    ----------
    admits
        Asked for each folder before it is entered, and for each file of a sibling folder.
    """
    run = layout.find(path, admits)
    place, where = locate(path)
    return run if where == run.files[0].path else joined(run, place, admits)


def joined(run: RunFiles, place: Place, admits: Callable[[str], bool] = lambda _path: True) -> RunFiles:
    """Return a run with the hosts of sibling run folders that were captured at the same time.

    A sibling is joined if none of its hosts is here already, and each of its windows shares at least half of the
    shorter one with this run's. Windows are those of the profiler, on the wall clock; a file that does not say
    its own is joined with nothing.
    """
    here: Window | None = None
    files, notes = list(run.files), []
    for sibling in _siblings(run, place, admits):
        name = layout.folder_name(place.parent(sibling[0].path))
        known = {file.host for file in files}
        again = [file.host for file in sibling if file.host in known]
        if again and _stamp(name) is None:  # captures of one host under names of its own: runs of different days
            continue
        here = here or _hull(run.files)
        if here is None:
            break
        overlaps = [_overlap(here, window) for file in sibling if (window := _window(file)) is not None]
        if len(overlaps) < len(sibling) or min(overlaps) < LEAST_OVERLAP:
            continue
        if again:
            notes.append(
                f"Run {name} beside this one has {again[0]} of the same time too, perhaps another process of that "
                "host; a host counts once, so it is not joined. Open it by its own path."
            )
            continue
        files += sibling
        hosts = ", ".join(file.host for file in sibling)
        notes.append(f"{hosts} joined from run {name} beside this one: captured at the same time.")
    return replace(run, files=tuple(sorted(files, key=lambda file: file.host)), notes=(*run.notes, *notes))


def _siblings(run: RunFiles, place: Place, admits: Callable[[str], bool]) -> Iterator[tuple[HostFile, ...]]:
    """Yield the files of each run folder beside this one that could be of the same capture."""
    above = place.parent(run.folder)
    if layout.folder_name(above) != "profile" or not admits(above):
        return
    try:
        names = [entry for entry in islice(place.entries(above), layout.Limits().entries) if entry.is_folder]
    except OSError:
        return
    own = layout.folder_name(run.folder)
    near = sorted((e for e in names if e.name != own and _may_be_near(own, e.name)), key=lambda e: e.name)
    for entry in near[:MOST_SIBLINGS]:
        found = layout.scan(entry.path, layout.Limits(depth=0), admits)
        files = found.runs[0].files if found.runs else ()
        if files and all(admits(file.path) for file in files):
            yield files


def _may_be_near(name: str, other: str) -> bool:
    """Whether two run folders' names leave open that they are of one capture; names that are no times do."""
    first, second = _stamp(name), _stamp(other)
    return first is None or second is None or abs(first - second) <= LARGEST_GAP


def _stamp(name: str) -> datetime | None:
    try:
        return datetime.strptime(name, _STAMP)
    except ValueError:
        return None


def _hull(files: tuple[HostFile, ...]) -> Window | None:
    windows = [window for file in files if (window := _window(file)) is not None]
    return (min(start for start, _ in windows), max(stop for _, stop in windows)) if windows else None


def _window(file: HostFile) -> Window | None:
    if layout.is_trace_json(file.path):
        return None
    from xprof_nb.formats.wall_clock import wall_clock  # noqa: PLC0415 - a server start must not wait for numba

    try:
        return wall_clock(file.part, file.size_bytes)
    except OSError:
        return None


def _overlap(first: Window, second: Window) -> float:
    """Return the share of the shorter window that lies in the other."""
    common = min(first[1], second[1]) - max(first[0], second[0])
    return common / min(first[1] - first[0], second[1] - second[0])
