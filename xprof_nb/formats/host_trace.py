"""One host's XSpace to the columns every backend shares, and the programs it describes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from xprof_nb.formats import cpu, device_planes, device_warnings, plausible
from xprof_nb.formats.allocations import has_allocations, read_allocations
from xprof_nb.formats.events import read_events
from xprof_nb.formats.framework_events import read_framework_events
from xprof_nb.formats.hlo import read_program
from xprof_nb.formats.host_activity import read_activity
from xprof_nb.formats.host_ops import HostOps, known
from xprof_nb.formats.wall_clock import SESSION, session_times
from xprof_nb.formats.xspace import XSpace
from xprof_nb.model.allocations import no_allocations
from xprof_nb.model.program import Program
from xprof_nb.model.trace import HostTrace, OpEvents, OpKeys, ProgramRuns, StepMarks, no_spans

_GPU = re.compile(r"/device:GPU:\d+$")


@dataclass(frozen=True, eq=False)
class HostFile:
    """What one xplane file holds."""

    trace: HostTrace
    programs: Mapping[int, Program]


def read_host(host: str, read_space: Callable[[], XSpace]) -> HostFile:
    """Return the trace and the programs of one host.

    Device planes win; a host plane's own XLA ops are read only where no device plane exists, as in xprof.

    Parameters
    ----------
    read_space
        Decodes the host's file: now, and again for tables that few questions need.
    """
    space = read_space()
    mended = plausible.mend_durations(space)
    hull = plausible.span(space)
    host_plane = space.plane("/host:CPU")
    programs = read_programs(space)
    cores = device_planes.tpu_cores(space)
    gpus = [plane.name for plane in space.planes if _GPU.match(plane.name)]
    notes = [*(f"The profiler reported: {text}" for text in (*space.errors, *space.warnings)), *space.notes, *mended]
    window_ps, window_source = _window(space, hull)
    spans = no_spans()
    if cores:
        marks = cpu.read_step_marks(host_plane) if host_plane else _no_marks()
        read = device_planes.read_tpu_cores(cores, host, host_plane, marks, programs)
        found, spans = read.host_ops, read.spans
        notes += device_warnings.warnings(found.devices, found.ops, read.runs, programs, window_ps)
    elif gpus:
        notes.append(f"Kernels of GPU planes ({len(gpus)} here) are not analysed by this version.")
        found = _nothing()
    elif host_plane is not None:
        found = cpu.read_host_ops(host_plane, host)
    else:
        found = _nothing()
    trace = HostTrace(
        host=host,
        file=space.source,
        devices=found.devices,
        keys=found.keys,
        ops=found.ops,
        find_runs=found.find_runs,
        marks=found.marks,
        window_ps=window_ps,
        window_source=window_source,
        event_count=sum(len(plane.events.line) for plane in space.planes),
        versions=_versions(space),
        notes=tuple(notes),
        find_framework_events=partial(read_framework_events, read_space),
        find_allocations=partial(read_allocations, read_space) if has_allocations(space) else no_allocations,
        session_ns=_session(space),
        find_events=partial(read_events, read_space, tuple(device.name for device in found.devices)),
        spans=spans,
        find_activity=partial(read_activity, read_space, found.marks),
    )
    return HostFile(trace, programs)


def read_programs(space: XSpace) -> dict[int, Program]:
    """Return the XLA programs in the metadata plane, by program id."""
    plane = space.plane("/host:metadata")
    if plane is None:
        return {}
    protos = plane.metadata_stat("Hlo Proto").blobs()
    stated = plane.metadata_stat("program_id")
    programs = {}
    for row, proto in enumerate(protos):
        if proto is None:
            continue
        name, number = device_planes.split_program_label(plane.metadata.name[row])
        if name == f"jit_{cpu.MARKER}":
            continue
        if number == 0:
            number = int(stated.ints()[row] if stated.present[row] else plane.metadata.id[row]) % 2**64
        programs[number] = read_program(proto, program_id=number, name=name, file=space.source)
    return programs


def _window(space: XSpace, hull: tuple[int, int] | None) -> tuple[tuple[int, int], str]:
    """Return begin and end of what the capture could see, in ps since the profile's origin."""
    begin, end = hull or (0, 0)
    session = space.plane(SESSION)
    if session is not None:
        stated_ps = plausible.length_ps(session.stats, "profile_start_time", "profile_stop_time")
        if stated_ps:
            # Events can lie a little past the stop; they widen the window rather than vanish.
            return (min(0, begin), max(stated_ps, end)), "from the start to the stop of the profiler"
    return (begin, end), "from the first event to the last: the profile does not say when it was started"


def _session(space: XSpace) -> tuple[int, int] | None:
    plane = space.plane(SESSION)
    return session_times(plane.stats) if plane is not None else None


def _versions(space: XSpace) -> dict[str, str]:
    plane = space.plane("/host:metadata")
    stats: Mapping[str, Any] = plane.stats if plane is not None else {}
    return {name: str(value) for name, value in stats.items() if name.endswith("_version")}


def _no_marks() -> StepMarks:
    whole = np.empty(0, np.int64)
    return StepMarks(np.empty(0, object), whole, whole, whole)


def _nothing() -> HostOps:
    """Return the tables of a host on which no op was recorded."""
    texts, floats, whole = np.empty(0, object), np.empty(0, np.float64), np.empty(0, np.int64)
    keys = OpKeys(np.empty(0, np.uint64), *([texts] * 7), *([floats] * 6))
    ops = OpEvents(
        key=whole.astype(np.int32),
        device=whole.astype(np.int32),
        start_ps=whole,
        duration_ps=whole,
        host_duration_ps=whole,
        self_ps=floats,
        transfer_ps=floats,
        host_start_ps=whole,
        run_id=whole,
        step=whole.astype(np.int32),
        occurrences=whole,
        contains=whole.astype(np.bool_),
    )
    runs = ProgramRuns(whole.astype(np.int32), whole.astype(np.uint64), texts, whole, whole, whole)
    return HostOps((), keys, ops, partial(known, runs), _no_marks())
