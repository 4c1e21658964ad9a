"""Which runs there are under the roots: looked for in the background, told at once."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import ProfileError
from xprof_nb.runs.catalog import listed, remarks
from xprof_nb.runs.layout import Limits, RunFiles, Scan, scan
from xprof_nb.runs.places import is_url

if TYPE_CHECKING:
    from xprof_nb.jupyter.server.paths import Roots

FRESH_S = 1.0
"""A look that ended so short a time ago is not repeated."""
PATIENCE_S = 0.5
"""Who asks waits so long for a look to end: most log dirs are small."""


class Watch:
    """The runs under the roots, as the last look saw them."""

    def __init__(self, roots: Roots, limits: Limits) -> None:
        self._roots = roots
        self._limits = limits
        self._seen: dict[str, Scan] = {}
        self._changed = Condition()
        self._looking = False
        self._looked = float("-inf")

    def runs(self) -> tuple[str, dict[str, Any]]:
        """Return the runs under every root, newest first, and a tag that changes when they do.

        Looks again if the last look is a while ago, and waits for it a moment; ``scanning`` says that it goes on.
        """
        with self._changed:
            if not self._looking and time.monotonic() - self._looked > FRESH_S:
                self._looking = True
                Thread(target=self._look, name="xprof-nb-watch", daemon=True).start()
            self._changed.wait_for(lambda: not self._looking, PATIENCE_S)
            seen, scanning = dict(self._seen), self._looking
        return _told(self._roots, seen, scanning)

    def forget(self) -> None:
        """Look again when somebody asks: something was changed from here."""
        with self._changed:
            self._changed.wait_for(lambda: not self._looking, PATIENCE_S)
            self._looked = float("-inf")

    def size_bytes(self, path: str) -> int:
        """Return the size of a run that was seen; 0 of another."""
        with self._changed:
            parts = list(self._seen.values())
        return next((run.size_bytes for part in parts for run in part.runs if run.folder == path), 0)

    def _look(self) -> None:
        try:
            for root in self._roots.folders:
                part = self._under(root)
                with self._changed:
                    self._seen[root] = part
        finally:
            with self._changed:
                self._looking, self._looked = False, time.monotonic()
                self._changed.notify_all()

    def _under(self, root: str) -> Scan:
        nothing = Scan((), 0, (), truncated=False)
        if not is_url(root) and not Path(root).is_dir():
            return nothing
        try:
            return scan(root, self._limits, admits=self._roots.holds)
        except ProfileError:  # a remote log dir that cannot be reached must not hide the local ones
            return Scan((), 0, (root,), truncated=False)


def _told(roots: Roots, seen: dict[str, Scan], scanning: bool) -> tuple[str, dict[str, Any]]:
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
    told = {"runs": rows, "roots": list(roots.folders), "truncated": truncated, "notes": notes, "scanning": scanning}
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest(), told


def _key(run: RunFiles) -> str:
    return run.folder if is_url(run.folder) else str(Path(run.folder).resolve())
