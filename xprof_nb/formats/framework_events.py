"""Events of a host that are ops of a framework, told by their names as the runtimes write them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.framework import JIT_CALL, FrameworkEvents, no_framework_events

_TF_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*")
_TF_TYPE = re.compile(r"[A-Z_][a-zA-Z0-9_]*")
_JAX_TYPE = re.compile(r"[a-z_][a-z0-9_]*(\[.*\])?", re.DOTALL)
_COPY = re.compile(r"memcpy(h|d)to(h|d)", re.IGNORECASE)
_JIT_CALL = re.compile(r"PjitFunction\((.*)\)")
_SUFFIX = re.compile(r"_\d+$")
_DERIVED = (0xDEADBEEF, 0xDEADBEEF + 289)
"""Numbers of lines that xprof adds to a profile; they repeat what other lines hold."""


def split_framework_op(text: str) -> tuple[str, str | None]:
    """Return name and type of an op written ``name:type``, as xprof takes them apart; the type is None for other texts.

    Without a type after the colon it is the last part of the path, less a number.
    """
    name, colon, kind = text.partition(":")
    if not colon:
        copy = _COPY.match(text)
        return text, f"Memcpy{copy[1].upper()}To{copy[2].upper()}" if copy else None
    if name == "Iterator":
        return text, "Dataset"
    if _TF_NAME.fullmatch(name) and _TF_TYPE.fullmatch(kind):
        return name, kind
    derived = kind or _SUFFIX.sub("", name.rpartition("/")[2])
    if _JAX_TYPE.fullmatch(derived):
        return name, derived.partition("[")[0]
    return (name, derived) if not kind else (text, None)


def read_framework_events(read_space: Callable[[], XSpace]) -> FrameworkEvents:
    """Return the framework's events of a host from its file."""
    space = read_space()
    plausible.mend(space)
    plane = space.plane("/host:CPU")
    return no_framework_events() if plane is None or not len(plane.events) else _events(plane)


def _events(plane: XPlane) -> FrameworkEvents:
    known: dict[tuple[str, bool], int] = {}  # an op of a name is one op, whatever says its type
    types: dict[tuple[str, bool], str] = {}

    def number(name: str, kind: str) -> int:
        key = (name, kind == JIT_CALL)
        types[key] = types.get(key) or kind
        return known.setdefault(key, len(known))

    op_of = np.full(len(plane.metadata) + 1, -1, np.int32)
    for row, text in enumerate(plane.metadata.name):
        call = _JIT_CALL.fullmatch(text)
        name, kind = (call[1], JIT_CALL) if call else split_framework_op(text)
        if kind is not None:
            op_of[row] = number(name, kind)
    events = plane.events
    op = op_of[events.metadata]
    if "tf_op" in plane.stat_names:
        codes, texts = plane.event_stat("tf_op").texts()
        stated = [split_framework_op(text) for text in texts]
        of_text = np.array([*(number(name, kind or "") if name else -1 for name, kind in stated), -1], np.int32)
        op = np.where(op >= 0, op, of_text[codes])
    op[~_on_own_lines(plane)] = -1
    rows = np.flatnonzero(op >= 0)
    return FrameworkEvents(
        names=tuple(name for name, _ in known),
        types=tuple(types[key] for key in known),
        op=op[rows],
        line=events.lines_of(rows),
        start_ps=events.starts_of(rows),
        duration_ps=events.duration_ps[rows],
    )


def _on_own_lines(plane: XPlane) -> NDArray[np.bool_]:
    number = plane.lines.id % 2**32
    own = (number < _DERIVED[0]) | (number > _DERIVED[1])
    return np.repeat(np.asarray(own, np.bool_), np.diff(plane.lines.first_event))
