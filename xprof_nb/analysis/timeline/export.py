"""The timeline for other viewers: Chrome's trace JSON or Perfetto's protobuf, as a file or part by part."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np
import pandas as pd

from xprof_nb.analysis.timeline import chrome, perfetto
from xprof_nb.analysis.timeline.exported import Box, Piece
from xprof_nb.analysis.timeline.trace import Span, window
from xprof_nb.analysis.timeline.tracks import timeline_of
from xprof_nb.errors import UsageError
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData

EVENTS_A_PART = 250_000
MOST_EVENTS = 10_000_000
"""Of a download, which a browser puts together in its memory; a file written from Python has no limit."""
_LEVEL = 4
_SUFFIX = {"chrome": ".json.gz", "perfetto": ".pftrace.gz"}


def to_chrome_json(profile: ProfileData, path: str | os.PathLike[str]) -> Path:
    """Write every track as Chrome's trace events; gzipped if the name ends in ``.gz``.

    Names are cut after 1,000 characters; what HTML would take for markup is escaped.
    """
    return _written(path, _all(chrome.pieces(profile, Box())))


def to_perfetto(profile: ProfileData, path: str | os.PathLike[str]) -> Path:
    """Write every track as Perfetto's trace packets; gzipped if the name ends in ``.gz``.

    Perfetto counts in ns: parts of one are lost.
    """
    sequence = perfetto.Sequence()
    return _written(path, chain([sequence.begin], _all(perfetto.pieces(profile, Box(), sequence))))


def trace_export(profile: ProfileData, form: str, span_ps: Span, tracks: Sequence[int] | None, part: int = 0) -> Answer:
    """Return one part of an export: parts, taken out of their gzip, are the file one after the other.

    An export in parts can be stopped, says how far it is, and lets other questions be answered in between.

    Parameters
    ----------
    form
        ``"chrome"`` or ``"perfetto"``.
    span_ps
        Begin and end in ps from the beginning of the timeline; all of it if None. Events that reach into it are
        whole.
    part
        From 0 to the ``part_count`` of the summary, exclusive.

    Returns
    -------
    Answer
        ``bytes``, a gzip member, one byte a row.

    Raises
    ------
    UsageError
        There are more than `MOST_EVENTS`, or no such track or part.
    """
    timeline = timeline_of(profile)
    chosen = None if tracks is None else frozenset(timeline.checked(list(tracks)))
    box = Box(None if span_ps == (None, None) else window(timeline, *span_ps), chosen)
    sequence = perfetto.Sequence(part + 1)
    pieces = chrome.pieces(profile, box) if form == "chrome" else perfetto.pieces(profile, box, sequence)
    data, parts, count = _part(pieces, part)
    if count > MOST_EVENTS:
        raise UsageError(
            f"{units.count(count)} events are too many to download, {units.count(MOST_EVENTS)} at most",
            hint=f"Select a stretch of time, or write a file: trace().{_METHOD[form]} of a profile has no limit.",
        )
    if part >= parts:
        raise UsageError(f"no part {part}", hint=f"This export has parts 0 to {parts - 1}.")
    data = sequence.begin + data if form == "perfetto" else data
    summary = {"format": form, "part": part, "part_count": parts, "event_count": count, "suffix": _SUFFIX[form]}
    packed = np.frombuffer(gzip.compress(data, _LEVEL, mtime=0), np.uint8)
    return Answer(pd.DataFrame({"bytes": packed}), summary, ())


_METHOD = {"chrome": 'to_chrome_json("trace.json.gz")', "perfetto": 'to_perfetto("trace.pftrace.gz")'}


def _part(pieces: Iterable[Piece], part: int) -> tuple[bytes, int, int]:
    """Return what the pieces of one part write, how many parts there are, and of how many events."""
    before = last = 0
    written = []
    for count, write in pieces:
        last = before // EVENTS_A_PART
        if last == part and before <= MOST_EVENTS:
            written.append(write())
        before += count
    return b"".join(written), last + 1, before


def _all(pieces: Iterable[Piece]) -> Iterator[bytes]:
    return (write() for _, write in pieces)


def _written(path: str | os.PathLike[str], parts: Iterable[bytes]) -> Path:
    """Write beside the target and rename, so that a failed export leaves nothing that looks like one."""
    target = Path(path)
    staged = target.with_name(f".{target.name[:100]}.{uuid4().hex}")
    try:
        with staged.open("xb") as raw, _opened(raw, target) as file:
            for part in parts:
                file.write(part)
        staged.replace(target)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror or error}", file=target) from error
    finally:
        staged.unlink(missing_ok=True)
    return target


def _opened(raw: BinaryIO, target: Path) -> AbstractContextManager[Any]:
    return gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=_LEVEL) if target.suffix == ".gz" else nullcontext(raw)
