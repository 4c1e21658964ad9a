"""What ran on one host, every backend in the same columns: op executions, program runs, step marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.model.activity import HostActivity, no_activity
from xprof_nb.model.allocations import Allocations, no_allocations
from xprof_nb.model.compilations import Compilations
from xprof_nb.model.core_stats import CoreStats, no_core_stats
from xprof_nb.model.core_steps import CoreSteps, no_core_steps
from xprof_nb.model.events import Events, no_events
from xprof_nb.model.framework import FrameworkEvents, no_framework_events
from xprof_nb.model.kernels import Kernels, no_kernels
from xprof_nb.model.live_arrays import LiveArrays, no_live_arrays
from xprof_nb.model.step_groups import StepGroups, no_step_groups
from xprof_nb.model.tracks import RecordedEvents, RecordedLines, no_lines, no_recorded_events

if TYPE_CHECKING:
    from xprof_nb.model.device import Device

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class OpKeys:
    """The distinct ops of a host, K rows: an op is known by (program id, HLO name).

    What only some runtimes write is None or NaN elsewhere and filled from the HLO program by the analyses.
    Costs are per single occurrence.

    Attributes
    ----------
    duplicate_of
        Name shared by ops the compiler made from the same source, else None.
    model_flops
        FLOPs as the model states them; `flops` are normalised by the runtime to the device's reference type.
    hbm_bytes, on_chip_read_bytes, on_chip_write_bytes
        Traffic by memory; NaN where the runtime gave no breakdown.
    cmem_read_bytes, cmem_write_bytes
        The part of the on-chip traffic that is CMEM's, a memory some TPUs have beside VMEM; None where no op has any.
    """

    program_id: NDArray[np.uint64]
    program: Texts
    op: Texts
    category: Texts
    framework_op: Texts
    source: Texts
    hlo_text: Texts
    duplicate_of: Texts
    flops: Floats
    model_flops: Floats
    bytes_accessed: Floats
    hbm_bytes: Floats
    on_chip_read_bytes: Floats
    on_chip_write_bytes: Floats
    cmem_read_bytes: Floats | None = None
    cmem_write_bytes: Floats | None = None

    def __len__(self) -> int:
        return len(self.program_id)


@dataclass(frozen=True, eq=False)
class OpEvents:
    """Every execution of an op, N rows in the order they were recorded.

    Attributes
    ----------
    key, device
        Rows of `OpKeys` and of `HostTrace.devices`.
    start_ps, duration_ps
        The op from its start to its end. On a CPU the end is that of the asynchronous part; on a GPU each kernel
        of an op is an event.
    host_start_ps, host_duration_ps
        The same on the host's clock, which runs and steps are given in; on a CPU, of the launching call alone.
    self_ps
        Time of the device this execution accounts for: its duration without the ops it contains, and on a
        CPU or GPU, where ops of one device overlap, an equal share of each overlapped moment. Sums to busy time.
    transfer_ps
        For the done half of an asynchronous pair, from the start of its start half to its own end; else NaN.
    run_id
        The program run it belongs to, 0 if unknown.
    step
        Row of `StepMarks`, -1 outside every marked step.
    occurrences
        1, or n for an aggregated event; 0 for a further kernel of an execution that launched several.
    contains
        Whether other ops ran inside this one: a loop, a call, a branch.
    """

    key: NDArray[np.int32]
    device: NDArray[np.int32]
    start_ps: Ints
    duration_ps: Ints
    host_duration_ps: Ints
    self_ps: Floats
    transfer_ps: Floats
    host_start_ps: Ints
    run_id: Ints
    step: NDArray[np.int32]
    occurrences: Ints
    contains: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, eq=False)
class ProgramRuns:
    """Executions of whole programs, R rows ordered by (device, start), on the host's clock."""

    device: NDArray[np.int32]
    program_id: NDArray[np.uint64]
    program: Texts
    run_id: Ints
    start_ps: Ints
    duration_ps: Ints

    def __len__(self) -> int:
        return len(self.device)


@dataclass(frozen=True, eq=False)
class StepMarks:
    """Steps the program annotated or the runtime recorded, in time order, on the host's clock.

    Attributes
    ----------
    device
        The device that a step was recorded for, a row of `HostTrace.devices`; None where the program marked them,
        each for all devices.
    """

    name: Texts
    number: Ints
    start_ps: Ints
    duration_ps: Ints
    device: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, eq=False)
class AsyncSpans:
    """Asynchronous ops from the start of their start half to the end of their done half, S rows.

    Attributes
    ----------
    key, done
        Rows of `OpKeys`: the start half, and the done half, -1 where only the start is known.
    start_ps, duration_ps
        On the device's clock, as those of `OpEvents`.
    host_start_ps, host_duration_ps
        On the host's clock.
    recorded
        Whether the profile states the span; else it was put together from the halves.
    """

    key: NDArray[np.int32]
    done: NDArray[np.int32]
    device: NDArray[np.int32]
    start_ps: Ints
    duration_ps: Ints
    host_start_ps: Ints
    host_duration_ps: Ints
    recorded: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.key)


def no_spans() -> AsyncSpans:
    """Return the table of a host without asynchronous ops."""
    rows, whole = np.empty(0, np.int32), np.empty(0, np.int64)
    return AsyncSpans(rows, rows, rows, whole, whole, whole, whole, np.empty(0, np.bool_))


@dataclass(frozen=True, eq=False)
class HostTrace:
    """One host of a profile.

    Attributes
    ----------
    find_runs
        Gives `runs`; a CPU's have to be put together from its ops, which few questions need.
    spans
        Asynchronous ops of devices whose op events show the two halves alone.
    find_kernels, find_allocations, find_activity, find_framework_events, find_step_groups, find_core_steps,
    find_core_stats, find_events
        Give `kernels`, `allocations`, `activity`, `framework_events`, `step_groups`, `core_steps`, `core_stats` and
        `events`, from the file if need be.
    lines, find_recorded
        The lines of the file, and their events, which are read again at each call: a timeline keeps its own form.
    window_ps
        Begin and end of what the capture could see, on the host's clock.
    window_source
        How the window is known, in words.
    versions
        Versions the runtime wrote: ``jax_version``, ``jaxlib_version`` …
    session_ns
        Unix time the profiler was started and stopped, None where the profile does not say.
    capture_options
        What the profiler was started with, where the file says so.
    stated
        What the runtime states of all devices of the host: ``matrix_unit_utilization_percent`` and of HBM.
    compilations
        When the host compiled programs meanwhile.
    live_arrays
        What its capture sampled of devices that report no allocations.
    """

    host: str
    file: str
    devices: tuple[Device, ...]
    keys: OpKeys
    ops: OpEvents
    find_runs: Callable[[], ProgramRuns]
    marks: StepMarks
    window_ps: tuple[int, int]
    window_source: str
    event_count: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    session_ns: tuple[int, int] | None = None
    spans: AsyncSpans = field(default_factory=no_spans)
    capture_options: Mapping[str, Any] = field(default_factory=dict)
    stated: Mapping[str, float] = field(default_factory=dict)
    compilations: Compilations = field(default_factory=Compilations)
    live_arrays: LiveArrays = field(default_factory=no_live_arrays)
    find_kernels: Callable[[], Kernels] = no_kernels
    find_allocations: Callable[[], Allocations] = no_allocations
    find_activity: Callable[[], HostActivity] = no_activity
    find_framework_events: Callable[[], FrameworkEvents] = no_framework_events
    find_step_groups: Callable[[], StepGroups] = no_step_groups
    find_core_steps: Callable[[], CoreSteps] = no_core_steps
    find_core_stats: Callable[[], CoreStats] = no_core_stats
    find_events: Callable[[], Events] = no_events
    lines: RecordedLines = field(default_factory=no_lines)
    find_recorded: Callable[[], RecordedEvents] = no_recorded_events

    @cached_property
    def runs(self) -> ProgramRuns:
        """Executions of whole programs."""
        return self.find_runs()

    @cached_property
    def kernels(self) -> Kernels:
        """What the host's GPUs ran."""
        return self.find_kernels()

    @cached_property
    def allocations(self) -> Allocations:
        """What the allocators of the host's devices reported."""
        return self.find_allocations()

    @cached_property
    def framework_events(self) -> FrameworkEvents:
        """What the framework ran on the host itself."""
        return self.find_framework_events()

    @cached_property
    def activity(self) -> HostActivity:
        """What the host did about the devices' work: launches, transfers, compilations, input."""
        return self.find_activity()

    @cached_property
    def step_groups(self) -> StepGroups:
        """What xprof counts into each step, on hosts without TPUs."""
        return self.find_step_groups()

    @cached_property
    def core_steps(self) -> CoreSteps:
        """What xprof counts into each step of the host's TPU cores."""
        return self.find_core_steps()

    @cached_property
    def core_stats(self) -> CoreStats:
        """What the runtime of a TPU measured of each execution besides its time."""
        return self.find_core_stats()

    @property
    def events(self) -> Events:
        """Every event of the file; not kept, since a large profile has millions."""
        return self.find_events()
