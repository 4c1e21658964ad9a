"""Which part of a profile a question is about: host, device, program, step, window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.device_clock import lengths_by_device
from xprof_nb.analysis.step_spans import step_spans, steps_of_ops
from xprof_nb.errors import UsageError
from xprof_nb.model.device import Device
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

_MOST_NAMED = 20
FILTERS = ("host", "device", "program", "step", "window_ps")


@dataclass(frozen=True)
class Selection:
    """Filters every question takes; None means all.

    Attributes
    ----------
    device
        Name (``"TPU:0"``) or number.
    program
        Module name (``"jit_step"``) or program id.
    step
        Step number, marked or inferred.
    window_ps
        Begin and end on the host's clock; an op belongs where it starts.
    """

    host: str | None = None
    device: str | int | None = None
    program: str | int | None = None
    step: int | None = None
    window_ps: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class HostPart:
    """The chosen part of one host.

    Attributes
    ----------
    rows
        Rows of the host's op events.
    devices
        Rows of the host's devices.
    total_ps
        Length of the chosen time, by device; what is not busy in it is idle.
    """

    trace: HostTrace
    rows: NDArray[np.int64]
    devices: NDArray[np.int64]
    total_ps: NDArray[np.int64]


def chosen_parts(profile: ProfileData, selection: Selection) -> list[HostPart]:
    """Return what the selection leaves of each host.

    Raises
    ------
    UsageError
        It names a host, device, program or step the profile does not have.
    """
    hosts = checked_hosts(profile, selection)
    return [part for trace in hosts if (part := _part(trace, selection)) is not None]


def checked_hosts(profile: ProfileData, selection: Selection) -> list[HostTrace]:
    """Return the hosts the selection leaves; raise UsageError if it names anything the profile does not have."""
    hosts = chosen_hosts(profile, selection)
    devices = [device for trace in hosts for device in trace.devices]
    if selection.device is not None and not any(is_chosen(device, selection.device) for device in devices):
        refuse("device", selection.device, (device.name for device in devices))
    if selection.program is not None and not any(_program_keys(trace, selection.program).any() for trace in hosts):
        refuse("program", selection.program, sorted({str(name) for trace in hosts for name in trace.keys.program}))
    if selection.step is not None:
        numbers = {number for trace in hosts for number in _steps_on(trace, selection.device)}
        if selection.step not in numbers:
            refuse("step", selection.step, map(str, sorted(numbers)))
    return hosts


def chosen_hosts(profile: ProfileData, selection: Selection) -> list[HostTrace]:
    """Return the hosts the selection leaves; raise UsageError if it names one the profile does not have."""
    hosts = [trace for trace in profile.hosts if selection.host in (None, trace.host)]
    if not hosts:
        refuse("host", selection.host, (trace.host for trace in profile.hosts))
    return hosts


def refuse(what: str, wanted: object, known: Iterable[str]) -> NoReturn:
    """Raise the UsageError for what a profile does not have, naming the first of what it has."""
    shown = ", ".join(islice(known, _MOST_NAMED)) or "none"
    raise UsageError(f"no {what} {wanted!r} in this profile", hint=f"It has: {shown}.")


def _steps_on(trace: HostTrace, device: str | int | None) -> list[int]:
    """Return the numbers of the steps of a host on the chosen device; one without a device belongs to all."""
    spans = step_spans(trace)
    rows = [row for row, each in enumerate(trace.devices) if is_chosen(each, device)]
    numbers = spans["step"] if device is None else spans["step"][np.isin(spans["device_row"], rows)]
    return numbers.tolist()


def _part(trace: HostTrace, selection: Selection) -> HostPart | None:
    devices = np.array(
        [row for row, device in enumerate(trace.devices) if is_chosen(device, selection.device)],
        np.int64,
    )
    if selection.device is not None and not len(devices):
        return None
    ops = trace.ops
    wanted = np.zeros(len(trace.devices), np.bool_)
    wanted[devices] = True
    begin, end = selection.window_ps or trace.window_ps
    total_ps = np.full(len(devices), end - begin, np.int64)
    step_rows = np.empty(0, np.int64)
    if selection.step is not None:
        step_rows, total_ps = steps_of_ops(trace), _step_lengths(trace, selection.step, devices)
    keep = wanted[ops.device] & in_selection(trace, selection, ops.key, ops.host_start_ps, step_rows)
    return HostPart(trace, np.flatnonzero(keep), devices, total_ps)


def in_selection(
    trace: HostTrace,
    selection: Selection,
    key: NDArray[np.int32],
    host_start_ps: NDArray[np.int64],
    step_row: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return which things that ran on a host's devices are of the chosen window, program and step.

    Parameters
    ----------
    key, host_start_ps, step_row
        What ran, when it began, and the row of `step_spans` it belongs to; the last is looked at only if a step is
        chosen.
    """
    keep = np.ones(len(key), np.bool_)
    if selection.window_ps is not None:
        begin, end = selection.window_ps
        keep &= (host_start_ps >= begin) & (host_start_ps < end)
    if selection.program is not None:
        keep &= _program_keys(trace, selection.program)[key]
    if selection.step is not None:
        keep &= np.isin(step_row, np.flatnonzero(step_spans(trace)["step"] == selection.step))
    return keep


def is_chosen(device: Device, wanted: str | int | None) -> bool:
    """Return whether a filter means the device; one of a second kind, such as a SparseCore, has to be named."""
    if device.kind:
        return wanted == device.name
    return wanted in (None, device.name, device.ordinal, str(device.ordinal))


def not_applied(selection: Selection, names: Iterable[str], why: str) -> list[str]:
    """Say which of the filters that a question cannot apply were given all the same."""
    given = [f"{name}=" for name in names if getattr(selection, name) is not None]
    return [f"{', '.join(given)} is not applied: {why}."] if given else []


def program_rows(trace: HostTrace, program: str | int) -> NDArray[np.int64]:
    """Return the rows of the op events of a program, which is given by name or id."""
    return np.flatnonzero(_program_keys(trace, program)[trace.ops.key])


def _program_keys(trace: HostTrace, program: str | int) -> NDArray[np.bool_]:
    wanted = str(program)
    ids = trace.keys.program_id.astype(str)
    return np.asarray((trace.keys.program.astype(str) == wanted) | (ids == wanted), np.bool_)


def _step_lengths(trace: HostTrace, step: int, devices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how long a step lasts on each device, by its clock."""
    spans, (_, duration_ps) = step_spans(trace), lengths_by_device(trace)
    mine = (spans["step"] == step) & np.isin(spans["device_row"], devices)
    total_ps = np.zeros(len(devices), np.int64)
    np.add.at(total_ps, np.searchsorted(devices, spans["device_row"][mine]), duration_ps[mine])
    return total_ps
