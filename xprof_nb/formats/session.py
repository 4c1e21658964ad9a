"""What a file says of its own capture: versions of what ran, the profiler's options, what was compiled meanwhile."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from xprof_nb.formats import plausible
from xprof_nb.formats.profiler_schema import message_class
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.compilations import Compilations
from xprof_nb.model.intervals import union

_VERSION = re.compile(r"version$|driver", re.IGNORECASE)
_STATED = ("matrix_unit_utilization_percent", "hbm_utilization_percent")
_COMPILES = re.compile(
    r"^backend_compile|^XlaCompile|Compiler::(RunBackend|Compile)|Client::Compile|CompileAndLoad"
    r"|^lower_sharding_computation$"
)
"""Names of jax, PjRt and XLA's compilers; what they contain lies inside them."""


def versions(space: XSpace) -> dict[str, str]:
    """Return every version a plane states; of a name that repeats the first."""
    found: dict[str, str] = {}
    for plane in space.planes:
        for name, value in plane.stats.items():
            if _VERSION.search(name) and isinstance(value, str | int | float) and str(value):
                found.setdefault(name, str(value))
    return found


def capture_options(space: XSpace) -> dict[str, Any]:
    """Return the options the profiler was started with, by XLA's names; empty where the file does not say."""
    session = space.plane("Task Environment")
    written = session.stats.get("profile_options") if session is not None else None
    if not isinstance(written, bytes):
        return {}
    message = message_class("ProfileOptions")()
    try:
        message.ParseFromString(written)
    except DecodeError:
        return {}
    return {field.name: value for field, value in message.ListFields() if field.message_type is None}


def stated(plane: XPlane | None) -> dict[str, float]:
    """Return what the runtime states in a host's plane of how well its devices were used, in percent."""
    stats = plane.stats if plane is not None else {}
    return {name: value for name in _STATED if (value := plausible.positive(stats, name)) > 0}


def compilations(plane: XPlane | None) -> Compilations:
    """Return when a host compiled programs."""
    if plane is None:
        return Compilations()
    compiles = np.array([*(_COMPILES.search(name) is not None for name in plane.metadata.name), False])
    if not compiles.any():
        return Compilations()
    rows = np.flatnonzero(compiles[plane.events.metadata])
    start = plane.events.starts_of(rows)
    compiling = union(start, start + plane.events.duration_ps[rows])
    return Compilations(compiling.begin_ps, compiling.end_ps)
