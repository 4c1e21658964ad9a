"""What a worker does with a question: open the run, ask, encode."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb import __version__
from xprof_nb.jupyter.server.cache import ProfileCache
from xprof_nb.jupyter.server.paths import ForbiddenPathError, Roots
from xprof_nb.jupyter.server.questions import Answered, Question, Terms
from xprof_nb.runs.joining import find_run
from xprof_nb.runs.places import is_url
from xprof_nb.runs.sidecar import FILE_NAME

if TYPE_CHECKING:
    from xprof_nb.model.profile import ProfileData
    from xprof_nb.runs.layout import RunFiles

_AT_MOST: dict[str, dict[str, Any]] = {"events": {"limit": 100_000}}
"""What bounds an answer unless the client asks for more: millions of events do not cross to a browser."""


class Desk:
    """The opened profiles of a worker, and what can be asked of them."""

    def __init__(self, terms: Terms) -> None:
        self.roots = Roots(terms.base, terms.folders)
        self._cache = ProfileCache(terms.cache_bytes, _open)
        from xprof_nb.formats.warm import warm  # noqa: PLC0415

        warm()

    def answer(self, question: Question) -> Answered:
        """Return the answer to a question, unless the client has it.

        Raises
        ------
        ProfileError
            There is none.
        """
        run = self._found(question.run)
        profile = self._opened(question.run, run)
        other = self._other(question)
        tag = _tag(profile.identity + (other.identity if other is not None else ""), run, question)
        if tag == question.known:
            return Answered(tag, None)
        opened = question if other is None else replace(question, params={**question.params, "other": other})
        return Answered(tag, _ANSWERS[question.kind](profile, opened))

    def _opened(self, path: str, run: RunFiles) -> ProfileData:
        real = self.roots.resolve(path)
        return self._cache.get(real if len(run.files) == 1 and real == run.files[0].path else run.folder, run)

    def _other(self, question: Question) -> ProfileData | None:
        """Return the second run of a question that is about two, named and admitted as the first is."""
        path = question.params.get("other")
        return self._opened(path, self._found(path)) if isinstance(path, str) else None

    def _found(self, path: str) -> RunFiles:
        """Return the run a browser named, if every file of it is under a root."""
        run = find_run(self.roots.resolve(path), admits=self.roots.holds)
        for file in run.files:
            if not self.roots.holds(file.path):
                raise ForbiddenPathError(f"{file.host} of {run.run} links to a file this server may not read")
        return run


def _tag(identity: str, run: RunFiles, question: Question) -> str:
    """Return what changes whenever the answer may: bytes of the run, what is noted beside it, what was asked."""
    noted = Path(run.folder, FILE_NAME)
    beside = noted.read_bytes() if not is_url(run.folder) and noted.is_file() else b""
    asked = json.dumps([__version__, identity, run.run, question.kind, question.name, question.params], sort_keys=True)
    return hashlib.blake2b(asked.encode() + beside, digest_size=16).hexdigest()


# The analysis core (pandas, numba's kernels) is imported by the first question.


def _open(run: RunFiles) -> ProfileData:
    from xprof_nb.runs.opening import open_run  # noqa: PLC0415

    profile: ProfileData = open_run(run)
    return profile


def _query(profile: ProfileData, question: Question) -> bytes:
    from xprof_nb import queries  # noqa: PLC0415
    from xprof_nb.model import columns  # noqa: PLC0415

    answer = queries.ask(profile, question.name, {**_AT_MOST.get(question.name, {}), **question.params})
    return columns.encode(answer.frame, {"summary": dict(answer.summary), "notes": list(answer.notes)})


def _snapshot(profile: ProfileData, question: Question) -> bytes:
    from xprof_nb import snapshot  # noqa: PLC0415

    return json.dumps(snapshot.build_live(profile, question.name, question.params), allow_nan=False).encode()


def _thumbnail(profile: ProfileData, _question: Question) -> bytes:
    from xprof_nb.snapshot.thumbnail import thumbnail  # noqa: PLC0415

    return json.dumps(thumbnail(profile), allow_nan=False).encode()


_ANSWERS = {"query": _query, "snapshot": _snapshot, "thumbnail": _thumbnail}
