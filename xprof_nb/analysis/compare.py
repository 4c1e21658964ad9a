"""What became faster or slower between two profiles: op by op, and the whole of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis import ops as op_tables
from xprof_nb.analysis.environment import environment
from xprof_nb.analysis.framework_ops import scope_path
from xprof_nb.analysis.kpis import Workload, kpis
from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.analysis.op_matching import Op, matched
from xprof_nb.analysis.selection import HostPart, Selection, checked_hosts, chosen_parts
from xprof_nb.analysis.step_spans import steps_of_ops
from xprof_nb.analysis.steps import chosen_steps, measured, steps
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import numbered, stacked, taken, words
from xprof_nb.model.profile import ProfileData

IDLE = "idle"
NOISE_SIGMAS = 2.0
"""A difference of means is beyond noise from so many of its standard errors on (Welch): about 95 %."""
_TOP = 3
_WORTH_SAYING = 0.1
"""Share of the largest difference."""
_SCOPE_DEPTH = 3
_FIGURES = (
    "step_time_mean",
    "step_time_median",
    "mfu",
    "hfu",
    "hbm_utilization",
    "exposed_communication",
    "peak_memory",
)
_ENVIRONMENT = ("device_models", "versions", "xla_flags", "options")


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the two: its ops, summed over devices and divided by how often the unit of time occurred."""

    ops: list[Op]
    occurrences: list[float]
    total_ps: float


def compare(before: ProfileData, after: ProfileData, selection: Selection) -> Answer:
    """Return one row per op of either, those that changed most first.

    Times are those of one step on one device where both profiles have whole steps, and else of the whole capture on
    one device. ``difference_ps`` is after less before; with the row ``idle``, the time in which no op ran, the
    differences add up to that of the whole. ``match`` is ``same``, ``renamed`` (equal category, shape and framework
    op), ``changed`` (of those something differs), ``new`` or ``vanished``.

    Raises
    ------
    UsageError
        The selection names what one of them does not have.
    """
    stepped = [steps(profile, selection).summary for profile in (before, after)]
    per_step = all(summary["step_time_mean_ps"] for summary in stepped)
    sides = [(_of_steps if per_step else _of_capture)(profile, selection) for profile in (before, after)]
    frame = _frame(*sides)
    figures = _figures([kpis(profile, selection, Workload()).summary for profile in (before, after)])
    differences = _environment_differences(environment(before), environment(after))
    summary: dict[str, Any] = {
        "before": before.name,
        "after": after.name,
        "per": "step and device" if per_step else "device",
        "before_ps": sides[0].total_ps,
        "after_ps": sides[1].total_ps,
        "difference_ps": sides[1].total_ps - sides[0].total_ps,
        "is_beyond_noise": _is_beyond_noise(*stepped) if per_step else None,
        "step_time_sd_ps": [each["step_time_sd_ps"] for each in stepped],
        "step_count": [each["step_count"] for each in stepped],
        "figures": figures,
        "by_category": _grouped(frame, frame["category"]),
        "by_scope": _grouped(frame, frame["framework_op"].map(_scope)),
        "match_counts": {str(name): int(count) for name, count in frame["match"].value_counts().items()},
        "environment": differences,
    }
    summary["sentence"] = _sentence(summary)
    return Answer(frame, summary, _notes(summary, stepped))


def _of_steps(profile: ProfileData, selection: Selection) -> _Side:
    """Return the ops of the steps that step times are means of: they and the idle time add up to the mean."""
    found = stacked([chosen_steps(trace, selection) for trace in checked_hosts(profile, selection)])
    counted = measured(taken(found, found["device_row"] >= 0))
    timed = taken(counted, ~np.isnan(counted["step_time_ps"]))
    lengths = "step_time_ps" if len(timed["step"]) else "duration_ps"
    counted = timed if len(timed["step"]) else counted
    parts = []
    for part in chosen_parts(profile, selection):
        mine = counted["row"][counted["host"] == part.trace.host]
        inside = np.isin(steps_of_ops(part.trace)[part.rows], mine)
        parts.append(replace(part, rows=part.rows[inside]))
    return _side(profile, parts, float(counted[lengths].sum()), len(counted["step"]))


def _of_capture(profile: ProfileData, selection: Selection) -> _Side:
    parts = chosen_parts(profile, selection)
    total_ps = sum(float(part.total_ps.sum()) for part in parts)
    return _side(profile, parts, total_ps, sum(len(part.devices) for part in parts))


def _side(profile: ProfileData, parts: list[HostPart], total_ps: float, count: int) -> _Side:
    table = op_tables.table_of_parts(profile, parts)
    if not len(table):
        return _Side([], [], total_ps / max(count, 1))
    columns = table.columns
    code, named = numbered(columns["program"], columns["op"])
    self_ps = np.bincount(code, columns["self_time_ps"]) / max(count, 1)
    times = np.bincount(code, columns["occurrences"]) / max(count, 1)
    _, first = np.unique(code, return_index=True)
    found = []
    for (program, op), row, time_ps in zip(named, first.tolist(), self_ps.tolist(), strict=True):
        shape = _shape(profile, int(columns["program_id"][row]), str(op))
        framework_op, source = columns["framework_op"][row], columns["source"][row]
        category = str(columns["category"][row])
        found.append(Op(str(program), str(op), category, shape, framework_op, source, time_ps))
    return _Side(found, times.tolist(), total_ps / max(count, 1))


def _shape(profile: ProfileData, program_id: int, op: str) -> str | None:
    program = readable_program(profile, program_id)
    instruction = program.instruction(op) if program is not None else None
    return None if instruction is None else str(instruction.shape)


def _frame(before: _Side, after: _Side) -> pd.DataFrame:
    rows = []
    for one, other, how in matched(before.ops, after.ops):
        old = before.ops[one] if one is not None else None
        new = after.ops[other] if other is not None else None
        rows.append(_row(old, new, how, before.occurrences[one] if one is not None else None,
                         after.occurrences[other] if other is not None else None))  # fmt: skip
    if rows or before.total_ps or after.total_ps:
        idle = [
            Op("", IDLE, IDLE, None, None, None, side.total_ps - sum(op.time_ps for op in side.ops))
            for side in (before, after)
        ]
        rows.append(_row(idle[0], idle[1], "same", None, None))
    frame = pd.DataFrame(rows, columns=list(_row(None, None, "", None, None)))
    texts = ["program", "op", "op_before", "match", "category", "shape", "shape_before", "framework_op", "source"]
    frame = frame.astype({name: "float64" for name in frame if name not in texts})
    frame = frame.assign(**{name: words(frame[name]) for name in texts})
    order = frame["difference_ps"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def _row(old: Op | None, new: Op | None, how: str, before: float | None, after: float | None) -> dict[str, Any]:
    shown = new or old
    times = (old.time_ps if old else 0.0, new.time_ps if new else 0.0)
    return {
        "program": shown.program if shown else None,
        "op": shown.name if shown else None,
        "op_before": old.name if old else None,
        "match": how,
        "category": shown.category if shown else None,
        "before_ps": old.time_ps if old else None,
        "after_ps": new.time_ps if new else None,
        "difference_ps": times[1] - times[0],
        "difference_fraction": (times[1] - times[0]) / times[0] if old and new and times[0] > 0 else None,
        "occurrences_before": before,
        "occurrences_after": after,
        "shape": shown.shape if shown else None,
        "shape_before": old.shape if old else None,
        "framework_op": shown.framework_op if shown else None,
        "source": shown.source if shown else None,
    }


def _grouped(frame: pd.DataFrame, names: pd.Series) -> list[dict[str, Any]]:
    sums = frame.groupby(names.fillna(""), sort=True)[["before_ps", "after_ps", "difference_ps"]].sum()
    sums = sums.loc[sums["difference_ps"].abs().sort_values(ascending=False, kind="stable").index]
    return [{"name": str(name), **row} for name, row in zip(sums.index, sums.to_dict("records"), strict=True)]


def _scope(framework_op: str | None) -> str:
    return "/".join(scope_path(framework_op)[:-1][:_SCOPE_DEPTH]) if framework_op else ""


def _figures(sides: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for name in _FIGURES:
        old, new = (side[name] for side in sides)
        difference = new - old if old is not None and new is not None else None
        rows.append({"name": name, "before": old, "after": new, "difference": difference})
    return rows


def _is_beyond_noise(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool | None:
    """Return whether the means differ by more than their noise; None where a spread is not known."""
    spreads = [(each["step_time_sd_ps"], each["step_count"]) for each in (before, after)]
    if any(sd is None or count < 2 for sd, count in spreads):
        return None
    error = math.sqrt(sum(sd**2 / count for sd, count in spreads))
    return bool(abs(after["step_time_mean_ps"] - before["step_time_mean_ps"]) > NOISE_SIGMAS * error)


def _environment_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, str]]:
    found = []
    for name in _ENVIRONMENT:
        old, new = before[name], after[name]
        if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
            old, new = {name: old}, {name: new}
        for key in sorted({*old, *new}, key=str):
            if old.get(key) != new.get(key):
                texts = ["not recorded" if side.get(key) is None else str(side[key]) for side in (old, new)]
                found.append({"what": name, "name": str(key), "before": texts[0], "after": texts[1]})
    return found


def _sentence(summary: Mapping[str, Any]) -> str:
    old, new, difference = summary["before_ps"], summary["after_ps"], summary["difference_ps"]
    if not old or not new:
        return "There is no time to compare: one of the profiles has none."
    head = "Step" if summary["per"].startswith("step") else "Capture"
    text = f"{head} {units.duration(old)} -> {units.duration(new)} ({_signed(difference / old, units.percent)})"
    groups = summary["by_category"]
    most = abs(groups[0]["difference_ps"]) if groups else 0
    told = [each for each in groups[:_TOP] if most and abs(each["difference_ps"]) >= _WORTH_SAYING * most]
    if told:
        text += ": " + ", ".join(f"{each['name']} {_signed(each['difference_ps'], units.duration)}" for each in told)
    if summary["is_beyond_noise"] is False:
        text += "; within the noise of the steps"
    return text + "."


def _signed(value: float, write: Any) -> str:
    sign = "−" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{write(abs(value))}"


def _notes(summary: Mapping[str, Any], stepped: list[Mapping[str, Any]]) -> tuple[str, ...]:
    said = []
    if not summary["before_ps"] or not summary["after_ps"]:
        which = summary["before"] if not summary["before_ps"] else summary["after"]
        said.append(f"{which} has no time on a device in what was chosen: leave out filters, or capture while it runs.")
    models = [each for each in summary["environment"] if each["what"] == "device_models"]
    if models:
        described = ", ".join(f"{each['name']}: {each['before']} -> {each['after']}" for each in models)
        said.append(
            f"The hardware differs (devices by model: {described}): not all of the difference is the program's."
        )
    if summary["per"] == "device":
        lacking = [
            name for name, each in zip(("before", "after"), stepped, strict=True) if not each["step_time_mean_ps"]
        ]
        said.append(
            f"No whole step {' nor '.join(lacking)}: times are those of whole captures by device, which also differ "
            "by how long was captured. Mark steps with jax.profiler.StepTraceAnnotation to compare a step with a step."
        )
    elif summary["is_beyond_noise"] is None:
        said.append("A spread of step times takes two whole steps in each: nothing says what is noise.")
    others = [f"{each['name']} {each['before']} -> {each['after']}" for each in summary["environment"]
              if each["what"] != "device_models"]  # fmt: skip
    if others:
        said.append(f"Also different: {units.listed(others)}.")
    return tuple(said)
