"""What TPU planes do not show, and why: lanes that end early, programs without their HLO, cores of another kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from xprof_nb.model.device import Device
from xprof_nb.model.program import Program
from xprof_nb.model.trace import OpEvents, ProgramRuns
from xprof_nb.model.units import listed

EARLY_FRACTION, EARLY_ALONE_FRACTION = 0.1, 0.5
"""Share of the capture by which a lane ends before the others, or before the end of the capture, to be named."""


def warnings(
    devices: Sequence[Device],
    ops: OpEvents,
    runs: ProgramRuns,
    programs: Mapping[int, Program],
    window_ps: tuple[int, int],
) -> list[str]:
    """Return a note for each thing a person would otherwise take for a fact about the program."""
    return [
        *_early_lanes(devices, ops, runs, window_ps),
        *_undescribed(runs, programs),
        *_other_cores(devices),
    ]


def _early_lanes(devices: Sequence[Device], ops: OpEvents, runs: ProgramRuns, window_ps: tuple[int, int]) -> list[str]:
    begin, end = window_ps
    length = max(end - begin, 1)
    count = len(devices)
    op_end = _last_ends(ops.device, ops.host_start_ps + ops.host_duration_ps, count, begin)
    run_begin = _last_ends(runs.device, runs.start_ps, count, begin)
    notes = []
    for row, device in enumerate(devices):
        alike = [other for other, each in enumerate(devices) if each.kind == device.kind]
        reached = (op_end[row] - begin) / length
        longest = (max(op_end[alike].max(), run_begin[row]) - begin) / length
        if op_end[row] == begin:
            continue
        if longest - reached > EARLY_FRACTION:
            others = "its programs go on" if run_begin[row] > op_end[alike].max() else "others go on"
            notes.append(_early(device, reached, f"while {others} to {longest:.0%}"))
        elif reached < 1 - EARLY_ALONE_FRACTION:
            notes.append(_early(device, reached, "if work was still running then"))
    return notes


def _early(device: Device, reached: float, circumstance: str) -> str:
    return (
        f"The ops of {device.name} end at {reached:.0%} of the capture, {circumstance}: its trace buffer was full and "
        "what it did later is missing. Capture for a shorter time, or fewer cores: jax.profiler.ProfileOptions, "
        "advanced_configuration tpu_num_sparse_cores_to_trace=0 and tpu_num_chips_to_profile_per_task=1."
    )


def _last_ends(device: NDArray[np.int32], end_ps: NDArray[np.int64], count: int, least: int) -> NDArray[np.int64]:
    ends = np.full(count, least, np.int64)
    np.maximum.at(ends, device, end_ps)
    return ends


def _undescribed(runs: ProgramRuns, programs: Mapping[int, Program]) -> list[str]:
    """Name the programs that ran but have no HLO in the profile."""
    labels = {
        f"{name}({int(program)})"
        for name, program in zip(runs.program.tolist(), runs.program_id.tolist(), strict=True)
        if int(program) not in programs
    }
    if not labels:
        return []
    shown = listed(sorted(labels))
    cause = (
        "Compilations for the CPU in the same process replace the HLO of the TPU's programs in the profile"
        if programs
        else "The profile holds no HLO at all: it was left out at capture, or a compilation for the CPU replaced it"
    )
    return [
        f"The HLO of {shown} is not in the profile, though it ran. {cause}. Times are right; buffers, the "
        "graph and our counts of FLOPs need the HLO: compile everything, also what runs on the CPU, before the capture."
    ]


def _other_cores(devices: Sequence[Device]) -> list[str]:
    others = [device.name for device in devices if device.kind]
    if not others:
        return []
    return [
        f"{len(others)} SparseCores were traced too ({listed(others)}). They are devices of their own, in no sum over "
        f"the TensorCores: ask with device={others[0]!r}."
    ]
