"""The wire codec: how a table crosses from Python to a browser, the same bytes for every host.

Layout, little-endian::

    uint32 length of the header | header, JSON in UTF-8, padded with spaces | buffers, each 8-byte aligned

The header is ``{"v": 1, "rows": n, "meta": {…}, "columns": [{"name", "dtype", "offset", "length", "values"?}]}``
with ``offset`` counted from the first buffer and ``length`` in bytes. ``dtype`` is ``f8`` (NaN is missing),
``i4``, ``u1`` (bytes and booleans) or ``str``: int32 codes into ``values``, -1 is missing. 64-bit integers that a
JavaScript number cannot hold travel as ``str``.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]
VERSION = 1
LARGEST_SAFE_INTEGER = 2**53
_DTYPES = {"f8": np.float64, "i4": np.int32, "u1": np.uint8, "str": np.int32}


def encode(frame: pd.DataFrame, meta: Mapping[str, Any] | None = None) -> bytes:
    """Return ``frame`` and a JSON-able ``meta`` as one block of bytes."""
    columns: list[dict[str, Any]] = []
    buffers: list[bytes] = []
    offset = 0
    for name in frame.columns:
        dtype, values, labels = _column(frame[name])
        data = np.ascontiguousarray(values, dtype=np.dtype(_DTYPES[dtype]).newbyteorder("<")).tobytes()
        column = {"name": str(name), "dtype": dtype, "offset": offset, "length": len(data)}
        if labels is not None:
            column["values"] = labels
        columns.append(column)
        padding = -len(data) % 8
        buffers.append(data + b"\0" * padding)
        offset += len(data) + padding
    header = {"v": VERSION, "rows": len(frame), "meta": dict(meta or {}), "columns": columns}
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return struct.pack("<I", len(text)) + text + b"".join(buffers)


def decode(data: bytes | memoryview) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the frame and the meta that `encode` packed."""
    data = memoryview(data)
    (size,) = struct.unpack_from("<I", data)
    header = json.loads(bytes(data[4 : 4 + size]))
    if header["v"] != VERSION:
        raise ValueError(f"table of version {header['v']}, this reader knows {VERSION}")
    start = 4 + size
    frame = {}
    for column in header["columns"]:
        dtype = np.dtype(_DTYPES[column["dtype"]]).newbyteorder("<")
        values = np.frombuffer(data, dtype, column["length"] // dtype.itemsize, start + column["offset"])
        if column["dtype"] == "str":
            frame[column["name"]] = pd.Series(
                [None if code < 0 else column["values"][code] for code in values], dtype=object
            )
        else:
            frame[column["name"]] = pd.Series(values)
    return pd.DataFrame(frame), header["meta"]


def _column(series: pd.Series) -> tuple[str, np.ndarray[Any, Any], list[str] | None]:
    """Return the wire dtype, the array and, for strings, the dictionary of a column."""
    if pd.api.types.is_bool_dtype(series.dtype) and not series.isna().any():
        return "u1", series.to_numpy(dtype=np.uint8), None
    if pd.api.types.is_integer_dtype(series.dtype):
        return _integers(series)
    if pd.api.types.is_numeric_dtype(series.dtype):
        return "f8", series.to_numpy(dtype=np.float64, na_value=np.nan), None
    return _strings(series)


def _integers(series: pd.Series) -> tuple[str, np.ndarray[Any, Any], list[str] | None]:
    if series.dtype == np.uint8:
        return "u1", series.to_numpy(), None
    known = series.dropna()
    if len(known) and max(abs(int(known.min())), abs(int(known.max()))) >= LARGEST_SAFE_INTEGER:
        return _strings(series.astype(object))
    if len(known) == len(series) and series.dtype == np.int32:
        return "i4", series.to_numpy(), None
    return "f8", series.to_numpy(dtype=np.float64, na_value=np.nan), None


def _strings(series: pd.Series) -> tuple[str, np.ndarray[Any, Any], list[str] | None]:
    codes, labels = pd.factorize(series, use_na_sentinel=True)
    return "str", codes.astype(np.int32), [str(label) for label in labels]


def words(values: Iterable[Any]) -> pd.Series:
    """Return a column of text in which missing is None; pandas itself would turn it into a NaN."""
    return pd.Series([value if isinstance(value, str) else None for value in values], dtype=object)


def texts(values: Iterable[Any]) -> NDArray[np.object_]:
    """Return `words` as an array."""
    return np.array([*(value if isinstance(value, str) else None for value in values), None], object)[:-1]


def are_texts(values: Iterable[Any]) -> NDArray[np.bool_]:
    """Return which values are text; all others stand for a missing one."""
    return np.array([isinstance(value, str) for value in values], np.bool_)


def taken(columns: Mapping[str, NDArray[Any]], rows: NDArray[Any]) -> Columns:
    """Return the chosen rows (a mask or indices)."""
    return {name: values[rows] for name, values in columns.items()}


def known_sum(values: NDArray[Any]) -> float:
    """Return the sum of what is known, NaN where nothing is."""
    values = values.astype(np.float64)
    missing = np.isnan(values)
    return math.nan if missing.all() else float(np.where(missing, 0.0, values).sum())


def summed_by(names: Iterable[Any], weights: NDArray[Any]) -> dict[Any, float]:
    """Return the sum of the weights under each name, in order of first appearance."""
    code, distinct = numbered(names)
    sums = np.bincount(code, weights, minlength=len(distinct)).tolist()
    return {name: total for (name,), total in zip(distinct, sums, strict=True)}


def heaviest_first(weight: NDArray[Any], name: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows by weight, the heaviest first and those without one last; equal ones by name."""
    by_name = np.argsort(name, kind="stable")
    return by_name[np.argsort(-weight[by_name], kind="stable")]


def whole_numbers(values: NDArray[np.float64]) -> pd.arrays.IntegerArray:
    """Return numbers as whole ones, of which some may be missing."""
    missing = np.isnan(values)
    return pd.arrays.IntegerArray(np.where(missing, 0, values).astype(np.int64), missing)


def as_frame(columns: Mapping[str, NDArray[Any] | pd.api.extensions.ExtensionArray]) -> pd.DataFrame:
    """Return arrays of one length as a table; arrays of objects stay so, of which pandas would make its own strings."""
    rows = pd.RangeIndex(len(next(iter(columns.values()))))
    as_they_are = {
        name: pd.Series(values, rows, dtype=object) if values.dtype == object else values
        for name, values in columns.items()
    }
    return pd.DataFrame(as_they_are, rows)


def stacked(parts: Sequence[Mapping[str, NDArray[Any]]]) -> Columns:
    """Return columns of one table after those of the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def coded(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of `numbered` for arrays, however many rows they have."""
    code, count = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        own, distinct = pd.factorize(column, use_na_sentinel=False)
        if count * len(distinct) >= 2**63:
            code, found = pd.factorize(code)
            count = len(found)
        code, count = code * len(distinct) + own, count * len(distinct)
    return pd.factorize(code)[0]


def numbered(*columns: Iterable[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return a number for each row, that of rows alike, and the distinct rows in order of their first appearance."""
    number: dict[Any, int] = {}
    codes = [number.setdefault(row, len(number)) for row in zip(*columns, strict=True)]
    return np.array(codes, np.int64), list(number)


def number(value: Any) -> float | None:
    """Return what a summary holds of a number: None where it is missing or beyond all bounds."""
    return float(value) if math.isfinite(value) else None


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries of plain Python values; missing is None."""
    columns = {
        name: [
            None if missing else _plain(value) for value, missing in zip(frame[name], frame[name].isna(), strict=True)
        ]
        for name in frame
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
