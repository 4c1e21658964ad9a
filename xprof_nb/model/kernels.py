"""What a GPU ran: kernels and copies on streams, as the driver saw them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Kernels:
    """Kernels, copies and fills of a host's GPUs, N rows ordered by (device, start)."""

    device: NDArray[np.int32]
    stream: Texts
    name: Texts
    start_ps: Ints
    duration_ps: Ints

    def __len__(self) -> int:
        return len(self.name)


def no_kernels() -> Kernels:
    """Return the table of a host without a GPU."""
    texts, whole = np.empty(0, object), np.empty(0, np.int64)
    return Kernels(whole.astype(np.int32), texts, texts, whole, whole)
