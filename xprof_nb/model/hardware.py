"""What a chip can do at most: datasheet peaks by name, and peaks measured on a host.

The datasheets are ``hardware.toml`` beside this file; a file of the same form named by ``$XPROF_NB_HARDWARE`` adds
to it and wins over it.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from xprof_nb.errors import UsageError
from xprof_nb.model.device import Peak, Peaks
from xprof_nb.model.measured import measured

__all__ = ["Hardware", "datasheet", "device_peaks", "find", "measured", "table"]

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
    """

    name: str
    names: tuple[str, ...]
    vendor: str
    peaks: Peaks
    devices_per_chip: int
    source: str


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
    if found is None or found.devices_per_chip == 1:
        return None if found is None else found.peaks
    share = found.devices_per_chip

    def shared(peak: Peak) -> Peak:
        return replace(peak, value=peak.value / share, source=f"{peak.source}; one of {share} cores of the chip")

    peaks = found.peaks
    return replace(
        peaks,
        flops_per_s={dtype: shared(peak) for dtype, peak in peaks.flops_per_s.items()},
        bytes_per_s={memory: shared(peak) for memory, peak in peaks.bytes_per_s.items()},
        capacity_bytes=None if peaks.capacity_bytes is None else peaks.capacity_bytes // share,
    )


def find(name: str) -> Hardware | None:
    """Return the entry with the longest name whose words all occur in `name`.

    Whole words: "GB200" is not "B200". What else the name says may only be a vendor, a socket or a memory size,
    so that an "H100 NVL", which no entry knows, is not taken for an H100.
    """
    words = set(_words(name))
    candidates = [
        (len(alias), entry)
        for entry in _entries()
        for alias in map(_words, entry.names)
        if words >= set(alias) and all(_NOT_THE_MODEL.fullmatch(word) for word in words - set(alias))
    ]
    return max(candidates, key=lambda candidate: candidate[0], default=(0, None))[1]


def table() -> pd.DataFrame:
    """Return every entry, one row each: ``name, vendor, devices_per_chip``, the peaks, ``source``.

    A peak the document does not state is NaN.
    """
    entries = _entries()
    dtypes = dict.fromkeys(dtype for entry in entries for dtype in entry.peaks.flops_per_s)
    rows = [
        {
            "name": entry.name,
            "vendor": entry.vendor,
            **{f"{dtype}_flops_per_s": _value(entry.peaks.flops_per_s.get(dtype)) for dtype in dtypes},
            "hbm_bytes_per_s": _value(entry.peaks.hbm),
            "capacity_bytes": entry.peaks.capacity_bytes,
            "devices_per_chip": entry.devices_per_chip,
            "names": ", ".join(entry.names),
            "source": entry.source,
        }
        for entry in entries
    ]
    return pd.DataFrame(rows).astype({"capacity_bytes": "Int64"})


def _value(peak: Peak | None) -> float:
    return float("nan") if peak is None else peak.value


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


def _entries() -> tuple[Hardware, ...]:
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
    return Hardware(
        name=str(entry["name"]),
        names=tuple(dict.fromkeys([str(entry["name"]), *map(str, entry.get("names", ()))])),
        vendor=str(entry.get("vendor", "")),
        peaks=Peaks(
            flops_per_s=flops,
            reference_dtype=str(entry.get("reference_dtype", next(iter(flops), ""))),
            bytes_per_s={"hbm": peak(entry["hbm_bytes_per_s"])} if "hbm_bytes_per_s" in entry else {},
            capacity_bytes=int(entry["capacity_bytes"]) if "capacity_bytes" in entry else None,
        ),
        devices_per_chip=int(entry.get("devices_per_chip", 1)),
        source=source,
    )
