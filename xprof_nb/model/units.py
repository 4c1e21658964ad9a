"""How a number is written for people: three significant digits, its unit, and an en dash where it is missing.

Every function takes a number or what pandas uses for a missing one (``None``, NaN, ``<NA>``) and returns a string.
Times scale to the unit that gives 1 to 999, rates are in SI prefixes, memory in binary ones, and thousands are
set apart by a thin space.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, SupportsFloat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MISSING = "–"
PS_PER_S = 1e12
THIN_SPACE = "\u2009"
SUSPICIOUS_FRACTION = 1.05

Number = SupportsFloat | None

_TIME = (("ps", 1.0), ("ns", 1e3), ("µs", 1e6), ("ms", 1e9), ("s", 1e12))
_SI = tuple((prefix, 1000.0**power) for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E")))
_BINARY = tuple((prefix, 1024.0**power) for power, prefix in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB")))


def duration(ps: Number) -> str:
    """Return a duration of ``ps`` picoseconds: ``"54.3 ms"``."""
    return _scaled(ps, _TIME)


def seconds(value: Number) -> str:
    """Return a duration of so many seconds: ``"54.3 ms"``."""
    return _rescaled(value, PS_PER_S, duration)


def flops(value: Number) -> str:
    """Return a number of floating-point operations: ``"2.15 GFLOP"``."""
    return _scaled(value, _suffixed("FLOP"))


def flops_per_s(value: Number) -> str:
    """Return a rate of floating-point operations: ``"312 TFLOP/s"``."""
    return _scaled(value, _suffixed("FLOP/s"))


def bytes_per_s(value: Number) -> str:
    """Return a rate of memory traffic: ``"980 GB/s"``."""
    return _scaled(value, _suffixed("B/s"))


def size(value: Number) -> str:
    """Return a size in bytes: ``"12.1 GiB"``, ``"4 B"``."""
    number = _known(value)
    if number is not None and abs(number) < 1000 and number == round(number):
        return f"{number:.0f} B"
    return _scaled(value, _BINARY, per_unit=1024.0)


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return the first few names, and how many more there are: ``"a, b and 3 more"``."""
    known = list(names)
    more = f" and {len(known) - most:,} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def percent(fraction: Number) -> str:
    """Return a fraction of one as a percentage: ``"93.1 %"``."""
    value = _known(fraction)
    if value is None:
        return MISSING
    return "<0.1 %" if 0 < value < 0.0005 else f"{value * 100:.1f} %"


def utilization(fraction: Number) -> str:
    """Return a fraction of a peak; above 105 % it carries a mark, because the work or the peak is then in doubt."""
    value = _known(fraction)
    text = percent(value)
    return f"{text} ⚠" if value is not None and value > SUSPICIOUS_FRACTION else text


def count(value: Number) -> str:
    """Return a whole number, thousands apart: ``"26 723"``; three digits when it is an average."""
    number = _known(value)
    if number is None:
        return MISSING
    return _grouped(number) if number == round(number) else significant(number)


def counted(value: Number, noun: str, nouns: str = "") -> str:
    """Return a number of things: ``"1 step"``, ``"26 723 events"``; ``nouns`` for a plural that is not made with s."""
    return f"{count(value)} {noun if _known(value) == 1 else nouns or noun + 's'}"


def significant(value: Number) -> str:
    """Return a bare number in three significant digits, never cutting whole ones: ``"0.0123"``, ``"1 234"``."""
    number = _known(value)
    if number is None:
        return MISSING
    if number == 0:
        return "0"
    decimals = 2 - math.floor(math.log10(abs(float(f"{number:.3g}"))))
    return f"{number:.{decimals}f}" if decimals > 0 else _grouped(number)


def text(value: object) -> str:
    """Return a word as it is, or an en dash where there is none."""
    return MISSING if _absent(value) else str(value)


def formatter(column: str) -> Callable[..., str]:
    """Return how the values of a column are written, told from the unit in its name.

    ``time_ps`` is a duration, ``flops_utilization`` a percentage, ``bytes_accessed`` a size; a column without a
    unit is a count when its value is a number, and a word otherwise.
    """
    for pattern, function in _BY_NAME:
        if re.search(pattern, column):
            return function
    return _plain


def heading(column: str) -> str:
    """Return a column's name for people, without the unit its cells carry: ``step_time_ps`` is ``"step time"``."""
    name = _UNIT.sub("", column.replace("time_fraction", "share"))
    for short, long in _HEADINGS.items():
        name = name.replace(short, long)
    return " ".join(name.split("_")) or column


_UNIT = re.compile(r"_(ps|ns|s|fraction)$(?<!_per_s)")
_HEADINGS = {
    "flops_per_s": "FLOP/s",
    "hbm_bytes_per_s": "HBM B/s",
    "bytes_per_s": "B/s",
    "flops_utilization": "of FLOP/s peak",
    "hbm_utilization": "of HBM peak",
    "flops": "FLOPs",
    "hbm": "HBM",
}

_BY_NAME: tuple[tuple[str, Callable[..., str]], ...] = (
    (r"_ps$", duration),
    (r"_ns$", lambda value: _rescaled(value, 1e3, duration)),
    (r"_s$(?<!_per_s)", seconds),
    (r"utilization$", utilization),
    (r"_fraction$", percent),
    (r"flops_per_s$", flops_per_s),
    (r"bytes_per_s$", bytes_per_s),
    (r"(^|_)flops$", flops),
    (r"(^|_)bytes(_|$)", size),
)


def quantity(value: Number, unit: str) -> str:
    """Return a value whose unit is told apart from it: ``quantity(5.43e10, "ps")`` is ``"54.3 ms"``."""
    if _absent(value):
        return MISSING
    known = _BY_UNIT.get(unit)
    return f"{_plain(value)} {unit}".rstrip() if known is None else known(value)


_BY_UNIT: dict[str, Callable[..., str]] = {
    "ps": duration,
    "fraction": percent,
    "FLOP": flops,
    "FLOP/s": flops_per_s,
    "B": size,
    "B/s": bytes_per_s,
}


def _plain(value: object) -> str:
    if _absent(value):
        return MISSING
    is_number = hasattr(value, "__float__") and not isinstance(value, bool)
    return count(float(value)) if is_number else str(value)  # type: ignore[arg-type]


def _rescaled(value: Number, factor: float, function: Callable[[Number], str]) -> str:
    number = _known(value)
    return MISSING if number is None else function(number * factor)


def _scaled(value: Number, units: tuple[tuple[str, float], ...], per_unit: float = 1000.0) -> str:
    """Return ``value`` in the largest of ``units`` it reaches."""
    number = _known(value)
    if number is None:
        return MISSING
    for unit, factor in units[:-1]:
        scaled = number / factor
        if abs(scaled) < per_unit - 0.5:  # 999.6 is written as 1 000, so it belongs to the next unit
            return f"{significant(scaled)} {unit}"
    unit, factor = units[-1]
    return f"{significant(number / factor)} {unit}"


def _suffixed(unit: str) -> tuple[tuple[str, float], ...]:
    return tuple((prefix + unit, factor) for prefix, factor in _SI)


def _grouped(number: float) -> str:
    return f"{round(number):,}".replace(",", THIN_SPACE)


def _known(value: Number) -> float | None:
    """Return a finite float, or None for what pandas calls missing."""
    if value is None or _absent(value):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _absent(value: object) -> bool:
    # pd.isna without pandas, which model/ can do without; a word may well be spelled "nan".
    return value is None or (not isinstance(value, str) and str(value) in {"nan", "<NA>", "NaT"})
