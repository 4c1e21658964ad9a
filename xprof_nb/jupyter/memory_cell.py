"""``%%xprof_mem``: the device memory a cell took, as text and as a small table."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xprof_nb.model import units

if TYPE_CHECKING:
    from xprof_nb.capture.memory_watch import DeviceMemory, LiveArray, MemoryReport

_HEADS = ("device", "before", "peak", "after", "kept")
_ARRAY_HEADS = ("array", "dtype", "shape", "size")


@dataclass(frozen=True)
class ShownMemory:
    """A memory report that shows itself in a notebook."""

    report: MemoryReport

    def __repr__(self) -> str:
        tables = [_plain(_HEADS, [_device_row(device) for device in self.report.devices])]
        if self.report.arrays:
            tables.append(_plain(_ARRAY_HEADS, [_array_row(array) for array in self.report.arrays]))
        return "\n\n".join([*tables, *(f"note: {note}" for note in self.report.notes)])

    def _repr_html_(self) -> str:
        tables = _table("device memory of this cell", _HEADS, [_device_row(device) for device in self.report.devices])
        if self.report.arrays:
            rows = [_array_row(array) for array in self.report.arrays]
            tables += _table("largest arrays it made and did not free", _ARRAY_HEADS, rows)
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.report.notes)
        return tables + (f"<ul>{notes}</ul>" if notes else "")


def _device_row(device: DeviceMemory) -> tuple[str, ...]:
    kept = device.kept_bytes
    sizes = (units.size(size) for size in (device.before_bytes, device.peak_bytes, device.after_bytes))
    return device.device, *sizes, f"{'+' if kept > 0 else ''}{units.size(kept)}"


def _array_row(array: LiveArray) -> tuple[str, ...]:
    shape = f"[{', '.join(map(str, array.shape))}]"
    return array.name or "held by no variable", array.dtype, shape, units.size(array.size_bytes)


def _plain(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    columns = [[head, *cells] for head, *cells in zip(heads, *rows, strict=True)]
    padded = [[cell.rjust(max(map(len, column))) for cell in column] for column in columns]
    return "\n".join(map("  ".join, zip(*padded, strict=True)))


def _table(caption: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col" align="right">{head}</th>' for head in heads)
    body = "".join(
        "<tr>" + "".join(f'<td align="right">{html.escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f"<table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>\n</table>\n"
