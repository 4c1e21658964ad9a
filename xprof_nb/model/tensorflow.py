"""Element types as TensorFlow numbers them, which allocator events of every framework do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_XLA = (
    None, "f32", "f64", "s32", "u8", "s16", "s8", "string", "c64", "s64", "pred", "s8", "u8", "s32", "bf16", "s16",
    "u16", "u16", "c128", "f16", "resource", "variant", "u32", "u64", "f8e5m2", "f8e4m3fn", "f8e4m3fnuz",
    "f8e4m3b11fnuz", "f8e5m2fnuz", "s4", "u4",
)  # fmt: skip
_OWN = (
    "INVALID", "float", "double", "int32", "uint8", "int16", "int8", "string", "complex64", "int64", "bool", "qint8",
    "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16", "complex128", "half", "resource", "variant",
    "uint32", "uint64",
)  # fmt: skip
_SHAPE = re.compile(r"([a-z]\w*)\[")


def dtype_names(numbers: NDArray[np.int64], shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return XLA's name of each element type, read from the shape where there is no number; None if unknown."""
    names = np.array([*_XLA, None], object)
    known = (numbers > 0) & (numbers < len(_XLA))
    found: NDArray[Any] = names[np.where(known, numbers, -1)]
    codes, texts = pd.factorize(shapes)
    stated = [match[1] if (match := _SHAPE.match(str(text))) else None for text in texts]
    from_shape = np.array([*stated, None], object)[codes]
    return np.where(known, found, from_shape)


def tensorflow_names(numbers: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return TensorFlow's own name of each element type, as xprof shows it."""
    known = (numbers >= 0) & (numbers < len(_OWN))
    found: NDArray[Any] = np.array([*_OWN, ""], object)[np.where(known, numbers, -1)]
    return found
