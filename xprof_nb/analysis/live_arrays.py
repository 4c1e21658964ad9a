"""Memory over time where a runtime reports no allocations: the live arrays that a capture sampled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.allocator_events import COLUMNS, is_chosen_time, on_device
from xprof_nb.analysis.memory_plan import allocations_in
from xprof_nb.analysis.selection import Selection, chosen_hosts
from xprof_nb.errors import DamagedFileError
from xprof_nb.model import units
from xprof_nb.model.columns import Columns
from xprof_nb.model.live_arrays import HeldArrays, LiveArrays
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

ALLOCATOR, HOLDER = "live arrays (sampled)", "arrays"
UNTOLD = "live arrays, told apart at the peak alone"
_MAIN_MEMORY = 0
Rows = NDArray[np.int64]


def rows(profile: ProfileData, selection: Selection) -> list[Columns]:
    """Return the samples of each chosen device, in the columns of the allocators' events."""
    return [_rows(*each) for each in _chosen(profile, selection)]


def _rows(trace: HostTrace, samples: LiveArrays, device: int, chosen: Rows) -> Columns:
    held = samples.held_bytes[chosen, device].astype(np.float64)
    texts = {"host": trace.host, "device": samples.devices[device], "allocator": ALLOCATOR, "kind": "sample"}
    columns: Columns = {name: np.full(len(chosen), texts.get(name), object) for name in (*texts, *_TEXTS)}
    columns |= {name: np.full(len(chosen), np.nan) for name in _NUMBERS}
    columns |= {"start_ps": samples.start_ps[chosen], "heap_bytes": held, "total_bytes": held}
    return {name: columns[name] for name in COLUMNS}


def peaks(profile: ProfileData, selection: Selection) -> list[dict[str, Any]]:
    """Return the headline values of each chosen device, by the names of an allocator's."""
    found = []
    for trace, samples, device, chosen in _chosen(profile, selection):
        peak = _peak(samples, device, chosen)
        size = float(samples.held_bytes[peak, device])
        held = _held(samples, device, peak)
        found.append(
            {
                "host": trace.host,
                "device": samples.devices[device],
                "allocator": ALLOCATOR,
                "peak_bytes": size,
                "peak_ps": int(samples.start_ps[peak]),
                "peak_heap_bytes": size,
                **dict.fromkeys(_NOT_SAMPLED),
                "holder_count": len(held),
                "held": held.to_dict("records"),
            }
        )
    return found


def holders(profile: ProfileData, selection: Selection, at_ps: float | None) -> list[pd.DataFrame]:
    """Return what each chosen device held at a time, at its peak if None."""
    tables = []
    for trace, samples, device, chosen in _chosen(profile, selection):
        before = chosen if at_ps is None else chosen[samples.start_ps[chosen] <= at_ps]
        if len(before):
            row = _peak(samples, device, before) if at_ps is None else int(before[-1])
            held = _held(samples, device, row)
            fraction = held["bytes"] / (float(samples.held_bytes[row, device]) or np.nan)
            place = {"host": trace.host, "device": samples.devices[device], "allocator": ALLOCATOR}
            tables.append(held.assign(**place, at_ps=int(samples.start_ps[row]), total_fraction=fraction))
    return tables


def notes(profile: ProfileData, selection: Selection) -> list[str]:
    """Say what the samples are and what is not in them."""
    sampled = [samples for _, samples, *_ in _chosen(profile, selection)]
    said = list(dict.fromkeys(note for trace in profile.hosts for note in trace.live_arrays.notes))
    if not sampled:
        return said
    period = units.seconds(max(samples.period_s for samples in sampled))
    name, size = _largest_temporaries(profile)
    planned = f": the largest plan, that of {name}, is {units.size(size)}; see buffers()" if size else "; see buffers()"
    return [
        "This runtime reports no allocator events. Shown are the arrays that Python held, sampled every "
        f"{period} during the capture; what came and went between two samples is not seen. Temporaries of running "
        f"programs are not in it{planned}.",
        *said,
    ]


_NOT_SAMPLED = ("peak_stack_bytes", "peak_free_bytes", "capacity_bytes", "capacity_fraction", "fragmentation_fraction",
                "lifetime_peak_bytes", "allocation_count", "free_count")  # fmt: skip
_DESCRIBED = ["holder", "bytes", "count", "framework_op", "caller", "shape", "dtype", "region", "sharding"]
_TEXTS = ("framework_op", "shape", "dtype", "region", "caller")
_NUMBERS = ("bytes", "requested_bytes", "lifetime_ps", "stack_bytes", "free_bytes", "capacity_bytes",
            "fragmentation_fraction")  # fmt: skip


def _chosen(profile: ProfileData, selection: Selection) -> Iterator[tuple[HostTrace, LiveArrays, int, Rows]]:
    """Yield each chosen device with its samples in the chosen time, if there are any."""
    for trace in chosen_hosts(profile, selection):
        samples = trace.live_arrays
        chosen = np.flatnonzero(is_chosen_time(trace, selection, samples.start_ps))
        for device in np.flatnonzero(on_device(selection.device, samples.devices)).tolist():
            if len(chosen):
                yield trace, samples, device, chosen


def _peak(samples: LiveArrays, device: int, chosen: Rows) -> int:
    return int(chosen[np.argmax(samples.held_bytes[chosen, device])])


def _held(samples: LiveArrays, device: int, row: int) -> pd.DataFrame:
    """Return what is known of a sample: all of it at the device's peak, elsewhere the sum."""
    size = int(samples.held_bytes[row, device])
    arrays = samples.peak_arrays[device]
    if row != np.argmax(samples.held_bytes[:, device]) or sum(each.size_bytes for each in arrays) != size:
        return pd.DataFrame([_described(HeldArrays("", "", "", 1, size), UNTOLD)], columns=_DESCRIBED)
    told = [_described(each, HOLDER if each.dtype else "smaller ones") for each in arrays if each.size_bytes]
    return pd.DataFrame(told, columns=_DESCRIBED)


def _described(arrays: HeldArrays, holder: str) -> dict[str, Any]:
    return {
        "holder": holder,
        "bytes": float(arrays.size_bytes),
        "count": arrays.count,
        "framework_op": None,
        "caller": None,
        "shape": arrays.shape or None,
        "dtype": arrays.dtype or None,
        "region": None,
        "sharding": arrays.sharding or None,
    }


def _largest_temporaries(profile: ProfileData) -> tuple[str, int]:
    """Return the program that plans most memory for temporaries, and how much."""
    largest = ("", 0)
    for program in profile.programs.values():
        with suppress(DamagedFileError):
            planned = allocations_in(program.buffers, _MAIN_MEMORY)
            size = sum(allocation.size_bytes for allocation in planned if allocation.kind == "temporary")
            largest = max(largest, (program.name, size), key=lambda item: item[1])
    return largest
