"""What a person does with a run that is there: rename it, note, tag, throw away, bring back.

Only runs of a log dir's own layout are moved: of any other profile, the folder it lies in may hold more than the run.
"""

from __future__ import annotations

import errno
import os
import shutil
import unicodedata
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.errors import NotFoundError, ProfileError, UsageError
from xprof_nb.model.units import listed
from xprof_nb.runs import sidecar
from xprof_nb.runs.leftovers import leftovers
from xprof_nb.runs.names import check_name, moment_name
from xprof_nb.runs.places import is_url
from xprof_nb.runs.shelf import new_staging, publish, runs_folder, tidy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xprof_nb.runs.sidecar import Sidecar

TRASH = ".xprof-nb.trash"
"""Folder of a log dir, hidden, where runs go that are thrown away: ``<moment>/<run>``."""
LONGEST_NOTE = 10_000
LONGEST_TAG, MOST_TAGS = 60, 50


def managed(run: str | os.PathLike[str], logdir: str | os.PathLike[str]) -> Path:
    """Return the folder of a run that may be moved: one of a log dir on this machine.

    Parameters
    ----------
    run
        The path of a run's folder, or its name in the log dir.

    Raises
    ------
    NotFoundError
        There is none.
    UsageError
        It lies elsewhere than in ``<logdir>/plugins/profile/<run>``.
    """
    text = os.fspath(run)
    if is_url(text) or is_url(os.fspath(logdir)):
        raise UsageError(f"{text} cannot be changed from here", hint="Copy the run into a log dir on this machine.")
    if not text.strip() or "\0" in text:
        raise UsageError(f"{text!r} names no run", hint="`ls` lists the runs.")
    named = runs_folder(Path(logdir)) / text
    folder = named if Path(text).name == text and named.is_dir() else Path(text)
    folder = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - without dots, links left as they are
    if not folder.is_dir():
        raise NotFoundError(f"there is no run {text!r} in {logdir}", hint="`ls` lists the runs.")
    if (folder.parent.name, folder.parent.parent.name) != ("profile", "plugins"):
        raise UsageError(
            f"{folder} is no run of a log dir",
            hint="Only <logdir>/plugins/profile/<run> is renamed, noted or removed; `import` puts a copy there.",
        )
    return folder


def rename(folder: Path, name: str) -> Path:
    """Give a run another name, ``-2`` … added if it is taken; return its new folder.

    Raises
    ------
    UsageError
        The name cannot be a run's.
    ProfileError
        The folder cannot be moved.
    """
    check_name(name)
    if name == folder.name:
        return folder
    with _told("renamed", folder):
        moved = publish(folder, folder.parent, name)
    about = sidecar.read(moved)
    if about is not None:
        _record(moved, replace(about, name=name))
    return moved


def annotate(folder: Path, note: str) -> None:
    """Replace the note of a run.

    Raises
    ------
    UsageError
        It is too long.
    ProfileError
        The run keeps no notes, or cannot be written.
    """
    if len(note) > LONGEST_NOTE:
        raise UsageError(f"a note of {len(note):,} characters", hint=f"Up to {LONGEST_NOTE:,} are kept.")
    _record(folder, replace(_own(folder), note=note))


def retag(folder: Path, add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[str, ...]:
    """Add tags to a run and take others away; return those it has now. Raises what `annotate` raises."""
    gone = set(remove)
    return set_tags(folder, [tag for tag in (*_own(folder).tags, *map(_checked_tag, add)) if tag not in gone])


def set_tags(folder: Path, tags: Iterable[str]) -> tuple[str, ...]:
    """Give a run these tags and no others; return them, each once. Raises what `annotate` raises."""
    kept = tuple(dict.fromkeys(_checked_tag(tag) for tag in tags))
    if len(kept) > MOST_TAGS:
        raise UsageError(f"{len(kept)} tags of one run", hint=f"Up to {MOST_TAGS} are kept.")
    _record(folder, replace(_own(folder), tags=kept))
    return kept


def discard(folder: Path) -> Path:
    """Move a run to the trash of its log dir, from where `restore` brings it back; return where it is.

    Raises
    ------
    ProfileError
        The folder cannot be moved.
    """
    logdir = folder.parents[2]
    with _told("thrown away", folder):
        return publish(folder, logdir / TRASH / _moment(), folder.name)


def _moment() -> str:
    """Return now as a name in whose order things were thrown away, several within a millisecond too."""
    now = datetime.now(UTC)
    return f"{moment_name(now)}.{now.microsecond % 1000:03d}"


def restore(name: str, logdir: Path) -> Path:
    """Put a run back that was thrown away last under that name, or one whose saving did not come to its end.

    Raises
    ------
    NotFoundError
        There is none of that name; says which there are.
    ProfileError
        It is only the beginning of a profile, or cannot be moved.
    """
    lost = {left.run: left for left in leftovers(logdir)}
    thrown = {folder.name: folder for folder in discarded(logdir)}
    if name in thrown:
        source = thrown[name]
    elif name in lost:
        if not lost[name].whole:
            raise ProfileError(
                "is only the beginning of a profile, or still being written",
                file=lost[name].folder,
                hint="Nothing can be read of it: delete that folder if no capture is being saved.",
            )
        source = lost[name].folder
    else:
        there = listed(sorted({*thrown, *lost}))
        raise NotFoundError(
            f"no run {name!r} was thrown away or left unsaved in {logdir}",
            hint=f"There is {there}." if there else "There is nothing to restore.",
        )
    return _put_back(source, logdir)


def put_back(discarded: Path) -> Path:
    """Put a run back that `discard` moved to where it is; return its folder.

    Raises
    ------
    UsageError
        It does not lie in the trash of a log dir.
    NotFoundError
        It is no longer there.
    ProfileError
        It cannot be moved.
    """
    if discarded.parent.parent.name != TRASH:
        raise UsageError(f"{discarded} is not in the trash of a log dir")
    if not discarded.is_dir():
        raise NotFoundError(f"{discarded.name} is no longer in the trash", hint="`ls` lists the runs.")
    return _put_back(discarded, discarded.parents[2])


def _put_back(source: Path, logdir: Path) -> Path:
    with _told("restored", source):
        folder = _moved(source, logdir)
    tidy(source.parent)
    return folder


def _moved(source: Path, logdir: Path) -> Path:
    """Put a folder among the runs of a log dir, from whatever file system."""
    try:
        return publish(source, runs_folder(logdir), source.name)
    except OSError as refused:
        if refused.errno != errno.EXDEV:
            raise
    staging = new_staging(logdir)
    shutil.copytree(source, staging / source.name)
    folder = publish(staging / source.name, runs_folder(logdir), source.name)
    tidy(staging)
    shutil.rmtree(source, ignore_errors=True)
    return folder


def discarded(logdir: Path) -> list[Path]:
    """Return the folders of runs in the trash of a log dir, the last thrown away last."""
    try:
        return sorted(folder for folder in (logdir / TRASH).glob("*/*") if folder.is_dir())
    except OSError:
        return []


def _own(folder: Path) -> Sidecar:
    found = sidecar.read(folder)
    if found is None:
        raise ProfileError(
            f"{folder.name} is no capture of this tool, and nothing is written beside other files",
            hint="`export` it and `import` the zip: the copy keeps notes and tags.",
        )
    return found


def _record(folder: Path, about: Sidecar) -> None:
    with _told("written to", folder):
        sidecar.write(folder, about)


def _checked_tag(tag: str) -> str:
    odd = any(unicodedata.category(character).startswith("C") for character in tag)
    if odd or tag != tag.strip() or not 0 < len(tag) <= LONGEST_TAG:
        raise UsageError(f"{tag[:LONGEST_TAG]!r} is no tag", hint=f"A tag is one line of up to {LONGEST_TAG} letters.")
    return tag


@contextmanager
def _told(what: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as refused:
        raise ProfileError(
            f"the run cannot be {what} ({refused.strerror or refused})",
            file=folder,
            hint="It is as it was; see who may write to the log dir.",
        ) from refused
