"""Which runs there are under the roots: looked for in the background, told at once."""

from __future__ import annotations

import hashlib
import json
import time
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import ProfileError
from xprof_nb.runs.catalog import listed, remarks
from xprof_nb.runs.layout import Limits, RunFiles, Scan, scan
from xprof_nb.runs.places import is_url

if TYPE_CHECKING:
    from xprof_nb.jupyter.server.paths import Roots

FRESH_S = 1.0
"""A look that ended so short a time ago is not repeated."""
REST = 4.0
"""After a look, so many times its length is rested: looking takes a fifth of a core at most."""


class Watch:
    """The runs under the roots, as the last look saw them."""

    def __init__(self, roots: Roots, limits: Limits) -> None:
        self._roots = roots
        self._limits = limits
        self._seen: dict[str, Scan] = {}
        self._told = _Told.of(roots, self._seen)
        self._lock = Lock()
        self._last: Future[None] | None = None
        self._due = float("-inf")
        self._forgotten = float("-inf")

    def look(self) -> Future[None]:
        """Look again if the last look is a while ago; return what is done when the look is."""
        with self._lock:
            if self._last is None or (self._last.done() and time.monotonic() >= self._due):
                self._last = Future()
                self._last.set_running_or_notify_cancel()  # who waits for it no more must not end it for others
                Thread(target=self._look, args=(self._last,), name="xprof-nb-watch", daemon=True).start()
            return self._last

    def runs(self) -> tuple[str, bytes]:
        """Return a tag, and as JSON the runs under every root that were seen, newest first.

        The tag changes when they do; ``scanning`` says that a look goes on.
        """
        with self._lock:
            told, scanning = self._told, self._last is not None and not self._last.done()
        return (f"{told.tag}+", told.scanning) if scanning else (told.tag, told.done)

    def forget(self) -> None:
        """Look again when somebody asks: something was changed from here."""
        with self._lock:
            self._due, self._forgotten = float("-inf"), time.monotonic()

    def size_bytes(self, path: str) -> int:
        """Return the size of a run that was seen; 0 of another."""
        return next((run.size_bytes for part in [*self._seen.values()] for run in part.runs if run.folder == path), 0)

    def _look(self, this: Future[None]) -> None:
        begun = time.monotonic()
        try:
            for root in self._roots.folders:
                self._seen[root] = self._under(root)
                told = _Told.of(self._roots, self._seen)
                with self._lock:
                    self._told = told
        finally:
            ended = time.monotonic()
            with self._lock:
                is_of_before = self._forgotten >= begun
                self._due = float("-inf") if is_of_before else ended + max(FRESH_S, REST * (ended - begun))
            this.set_result(None)

    def _under(self, root: str) -> Scan:
        nothing = Scan((), 0, (), truncated=False)
        if not is_url(root) and not Path(root).is_dir():
            return nothing
        try:
            return scan(root, self._limits, admits=self._roots.holds)
        except ProfileError:  # a remote log dir that cannot be reached must not hide the local ones
            return Scan((), 0, (root,), truncated=False)


@dataclass(frozen=True)
class _Told:
    """What was seen, as JSON, made once a look: a server is asked far more often."""

    tag: str
    done: bytes
    scanning: bytes

    @classmethod
    def of(cls, roots: Roots, seen: dict[str, Scan]) -> _Told:
        found = _found(roots, seen)
        done, scanning = (json.dumps({**found, "scanning": state}).encode() for state in (False, True))
        return cls(hashlib.blake2b(done, digest_size=16).hexdigest(), done, scanning)


def _found(roots: Roots, seen: dict[str, Scan]) -> dict[str, Any]:
    found: dict[str, RunFiles] = {}
    notes, truncated = [], False
    for root in roots.folders:
        part = seen.get(root)
        if part is not None:
            found.update((_key(run), run) for run in part.runs if _key(run) not in found)
            notes += remarks(root, part) if part.runs or part.truncated or part.unreadable else []
            truncated = truncated or part.truncated
    hosts = {run.folder: [file.host for file in run.files] for run in found.values()}
    rows = [{**asdict(row), "hosts": hosts[row.path]} for row in listed(found.values())]
    for row in rows:
        row["started"] = row["started"].isoformat(timespec="milliseconds") if row["started"] else None
    return {"runs": rows, "roots": list(roots.folders), "truncated": truncated, "notes": notes}


def _key(run: RunFiles) -> str:
    return run.folder if is_url(run.folder) else str(Path(run.folder).resolve())
