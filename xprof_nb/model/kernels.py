"""What a GPU ran: kernels and copies on streams, as the driver saw them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Texts = NDArray[np.object_]

KERNEL, FILL, GRAPH = "kernel", "memory fill", "command buffer"
HOST_TO_DEVICE, DEVICE_TO_HOST = "host-to-device copy", "device-to-host copy"
DEVICE_TO_DEVICE, PEER, HOST_TO_HOST = "device-to-device copy", "peer-to-peer copy", "host-to-host copy"
COPY = "copy"
KINDS = (KERNEL, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, PEER, HOST_TO_HOST, COPY, FILL, GRAPH)
"""What a stream runs; ``copy`` where the direction is not known, a command buffer (CUDA graph) as one span."""


@dataclass(frozen=True, eq=False)
class Launches:
    """The distinct shapes kernels were launched in, S rows; NaN and None where the driver says nothing.

    Attributes
    ----------
    grid, block
        ``"160,1,1"``.
    occupancy_fraction
        Warps that can be resident over those the processor can hold, by registers, shared memory and block size.
    text
        The same in the driver's words.
    """

    grid: Texts
    block: Texts
    registers_per_thread: Floats
    static_shared_bytes: Floats
    dynamic_shared_bytes: Floats
    occupancy_fraction: Floats
    text: Texts

    def __len__(self) -> int:
        return len(self.grid)


def no_launches() -> Launches:
    """Return the table of launch shapes where there are none."""
    texts, numbers = np.empty(0, object), np.empty(0, np.float64)
    return Launches(texts, texts, numbers, numbers, numbers, numbers, texts)


@dataclass(frozen=True, eq=False)
class Kernels:
    """Kernels, copies and fills of a host's GPUs: N rows, those of `HostTrace.ops` in the same order.

    Attributes
    ----------
    device
        Row of `HostTrace.devices`.
    stream, name, kind, launch
        Rows of `streams`, `names`, `KINDS` and `launches`; launch is -1 where there is no launch shape.
    framework_op
        Row of `framework_ops`: what TensorFlow's or XLA's annotation says, -1 for nothing.
    group
        Number events share that one annotated event of the host asked for, on the same thread; -1 for none.
    bytes
        Bytes copied or filled, NaN if unknown.
    """

    device: Codes
    stream: Codes
    name: Codes
    kind: Codes
    launch: Codes
    framework_op: Codes
    group: Ints
    start_ps: Ints
    duration_ps: Ints
    bytes: Floats
    streams: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    framework_ops: tuple[str, ...] = ()
    launches: Launches = field(default_factory=no_launches)

    def __len__(self) -> int:
        return len(self.name)


def no_kernels() -> Kernels:
    """Return the table of a host without a GPU."""
    codes, whole = np.empty(0, np.int32), np.empty(0, np.int64)
    return Kernels(codes, codes, codes, codes, codes, codes, whole, whole, whole, np.empty(0, np.float64))
