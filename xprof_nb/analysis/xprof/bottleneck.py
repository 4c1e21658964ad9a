"""What xprof says bounds a program, from its steps: its thresholds, classes and shares, in words of our own.

Rules as in xprof 2.24 (``op_stats_to_input_pipeline_analysis``). A class of input or output is ``host`` (20 % and up),
``both`` (5 %), ``device`` or ``unknown``; others are ``high`` (15 %), ``moderate`` (3 %) or ``no``. On TPUs the time of
numbered all-reduces comes on top of that of the steps.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from xprof_nb.model import units

HIGHLY, MODERATELY = 0.2, 0.05
HIGH, MODERATE = 0.15, 0.03
ALL_REDUCE = 0.06
_UNKNOWN = "unknown"
_INPUT = {
    "host": "Highly input-bound: {share} of the step time waits for input.",
    "both": "Moderately input-bound: {share} of the step time waits for input.",
    "device": "Not input-bound: {share} of the step time waits for input.",
    _UNKNOWN: "No step was measured, so nothing tells what bounds the program.",
}


def of_cores(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what bounds steps of TPU cores, as of `cores.steps_of_cores`."""
    sums = {name: float(frame[f"{name}_ps"].sum()) for name in ("compute", "infeed", "outfeed", "idle")}
    work, wait = (float(frame[f"all_reduce_{part}_ps"].sum()) for part in ("compute", "sync"))
    total = sum(sums.values()) + work + wait
    if not total:
        return _nothing()
    share = {name: value / total for name, value in sums.items()}
    reduces = (work + wait) / total - share["infeed"] >= ALL_REDUCE
    return _said(share["infeed"], share["outfeed"], share["idle"], 0.0) | {
        "compute_fraction": max(0.0, 1 - share["infeed"] - share["outfeed"] - share["idle"]),
        "idle_classification": "yes" if share["idle"] >= MODERATE else "no",
        "all_reduce_compute_fraction": work / total,
        "all_reduce_sync_fraction": wait / total,
        "all_reduce_classification": "yes" if reduces else "no",
    }


def of_devices(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what bounds steps of CPUs or GPUs, as of `steps.steps_of_host`."""
    total = float(frame["step_time_ps"].sum())
    if not total:
        return _nothing()
    names = ("infeed", "outfeed", "compute", "collective", "launch", "other")
    share = {name: float(frame[f"{name}_ps"].sum()) / total for name in names}
    idle = max(0.0, 1 - share["infeed"] - share["outfeed"] - share["compute"] - share["collective"])
    said = _said(share["infeed"], share["outfeed"], idle, share["other"])
    is_reported = said["input_classification"] == "both" and share["infeed"] < MODERATELY
    return said | {
        "compute_fraction": share["compute"],
        "collective_fraction": share["collective"],
        "collective_classification": _level(share["collective"]),
        "launch_fraction": share["launch"],
        "launch_classification": _level(share["launch"]),
        "other_fraction": share["other"],
        "other_classification": "no" if is_reported else _level(share["other"]),
    }


def _said(infeed: float, outfeed: float, idle: float, other: float) -> dict[str, Any]:
    kind = _class(infeed)
    text = _INPUT[kind].format(share=units.percent(infeed))
    if kind == "device" and other >= MODERATE:
        kind = "both"
        text = f"Perhaps input-bound: {units.percent(other)} of the step time is spent on nothing that was recorded."
    return {
        "input_classification": kind,
        "input_fraction": infeed,
        "input_statement": text,
        "output_classification": _class(outfeed),
        "output_fraction": outfeed,
        "idle_fraction": idle,
    }


def _nothing() -> dict[str, Any]:
    return {"input_classification": _UNKNOWN, "input_fraction": None, "input_statement": _INPUT[_UNKNOWN]}


def _class(share: float) -> str:
    return "host" if share >= HIGHLY else "both" if share >= MODERATELY else "device"


def _level(share: float) -> str:
    return "high" if share >= HIGH else "moderate" if share >= MODERATE else "no"
