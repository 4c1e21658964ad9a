"""Runs whose saving did not come to its end: the process was killed, or the log dir would not take them."""

from __future__ import annotations

import mmap
import os
import stat
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.formats.framing import is_whole
from xprof_nb.model.units import size
from xprof_nb.runs.layout import SUFFIX
from xprof_nb.runs.shelf import ELSEWHERE, STAGING
from xprof_nb.runs.sidecar import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 100
_BUSY_S = 60.0


@dataclass(frozen=True)
class Leftover:
    """A run that was written aside and never got its place.

    Attributes
    ----------
    whole
        It is complete, and can be restored.
    still_s
        Seconds since it last changed.
    """

    run: str
    folder: Path
    size_bytes: int
    whole: bool
    still_s: float

    def __str__(self) -> str:
        if self.whole:
            return f"{self.run} ({size(self.size_bytes)}) was never put among the runs: `restore {self.run!r}` does it."
        state = "is still being written, or was cut" if self.still_s < _BUSY_S else "was cut while it was written"
        return f"{self.run} ({size(self.size_bytes)}) {state}; delete {self.folder.parent} if no capture is saving it."


def leftovers(logdir: Path) -> list[Leftover]:
    """Return what was left in the staging of a log dir, and in the temporary folder, where full log dirs send runs."""
    return [*staged(logdir), *islice(_in(Path(tempfile.gettempdir()), ELSEWHERE), MOST)]


def staged(logdir: Path) -> list[Leftover]:
    """Return what was left in the staging of a log dir."""
    return list(islice(_in(logdir, STAGING), MOST))


def _in(parent: Path, prefix: str) -> Iterator[Leftover]:
    try:
        for folder in sorted(parent.glob(f"{prefix}*/*")):
            if _is_ours(folder) and (left := _leftover(folder)) is not None:
                yield left
    except OSError:
        return


def _is_ours(folder: Path) -> bool:
    """Tell whether this user made the folder: the temporary one is everybody's."""
    facts = folder.lstat()
    return stat.S_ISDIR(facts.st_mode) and (not hasattr(os, "getuid") or facts.st_uid == os.getuid())


def _leftover(folder: Path) -> Leftover | None:
    files = [file for file in folder.iterdir() if file.is_file() and not file.is_symlink()]
    profiles = [file for file in files if file.name.endswith(SUFFIX)]
    if not profiles:
        return None
    facts = [file.stat() for file in files]
    # The sidecar is written last, so without it the profile may be short of its end.
    complete = any(file.name == FILE_NAME for file in files) and all(is_whole_file(file) for file in profiles)
    changed = max(fact.st_mtime for fact in facts)
    return Leftover(folder.name, folder, sum(fact.st_size for fact in facts), complete, time.time() - changed)


def is_whole_file(file: Path) -> bool:
    """Return whether a file is, by its outer frames, a whole XSpace."""
    if not file.stat().st_size:
        return False
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return is_whole(data)
