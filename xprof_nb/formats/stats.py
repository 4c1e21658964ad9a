"""One stat of many rows: typed values, decoded when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from xprof_nb.formats.codes import ABSENT, BYTES, DOUBLE, INT64, REF, STR, UINT64
from xprof_nb.formats.source import Source

_TWO_TO_63 = float(2**63)


def canonical(name: str) -> str:
    """Return the name by which a stat is known today."""
    return "Hlo Proto" if name == "HLO Proto" else name


def bytes_at(source: Source, position: int) -> memoryview:
    """Return the bytes whose length is written at ``position``."""
    size = shift = 0
    while True:
        byte = source.view[position]
        size |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return source.view[position : position + size]


@dataclass(frozen=True, eq=False)
class StatColumn:
    """The values of one stat, a row per event or per metadata entry.

    The same stat may change its type from row to row. Where a row repeats the stat, the first value counts.

    Attributes
    ----------
    kind
        int8[n]: 0 absent, 1 double, 2 uint64, 3 int64, 4 str, 5 bytes, 6 ref (an interned str).
    raw
        int64[n]: the bits of a number, the row of a ref in ``interned``, the position where the length
        of a str or bytes is written.
    kinds
        The kinds that occur.
    interned
        What refs refer to.
    """

    kind: npt.NDArray[np.int8]
    raw: npt.NDArray[np.int64]
    kinds: frozenset[int]
    interned: tuple[str, ...] = field(repr=False)
    source: Source = field(repr=False)

    def take(self, rows: npt.NDArray[Any]) -> StatColumn:
        """Return the chosen rows (a mask or indices)."""
        if rows.dtype == np.bool_ and rows.all():
            return self
        return replace(self, kind=self.kind[rows], raw=self.raw[rows])

    def keep(self, mask: npt.NDArray[np.bool_]) -> StatColumn:
        """Return the rows of the mask, moved together in place: the column itself is used up.

        Fresh memory for a long column costs more than the work on it.
        """
        count = int(np.count_nonzero(mask))
        if count < len(mask):
            self.kind[:count] = self.kind[mask]
            self.raw[:count] = self.raw[mask]
        return replace(self, kind=self.kind[:count], raw=self.raw[:count])

    @cached_property
    def present(self) -> npt.NDArray[np.bool_]:
        """bool[n]: the row has a value."""
        return self.kind != ABSENT

    def ints(self, missing: int = 0) -> npt.NDArray[np.int64]:
        """Return int64[n], ``missing`` where there is no whole number; uint64 keep their bits."""
        if missing == 0 and self.kinds <= {UINT64, INT64}:
            return self.raw
        out = np.full(len(self.raw), missing, np.int64)
        if not self.kinds:
            return out
        whole = (self.kind == UINT64) | (self.kind == INT64)
        out[whole] = self.raw[whole]
        if DOUBLE in self.kinds:
            rows = np.flatnonzero(self.kind == DOUBLE)
            values = self.raw[rows].view(np.float64)
            fits = (values == np.floor(values)) & (np.abs(values) < _TWO_TO_63)
            out[rows[fits]] = values[fits].astype(np.int64)
        return out

    def floats(self) -> npt.NDArray[np.float64]:
        """Return float64[n], NaN where there is no number."""
        out = np.full(len(self.raw), np.nan)
        for kind, dtype in ((DOUBLE, np.float64), (UINT64, np.uint64), (INT64, np.int64)):
            if kind in self.kinds:
                rows = self.kind == kind
                out[rows] = self.raw[rows].view(dtype)
        return out

    def texts(self) -> tuple[npt.NDArray[np.int32], list[str]]:
        """Return int32[n] codes into a list of distinct texts; -1 where there is no text."""
        codes: dict[str, int] = {}
        out = np.full(len(self.raw), -1, np.int32)
        if REF in self.kinds:
            is_ref = self.kind == REF
            everywhere = bool(is_ref.all())
            refs = self.raw if everywhere else self.raw[is_ref]
            code_of_row = np.empty(len(self.interned), np.int32)
            used = np.zeros(len(self.interned), np.bool_)
            used[refs] = True
            for row in np.flatnonzero(used).tolist():
                code_of_row[row] = codes.setdefault(self.interned[row], len(codes))
            if everywhere:
                np.take(code_of_row, refs, out=out)
            else:
                out[is_ref] = code_of_row[refs]
        if STR in self.kinds:
            rows = np.flatnonzero(self.kind == STR)
            out[rows] = [
                codes.setdefault(str(bytes_at(self.source, at), "utf-8", "replace"), len(codes))
                for at in self.raw[rows].tolist()
            ]
        return out, list(codes)

    def blobs(self) -> list[bytes | None]:
        """Return the bytes values, None where there is none."""
        out: list[bytes | None] = [None] * len(self.raw)
        if BYTES in self.kinds:
            for row in np.flatnonzero(self.kind == BYTES).tolist():
                out[row] = bytes(bytes_at(self.source, int(self.raw[row])))
        return out

    def value(self, row: int) -> Any:
        """Return one row as Python knows it: int, float, str, bytes or None."""
        kind, raw = int(self.kind[row]), int(self.raw[row])
        return python_value(kind, raw, self.interned, self.source)


def joined(tables: Sequence[Sequence[StatColumn]]) -> tuple[StatColumn, ...]:
    """Return the columns of tables of one file one below the other; each table has the same, of one plane."""
    interned = tuple(chain.from_iterable(table[0].interned for table in tables))
    begins = accumulate((len(table[0].interned) for table in tables[:-1]), initial=0)
    begin = np.repeat([*begins], [len(table[0].raw) for table in tables])
    source = tables[0][0].source
    return tuple(_one_column(columns, begin, interned, source) for columns in zip(*tables, strict=True))


def _one_column(
    columns: Sequence[StatColumn], begin: npt.NDArray[np.int64], interned: tuple[str, ...], source: Source
) -> StatColumn:
    kinds = frozenset().union(*(column.kinds for column in columns))
    if not kinds:  # its pages were never written: reading them would cost more than all else
        return StatColumn(np.zeros(len(begin), np.int8), np.zeros(len(begin), np.int64), kinds, interned, source)
    kind, raw = (np.concatenate([getattr(column, name) for column in columns]) for name in ("kind", "raw"))
    if REF in kinds:
        raw = np.where(kind == REF, raw + begin, raw)
    return StatColumn(kind, raw, kinds, interned, source)


def python_value(kind: int, raw: int, interned: tuple[str, ...], source: Source) -> int | float | str | bytes | None:
    """Return a value from its kind and its raw 64 bits, as `StatColumn` explains them."""
    if kind == INT64:
        return raw
    if kind == UINT64:
        return raw % 2**64
    if kind == DOUBLE:
        return float(np.int64(raw).view(np.float64))
    if kind == STR:
        return str(bytes_at(source, raw), "utf-8", "replace")
    if kind == BYTES:
        return bytes(bytes_at(source, raw))
    return interned[raw] if kind == REF else None
