"""Event metadata of an accelerator plane: the identity and the costs of its ops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats import plausible
from xprof_nb.formats.stats import StatColumn
from xprof_nb.formats.varint import read_varint
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.columns import Columns

_HBM, _CMEM, _READ, _WRITE = 1, 2, 1, 2
_STATS = ("program_id", "symbol_id", "memory_access_breakdown")
_WORDS = {
    "category": "hlo_category",
    "framework_op": "tf_op",
    "source": "source",
    "duplicate_of": "deduplicated_name",
}
_AMOUNTS = ("flops", "model_flops", "bytes_accessed")
_TRAFFIC = ["hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes", "cmem_read_bytes", "cmem_write_bytes"]


def op_keys(plane: XPlane) -> Columns:
    """Return one row per event metadata of the plane, with the identity and the costs of an op."""
    metadata = plane.metadata
    shown = [display or name for name, display in zip(metadata.name, metadata.display_name, strict=True)]
    program_id, symbol_id, breakdown, *stats = plane.metadata_stats(*_STATS, *_WORDS.values(), *_AMOUNTS)
    words = {name: _texts(stat) for name, stat in zip(_WORDS, stats, strict=False)}
    amounts = {name: plausible.amounts(stat) for name, stat in zip(_AMOUNTS, stats[len(words) :], strict=True)}
    traffic = [_traffic(blob) for blob in breakdown.blobs()]
    return {
        "program_id": program_id.ints().view(np.uint64),
        "op": np.array([*shown, None], object)[:-1],
        "hlo_text": np.array([*metadata.name, None], object)[:-1],
        **words,
        **amounts,
        "is_op": program_id.present & (symbol_id.ints() != 0),
        **dict(zip(_TRAFFIC, np.array(traffic, np.float64).reshape(-1, len(_TRAFFIC)).T, strict=True)),
    }


def varint_fields(message: bytes) -> list[tuple[int, int]]:
    """Return (field, value) of the scalar fields of a small message; nested fields are stepped over."""
    fields, position = [], 0
    while position < len(message):
        tag, position = read_varint(message, position)
        value, position = read_varint(message, position)
        if tag & 7 == 2:
            position += value
        else:
            fields.append((tag >> 3, value))
    return fields


def _texts(stat: StatColumn) -> NDArray[np.object_]:
    codes, labels = stat.texts()
    return np.array([*labels, None], dtype=object)[codes]


def _traffic(breakdown: bytes | None) -> tuple[float, ...]:
    """Return the bytes of one access breakdown, as in `_TRAFFIC`: of HBM, read and written on chip, of CMEM alone."""
    if breakdown is None:
        return (np.nan,) * len(_TRAFFIC)
    hbm = read = written = cmem_read = cmem_written = 0
    position = 0
    while position < len(breakdown):
        _, position = read_varint(breakdown, position)
        size, position = read_varint(breakdown, position)
        access = dict(varint_fields(breakdown[position : position + size]))
        position += size
        count, space = access.get(3, 0), access.get(2)
        if space == _HBM:
            hbm += count
        elif access.get(1) == _READ:
            read += count
            cmem_read += count * (space == _CMEM)
        elif access.get(1) == _WRITE:
            written += count
            cmem_written += count * (space == _CMEM)
    return float(hbm), float(read), float(written), float(cmem_read), float(cmem_written)
