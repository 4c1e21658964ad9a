"""How runs are named: by the person, or by the moment to the millisecond."""

from __future__ import annotations

import re
import socket
import unicodedata
from typing import TYPE_CHECKING

from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_NAME = 120
# Names Windows keeps for devices; a log dir may be shared with it.
_DEVICE_NAME = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])\s*(\..*)?")


def check_name(name: str) -> str:
    """Return ``name`` if it can be the name of a folder on every system, and of nothing else.

    Raises
    ------
    UsageError
        It is empty, too long, hidden, or holds a path separator or a control character.
    """
    if not isinstance(name, str):
        raise UsageError(f"{name!r} cannot name a run: it is no text", hint="Try letters, digits, '-', '_' and '.'.")
    fault = _fault(name)
    if fault:
        raise UsageError(f"{name[:60]!r} cannot name a run: {fault}", hint="Try letters, digits, '-', '_' and '.'.")
    return name


def _fault(name: str) -> str:
    return next((fault for found, fault in _faults(name) if found), "")


def _faults(name: str) -> list[tuple[bool, str]]:
    return [
        (not name.strip(), "it is empty"),
        (len(name.encode(errors="replace")) > LONGEST_NAME, f"it is longer than {LONGEST_NAME} bytes"),
        (any(character in '/\\:*?"<>|' for character in name), 'it holds one of / \\ : * ? " < > |'),
        (any(unicodedata.category(character).startswith("C") for character in name), "it holds a control character"),
        (name != name.strip() or name[:1] == "." or name[-1:] == ".", "it begins or ends with a space or a dot"),
        (bool(_DEVICE_NAME.fullmatch(name)), "the name is a device on Windows"),
    ]


def moment_name(moment: datetime) -> str:
    """Name a run by its start in local time: ``2026-11-30_14.05.09.123``."""
    local = moment.astimezone()
    return f"{local:%Y-%m-%d_%H.%M.%S}.{local.microsecond // 1000:03d}"


def numbered(name: str, number: int) -> str:
    """Return the name of the ``number``-th run called ``name``: ``train``, ``train-2``, ``train-3``."""
    return name if number == 1 else f"{name}-{number}"


def host_name() -> str:
    """Return this host's name, fit for a file name."""
    return file_stem(socket.gethostname()) or "localhost"


def file_stem(name: str) -> str:
    """Return a host's name or address, fit for a file name; empty if nothing of it is."""
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII).lstrip(".")[:LONGEST_NAME]
