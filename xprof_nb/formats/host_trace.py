"""One host's XSpace to the columns every backend shares, and the programs it describes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from xprof_nb.formats import cpu, plausible, session, tracks
from xprof_nb.formats.allocations import has_allocations, read_allocations
from xprof_nb.formats.events import read_events
from xprof_nb.formats.framework_events import read_framework_events
from xprof_nb.formats.gpu import notes as gpu_notes
from xprof_nb.formats.gpu import planes as gpu_planes
from xprof_nb.formats.gpu import streams as gpu_streams
from xprof_nb.formats.gpu.device import gpu_device
from xprof_nb.formats.gpu.kernels import read_kernels
from xprof_nb.formats.hlo import read_program
from xprof_nb.formats.host_activity import read_activity
from xprof_nb.formats.host_ops import HostOps, known
from xprof_nb.formats.step_groups import read_step_groups
from xprof_nb.formats.tpu import planes as device_planes
from xprof_nb.formats.tpu import warnings as device_warnings
from xprof_nb.formats.tpu.core_stats import read_core_stats
from xprof_nb.formats.tpu.core_steps import read_core_steps
from xprof_nb.formats.wall_clock import SESSION, session_times
from xprof_nb.formats.xspace import XPlane, XSpace
from xprof_nb.model.allocations import no_allocations
from xprof_nb.model.core_stats import no_core_stats
from xprof_nb.model.core_steps import no_core_steps
from xprof_nb.model.device import Device
from xprof_nb.model.kernels import no_kernels
from xprof_nb.model.program import Program
from xprof_nb.model.step_groups import no_step_groups
from xprof_nb.model.trace import HostTrace, OpEvents, OpKeys, ProgramRuns, StepMarks, no_spans

_START = re.compile(r"\$profiler\.py:\d+ start_trace$")


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
    mended = plausible.mend(space)
    hull = plausible.span(space)
    host_plane = space.plane("/host:CPU")
    programs = read_programs(space)
    cores = device_planes.tpu_cores(space)
    gpus = gpu_streams.gpu_planes(space)
    streams = gpu_streams.read_streams(space) if gpus else None
    notes = [*(f"The profiler reported: {text}" for text in (*space.errors, *space.warnings)), *space.notes, *mended]
    window_ps, window_source = _window(space, hull)
    spans = no_spans()
    if cores:
        marks = cpu.read_step_marks(host_plane) if host_plane else _no_marks()
        read = device_planes.read_tpu_cores(cores, host, host_plane, marks, programs)
        found, spans = read.host_ops, read.spans
        notes += device_warnings.warnings(found.devices, found.ops, read.runs, programs, window_ps)
    elif streams is not None and len(streams):
        marks = cpu.read_step_marks(host_plane) if host_plane else _no_marks()
        found, said = gpu_planes.read_gpus(streams, gpus, host, host_plane, marks, programs)
        notes += said
        window_ps, window_source = _after_start(host_plane, streams, window_ps, window_source)
    else:
        found = cpu.read_host_ops(host_plane, host) if host_plane is not None else _nothing()
        notes += gpu_notes.nothing_ran(gpus, streams, host_plane)
        found = found if found.devices else replace(found, devices=tuple(gpu_device(plane, host) for plane in gpus))
    devices = _told_apart(found.devices)
    notes += [
        f"Two planes are of {old.name}: files were joined, or one was written twice. The second is called {new.name!r}."
        for old, new in zip(found.devices, devices, strict=True)
        if old.name != new.name
    ]
    trace = HostTrace(
        host=host,
        file=space.source,
        devices=devices,
        keys=found.keys,
        ops=found.ops,
        find_runs=found.find_runs,
        marks=found.marks,
        window_ps=window_ps,
        window_source=window_source,
        event_count=sum(len(plane.events) for plane in space.planes),
        versions=session.versions(space),
        notes=tuple(notes),
        capture_options=session.capture_options(space),
        stated=session.stated(host_plane),
        compilations=session.compilations(host_plane),
        find_framework_events=partial(read_framework_events, read_space),
        find_allocations=partial(read_allocations, read_space) if has_allocations(space) else no_allocations,
        find_step_groups=no_step_groups if cores else partial(read_step_groups, read_space),
        find_core_steps=partial(read_core_steps, read_space) if cores else no_core_steps,
        find_core_stats=partial(read_core_stats, read_space) if cores else no_core_stats,
        session_ns=_session(space),
        find_events=partial(read_events, read_space, tuple(device.name for device in found.devices)),
        spans=spans,
        find_activity=partial(read_activity, read_space, found.marks),
        find_kernels=partial(read_kernels, read_space) if streams is not None else no_kernels,
        lines=tracks.read_lines(space),
        find_recorded=partial(tracks.read_events, read_space),
    )
    return HostFile(trace, programs)


def _told_apart(devices: tuple[Device, ...]) -> tuple[Device, ...]:
    """Return the devices with names of which none occurs twice: tables are grouped by them."""
    seen: Counter[str] = Counter()
    told = []
    for device in devices:
        seen[device.name] += 1
        count = seen[device.name]
        told.append(device if count == 1 else replace(device, name=f"{device.name} ({count})"))
    return tuple(told)


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
    environment = space.plane(SESSION)
    if environment is not None:
        stated_ps = plausible.length_ps(environment.stats, "profile_start_time", "profile_stop_time")
        if stated_ps:
            # Events can lie a little past the stop; they widen the window rather than vanish.
            return (min(0, begin), max(stated_ps, end)), "from the start to the stop of the profiler"
    return (begin, end), "from the first event to the last: the profile does not say when it was started"


def _session(space: XSpace) -> tuple[int, int] | None:
    plane = space.plane(SESSION)
    return session_times(plane.stats) if plane is not None else None


def _after_start(
    host: XPlane | None, streams: gpu_streams.Streams, window_ps: tuple[int, int], source: str
) -> tuple[tuple[int, int], str]:
    """Return the window without the time that starting the GPU's tracing took: seconds in which nothing is recorded."""
    if host is None:
        return window_ps, source
    begun = np.array([*(_START.match(name) is not None for name in host.metadata.name), False])
    rows = np.flatnonzero(begun[host.events.metadata])
    if not len(rows):
        return window_ps, source
    ready_ps = int((host.events.starts_of(rows) + host.events.duration_ps[rows]).min())
    if not window_ps[0] < ready_ps <= int(streams.column("start_ps").min()):
        return window_ps, source
    return (ready_ps, window_ps[1]), "from when the profiler had started to its stop"


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
