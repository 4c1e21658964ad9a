"""When a host compiled programs while it was captured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def _none() -> Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Compilations:
    """Times in which something was compiled, on the host's clock: disjoint, in order."""

    start_ps: Ints = field(default_factory=_none)
    end_ps: Ints = field(default_factory=_none)

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def total_ps(self) -> int:
        """Their length together."""
        return int((self.end_ps - self.start_ps).sum())
