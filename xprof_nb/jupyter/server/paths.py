"""Which paths a browser may name: those under the configured roots, wherever links lead."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from xprof_nb.errors import ProfileError
from xprof_nb.runs.layout import LOGDIR_VARIABLE
from xprof_nb.runs.places import is_url

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 4096
_SEPARATORS = re.compile(r"[/\\]")


class ForbiddenPathError(ProfileError):
    """The path is outside every root; says nothing about whether it exists."""


@dataclass(frozen=True)
class Roots:
    """The folders whose content may be read.

    Attributes
    ----------
    base
        What relative paths count from: the server's root folder.
    folders
        Absolute paths or URLs, `base` last.
    """

    base: str
    folders: tuple[str, ...]

    @classmethod
    def of(cls, base: str, logdirs: Iterable[str]) -> Roots:
        """Collect the roots: configured log dirs, ``$XPROF_NB_LOGDIR``, and the server's root folder."""
        base = str(Path(base).expanduser().resolve())
        named = [*logdirs, os.environ.get(LOGDIR_VARIABLE, "")]
        folders = [name if is_url(name) else str(Path(base, Path(name).expanduser())) for name in named if name]
        return cls(base, tuple(dict.fromkeys([*folders, base])))

    def resolve(self, path: str) -> str:
        """Return the real path of what a browser named.

        Raises
        ------
        ForbiddenPathError
            It is malformed, climbs, or leads outside every root.
        """
        if not path or len(path) > LONGEST or climbs(path):
            raise _forbidden(path)
        if is_url(path):
            if not any(is_url(root) and _under(path, root.rstrip("/"), "/") for root in self.folders):
                raise _forbidden(path)
            return path
        real = os.path.realpath(Path(self.base, path))
        if not self.holds(real):
            raise _forbidden(path)
        return real

    def holds(self, path: str) -> bool:
        """Tell whether a path is under a root after every link in it was followed."""
        if is_url(path):
            return any(is_url(root) and _under(path, root.rstrip("/"), "/") for root in self.folders)
        real = os.path.realpath(path)
        return any(not is_url(root) and _under(real, os.path.realpath(root), os.sep) for root in self.folders)


def climbs(path: str) -> bool:
    """Tell whether a path has a ``..``, a control character, or hides one (or a separator) in percent escapes."""
    plain, decoded = path, unquote(path)
    while decoded != plain:
        if len(_SEPARATORS.findall(decoded)) != len(_SEPARATORS.findall(plain)):
            return True
        plain, decoded = decoded, unquote(decoded)
    return any(
        ord(character) < 32 or "\ud800" <= character <= "\udfff" for character in plain
    ) or ".." in _SEPARATORS.split(plain)


def _under(path: str, root: str, separator: str) -> bool:
    return path == root or path.startswith(root.rstrip(separator) + separator)


def _forbidden(path: str) -> ForbiddenPathError:
    shown = path if len(path) < 200 else path[:200] + "…"
    return ForbiddenPathError(
        f"{shown!r} is outside the folders this server may read",
        hint="Add its folder to c.XprofNb.logdirs in jupyter_server_config.py, or set $XPROF_NB_LOGDIR.",
    )
