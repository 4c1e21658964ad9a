"""How a run gets among the others of a log dir on this disk: written aside, then renamed, whole or not at all."""

from __future__ import annotations

import errno
import itertools
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from xprof_nb.errors import UsageError
from xprof_nb.runs.names import numbered
from xprof_nb.runs.places import is_url

STAGING = ".xprof-nb-"
"""How folders begin in which a run is made: hidden, so nobody takes them for one."""
ELSEWHERE = "xprof-nb-"
"""How such folders begin in the temporary folder, where a run goes that its log dir does not take."""
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)


def checked_logdir(logdir: str | os.PathLike[str]) -> Path:
    """Return the full path of a log dir on this machine's disks.

    Raises
    ------
    UsageError
        It is no path, or a URL: runs are written to a disk.
    """
    text = os.fspath(logdir)
    if not isinstance(text, str) or "\0" in text or is_url(text):
        raise UsageError(
            f"a run cannot be saved in {text!r}",
            hint="Pass a folder on this machine as `logdir`, and copy the run.",
        )
    return Path(text).expanduser().absolute()


def runs_folder(logdir: Path) -> Path:
    """Return the folder of runs, where xprof and TensorBoard look for them."""
    return logdir / "plugins" / "profile"


def new_staging(logdir: Path) -> Path:
    """Return a new folder to make a run in, on the file system of the log dir; may raise OSError."""
    logdir.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=STAGING, dir=logdir))


def new_staging_elsewhere() -> Path:
    """Return a new folder to make a run in, where temporary files go; may raise OSError."""
    return Path(tempfile.mkdtemp(prefix=ELSEWHERE))


def publish(aside: Path, parent: Path, name: str) -> Path:
    """Rename a folder to ``<parent>/<name>``, or ``<name>-2`` … if that is taken; return its path.

    Of several processes that publish one name at one moment, each gets a name of its own. May raise OSError.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        target = parent / numbered(name, number)
        if target.exists() or target.is_symlink():
            continue
        try:
            return aside.rename(target)
        except OSError as error:
            # Another process may have taken the name since; a folder with files in it is never replaced.
            if error.errno not in _TAKEN or not target.exists():
                raise
    raise AssertionError("unreachable: there is always a next number")


def tidy(folder: Path) -> None:
    """Remove a staging folder that is empty again."""
    with suppress(OSError):
        folder.rmdir()
