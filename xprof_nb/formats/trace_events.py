"""The events of a Chrome trace in JSON as columns, read piece by piece.

The standard library's scanner takes one event after the other from a sliding piece of the text, so that memory holds
columns and not a tree of objects; a faster parser would save little, since what is done with each event costs more
than to parse it.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xprof_nb.errors import NotAProfileError
from xprof_nb.formats.codes import DOUBLE, INT64, REF, UINT64
from xprof_nb.formats.source import Source

_PIECE_BYTES = 1 << 20
_LARGEST_VALUE = 1 << 28
"""Characters of one event, or of one value beside the events; text without an end must not be searched forever."""
_LARGEST_TEXT = 1 << 34
_LATEST_US = 1e18
_BLANK = " \t\r\n,"
_GZIP = b"\x1f\x8b"
_NUMERIC, _MOST_DIGITS = frozenset("0123456789-"), 20
_DOUBLE, _BITS = struct.Struct("<d"), struct.Struct("<q")
_WITH_DURATION, _INSTANT, _COUNTER = "X", ("i", "I"), "C"
_NOT_READ = frozenset("bensftNODPpv(")


@dataclass(eq=False)
class Argument:
    """An argument: which events have it, and its values as `xprof_nb.formats.stats.StatColumn` keeps them."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    kind: array[int] = field(default_factory=lambda: array("b"))
    raw: array[int] = field(default_factory=lambda: array("q"))


@dataclass(eq=False)
class TraceEvents:
    """The events of a file and what it says of itself.

    Attributes
    ----------
    tracks
        Process and thread of each track, as the file writes them.
    track, name
        Codes of each event.
    start_us, duration_us
        As written.
    arguments
        By name; the category is ``"cat"``.
    texts
        What the codes of names and arguments mean.
    head
        What stands beside the events.
    unread
        Number of flow and asynchronous events, which are not read.
    trouble
        Why reading ended early, ``""`` if it did not.
    """

    tracks: list[tuple[Any, Any]] = field(default_factory=list)
    process_names: dict[Any, str] = field(default_factory=dict)
    thread_names: dict[tuple[Any, Any], str] = field(default_factory=dict)
    track: array[int] = field(default_factory=lambda: array("i"))
    name: array[int] = field(default_factory=lambda: array("i"))
    start_us: array[float] = field(default_factory=lambda: array("d"))
    duration_us: array[float] = field(default_factory=lambda: array("d"))
    arguments: dict[str, Argument] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    head: dict[str, Any] = field(default_factory=dict)
    unread: int = 0
    trouble: str = ""

    def __len__(self) -> int:
        return len(self.track)


def read_trace_events(source: Source) -> TraceEvents:
    """Return what a trace in JSON, compressed or not, holds; one that ends early, up to there.

    Raises
    ------
    NotAProfileError
        It is no JSON, or has no list of events.
    """
    found = TraceEvents()
    reader = _Reader(_pieces(source))
    collect = _Collector(found)
    began = False
    try:
        for key, value in _entries(reader):
            if key is None:
                began = True
                collect.event(value)
            else:
                found.head[key] = value
                began = began or key == "traceEvents"
    except (ValueError, EOFError, zlib.error, OSError, RecursionError) as error:
        found.trouble = _reason(error)
    if not began and not len(found):
        raise NotAProfileError(
            "this JSON has no traceEvents" if not found.trouble else f"this is no trace in JSON ({found.trouble})",
            file=source.name,
            hint="A trace is the *.trace.json.gz of a profiler; a profile is the *.xplane.pb file of a run.",
        )
    collect.finish()
    return found


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return "the JSON ends early or is damaged"
    return str(error) or type(error).__name__


def _pieces(source: Source) -> Iterator[str]:
    """Yield the text in pieces, decompressed; what cannot be decoded is replaced."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    total = 0
    for data in _data(source):
        total += len(data)
        if total > _LARGEST_TEXT:
            raise ValueError(f"more than {_LARGEST_TEXT >> 30} GiB of text are not read")
        yield decoder.decode(data)


def _data(source: Source) -> Iterator[bytes]:
    if bytes(source.view[:2]) != _GZIP:
        for start in range(0, len(source), _PIECE_BYTES):
            yield bytes(source.view[start : start + _PIECE_BYTES])
        return
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    for start in range(0, len(source), _PIECE_BYTES):
        data = bytes(source.view[start : start + _PIECE_BYTES])
        while data:
            yield unpack.decompress(data, _PIECE_BYTES)
            data = unpack.unconsumed_tail
    yield unpack.flush()
    if not unpack.eof:
        raise EOFError("the compressed file ends early")


class _Reader:
    """Takes one JSON value after the other from pieces of text."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._text = ""
        self._at = 0
        self._scan = json.JSONDecoder().raw_decode

    def peek(self) -> str:
        """Return the next character that is not blank or a comma, "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        """Step over the character that `peek` saw."""
        self._at += 1

    def value(self) -> Any:
        """Return the next value; raise ValueError if it is none."""
        self.peek()
        wanted = _PIECE_BYTES
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError:
                # A value that is only cut needs more text: twice as much each time, so that the work stays linear.
                size = len(self._text) - self._at
                if size > _LARGEST_VALUE or not self._more(wanted):
                    raise
                wanted *= 2
                continue
            if end == len(self._text) and not isinstance(value, dict | list | str) and self._more():
                continue  # a number may go on in the next piece
            self._at = end
            return value

    def _more(self, least: int = 1) -> bool:
        """Read on; return whether there was more."""
        parts, size = [self._text[self._at :]], 0
        for piece in self._pieces:
            parts.append(piece)
            size += len(piece)
            if size >= least:
                break
        self._text, self._at = "".join(parts), 0
        return size > 0


def _entries(reader: _Reader) -> Iterator[tuple[str | None, Any]]:
    """Yield (None, event) for each event, (key, value) for what stands beside the list of events."""
    first = reader.peek()
    reader.skip()
    if first == "[":
        yield from _listed(reader)
    elif first == "{":
        while (character := reader.peek()) not in ("}", ""):
            if character != '"':
                raise ValueError("the JSON is damaged")
            key = reader.value()
            if reader.peek() != ":":
                raise ValueError("the JSON is damaged")
            reader.skip()
            if key == "traceEvents" and reader.peek() == "[":
                reader.skip()
                yield key, None
                yield from _listed(reader)
            else:
                yield key, reader.value()
        if not character:
            raise EOFError("the JSON ends early")
    else:
        raise ValueError("it is no JSON")


def _listed(reader: _Reader) -> Iterator[tuple[None, Any]]:
    while (character := reader.peek()) not in ("]", ""):
        if character == "}":
            raise ValueError("the JSON is damaged")
        yield None, reader.value()
    reader.skip()


class _Collector:
    """Puts events into columns."""

    def __init__(self, found: TraceEvents) -> None:
        self._found = found
        self._track_of: dict[tuple[Any, Any], int] = {}
        self._code_of: dict[str, int] = {}
        self._begun: dict[int, list[int]] = {}
        self._known: dict[str, tuple[int, int]] = {}

    def event(self, event: Any) -> None:
        """Take one event; what is none is passed over."""
        if not isinstance(event, dict):
            return
        phase = event.get("ph")
        if phase == _WITH_DURATION:
            self._add(event, _number(event.get("dur")))
        elif phase in _INSTANT or phase == _COUNTER:
            self._add(event, 0.0)
        elif phase == "B":
            self._begun.setdefault(self._track(event), []).append(self._add(event, 0.0))
        elif phase == "E":
            self._end(event)
        elif phase == "M":
            self._name(event)
        elif phase in _NOT_READ:
            self._found.unread += 1

    def finish(self) -> None:
        """Put down what the texts are."""
        self._found.texts = list(self._code_of)
        self._found.tracks = list(self._track_of)

    def _add(self, event: dict[str, Any], duration_us: float) -> int:
        found, row = self._found, len(self._found.track)
        found.track.append(self._track(event))
        found.name.append(self._code(event.get("name", "")))
        found.start_us.append(_number(event.get("ts")))
        found.duration_us.append(duration_us)
        arguments = event.get("args")
        if isinstance(arguments, dict):
            for key, value in arguments.items():
                self._argument(key, value, row)
        if "cat" in event:
            self._argument("cat", event["cat"], row)
        return row

    def _argument(self, key: str, value: Any, row: int) -> None:
        column = self._found.arguments.get(key)
        if column is None:
            column = self._found.arguments[key] = Argument()
        if not column.rows or column.rows[-1] != row:
            known = self._known.get(value) if type(value) is str else None
            kind, raw = known or self._typed(value)
            column.rows.append(row)
            column.kind.append(kind)
            column.raw.append(raw)

    def _typed(self, value: Any) -> tuple[int, int]:
        """Return kind and raw value; some writers put numbers in quotes."""
        if isinstance(value, str):
            if (
                value.isdecimal()
                and value.isascii()
                and len(value) < _MOST_DIGITS
                and (value[0] != "0" or value == "0")
            ):
                value = int(value)
            elif value[:1] in _NUMERIC and "." in value:
                with contextlib.suppress(ValueError):
                    value = float(value)
        if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**64:
            return (INT64, value) if value < 2**63 else (UINT64, value - 2**64)
        if isinstance(value, float):
            return DOUBLE, _BITS.unpack(_DOUBLE.pack(value))[0]
        kept = REF, self._code(value)
        if isinstance(value, str):  # a text that is no number comes again and again
            self._known[value] = kept
        return kept

    def _end(self, event: dict[str, Any]) -> None:
        begun = self._begun.get(self._track(event))
        if begun:
            row = begun.pop()
            self._found.duration_us[row] = _number(event.get("ts")) - self._found.start_us[row]

    def _name(self, event: dict[str, Any]) -> None:
        arguments = event.get("args")
        name = arguments.get("name") if isinstance(arguments, dict) else None
        if not isinstance(name, str):
            return
        process, thread = _key(event.get("pid")), _key(event.get("tid"))
        if event.get("name") == "process_name":
            self._found.process_names[process] = name
        elif event.get("name") == "thread_name":
            self._found.thread_names[process, thread] = name

    def _track(self, event: dict[str, Any]) -> int:
        track = _key(event.get("pid")), _key(event.get("tid"))
        return self._track_of.setdefault(track, len(self._track_of))

    def _code(self, value: Any) -> int:
        text = value if isinstance(value, str) else _text(value)
        return self._code_of.setdefault(text, len(self._code_of))


def _key(value: Any) -> Any:
    return value if isinstance(value, int | str) else str(value)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _number(value: Any) -> float:
    """Return a time; some writers put it in quotes, and what is none is 0."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if abs(number) < _LATEST_US else 0.0
