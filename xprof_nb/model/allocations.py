"""What a runtime's allocator reported: every allocation and every free, with the state it left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Allocations:
    """Allocator events of a host, N rows in time order, on the host's clock."""

    allocator: Texts
    start_ps: Ints
    is_free: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.start_ps)


def no_allocations() -> Allocations:
    """Return the table of a host whose runtime reports no allocation."""
    return Allocations(np.empty(0, object), np.empty(0, np.int64), np.empty(0, np.bool_))
