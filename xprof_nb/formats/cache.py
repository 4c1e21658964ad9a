"""Where this package keeps what it can make again: compiled kernels and calibrations of this machine."""

from __future__ import annotations

import getpass
import os
import sys
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_dir() -> Path:
    """Return a folder that exists and can be written.

    The first that works of ``$XPROF_NB_CACHE_DIR``, the user's cache folder, a per-user temporary folder and, at
    last, a fresh temporary one.
    """
    for folder in _candidates():
        if _is_writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="xprof-nb-"))


def _candidates() -> list[Path]:
    chosen = os.environ.get("XPROF_NB_CACHE_DIR")
    return [*([Path(chosen).expanduser()] if chosen else []), *_user_cache(), _shared_temporary()]


def _user_cache() -> list[Path]:
    try:
        home = Path.home()
    except RuntimeError:  # a container may run under a user id that has no home
        return []
    if sys.platform == "darwin":
        return [home / "Library" / "Caches" / "xprof-nb"]
    if sys.platform == "win32":
        return [Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "xprof-nb" / "Cache"]
    return [Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "xprof-nb"]


def _shared_temporary() -> Path:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no name for this user id
        user = str(os.getuid()) if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"xprof-nb-{user}"


def _is_writable(folder: Path) -> bool:
    """Create ``folder`` and prove it by a write; compiled code from another user's folder must not be loaded."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
