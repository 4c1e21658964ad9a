"""Turn a fault that a walk met into the error a person reads: what, where, likely cause."""

from __future__ import annotations

from typing import Any

import numpy as np

from xprof_nb.errors import DamagedFileError, NotAProfileError, ProfileError
from xprof_nb.formats import wire
from xprof_nb.formats.sniff import replaced_at, sniff
from xprof_nb.formats.source import Source

_WHAT = {
    wire.CUT_NUMBER: "a number in {place} runs past its end",
    wire.LONG_NUMBER: "a number in {place} is longer than 10 bytes",
    wire.BAD_TAG: "{place} has a field of an impossible number",
    wire.BAD_WIRE: "{place} has a field of a wire type that profiles do not use",
    wire.NOT_UTF8: "a text in {place} is not UTF-8",
    wire.TWO_VALUES: "an entry of {place} holds two values",
}
SPACE = "the file"
"""The place of a fault that is outside every plane."""

_CUT_HINT = "The copy or the capture was cut: copy it again or capture again."
_CHANGED_HINT = "Bytes were lost or changed on the way: copy it again in binary mode, or capture again."
_TEXT_HINT = (
    "Bytes were replaced by U+FFFD (EF BF BD): the file was saved as text on the way, which cannot be undone. "
    "Copy it again in binary mode."
)


def damage(source: Source, fault: np.ndarray[Any, Any], place: str) -> ProfileError:
    """Return the error for a fault met in ``place`` ("the plane '/host:CPU'")."""
    code, position, missing = (int(value) for value in fault)
    replaced = replaced_at(source.view)
    if replaced is not None:
        return DamagedFileError("bytes were replaced", file=source.name, position=replaced, hint=_TEXT_HINT)
    kind = sniff(source.view)
    if kind is not None:
        return NotAProfileError(f"this is {kind.name}, not a profile", file=source.name, position=0, hint=kind.hint)
    what, hint = _describe(code, missing, place), _CHANGED_HINT
    if place == SPACE:
        if not _begins_like_a_profile(source):
            return not_a_profile(source, position)
        if code in (wire.OVERRUN, wire.CUT_NUMBER):
            what, hint = _cut(source, position, missing), _CUT_HINT
    return DamagedFileError(what, file=source.name, position=position, hint=hint)


def not_a_profile(source: Source, position: int = 0) -> NotAProfileError:
    """Return the error for bytes that are nothing known."""
    kind = sniff(source.view)
    return NotAProfileError(
        f"this is {kind.name}, not a profile" if kind else "these bytes are not a profile",
        file=source.name,
        position=position,
        hint=kind.hint if kind else "A profile is the *.xplane.pb file of a run.",
    )


def _describe(code: int, missing: int, place: str) -> str:
    if code == wire.OVERRUN:
        by = f"{missing:,} bytes" if missing > 0 else "more bytes than any file has"
        return f"a length in {place} reaches {by} past its end"
    return _WHAT[code].format(place=place)


def _begins_like_a_profile(source: Source) -> bool:
    """Whether the first field is one of a space's, and a plane begins with a field of a plane."""
    buf, fault = source.buf, np.zeros(3, np.int64)
    number, kind, pos = wire.tag(buf, 0, len(buf), fault)
    if pos < 0 or number > 4 or kind != wire.LENGTH:
        return False
    if number > 1:
        return True
    _, pos = wire.varint(buf, pos, len(buf), fault)
    if pos < 0 or pos == len(buf):
        return pos == len(buf) or fault[wire.CODE] == wire.CUT_NUMBER
    number, kind, pos = wire.tag(buf, pos, len(buf), fault)
    return bool(pos > 0 and ((number == 1 and kind == wire.VARINT) or (number in range(2, 7) and kind == wire.LENGTH)))


def _cut(source: Source, position: int, missing: int) -> str:
    name = _partial_name(source, position)
    plane = f"plane {name!r}" if name else "its last part"
    return f"ends early: {plane} needs {missing:,} more byte{'s' * (missing != 1)}"


def _partial_name(source: Source, position: int) -> str:
    """Return the name of the plane whose length is at ``position``, as far as the bytes go."""
    buf, fault = source.buf, np.zeros(3, np.int64)
    _, pos = wire.varint(buf, position, len(buf), fault)
    table = np.zeros((64, 4), np.int64)
    if pos > 0:
        wire.scan(buf, pos, len(buf), table, fault)
    for number, kind, start, end in table.tolist():
        if number == 2 and kind == wire.LENGTH:
            return source.text(start, end)
    return ""
