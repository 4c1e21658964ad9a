"""Copying a saved run to a log dir behind a URL, such as ``gs://bucket/logs``: whole, or not at all by its name."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from xprof_nb.errors import CaptureError, UsageError
from xprof_nb.runs.layout import DEFAULT_FOLDER
from xprof_nb.runs.names import numbered
from xprof_nb.runs.places import is_url
from xprof_nb.runs.shelf import checked_logdir

RUNS = "plugins/profile"


def places(logdir: str | os.PathLike[str]) -> tuple[str | None, Path]:
    """Return the URL that runs are copied to, if it is one, and the folder they are saved in."""
    text = os.fspath(logdir)
    if isinstance(text, str) and is_url(text) and not text.lower().startswith("file:"):
        return check_target(text), Path.cwd() / DEFAULT_FOLDER
    return None, checked_logdir(logdir)


def check_target(url: str) -> str:
    """Return the URL of a log dir to copy runs to.

    Raises
    ------
    UsageError
        Nothing installed can write there.
    """
    _file_system(url)
    return url.rstrip("/")


def upload(folder: str | os.PathLike[str], target: str) -> str:
    """Copy a run below a log dir elsewhere and return its URL; a name that is taken there gets a number.

    Raises
    ------
    CaptureError
        It did not arrive whole. The run on this disk stays as it is; the error says how to try again.
    """
    try:
        return _copied(folder, target)
    except Exception as error:  # networks and credentials fail in a hundred ways
        raise CaptureError(
            f"the run could not be copied to {target} ({type(error).__name__}: {str(error)[:200]}); "
            f"it is saved as {folder}",
            hint=f"Try again: from xprof_nb.capture.upload import upload; upload({os.fspath(folder)!r}, {target!r})",
        ) from error


def _copied(folder: str | os.PathLike[str], target: str) -> str:
    files, folder = _file_system(target), Path(folder)
    names = (f"{target}/{RUNS}/{numbered(folder.name, number)}" for number in itertools.count(1))
    place = next(name for name in names if not files.exists(name))
    try:
        files.makedirs(place, exist_ok=True)
        for file in sorted(folder.iterdir()):
            _copy(files, file, f"{place}/{file.name}")
    except BaseException:
        with suppress(Exception):
            files.rm(place, recursive=True)
        raise
    return place


def _copy(files: Any, file: Path, target: str) -> None:
    files.put_file(str(file), target)
    if files.info(target)["size"] != file.stat().st_size:
        raise OSError(f"{target} is shorter than {file}")


def _file_system(url: str) -> Any:
    import fsspec  # noqa: PLC0415 - a local log dir should not pay for it

    scheme = urlsplit(url).scheme.lower()
    try:
        return fsspec.filesystem(scheme)
    except (ImportError, ValueError) as unknown:
        raise UsageError(
            f"runs cannot be copied to {url!r} ({unknown})",
            hint="Install what that needs, or pass a folder on this machine as `logdir`.",
        ) from unknown
