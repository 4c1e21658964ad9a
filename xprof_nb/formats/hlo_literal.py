"""A constant's value as XLA prints it, as long as it is short."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from xprof_nb.model.shape import Shape

_LONGEST_PRINTED = 10
_LISTS = {
    "pred": "preds",
    "s32": "s32s",
    "s64": "s64s",
    "u32": "u32s",
    "u64": "u64s",
    "f32": "f32s",
    "f64": "f64s",
    "c64": "c64s",
    "c128": "c128s",
}
_PACKED = {"s8": ("s8s", "<i1"), "u8": ("u8s", "<u1"), "s16": ("s16s", "<i2"), "u16": ("u16s", "<u2")}
# Significant digits XLA prints: the first number when it reads back the same, else the second.
_DIGITS = {"bf16": (4, 4), "f16": (5, 5), "f32": (6, 9), "c64": (6, 9), "f64": (15, 17), "c128": (15, 17)}


def literal_text(literal: Any, shape: Shape) -> str:
    """Return ``1``, ``{1, 2}`` or, when it is long or of an uncommon type, ``{...}``."""
    values = _values(literal, shape) if shape.elements <= _LONGEST_PRINTED else None
    if values is None or len(values) != shape.elements:
        return "{...}"
    if shape.dtype == "pred" and shape.dimensions:
        values = [int(value) for value in values]
    return _nested([_number(value, shape.dtype) for value in values], shape.dimensions)


def _values(literal: Any, shape: Shape) -> list[Any] | None:
    if shape.dtype in {"c64", "c128"}:
        parts = list(getattr(literal, _LISTS[shape.dtype]))
        return [complex(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
    if shape.dtype in _LISTS:
        return list(getattr(literal, _LISTS[shape.dtype]))
    if shape.dtype in _PACKED:
        field, dtype = _PACKED[shape.dtype]
        data = getattr(literal, field)
        return [int(value) for value in np.frombuffer(data, dtype, len(data) // np.dtype(dtype).itemsize)]
    if shape.dtype == "f16":
        return [float(value) for value in np.frombuffer(literal.f16s, "<f2", len(literal.f16s) // 2)]
    if shape.dtype == "bf16":
        # A bfloat16 is the upper half of a float32.
        bits = np.frombuffer(literal.bf16s, "<u2", len(literal.bf16s) // 2).astype(np.uint32) << 16
        return [float(value) for value in bits.view(np.float32)]
    return None


def _number(value: Any, dtype: str) -> str:
    if isinstance(value, complex):
        return f"({_number(value.real, dtype)}, {_number(value.imag, dtype)})"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    fewest, enough = _DIGITS[dtype]
    text = f"{value:.{fewest}g}"
    return text if _single(float(text), dtype) == _single(value, dtype) else f"{value:.{enough}g}"


def _single(value: float, dtype: str) -> float:
    """Return the value as the type can hold it."""
    return value if dtype in {"f64", "c128"} else float(np.float32(value))


def _nested(texts: list[str], dimensions: tuple[int, ...], depth: int = 0) -> str:
    if not dimensions:
        return texts[0]
    rows = texts
    if len(dimensions) > 1:
        step = math.prod(dimensions[1:])
        rows = [_nested(texts[i * step : (i + 1) * step], dimensions[1:], depth + 1) for i in range(dimensions[0])]
    # XLA's spacing: a list of lists is spaced, and so is a row of several numbers in one.
    spaced = len(dimensions) > 1 or (depth > 0 and len(rows) > 1)
    return f"{{ {', '.join(rows)} }}" if spaced else f"{{{', '.join(rows)}}}"
