"""Turn a fault that a walk met into the error a person reads: what, where, likely cause."""

from __future__ import annotations

import numpy as np

from xprof_nb.errors import DamagedFileError, NotAProfileError, ProfileError
from xprof_nb.formats import codes, wire
from xprof_nb.formats.sniff import PROFILE_HINT, replaced_at, sniff
from xprof_nb.formats.source import Source
from xprof_nb.formats.varint import read_varint

_PLANE, _SPACE_TEXTS = 0x0A, (0x12, 0x1A, 0x22)
_PLANE_FIELDS = (0x08, 0x12, 0x1A, 0x22, 0x2A, 0x32)
"""First bytes (field number and wire type) of the fields of a space and of a plane."""
_BELIEVABLE_BYTES = 1 << 40

_WHAT = {
    codes.OVERRUN: "a length in {place} reaches past its end",
    codes.CUT_NUMBER: "a number in {place} runs past its end",
    codes.LONG_NUMBER: "a number in {place} is longer than 10 bytes",
    codes.LONG_SIZE: "a length in {place} is longer than 5 bytes",
    codes.BAD_TAG: "{place} has a field of an impossible number",
    codes.BAD_WIRE: "{place} has a field of a wire type that profiles do not use",
    codes.NOT_UTF8: "a text in {place} is not UTF-8",
    codes.TWO_VALUES: "an entry of {place} holds two values",
}
SPACE = "the file"
"""The place of a fault that is outside every plane."""

_CUT_HINT = "The copy or the capture was cut: copy it again or capture again."
_CHANGED_HINT = "Bytes were lost or changed on the way: copy it again in binary mode, or capture again."
_TEXT_HINT = (
    "Bytes were replaced by U+FFFD (EF BF BD): the file was saved as text on the way, which cannot be undone. "
    "Copy it again in binary mode."
)


def damage(source: Source, code: int, position: int, place: str) -> ProfileError:
    """Return the error for a fault met in ``place`` ("plane '/host:CPU'")."""
    kind, replaced = sniff(source.view), replaced_at(source.view)
    if kind is not None:
        return not_a_profile(source)
    if replaced is not None:
        return DamagedFileError("bytes were replaced", file=source.name, position=replaced, hint=_TEXT_HINT)
    if place != SPACE:
        what, hint = _WHAT[code].format(place=place), _CHANGED_HINT
    elif not _begins_like_a_profile(source.view):
        return not_a_profile(source, position)
    elif code in (codes.OVERRUN, codes.CUT_NUMBER):
        what, hint = _cut(source, position), _CUT_HINT
    else:
        what, hint = _WHAT[code].format(place=place), _CHANGED_HINT
    return DamagedFileError(what, file=source.name, position=position, hint=hint)


def not_a_profile(source: Source, position: int = 0, why: str = "") -> NotAProfileError:
    """Return the error for bytes that are something else."""
    kind = sniff(source.view)
    return NotAProfileError(
        f"this is {kind.name}, not a profile" if kind else f"these bytes are not a profile{why}",
        file=source.name,
        position=position,
        hint=kind.hint if kind else PROFILE_HINT,
    )


def _begins_like_a_profile(data: memoryview) -> bool:
    """Whether the first field is one of a space's and, if a plane, begins with a field of a plane."""
    if data[0] in _SPACE_TEXTS:
        return True
    _, start = read_varint(data, 1)
    return data[0] == _PLANE and (start >= len(data) or data[start] in _PLANE_FIELDS)


def _cut(source: Source, position: int) -> str:
    """Describe a file that ends inside the field whose tag, length or fixed-size value is at ``position``."""
    size, start = read_varint(source.view, position)
    missing = start + size - len(source)
    if not 0 < missing <= _BELIEVABLE_BYTES:
        return "ends early, or a length in it is wrong"
    name = _partial_name(source, start)
    what = f"plane {name!r}" if name else "its last part"
    return f"ends early: {what} needs {missing:,} more byte{'s' * (missing != 1)}"


def _partial_name(source: Source, start: int) -> str:
    """Return the name of the plane that begins at ``start``, as far as the bytes go."""
    table = np.zeros((8, 4), np.int64)  # the name comes early
    wire.scan(source.buf, start, len(source), table)
    named = table[(table[:, 0] == 2) & (table[:, 1] == codes.LENGTH)]
    return source.text(*named[0, 2:].tolist()) if len(named) else ""
