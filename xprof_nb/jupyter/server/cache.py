"""Opened profiles, kept for the next question and never served once their files changed."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from xprof_nb.runs.places import LOCAL
from xprof_nb.runs.sidecar import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from xprof_nb.model.profile import ProfileData
    from xprof_nb.runs.layout import RunFiles

Signature = tuple[tuple[str, int, int, int, int], ...]


@dataclass(frozen=True, eq=False)
class _Kept:
    signature: Signature
    size_bytes: int
    opened: Future[ProfileData]


class ProfileCache:
    """The most recently used profiles, up to a size.

    Parameters
    ----------
    limit_bytes
        Of the files of the profiles kept; what is decoded from them is of the same order.
    open_profile
        Opens the files of a run; called once for any number of requests that wait for the same files.
    """

    def __init__(self, limit_bytes: int, open_profile: Callable[[RunFiles], ProfileData]) -> None:
        self._limit_bytes = limit_bytes
        self._open = open_profile
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, path: str, run: RunFiles) -> ProfileData:
        """Return the profile at a path whose files are those of ``run``."""
        signature = _signature(run)
        if signature is None:
            return self._open(run)
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None and kept.signature == signature:
                self._kept.move_to_end(path)
            else:
                kept = None
                mine = _Kept(signature, run.size_bytes, Future())
                self._kept[path] = mine
                self._kept.move_to_end(path)
                self._shrink()
        return kept.opened.result() if kept is not None else self._fill(path, run, mine)

    def _fill(self, path: str, run: RunFiles, mine: _Kept) -> ProfileData:
        try:
            profile = self._open(run)
        except BaseException as failed:
            self._forget(path, mine)
            mine.opened.set_exception(failed)
            raise
        if _signature(run) != mine.signature:  # written to while it was read: not to be served again
            self._forget(path, mine)
        mine.opened.set_result(profile)
        return profile

    def _forget(self, path: str, mine: _Kept) -> None:
        with self._lock:
            if self._kept.get(path) is mine:
                del self._kept[path]

    def _shrink(self) -> None:
        while self._kept and sum(kept.size_bytes for kept in self._kept.values()) > self._limit_bytes:
            self._kept.popitem(last=False)


def _signature(run: RunFiles) -> Signature | None:
    """Return what changes whenever a file of the run does, None if that cannot be told cheaply.

    The change time catches an overwrite that restored size and modification time.
    """
    if any(file.place is not LOCAL for file in run.files):
        return None
    paths = [*(Path(file.path) for file in run.files), Path(run.folder, FILE_NAME)]
    try:
        status = [(path, path.stat()) for path in paths if path.exists()]
    except OSError:
        return None
    return tuple((str(path), s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for path, s in status)
