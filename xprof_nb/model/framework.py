"""What the framework ran on a host: ops of TensorFlow, input iterators, copies, calls of jitted functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
JIT_CALL = "jit call"


@dataclass(frozen=True, eq=False)
class FrameworkEvents:
    """Events of a host's threads that are ops of a framework, N rows in file order.

    Attributes
    ----------
    names, types
        By op: its name, and its type: ``"MatMul"``, ``"Dataset"``, ``"MemcpyHToD"``, `JIT_CALL`, ``""`` if unknown.
    op, line
        Row of ``names``; number of the thread.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    op: NDArray[np.int32]
    line: NDArray[np.int32]
    start_ps: Ints
    duration_ps: Ints

    def __len__(self) -> int:
        return len(self.op)


def no_framework_events() -> FrameworkEvents:
    """Return the table of a host on which no framework ran anything."""
    whole, rows = np.empty(0, np.int64), np.empty(0, np.int32)
    return FrameworkEvents((), (), rows, rows, whole, whole)
