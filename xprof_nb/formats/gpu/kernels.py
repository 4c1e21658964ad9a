"""Launch shapes, copied bytes and streams of a host's GPUs: the columns of the kernel table."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.gpu import launches as gpu_launches
from xprof_nb.formats.gpu import names as gpu_names
from xprof_nb.formats.gpu.streams import Streams, read_streams, traced
from xprof_nb.formats.xspace import XSpace
from xprof_nb.model.kernels import Kernels, Launches

_AXES = re.compile(r"[0-9]{1,10},[0-9]{1,10},[0-9]{1,10}")
_LARGEST = 2**53


def read_kernels(read_space: Callable[[], XSpace]) -> Kernels:
    """Return the kernels of the GPUs of a host, decoded anew: few questions ask for them."""
    space = read_space()
    plausible.mend(space)
    streams, _ = traced(read_streams(space))
    host = space.plane("/host:CPU")
    launched = gpu_launches.find_launches(streams, host)
    return kernel_table(streams, launched, gpu_launches.root_groups(streams, launched, host))


def kernel_table(streams: Streams, launched: gpu_launches.Launched, group: NDArray[np.int64]) -> Kernels:
    """Return the events of the streams as kernels, copies and fills."""
    return Kernels(
        device=streams.codes("device").astype(np.int32),
        stream=streams.codes("stream").astype(np.int32),
        name=streams.codes("name").astype(np.int32),
        kind=gpu_names.kinds(streams, launched).astype(np.int32),
        launch=streams.codes("kernel_details").astype(np.int32),
        framework_op=streams.codes("tf_op").astype(np.int32),
        group=group,
        start_ps=streams.column("start_ps"),
        duration_ps=streams.column("duration_ps"),
        bytes=_bytes(streams),
        streams=tuple(streams.texts["stream"]),
        names=tuple(streams.texts["name"]),
        framework_ops=tuple(streams.texts["tf_op"]),
        launches=_launches(streams.texts["kernel_details"]),
    )


def _launches(details: list[str]) -> Launches:
    """Return the launch shapes ``regs:38 static_shared:0 dynamic_shared:0 grid:160,1,1 block:1024,1,1 occ_pct:50`` say.

    Older files have one ``shm:``, AMD's the ``group_mem:`` a work group shares. An occupancy of 0, which cannot be,
    is one that nobody computed.
    """
    pairs = [_pairs(text) for text in details]
    static = [_number(pair, "static_shared", "shm", "group_mem") for pair in pairs]
    occupancy = np.array([_number(pair, "occ_pct") for pair in pairs], np.float64) / 100
    return Launches(
        grid=np.array([*(_sizes(pair, "grid") for pair in pairs), None], object)[:-1],
        block=np.array([*(_sizes(pair, "block") for pair in pairs), None], object)[:-1],
        registers_per_thread=np.array([_number(pair, "regs") for pair in pairs], np.float64),
        static_shared_bytes=np.array(static, np.float64),
        dynamic_shared_bytes=np.array([_number(pair, "dynamic_shared") for pair in pairs], np.float64),
        occupancy_fraction=np.where(occupancy > 0, occupancy, np.nan),
        text=np.array([*details, None], object)[:-1],
    )


def _pairs(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (each.partition(":") for each in text.split())}


def _sizes(pairs: dict[str, str], name: str) -> str | None:
    """Return the sizes along the three axes, None if they are not."""
    text = pairs.get(name, "")
    return text if _AXES.fullmatch(text) else None


def _bytes(streams: Streams) -> NDArray[np.float64]:
    """Return what each copy or fill moved, NaN if unknown: ROCm says 0 for what it did not look up."""
    found = np.full(len(streams), np.nan)
    for column in ("copy_details", "fill_details"):
        sizes = [_number(_pairs(text), "num_bytes", "size") for text in streams.texts[column]]
        of_event = np.array([*sizes, np.nan])[streams.codes(column)]
        found = np.where(of_event > 0, of_event, found)
    return found


def _number(pairs: dict[str, str], *names: str) -> float:
    """Return the first of the numbers that is there, NaN if none is."""
    for name in names:
        text = pairs.get(name, "")
        try:
            value = float(text)
        except ValueError:
            continue
        if 0 <= value <= _LARGEST:
            return value
    return float("nan")
