"""What a runtime's allocator reported: every allocation and every free, with the state it left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Texts = NDArray[np.object_]
NO_ADDRESS = -1


@dataclass(frozen=True, eq=False)
class Allocations:
    """Allocator events of a host, N rows in time order, on the host's clock.

    Attributes
    ----------
    allocators
        Names of the allocators: ``"GPU_0_bfc"``, or a TPU's number on its host.
    allocator
        Row in ``allocators``.
    offset_ps
        Start after the timestamp of the event's line; what xprof orders by.
    order
        Position among the allocator events in the order of the file, line by line.
    address
        What a free shares with its allocation; `NO_ADDRESS` if not stated.
    allocation_bytes, requested_bytes
        What was taken, and what was asked for; NaN where the event does not say, as a TPU's frees.
    heap_bytes, stack_bytes, free_bytes
        State after the event: allocated, reserved for running programs, and available.
    lifetime_peak_bytes
        Largest ``heap_bytes`` since the allocator was made, as it says itself.
    group
        The step TensorFlow's profiler counted it to, -1 if none.
    framework_op, region, shape
        What an allocation is for, None where the runtime does not say.
    data_type
        TensorFlow's number of the element type: 0 unknown, -1 not stated.
    caller
        Innermost event of the same thread that was running, None outside of any.
    """

    allocators: tuple[str, ...]
    allocator: NDArray[np.int32]
    start_ps: Ints
    offset_ps: Ints
    order: Ints
    is_free: NDArray[np.bool_]
    address: Ints
    allocation_bytes: Floats
    requested_bytes: Floats
    heap_bytes: Floats
    stack_bytes: Floats
    free_bytes: Floats
    lifetime_peak_bytes: Floats
    fragmentation_fraction: Floats
    group: Ints
    data_type: Ints
    framework_op: Texts
    region: Texts
    shape: Texts
    caller: Texts

    def __len__(self) -> int:
        return len(self.start_ps)


def no_allocations() -> Allocations:
    """Return the table of a host whose runtime reports no allocation."""
    whole, number, text = np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, object)
    states = (number,) * 7
    return Allocations(
        (),
        whole.astype(np.int32),
        whole,
        whole,
        whole,
        whole.astype(np.bool_),
        whole,
        *states,
        whole,
        whole,
        *(text,) * 4,
    )
