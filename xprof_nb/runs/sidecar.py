"""What a capture knows that its profile does not say: ``xprof-nb.json`` in the run folder."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import DamagedFileError
from xprof_nb.runs.places import locate
from xprof_nb.runs.whole_text import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

FILE_NAME = "xprof-nb.json"
VERSION = 1
MARKERS = "markers"
"""Key among the others of what `xprof_nb.runs.markers` keeps."""
LARGEST_BYTES = 16 * 2**20
LONGEST_NOTE = 500
_MOST_VERSIONS = 10**6
_REST = ("other", "unread")
_HINT = "The profile itself is whole: repair or delete that file to be rid of this."
_FIRST_YEAR, _LAST_YEAR = 1678, 2261
"""A table's times are 64-bit nanoseconds."""


@dataclass(frozen=True)
class Sidecar:
    """Everything recorded beside one captured run.

    Attributes
    ----------
    started
        When the capture began, in UTC.
    duration_s
        How long the profiler ran.
    stop_s
        How long stopping and saving took.
    cells
        Notebook cells by the file name HLO metadata gives them: ``{"count": 5, "source": "…"}``.
    cell
        Source of the cell the capture was made of, if it was made of one.
    devices
        ``{"kind", "platform", "id"}`` each.
    remarks
        What was noticed while it was captured, for whoever reads the profile.
    overhead
        What profiling itself cost, as far as it was measured.
    peaks
        Measured roofs of the machine at that time.
    live_arrays
        Samples of what Python held meanwhile, see `xprof_nb.runs.live_arrays`.
    sources
        Profiler servers it was captured from: ``{"address", "file"}`` each, of one that gave nothing ``{"address",
        "error"}``; empty for a capture of the own process.
    version
        Version of the format it was written in.
    other
        Keys this version does not know, kept as they were.
    unread
        Keys that a later version gave another kind of value, kept as they were.
    """

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    origin: str = "captured"
    started: datetime | None = None
    duration_s: float | None = None
    stop_s: float | None = None
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    cell: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[Mapping[str, Any], ...] = ()
    hostname: str = ""
    xla_flags: str = ""
    remarks: tuple[str, ...] = ()
    overhead: Mapping[str, Any] = field(default_factory=dict)
    peaks: Mapping[str, Any] | None = None
    live_arrays: Mapping[str, Any] | None = None
    sources: tuple[Mapping[str, Any], ...] = ()
    version: int = VERSION
    other: Mapping[str, Any] = field(default_factory=dict)
    unread: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what the file holds; absent values are left out."""
        return {**self.readable(), **self.unread}

    def readable(self) -> dict[str, Any]:
        """Return what of it has the kinds of value that this version expects."""
        known = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _REST}
        if self.started is not None:
            known["started"] = self.started.astimezone(UTC).isoformat(timespec="milliseconds")
        known["tags"] = list(self.tags)
        known["remarks"] = list(self.remarks) or None
        known["devices"] = [dict(device) for device in self.devices]
        known["sources"] = [dict(source) for source in self.sources] or None
        return {**self.other, **{key: value for key, value in known.items() if value is not None}}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed, which servers gave nothing, and what a later version recorded that this one cannot read."""
        lost = [f"{source.get('address')}: {source['error']}" for source in self.sources if source.get("error")]
        said = (*self.remarks, *(f"Not captured from {each}" for each in lost))
        return (*(each[:LONGEST_NOTE] for each in said), *self._unread_notes())

    def _unread_notes(self) -> tuple[str, ...]:
        if self.version <= VERSION:
            return ()
        lost = sorted({*self.other, *self.unread} - {MARKERS})
        return (
            f"{FILE_NAME} was written in format {self.version}, of which this version of xprof-nb knows {VERSION}: "
            f"{', '.join(repr(name[:50]) for name in lost[:10]) or 'what is new in it'} may be missing here. "
            "Upgrade xprof-nb to see all that the capture recorded.",
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any], *, file: str = FILE_NAME) -> Sidecar:
        """Build a sidecar from what a file holds.

        Raises
        ------
        DamagedFileError
            A known key holds another kind of value.
        """
        known, other, unread = {}, {}, {}
        is_later = _checked("version", values.get("version", VERSION), file) > VERSION
        for key, value in values.items():
            try:
                if key in _READERS:
                    known[key] = _checked(key, value, file)
                else:
                    other[key] = value
            except DamagedFileError:
                if not is_later:
                    raise
                unread[key] = value
        return cls(**known, other=other, unread=unread)


def read(folder: str | os.PathLike[str]) -> Sidecar | None:
    """Return the sidecar of a run folder, None if it has none.

    Raises
    ------
    DamagedFileError
        There is one, but it is not what a capture writes.
    """
    place, where = locate(folder)
    file = place.join(where, FILE_NAME)
    try:
        if place.facts(file).size_bytes > LARGEST_BYTES:
            raise DamagedFileError("a sidecar of more than 16 MiB", file=file, hint=_HINT)
        values = json.loads(place.read(file), parse_constant=_finite, parse_float=_finite)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as refused:
        raise DamagedFileError(
            f"the sidecar cannot be read ({refused.strerror or refused})", file=file, hint=_HINT
        ) from refused
    except (ValueError, RecursionError) as damaged:
        raise DamagedFileError("the sidecar is not JSON", file=file, hint=_HINT) from damaged
    if not isinstance(values, dict):
        raise DamagedFileError("the sidecar is not a JSON object", file=file, hint=_HINT)
    return Sidecar.from_json(values, file=file)


def write(folder: str | os.PathLike[str], sidecar: Sidecar) -> Path:
    """Write or replace the sidecar of a local run folder, atomically; return its path."""
    target = Path(folder) / FILE_NAME
    text = json.dumps(sidecar.to_json(), indent=1, allow_nan=False, default=str)
    write_text(target, text + "\n")
    return target


def _checked(key: str, value: Any, file: str) -> Any:
    try:
        return None if value is None and key in _OPTIONAL else _READERS[key](value)
    except (TypeError, ValueError, OverflowError) as wrong:
        raise DamagedFileError(f"the sidecar's {key!r} is not what a capture writes", file=file, hint=_HINT) from wrong


def _finite(text: str) -> float:
    """Read a number that JSON may hold; NaN and infinity, which Python would read, would break every answer later."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not JSON")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _version(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_VERSIONS:
        raise TypeError
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _mappings(value: Any) -> dict[str, dict[str, Any]]:
    return {key: _mapping(item) for key, item in _mapping(value).items()}


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(_text(item) for item in value)


def _list_of_mappings(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(_mapping(item) for item in value)


def _time(value: Any) -> datetime:
    time = datetime.fromisoformat(_text(value))
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
        raise ValueError
    return time


_OPTIONAL = frozenset({"started", "duration_s", "stop_s", "cell", "peaks", "live_arrays"})
_READERS: dict[str, Callable[[Any], Any]] = {
    "name": _text,
    "note": _text,
    "tags": _texts,
    "remarks": _texts,
    "origin": _text,
    "started": _time,
    "duration_s": _number,
    "stop_s": _number,
    "cells": _mappings,
    "cell": _text,
    "options": _mapping,
    "versions": _mapping,
    "devices": _list_of_mappings,
    "hostname": _text,
    "xla_flags": _text,
    "overhead": _mapping,
    "peaks": _mapping,
    "live_arrays": _mapping,
    "sources": _list_of_mappings,
    "version": _version,
}
