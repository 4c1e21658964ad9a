"""Where things live that can be made again: compiled code, this machine's measured peaks."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "XPROF_NB_CACHE_DIR"
_FOLDER = "xprof-nb"
_TRIED: set[Path] = set()


def cache_dir() -> Path:
    """Return a folder that can be written to, made if need be.

    ``$XPROF_NB_CACHE_DIR`` when set, else the user's cache folder of the platform, else the temporary folder.

    Raises
    ------
    UsageError
        None of them can be written to, or the one asked for cannot.
    """
    asked = os.environ.get(VARIABLE, "")
    candidates = [Path(asked).expanduser()] if asked else list(_defaults())
    for candidate in candidates:
        if _writable(candidate):
            return candidate
    raise UsageError(
        "no cache folder can be written to, tried " + ", ".join(str(candidate) for candidate in candidates),
        hint=f"Set {VARIABLE} to a folder you may write to",
    )


def _defaults() -> Iterator[Path]:
    user = _user_folder()
    if user is not None:
        yield user
    who = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    yield Path(tempfile.gettempdir()) / f"{_FOLDER}-{who}"


def _user_folder() -> Path | None:
    """Return the platform's folder for caches, None when the user has no home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / _FOLDER / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / _FOLDER
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / _FOLDER


def _writable(folder: Path) -> bool:
    """Return whether a file can be made there; a full or read-only disk shows only when tried, once in a process.

    A folder in the shared temporary folder may be another user's trap: compiled code is loaded from here, so
    it has to be ours.
    """
    try:
        if folder not in _TRIED:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            _TRIED.add(folder)
        return not hasattr(os, "getuid") or folder.stat().st_uid in {os.getuid(), 0}
    except OSError:
        _TRIED.discard(folder)
        return False
