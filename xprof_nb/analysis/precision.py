"""In which precision the devices computed: shares of the busy time and of the FLOPs by element type."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

NOTHING = "none"
"""The class of ops that compute nothing: data movement, waits, control flow."""


def bits_of(dtype: str | None) -> str:
    """Return the width of an element type as a class: "16-bit" of ``bf16``, `NOTHING` of an op without one."""
    found = re.search(r"\d+", dtype or "")
    if dtype == "pred":
        return "1-bit"
    return f"{found[0]}-bit" if found else NOTHING


def precision(records: pd.DataFrame) -> list[dict[str, Any]]:
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
    dtype = records["compute_dtype"].fillna(NOTHING)
    busy, flops = float(records["self_time_ps"].sum()), float(records["flops"].sum())
    entries = []
    for name, ops in records.groupby(dtype, sort=False):
        entries.append(
            {
                "dtype": str(name),
                "bits": bits_of(None if name == NOTHING else str(name)),
                "roof_dtype": _heaviest(ops),
                "time_fraction": float(ops["self_time_ps"].sum()) / busy if busy else None,
                "flops_fraction": float(ops["flops"].sum()) / flops if flops else None,
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


def _heaviest(ops: pd.DataFrame) -> str | None:
    measured = ops.dropna(subset=["roof_dtype"])
    if not len(measured):
        return None
    weight = measured["flops"].fillna(0) + np.finfo(float).tiny
    return str(weight.groupby(measured["roof_dtype"]).sum().idxmax())
