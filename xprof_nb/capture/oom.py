"""What an out-of-memory error of XLA says, whichever backend wrote it: asked, free, limit, the largest allocations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

LONGEST_TEXT = 500_000
LONGEST_WORDS = 300
MOST_ALLOCATIONS = 30
_SCALE = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = r"(\d{1,20}(?:\.\d{1,6})?)\s?([KMGT]?)(?:i?B|\s?bytes)?\b"
_MARKS = re.compile(r"RESOURCE_EXHAUSTED|out of memory|Ran out of memory|OUT_OF_MEMORY", re.IGNORECASE)
# What runtimes write, in the order in which one is believed before the next.
_ASKED = tuple(
    re.compile(f"{words} {_SIZE}", re.IGNORECASE)
    for words in (
        "Attempting to (?:allocate|reserve)",
        "trying to allocate",
        "Out of memory allocating",
        "Could not allocate",
        "Failed to allocate request for",
    )
)
_FREE = tuple(
    re.compile(pattern, re.IGNORECASE) for pattern in (f"There are {_SIZE} free", f"{_SIZE} (?:bytes )?allocatable")
)
_CONTIGUOUS = re.compile(f"largest contiguous region of free memory is {_SIZE}", re.IGNORECASE)
_USED = re.compile(rf"Used {_SIZE} of {_SIZE}", re.IGNORECASE)
_SPACES = (
    re.compile(r"in memory space (\w{1,30})"),
    re.compile(r"\((\w{1,30}_HBM\d{1,3})\)"),
    re.compile(r"Allocator \((\w{1,60})\)"),
    re.compile(r"(device ordinal \d{1,4})"),
)
_PART = re.compile(rf"^\s+(reserved|program|arguments|global|scoped|HLO temp)\s+{_SIZE}", re.MULTILINE)
_PLAN = re.compile(
    rf"^\s*(parameter|constant|maybe_live_out|preallocated temp|total) allocation:\s+{_SIZE}", re.MULTILINE
)
_ENTRY = re.compile(rf"^\s*(?:\d{{1,4}}\. )?Size: {_SIZE}")
_FACT = re.compile(
    r"^\s*(Operator|Shape|Unpadded size|XLA Label|Allocation type|Entry Parameter Subshape):\s*(.*)", re.I
)
_OPERATOR = re.compile(r'(op_name|source_file|source_line)=(?:"([^"]*)"|(\d+))')


@dataclass(frozen=True)
class Allocation:
    """One of the largest allocations a message lists; "" and None where it does not say."""

    size_bytes: int
    unpadded_bytes: int | None = None
    shape: str = ""
    op: str = ""
    source: str = ""
    label: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Failure:
    """What was read of a message; None where it does not say.

    Attributes
    ----------
    is_memory
        It is about memory that ran out.
    asked_bytes
        The allocation that failed.
    used_bytes, limit_bytes
        What the whole program needs, and what there is.
    contiguous_bytes
        The largest free piece.
    space
        ``"hbm"``, ``"vmem"``, or the device's own name of its memory.
    parts
        What makes up the used bytes, by the message's own names.
    """

    text: str
    is_memory: bool
    asked_bytes: int | None = None
    free_bytes: int | None = None
    contiguous_bytes: int | None = None
    used_bytes: int | None = None
    limit_bytes: int | None = None
    space: str = ""
    parts: dict[str, int] = field(default_factory=dict)
    largest: tuple[Allocation, ...] = ()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, of a device or of the host."""
    return isinstance(error, MemoryError) or _MARKS.search(str(error)[:LONGEST_TEXT]) is not None


def read(text: str) -> Failure:
    """Return what a message says; of one that is not understood, nothing but the text."""
    text = text[:LONGEST_TEXT]
    used = _USED.search(text)
    return Failure(
        text=text.strip().partition("\n")[0][:LONGEST_WORDS],
        is_memory=_MARKS.search(text) is not None,
        asked_bytes=_first(_ASKED, text),
        free_bytes=_first(_FREE, text),
        contiguous_bytes=_first((_CONTIGUOUS,), text),
        used_bytes=_bytes(used, 1) if used else None,
        limit_bytes=_bytes(used, 3) if used else None,
        space=next((found[1] for pattern in _SPACES if (found := pattern.search(text))), ""),
        parts={found[1]: _bytes(found, 2) for pattern in (_PLAN, _PART) for found in pattern.finditer(text)},
        largest=tuple(sorted(_allocations(text), key=lambda item: item.size_bytes, reverse=True)[:MOST_ALLOCATIONS]),
    )


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    return next((_bytes(found, 1) for pattern in patterns if (found := pattern.search(text))), None)


def _bytes(found: re.Match[str], group: int) -> int:
    return round(float(found[group]) * _SCALE[found[group + 1].upper()])


def _allocations(text: str) -> Iterator[Allocation]:
    facts: dict[str, Any] = {}
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        if entry is not None:
            yield from _allocation(facts)
            facts = {"size_bytes": _bytes(entry, 1)}
        elif facts and (fact := _FACT.match(line)):
            facts.update(_fact(fact[1].lower(), fact[2][: 2 * LONGEST_WORDS]))
    yield from _allocation(facts)


def _allocation(facts: dict[str, Any]) -> Iterator[Allocation]:
    if facts:
        yield Allocation(**facts)


def _fact(name: str, value: str) -> dict[str, Any]:
    match name:
        case "operator":
            known = {key: quoted or number for key, quoted, number in _OPERATOR.findall(value)}
            source = ":".join(filter(None, (known.get("source_file"), known.get("source_line"))))
            return {"op": known.get("op_name", "")[:LONGEST_WORDS], "source": source}
        case "unpadded size":
            size = re.match(_SIZE, value)
            return {"unpadded_bytes": _bytes(size, 1)} if size else {}
        case "entry parameter subshape":
            return {"shape": value[:LONGEST_WORDS], "kind": "parameter"}
        case _:
            fields = {"shape": "shape", "xla label": "label", "allocation type": "kind"}
            return {fields[name]: value[:LONGEST_WORDS]}
