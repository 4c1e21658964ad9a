"""Which captures are under way in a log dir: what the profiler collects is in memory, so a killed process leaves this.

A mark is a hidden file ``.xprof-nb.running-*``, made when a capture starts and removed when it has ended.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from xprof_nb.runs.names import host_name

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = ".xprof-nb.running-"
TOLD_S = 7 * 86_400.0
"""For how long a capture that was lost is worth a word."""
MOST = 100
LARGEST_BYTES = 10_000


@dataclass(frozen=True)
class Mark:
    """A capture of this process that is under way."""

    file: Path
    process: int

    @classmethod
    def set(cls, logdir: Path, run: str) -> Mark | None:
        """Mark a capture that starts; None where that cannot be written, which keeps no capture from starting."""
        mark = cls(logdir / f"{MARK}{uuid4().hex}", os.getpid())
        about = {"run": run, "process": mark.process, "host": host_name(), "started_s": time.time()}
        try:
            mark.file.write_text(json.dumps(about), encoding="utf-8")
        except OSError:
            return None
        return mark

    def remove(self) -> None:
        """Say that it has ended; of a process that was forked off, nothing."""
        if os.getpid() == self.process:
            try:
                self.file.unlink(missing_ok=True)
            except OSError:  # the log dir has become read-only
                return


@dataclass(frozen=True)
class Lost:
    """A capture whose process ended before it was saved."""

    run: str
    process: int
    started_s: float
    file: Path

    def __str__(self) -> str:
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.started_s))
        return (
            f"{self.run} was being captured since {moment} when process {self.process} ended: what the profiler had "
            "collected was in its memory and is lost. Capture it again."
        )


def lost(logdir: Path) -> list[Lost]:
    """Return the captures of this host that ended with their process, of the last week."""
    try:
        marks = sorted(islice(logdir.glob(f"{MARK}*"), MOST))
    except OSError:
        return []
    return [gone for file in marks for gone in _lost(file)]


def _lost(file: Path) -> Iterator[Lost]:
    about = _read(file)
    match about:
        case {"run": str(run), "process": int(process), "started_s": float(started_s), "host": str(host)}:
            is_recent = 0 <= time.time() - started_s < TOLD_S
            if host == host_name() and is_recent and not _is_alive(process):
                yield Lost(run, process, started_s, file)


def _read(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > LARGEST_BYTES:
            return {}
        about = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # there, os.kill ends what it asks about
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
