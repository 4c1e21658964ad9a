"""What Python held on devices whose runtime reports no allocations: live arrays, sampled while a capture ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class HeldArrays:
    """Live arrays that are alike.

    Attributes
    ----------
    shape
        Of the whole array, ``"[128,256]"``.
    sharding
        How it is laid out over devices, in jax's words.
    size_bytes
        What all of them take on the one device.
    """

    shape: str
    dtype: str
    sharding: str
    count: int
    size_bytes: int


@dataclass(frozen=True, eq=False)
class LiveArrays:
    """Samples of a host, N stretches of time in order, on the host's clock.

    Attributes
    ----------
    devices
        Names of the D devices that were looked at.
    start_ps
        Begin of each stretch; it lasts until the next.
    held_bytes
        (N, D): the largest sample of each stretch.
    peak_arrays
        Of each device, what it held at its largest sample, the largest first; sums to that sample.
    period_s
        Time from one sample to the next; a stretch has one or more.
    notes
        What went wrong meanwhile.
    """

    devices: tuple[str, ...]
    start_ps: NDArray[np.int64]
    held_bytes: NDArray[np.int64]
    peak_arrays: tuple[tuple[HeldArrays, ...], ...]
    period_s: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.start_ps)


def no_live_arrays() -> LiveArrays:
    """Return the table of a host on which nobody sampled."""
    return LiveArrays((), np.empty(0, np.int64), np.empty((0, 0), np.int64), (), 0.0)
