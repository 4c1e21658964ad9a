"""What a chip can do at most: datasheet peaks by name, and peaks measured on a host.

The datasheets are ``hardware.toml`` beside this file; a file of the same form named by ``$XPROF_NB_HARDWARE`` adds
to it and wins over it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from xprof_nb.errors import UsageError
from xprof_nb.model.device import Peak, Peaks
from xprof_nb.model.measured import measured

__all__ = [
    "Hardware", "as_frame", "datasheet", "device_peaks", "entries", "find", "is_called", "measured", "shared_peaks",
    "table",
]  # fmt: skip

VARIABLE = "XPROF_NB_HARDWARE"
_NOT_THE_MODEL = re.compile(
    r"nvidia|tesla|amd|instinct|google|cloud|aws|amazon|gpu|accelerator|oam|hgx|dgx|vf|ac|sxm\d?|hbm\w*|\d+gb"
)
"""Words of a device's name that do not make it another model. "PCIe", "NVL", "MIG" or "lite" do."""


@dataclass(frozen=True)
class Hardware:
    """One entry of the table.

    Attributes
    ----------
    names
        What it is called; see `find`.
    peaks
        Of the whole chip.
    devices_per_chip
        How many devices a runtime shows for one chip.
    link
        What joins the chips of a machine, in words.
    compute_units, clock_hz
        SMs of NVIDIA or compute units of AMD, and the clock at which the peaks hold; None where not stated.
    date
        When the entry was last held against its source.
    """

    name: str
    names: tuple[str, ...]
    vendor: str
    peaks: Peaks
    devices_per_chip: int
    source: str
    link: str = ""
    compute_units: int | None = None
    clock_hz: float | None = None
    date: str = ""


def datasheet(name: str) -> Peaks | None:
    """Return the dense peaks of the chip a device's name says it is, None when no entry is that very model.

    Raises
    ------
    UsageError
        The file `$XPROF_NB_HARDWARE` names cannot be used.
    """
    found = find(name)
    return None if found is None else found.peaks


def device_peaks(name: str) -> Peaks | None:
    """Return the part of the chip's peaks that one device of a runtime has.

    A TPU v3 chip, for one, shows as two devices, a TensorCore each.
    """
    found = find(name)
    return None if found is None else shared_peaks(found.peaks, found.devices_per_chip)


def shared_peaks(peaks: Peaks, share: int) -> Peaks:
    """Return the peaks of one of ``share`` equal parts of a chip."""
    if share == 1:
        return peaks

    def shared(peak: Peak) -> Peak:
        return replace(peak, value=peak.value / share, source=f"{peak.source}; one of {share} cores of the chip")

    return replace(
        peaks,
        flops_per_s={dtype: shared(peak) for dtype, peak in peaks.flops_per_s.items()},
        bytes_per_s={memory: shared(peak) for memory, peak in peaks.bytes_per_s.items()},
        capacity_bytes=None if peaks.capacity_bytes is None else peaks.capacity_bytes // share,
        on_chip_bytes={memory: size // share for memory, size in peaks.on_chip_bytes.items()},
    )


def find(name: str) -> Hardware | None:
    """Return the entry with the longest name whose words all occur in `name`.

    Whole words: "GB200" is not "B200". What else the name says may only be a vendor, a socket or a memory size,
    so that an "H100 NVL", which no entry knows, is not taken for an H100.
    """
    candidates = [(len(words(alias)), entry) for entry in entries() for alias in entry.names if is_called(name, alias)]
    return max(candidates, key=lambda candidate: candidate[0], default=(0, None))[1]


@lru_cache(8192)
def is_called(name: str, alias: str) -> bool:
    """Whether ``name`` holds every word of ``alias`` and, besides, none that makes it another model."""
    said, wanted = set(words(name)), set(words(alias))
    return said >= wanted and all(_NOT_THE_MODEL.fullmatch(word) for word in said - wanted)


@lru_cache(512)
def words(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name, in lower case."""
    return tuple(re.findall(r"[a-z0-9]+", name.lower()))


def table() -> pd.DataFrame:
    """Return every entry, one row each: ``name, vendor, devices_per_chip``, the peaks, ``source, date``.

    What the document does not state is NaN.
    """
    return as_frame(entries())


def as_frame(rows: Sequence[Hardware]) -> pd.DataFrame:
    """Return entries as `table` does."""
    everything = (*entries(), *rows)
    dtypes = dict.fromkeys(dtype for entry in everything for dtype in entry.peaks.flops_per_s)
    memories = dict.fromkeys(memory for entry in everything for memory in entry.peaks.bytes_per_s)
    sizes = dict.fromkeys(memory for entry in everything for memory in entry.peaks.on_chip_bytes)
    columns = [
        {
            "name": entry.name,
            "vendor": entry.vendor,
            **{f"{dtype}_flops_per_s": _value(entry.peaks.flops_per_s.get(dtype)) for dtype in dtypes},
            **{f"{memory}_bytes_per_s": _value(entry.peaks.bytes_per_s.get(memory)) for memory in memories},
            "capacity_bytes": entry.peaks.capacity_bytes,
            **{f"{memory}_capacity_bytes": entry.peaks.on_chip_bytes.get(memory) for memory in sizes},
            "clock_hz": entry.clock_hz if entry.clock_hz is not None else float("nan"),
            "compute_units": entry.compute_units,
            "devices_per_chip": entry.devices_per_chip,
            "link": entry.link,
            "names": ", ".join(entry.names),
            "source": entry.source,
            "date": entry.date,
        }
        for entry in rows
    ]
    whole = ["capacity_bytes", *(f"{memory}_capacity_bytes" for memory in sizes), "compute_units"]
    frame = pd.DataFrame(columns)
    return frame.astype(dict.fromkeys(whole, "Int64")) if len(frame) else frame


def _value(peak: Peak | None) -> float:
    return float("nan") if peak is None else peak.value


def entries() -> tuple[Hardware, ...]:
    """Return the entries; those of the user's own file come first, so that they win a tie."""
    own = os.environ.get(VARIABLE)
    if not own:
        return _shipped()
    path = Path(own).expanduser()
    try:
        return _parse(path.read_text(encoding="utf-8"), source=str(path)) + _shipped()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as e:
        raise UsageError(
            f"{VARIABLE} names a file that is not a hardware table ({type(e).__name__}: {e})",
            file=path,
            hint="An entry is [[hardware]] with name, flops_per_s = { bf16 = 1e12 } and hbm_bytes_per_s",
        ) from e


@lru_cache(maxsize=1)
def _shipped() -> tuple[Hardware, ...]:
    text = resources.files(__package__).joinpath("hardware.toml").read_text(encoding="utf-8")
    return _parse(text, source="hardware.toml")


def _parse(text: str, source: str) -> tuple[Hardware, ...]:
    return tuple(_entry(entry, source) for entry in tomllib.loads(text)["hardware"])


def _entry(entry: dict[str, Any], file: str) -> Hardware:
    source = str(entry.get("source", file))

    def peak(value: float) -> Peak:
        if not float(value) > 0:
            raise ValueError(f"a peak of {value} in {entry['name']}")
        return Peak(float(value), "datasheet", source)

    flops = {str(dtype): peak(value) for dtype, value in entry.get("flops_per_s", {}).items()}
    speeds = {
        memory: entry[f"{memory}_bytes_per_s"] for memory in ("hbm", "link") if f"{memory}_bytes_per_s" in entry
    } | entry.get("on_chip_bytes_per_s", {})
    return Hardware(
        name=str(entry["name"]),
        names=tuple(dict.fromkeys([str(entry["name"]), *map(str, entry.get("names", ()))])),
        vendor=str(entry.get("vendor", "")),
        peaks=Peaks(
            flops_per_s=flops,
            reference_dtype=str(entry.get("reference_dtype", next(iter(flops), ""))),
            bytes_per_s={str(memory): peak(value) for memory, value in speeds.items()},
            capacity_bytes=int(entry["capacity_bytes"]) if "capacity_bytes" in entry else None,
            on_chip_bytes={str(memory): int(size) for memory, size in entry.get("on_chip_bytes", {}).items()},
        ),
        devices_per_chip=int(entry.get("devices_per_chip", 1)),
        source=source,
        link=str(entry.get("link", "")),
        compute_units=int(entry["compute_units"]) if "compute_units" in entry else None,
        clock_hz=float(entry["clock_hz"]) if "clock_hz" in entry else None,
        date=str(entry.get("date", "")),
    )
