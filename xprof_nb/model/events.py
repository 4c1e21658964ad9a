"""Every event of a host, as the file has it, in columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Events:
    """N events in file order; names are codes, since millions of events share few of them."""

    names: tuple[str, ...]
    name: NDArray[np.int32]
    start_ps: Ints
    duration_ps: Ints

    def __len__(self) -> int:
        return len(self.name)


def no_events() -> Events:
    """Return the table of a host without any event."""
    whole = np.empty(0, np.int64)
    return Events((), whole.astype(np.int32), whole, whole)
