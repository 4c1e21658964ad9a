"""In which precision the devices computed: shares of the busy time and of the FLOPs by element type."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xprof_nb.model.columns import Columns, numbered, summed_by

NOTHING = "none"
"""The class of ops that compute nothing: data movement, waits, control flow."""


def bits_of(dtype: str | None) -> str:
    """Return the width of an element type as a class: "16-bit" of ``bf16``, `NOTHING` of an op without one."""
    found = re.search(r"\d+", dtype or "")
    if dtype == "pred":
        return "1-bit"
    return f"{found[0]}-bit" if found else NOTHING


def precision(records: Columns) -> list[dict[str, Any]]:
    """Return one entry per element type that ops computed in, by time.

    Parameters
    ----------
    records
        Ops with ``compute_dtype, roof_dtype, self_time_ps, flops``, containers without costs.

    Returns
    -------
    list of dict
        ``dtype`` (`NOTHING` for ops that compute nothing), ``bits``, ``roof_dtype`` (what most of its FLOPs are
        measured against), ``time_fraction`` of the busy time, ``flops_fraction`` of the FLOPs that are known.
    """
    self_ps, flops = records["self_time_ps"], np.nan_to_num(records["flops"])
    busy, total = float(self_ps.sum()), float(flops.sum())
    code, dtypes = numbered(NOTHING if dtype is None else dtype for dtype in records["compute_dtype"])
    entries = []
    for number, (name,) in enumerate(dtypes):
        mine = code == number
        entries.append(
            {
                "dtype": str(name),
                "bits": bits_of(None if name == NOTHING else str(name)),
                "roof_dtype": _heaviest(records["roof_dtype"][mine], flops[mine]),
                "time_fraction": float(self_ps[mine].sum()) / busy if busy else None,
                "flops_fraction": float(flops[mine].sum()) / total if total else None,
            }
        )
    return sorted(entries, key=lambda entry: -(entry["time_fraction"] or 0.0))


def by_bits(entries: list[dict[str, Any]], share: str) -> dict[str, float]:
    """Return a share of `precision` summed by width."""
    sums: dict[str, float] = {}
    for entry in entries:
        if entry[share] is not None:
            sums[entry["bits"]] = sums.get(entry["bits"], 0.0) + entry[share]
    return sums


def _heaviest(roofs: NDArray[np.object_], flops: NDArray[np.float64]) -> str | None:
    """Return the roof of the most FLOPs, the first in alphabetical order of several."""
    weights = summed_by(roofs, flops)
    weights.pop(None, None)
    return max(sorted(weights), key=lambda roof: weights[roof], default=None)
