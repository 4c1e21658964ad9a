"""What each moment of a step went to, on one device: its own work first, then what the host did meanwhile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.collective_ops import ASYNC_COPY, HOST_OFFLOAD, HOST_TRANSFER, moving_keys
from xprof_nb.analysis.device_clock import by_device
from xprof_nb.analysis.moving_spans import are_halves
from xprof_nb.analysis.op_identity import described_keys, readable_program
from xprof_nb.formats.gpu.names import collective
from xprof_nb.model.activity import COMPILE, FROM_DEVICE, INPUT, LAUNCH, OTHER, TO_DEVICE, WAIT
from xprof_nb.model.intervals import Moments, either, union
from xprof_nb.model.kept import kept_with_first
from xprof_nb.model.kernels import COPY, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, KINDS, PEER, Kernels
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

Ints = NDArray[np.int64]

ON_DEVICE = ("compute", "collective", "device_copy", "host_offload", "infeed", "outfeed")
ON_HOST = {
    "compile": COMPILE,
    "host_input": INPUT,
    "host_to_device": TO_DEVICE,
    "device_to_host": FROM_DEVICE,
    "launch": LAUNCH,
    "host_wait": WAIT,
    "host_other": OTHER,
}
PARTS = (*ON_DEVICE, *ON_HOST, "idle")
DEFINITIONS = {
    "compute": "an op of the device computed",
    "collective": "no op computed, data moved between devices",
    "device_copy": "no op computed, an asynchronous copy ran within the device",
    "host_offload": "no op computed, data moved between the device's and the host's memory",
    "infeed": "the device waited for input from the host: infeed, host recv, copies to the device",
    "outfeed": "the device handed output to the host: outfeed, host send, copies from the device",
    "compile": "the device had nothing to do, the host compiled or lowered a program",
    "host_input": "the device had nothing to do, the host's input pipeline ran",
    "host_to_device": "the device had nothing to do, the host was sending it data",
    "device_to_host": "the device had nothing to do, the host was fetching data",
    "launch": "the device had nothing to do, the host was launching work",
    "host_wait": "the device had nothing to do, the host waited for it: latency",
    "host_other": "the device had nothing to do, the host did something else, Python for the most part",
    "idle": "neither the device nor the host's launching threads recorded anything",
}
"""What each column counts. A moment counts once, in the first column that applies."""
_PLACES = {
    PEER: ON_DEVICE.index("collective"),
    DEVICE_TO_DEVICE: ON_DEVICE.index("device_copy"),
    COPY: ON_DEVICE.index("device_copy"),
    HOST_TO_DEVICE: ON_DEVICE.index("infeed"),
    DEVICE_TO_HOST: ON_DEVICE.index("outfeed"),
}
"""Where the time of what a GPU's stream ran belongs, a row of `ON_DEVICE`; that of all else is computing."""
_TO, _FROM = ("infeed", "host recv"), ("outfeed", "host send")


def breakdown(profile: ProfileData, trace: HostTrace, device: int, begin: Ints, end: Ints) -> dict[str, Ints]:
    """Return for each span of the device's clock the time that each of `PARTS` had, in ps; a row sums to its length."""
    counted = union(begin[:0], end[:0])
    before = np.zeros(len(begin), np.int64)
    columns: dict[str, Ints] = {}
    for name, moments in _moments(profile, trace, device).items():
        if not len(moments.begin_ps):
            columns[name] = np.zeros_like(before)
            continue
        counted = either(counted, moments)
        covered = counted.covered_ps(begin, end)
        columns[name] = covered - before
        before = covered
    columns["idle"] = (end - begin) - before
    return columns


def half_precision_moments(profile: ProfileData, trace: HostTrace, device: int) -> Moments | None:
    """Return when ops computed results of 16 bits, None if the profile does not state what ops compute."""
    half = _half_precision_keys(trace, profile)
    if half is None:
        return None
    begin, end = trace.ops.start_ps, trace.ops.start_ps + trace.ops.duration_ps
    computes = half & (_places(trace, profile) == ON_DEVICE.index("compute"))
    rows = np.flatnonzero((trace.ops.device == device) & computes[trace.ops.key])
    return union(begin[rows], end[rows])


@kept_with_first
def _half_precision_keys(trace: HostTrace, profile: ProfileData) -> NDArray[np.bool_] | None:
    """Return which ops have results of 16 bits, None if the profile does not say it of any."""
    described = described_keys(profile, trace)
    dtypes = [_result_dtype(text) for text in trace.keys.hlo_text]
    for row, (program_id, op) in enumerate(zip(described["program_id"].tolist(), described["op"], strict=True)):
        program = readable_program(profile, program_id)
        if dtypes[row] is None and program is not None:
            instruction = program.instruction(str(op))
            leaf = next(instruction.shape.leaves(), None) if instruction is not None else None
            dtypes[row] = leaf.dtype if leaf is not None else None
    return np.array([dtype in {"bf16", "f16"} for dtype in dtypes], np.bool_) if any(dtypes) else None


def _moments(profile: ProfileData, trace: HostTrace, device: int) -> dict[str, Moments]:
    on_gpu = trace.devices[device].backend == "gpu" if device >= 0 else False
    ran = _of_kernels(trace, device) if on_gpu else _of_ops(profile, trace, device)
    on_host = {name: _by_device(trace, device, moments) for name, moments in _on_host(trace).items()}
    return {**dict(zip(ON_DEVICE, ran, strict=True)), **on_host}


def _by_device(trace: HostTrace, device: int, moments: Moments) -> Moments:
    begin_ps = by_device(trace, device, moments.begin_ps)
    is_one_clock = begin_ps is moments.begin_ps
    return moments if is_one_clock else union(begin_ps, by_device(trace, device, moments.end_ps))


@kept_with_first
def _on_host(trace: HostTrace) -> dict[str, Moments]:
    activity = trace.activity
    until = activity.start_ps + activity.duration_ps
    return {
        name: union(activity.start_ps[activity.kind == kind], until[activity.kind == kind])
        for name, kind in ON_HOST.items()
    }


def _of_ops(profile: ProfileData, trace: HostTrace, device: int) -> list[Moments]:
    ops, spans = trace.ops, trace.spans
    place = _places(trace, profile)
    begin, end = ops.start_ps, ops.start_ps + ops.duration_ps
    half = are_halves(profile, trace)
    mine = (ops.device == device) & ~ops.contains & ~half[ops.key]
    moving = spans.device == device
    found = []
    for number in range(len(ON_DEVICE)):
        rows = mine & (place == number)[ops.key]
        whole = moving & (place == number)[spans.key] if number else np.zeros(len(spans), np.bool_)
        until = spans.start_ps + spans.duration_ps
        found.append(union(np.append(begin[rows], spans.start_ps[whole]), np.append(end[rows], until[whole])))
    return found


@kept_with_first
def _places(trace: HostTrace, profile: ProfileData) -> Ints:
    """Return for each key of a host the row of `ON_DEVICE` its time belongs to."""
    named = zip(moving_keys(profile, trace)["kind"], described_keys(profile, trace)["category"], strict=True)
    return np.array([_place(kind, str(category)) for kind, category in named], np.int64)


def _place(kind: str | None, category: str) -> int:
    if kind is None:
        return ON_DEVICE.index("compute")
    if kind in {ASYNC_COPY, HOST_OFFLOAD}:
        return ON_DEVICE.index("device_copy" if kind == ASYNC_COPY else "host_offload")
    if category.startswith(_FROM):
        return ON_DEVICE.index("outfeed")
    return ON_DEVICE.index("infeed" if kind == HOST_TRANSFER else "collective")


def _of_kernels(trace: HostTrace, device: int) -> list[Moments]:
    """Return the same of a GPU, whose kernels and copies are known by name where no HLO is."""
    kernels = trace.kernels
    place = _places_of_kernels(kernels)
    until = kernels.start_ps + kernels.duration_ps
    mine = kernels.device == device
    return [
        union(kernels.start_ps[mine & (place == number)], until[mine & (place == number)])
        for number in range(len(ON_DEVICE))
    ]


@kept_with_first
def _places_of_kernels(kernels: Kernels) -> Ints:
    by_kind = np.array([_PLACES.get(kind, 0) for kind in KINDS], np.int64)
    collects = np.array([*(collective(name) is not None for name in kernels.names), False], np.bool_)
    return np.where(collects[kernels.name], _PLACES[PEER], by_kind[kernels.kind])


def _result_dtype(text: str | None) -> str | None:
    result = (text or "").partition(" = ")[2].lstrip("(")
    return result.partition("[")[0] or None
