"""What a device of a profile can do at most: by the user, the profile, a measurement, the datasheet."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xprof_nb.errors import UsageError
from xprof_nb.model import hardware
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.measured import read, this_machine

CPU = "cpu"
_OWN: dict[str, dict[str, float]] = {}
"""What the user stated in this process: by model, by name of the roof."""
_ROOF = re.compile(r"([a-z]\w*?)_(flops|bytes)(?:_per_s)?")
_SAME_FRACTION = 0.005
_SOURCE = "stated with xprof_nb.hardware()"


def state(name: str, values: dict[str, float | None]) -> None:
    """Let the user's own numbers be the roofs of a model, from now on and in this process; None takes one back.

    Parameters
    ----------
    name
        As for `hardware.find`, or of a model the table does not know. ``"cpu"`` are devices of XLA on a processor.
    values
        ``bf16_flops`` (FLOP/s of the whole chip), ``hbm_bytes_per_s``, ``link_bytes_per_s``, ``capacity_bytes`` …

    Raises
    ------
    UsageError
        A name is not that of a roof, or a value is no positive number.
    """
    if not name.strip():
        raise UsageError("a device without a name has no peaks", hint="Give the model, as in xp.hardware('TPU v6e').")
    for key, value in values.items():
        if key != "capacity_bytes" and not _is_roof(key):
            raise UsageError(
                f"{key!r} is not a roof", hint="It is bf16_flops, f32_flops …, hbm_bytes_per_s or link_bytes_per_s."
            )
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 < value < math.inf):
            raise UsageError(f"{key} cannot be {value!r}", hint="A peak is a positive number; None takes it back.")
    stated = {**_OWN.get(_model(name), {}), **values}
    kept = {key: float(value) for key, value in stated.items() if value is not None}
    if kept:
        _OWN[_model(name)] = kept
    else:
        _OWN.pop(_model(name), None)


def known() -> tuple[hardware.Hardware, ...]:
    """Return the entries of the table and this machine's CPU if it was measured, with what the user stated in place."""
    entries = {entry.name: entry for entry in reversed((*hardware.entries(), *_this_cpu()))}
    for name in _OWN:
        entries.setdefault(name, hardware.Hardware(name, (name,), "", Peaks(), 1, _SOURCE))
    return tuple(replace(entry, peaks=_with_own(entry.peaks, name)) for name, entry in reversed(entries.items()))


def find(name: str) -> hardware.Hardware | None:
    """Return the entry of a model as `hardware.find` does, with what the user stated."""
    model = _model(name)
    return next((entry for entry in known() if entry.name == model), None)


def roofs_of(device: Device) -> Peaks:
    """Return every roof known of a device.

    The user's own word wins over what the profile states (or was measured), and that over the datasheet, roof by
    roof: a TPU's runtime states its bf16 peak alone, the datasheet adds that of int8.
    """
    stated, sheet = device.peaks, hardware.find(device.model)
    share = 1
    peaks = stated
    if sheet is not None:
        share = sheet.devices_per_chip
        part = hardware.shared_peaks(sheet.peaks, share)
        peaks = Peaks(
            flops_per_s={**part.flops_per_s, **stated.flops_per_s},
            reference_dtype=stated.reference_dtype if stated.reference else part.reference_dtype,
            bytes_per_s={**part.bytes_per_s, **stated.bytes_per_s},
            capacity_bytes=stated.capacity_bytes or part.capacity_bytes,
            on_chip_bytes={**part.on_chip_bytes, **stated.on_chip_bytes},
        )
    called = device.model or device.backend
    name = sheet.name if sheet is not None else called
    for own in _OWN:
        if own == name or hardware.is_called(called, own) or own.lower() == device.backend:
            return _with_own(peaks, own, share)
    return peaks


def passed_over(device: Device) -> tuple[Peaks, ...]:
    """Return what else is said of a device's roofs: by the profile or a measurement, and by the datasheet.

    A roof is among them where `roofs_of` believes somebody else, who says something different.
    """
    believed, sheet = roofs_of(device), hardware.device_peaks(device.model)
    return tuple(
        Peaks(
            flops_per_s=_differing(said.flops_per_s, believed.flops_per_s),
            bytes_per_s=_differing(said.bytes_per_s, believed.bytes_per_s),
        )
        for said in (device.peaks, sheet)
        if said is not None
    )


def _differing(said: Mapping[str, Peak], believed: Mapping[str, Peak]) -> dict[str, Peak]:
    return {
        name: peak
        for name, peak in said.items()
        if name in believed
        and (peak.label, peak.source) != (believed[name].label, believed[name].source)
        and abs(peak.value - believed[name].value) > _SAME_FRACTION * peak.value
    }


def _this_cpu() -> tuple[hardware.Hardware, ...]:
    found = read(this_machine())
    if found is None:
        return ()
    date = time.strftime("%Y-%m", time.gmtime(found.measured_s))
    source = "measured on this machine by python -m xprof_nb.capture.calibrate"
    return (hardware.Hardware(CPU, (CPU, found.machine.cpu), "", found.peaks, 1, source, date=date),)


def _model(name: str) -> str:
    found = hardware.find(name)
    if found is not None:
        return found.name
    return next((own for own in _OWN if hardware.words(own) == hardware.words(name)), name.strip())


def _is_roof(name: str) -> bool:
    return _ROOF.fullmatch(name) is not None


def _with_own(peaks: Peaks, name: str, share: int = 1) -> Peaks:
    flops, speeds, capacity = dict(peaks.flops_per_s), dict(peaks.bytes_per_s), peaks.capacity_bytes
    for key, value in _OWN.get(name, {}).items():
        found: Any = _ROOF.fullmatch(key)
        if key == "capacity_bytes":
            capacity = int(value) // share
        elif found[2] == "flops":
            flops[found[1]] = Peak(value / share, "user", _SOURCE)
        else:
            speeds[found[1]] = Peak(value / share, "user", _SOURCE)
    reference = peaks.reference_dtype if peaks.reference_dtype in flops else next(iter(flops), "")
    return replace(peaks, flops_per_s=flops, bytes_per_s=speeds, capacity_bytes=capacity, reference_dtype=reference)
