"""How near the roofs: the whole profile, its steps and its ops against every memory level and element type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.link_traffic import link_bytes
from xprof_nb.analysis.ops import COSTS, OpTable
from xprof_nb.analysis.selection import Selection
from xprof_nb.analysis.step_costs import step_costs
from xprof_nb.analysis.xprof import compat as xprof_compat
from xprof_nb.analysis.xprof import roofline as xprof_roofline
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import (
    Columns,
    are_texts,
    as_frame,
    heaviest_first,
    known_sum,
    summed_by,
    taken,
    texts,
    whole_numbers,
)
from xprof_nb.model.device import Peaks
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.roofs import passed_over
from xprof_nb.model.units import SUSPICIOUS_FRACTION

LEVELS = ["hbm", "vmem_read", "vmem_write", "cmem_read", "cmem_write", "link"]
LATENCY_FRACTION = 0.1
"""Below a tenth of every known roof nothing of the chip is the limit: launches, dependencies and waits are."""
_RESOURCES = {"flops_utilization": "compute", **{f"{level}_utilization": level for level in LEVELS}}
_WORDS = ["op", "category", "work_kind", "program", "program_id", "compute_dtype", "roof_dtype"]
_SAID = ("flops_per_s", "hbm_bytes_per_s", "efficiency_fraction", "hbm_arithmetic_intensity")
_NUMBERS = [*COSTS, "compute_ps", "link_bytes", "roof_flops_per_s"]
COLUMNS = [
    *("level", "name", "program", "program_id", "step", "op", "category", "work_kind", "occurrences", "time_ps"),
    *("time_fraction", "flops", "bytes_accessed", *(f"{level}_bytes" for level in LEVELS)),
    *("arithmetic_intensity", *(f"{level}_arithmetic_intensity" for level in LEVELS)),
    *("flops_per_s", "bytes_per_s", *(f"{level}_bytes_per_s" for level in LEVELS)),
    *("compute_dtype", "roof_dtype", "roof_flops_per_s", "attainable_flops_per_s", "efficiency_fraction", "bound_by"),
    *("flops_utilization", *(f"{level}_utilization" for level in LEVELS), "is_suspicious"),
]


def roofline(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return one row for the whole profile, one per whole step and one per program and op.

    A rate is the work over the device time of the row: of an op the time it accounts for itself (of an asynchronous
    copy the time its bytes travelled), of a step and of the whole all of it, idle time included. What may be
    attained is ``min(roof of the element type, arithmetic intensity * bandwidth)`` over the memory levels (Williams,
    Waterman and Patterson, 2009); ``efficiency_fraction`` is the share of that which was, or, for an op without
    FLOPs, its highest bandwidth utilisation.
    """
    table = (xprof_compat if like_xprof else op_tables).op_table(profile, selection)
    if like_xprof:
        return xprof_roofline.roofline(profile, selection, table)
    peaks = table.peaks
    records = xprof_compat.by_op(op_tables.corrected(table.columns, peaks))
    records["link_bytes"] = records["occurrences"] * _link_bytes(profile, records)
    steps = step_costs(profile, selection, peaks)
    blocks = [_whole(records, table), _steps(steps), _ops(records)]
    columns = measured(_one_table(blocks), peaks, table.total_ps)
    _bind_whole(columns)
    notes = op_tables.notes(profile, table, op_tables.with_rates(records, peaks, table.total_ps))
    if not len(records["op"]):
        nothing = taken(columns, np.empty(0, np.int64))
        return Answer(_frame(nothing), _summary(nothing, table), notes)
    said = [*notes, _levels_note(columns, peaks)]
    if not len(steps["step"]):
        said.append("No step rows: no whole step was marked, recorded or could be inferred; see steps().")
    return Answer(_frame(columns), _summary(columns, table), tuple(filter(None, said)))


def _frame(columns: Columns) -> pd.DataFrame:
    whole = {name: whole_numbers(columns[name]) for name in ("step", "occurrences")}
    return as_frame({name: whole.get(name, columns[name]) for name in COLUMNS})


def _link_bytes(profile: ProfileData, records: Columns) -> NDArray[np.float64]:
    """Return the bytes each op puts on the links in one occurrence."""
    sent: dict[tuple[int, str], float] = {}
    for trace in profile.hosts:
        ops = zip(trace.keys.program_id.tolist(), trace.keys.op, link_bytes(profile, trace), strict=True)
        sent |= {(program, op): value for program, op, value in ops if value == value}  # noqa: PLR0124
    named = zip(records["program_id"].tolist(), records["op"], strict=True)
    return np.array([sent.get(pair, np.nan) for pair in named], np.float64)


def _whole(records: Columns, table: OpTable) -> Columns:
    time_ps = np.array([float(table.total_ps)])
    sums = {name: np.array([known_sum(records[name])]) for name in (*COSTS, "compute_ps", "link_bytes")}
    named = {"level": _all("program", 1), "name": _all("whole profile", 1)}
    return {**sums, **named, "time_ps": time_ps, "moved_ps": time_ps}


def _steps(steps: Columns) -> Columns:
    names = [f"{name} {step}" for name, step in zip(steps["name"], steps["step"], strict=True)]
    return {**steps, "level": _all("step", len(names)), "name": texts(names), "moved_ps": steps["time_ps"]}


def _ops(records: Columns) -> Columns:
    time_ps, transfer_ps = records["self_time_ps"], records["transfer_ps"]
    columns = {
        **records,
        "level": _all("op", len(time_ps)),
        "name": records["op"],
        "time_ps": time_ps,
        "moved_ps": np.where(transfer_ps > 0, transfer_ps, time_ps),
        "program_id": records["program_id"].astype(str).astype(object),  # a float would lose digits
    }
    return taken(columns, heaviest_first(time_ps, records["op"]))


def _all(text: str, count: int) -> NDArray[np.object_]:
    return np.full(count, text, object)


def _one_table(blocks: Sequence[Columns]) -> Columns:
    """Return the blocks one below the other; what only some of them have is missing elsewhere."""
    needed = ("level", "name", "step", "occurrences", "time_ps", "moved_ps", *_WORDS, *_NUMBERS)
    whole: Columns = {}
    for name in needed:
        parts = [block.get(name, np.full(len(block["level"]), np.nan)) for block in blocks]
        whole[name] = np.concatenate(parts)
    return whole


def measured(rows: Columns, peaks: Peaks, total_ps: float) -> Columns:
    """Add rates, intensities, utilisations, what is attainable and what bounds each row.

    Parameters
    ----------
    rows
        ``time_ps, moved_ps``, the costs, and ``compute_ps`` as of `compute_dtype.with_roofs`.
    """
    given = {name: texts(rows[name]) for name in _WORDS}
    numbers = {name: rows[name].astype(np.float64) for name in ("step", "occurrences", "time_ps", *_NUMBERS)}
    for way in ("read", "write"):
        numbers[f"vmem_{way}_bytes"] = numbers[f"on_chip_{way}_bytes"] - np.nan_to_num(numbers[f"cmem_{way}_bytes"])
    flops, accessed, compute_ps = (numbers[name] for name in ("flops", "bytes_accessed", "compute_ps"))
    time_s, moved_s = op_tables.seconds(rows["time_ps"]), op_tables.seconds(rows["moved_ps"])
    # A row of several types is measured against the rate at which its mix of FLOPs could run.
    mixed = flops / (np.where(compute_ps > 0, compute_ps, np.nan) * 1e-12)
    roof = np.where(np.isnan(numbers["roof_flops_per_s"]), mixed, numbers["roof_flops_per_s"])
    used = {"flops_utilization": compute_ps * 1e-12 / time_s}
    attainable = roof
    for level in LEVELS:
        moved, peak = numbers[f"{level}_bytes"], peaks.bytes_per_s.get(level)
        bandwidth = peak.value if peak else np.nan
        intensity = flops / np.where(moved > 0, moved, np.nan)
        numbers[f"{level}_arithmetic_intensity"] = intensity
        numbers[f"{level}_bytes_per_s"] = moved / moved_s
        used[f"{level}_utilization"] = moved / moved_s / bandwidth
        attainable = np.fmin(attainable, intensity * bandwidth)
    numbers |= {
        "flops_per_s": flops / time_s,
        "bytes_per_s": accessed / moved_s,
        "time_fraction": numbers["time_ps"] / (total_ps or np.nan),
        "arithmetic_intensity": flops / np.where(accessed > 0, accessed, np.nan),
        "roof_flops_per_s": roof,
        "attainable_flops_per_s": np.where(flops > 0, attainable, np.nan),
        "efficiency_fraction": np.fmax.reduce([*used.values()]),
        **used,
    }
    return {
        **numbers,
        **{name: rows[name] for name in ("level", "name")},
        **given,
        "bound_by": _bound_by(given["work_kind"], used),
        "is_suspicious": np.logical_or.reduce([each > SUSPICIOUS_FRACTION for each in used.values()]),
    }


def _bound_by(work_kind: NDArray[np.object_], used: Mapping[str, NDArray[np.float64]]) -> NDArray[np.object_]:
    """Return the resource nearest its roof; "latency" where none is near, None where no roof is known."""
    each = np.array([*used.values()])
    best = np.fmax.reduce(each)
    nearest = np.array([_RESOURCES[name] for name in used], object)[np.argmax(np.nan_to_num(each, nan=-1.0), axis=0)]
    nearest[~(best >= LATENCY_FRACTION)] = "latency"
    nearest[np.isnan(best)] = None
    elsewhere = {"collective": "link", "host": "host"}
    return texts(elsewhere.get(kind, bound) for kind, bound in zip(work_kind, nearest, strict=True))


def _bind_whole(columns: Columns) -> None:
    """Let the whole profile be bound by what bounds its ops for the longest time, as the overview says."""
    times = _times_by_bound(columns)
    if times:
        columns["bound_by"][columns["level"] == "program"] = max(times, key=lambda bound: times[bound])


def _times_by_bound(columns: Columns) -> dict[str, float]:
    """Return the time of the ops by what bounds them, in alphabetical order."""
    rows = np.flatnonzero((columns["level"] == "op") & are_texts(columns["bound_by"]))
    times = summed_by(columns["bound_by"][rows], columns["time_ps"][rows])
    return dict(sorted(times.items()))


def roofs(peaks: Peaks) -> list[dict[str, Any]]:
    """Return every roof known: FLOP/s by element type, bytes per second by memory level and link."""
    compute = [("compute", dtype, "flops_per_s", peak) for dtype, peak in peaks.flops_per_s.items()]
    memory = [("link" if name == "link" else "memory", name, "bytes_per_s", p) for name, p in peaks.bytes_per_s.items()]
    return [
        {"kind": kind, "name": name, "value": peak.value, "unit": unit, "label": peak.label, "source": peak.source}
        for kind, name, unit, peak in (*compute, *memory)
    ]


def ridges(peaks: Peaks) -> list[dict[str, Any]]:
    """Return where each pair of roofs meets, in FLOP per byte: below it the memory is the limit."""
    return [
        {"memory": memory, "dtype": dtype, "flops_per_byte": flops.value / speed.value}
        for memory, speed in peaks.bytes_per_s.items()
        for dtype, flops in peaks.flops_per_s.items()
    ]


def _summary(columns: Columns, table: OpTable) -> dict[str, Any]:
    busy, peaks, times = table.busy_ps, table.peaks, _times_by_bound(columns)
    return {
        **op_tables.summary(table),
        "roofs": roofs(peaks),
        "other_roofs": _other_roofs(table),
        "ridges": ridges(peaks),
        "bound_by_busy_fraction": {name: time_ps / busy for name, time_ps in times.items()} if busy else {},
        "sentence": _sentence(columns, peaks),
    }


def _other_roofs(table: OpTable) -> list[dict[str, Any]]:
    """Return what others say of the roofs that are drawn: the datasheet where one was measured or stated."""
    said = [roof for device in table.devices[:1] for peaks in passed_over(device) for roof in roofs(peaks)]
    return list({(roof["name"], roof["label"]): roof for roof in said}.values())


def _sentence(columns: Columns, peaks: Peaks) -> str:
    if not len(columns["level"]):
        return "No op was recorded."
    whole = {name: float(columns[name][0]) for name in _SAID}
    if np.isnan(whole["flops_per_s"]) and np.isnan(whole["hbm_bytes_per_s"]):
        return "Neither FLOPs nor bytes of any op are known, so no op has a place under the roofs."
    rates = {
        "FLOPs": units.flops_per_s(whole["flops_per_s"]),
        "bytes of main memory": f"{units.bytes_per_s(whole['hbm_bytes_per_s'])} of memory",
    }
    unknown = [name for name, rate in zip(rates, _SAID, strict=False) if np.isnan(whole[rate])]
    achieved = " and ".join(text for name, text in rates.items() if name not in unknown)
    without = [f"the {name} are not known" for name in unknown]
    if peaks.reference is None and peaks.hbm is None:
        return "; ".join([achieved, *without, "the roofs of this device are not known"]) + "."
    if not np.isnan(whole["efficiency_fraction"]):
        achieved = f"{achieved}: {units.percent(whole['efficiency_fraction'])} of the nearest roof"
    parts = [achieved, *without]
    intensity = whole["hbm_arithmetic_intensity"]
    if peaks.reference is not None and peaks.hbm is not None and not np.isnan(intensity):
        ridge = peaks.reference.value / peaks.hbm.value
        side = "memory" if intensity < ridge else "compute"
        parts.append(
            f"{units.significant(intensity)} FLOP/B is on the {side} side of the ridge at {units.significant(ridge)} "
            f"FLOP/B ({peaks.reference_dtype})"
        )
    return "; ".join(parts) + "."


def _levels_note(columns: Columns, peaks: Peaks) -> str | None:
    unseen = [level for level in LEVELS if level in peaks.bytes_per_s and not (columns[f"{level}_bytes"] > 0).any()]
    return (
        f"No op states its traffic of {', '.join(unseen)}; against these roofs nothing is measured." if unseen else None
    )
