"""The tables of `Profile.sql` as frames, a part a host, over the columns the profile has anyway."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.categories import category
from xprof_nb.analysis.events import Narrowed, event_columns, host_events
from xprof_nb.analysis.op_identity import costs_of, described_keys, in_cell, readable_program
from xprof_nb.analysis.selection import HostPart, Selection, chosen_hosts, chosen_parts
from xprof_nb.analysis.sql.schema import columns
from xprof_nb.analysis.step_spans import step_spans, steps_of_ops
from xprof_nb.model.columns import Columns
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.model.roofs import roofs_of
from xprof_nb.model.trace import HostTrace

Parts = Iterable[pd.DataFrame]


def parts_of(table: str, profile: ProfileData, selection: Selection) -> list[pd.DataFrame]:
    """Return the parts of a table, at least one, each with exactly the columns and types of the schema.

    Texts are categories in alphabetical order, so that a database need not copy them and sorts them right.
    """
    frames = [_typed(table, frame) for frame in _BUILDERS[table](profile, selection)]
    return frames or [_typed(table, pd.DataFrame())]


def _typed(table: str, frame: pd.DataFrame) -> pd.DataFrame:
    rows = len(frame)
    return pd.DataFrame(
        {
            column.name: _TYPED[column.type](frame[column.name] if column.name in frame else _missing(rows))
            for column in columns(table)
        },
        index=pd.RangeIndex(rows),
        copy=False,
    )


def _missing(rows: int) -> pd.Series[Any]:
    return pd.Series(np.broadcast_to(np.array(None, object), rows))


def _text(values: pd.Series[Any]) -> pd.Categorical:
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, texts = values.cat.codes.to_numpy(), [str(text) for text in values.cat.categories]
    else:
        codes, found = pd.factorize(values.to_numpy(object))
        texts = [str(text) for text in found]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    place = np.full(len(texts) + 1, -1, np.int32)  # the last for the code -1
    place[order] = np.arange(len(texts), dtype=np.int32)
    return pd.Categorical.from_codes(place[codes], [texts[row] for row in order] or [""])


def _whole(values: pd.Series[Any]) -> Any:
    return values.to_numpy(np.int64) if _is_plain(values, "iu") else pd.array(values, dtype="Int64")


def _unsigned(values: pd.Series[Any]) -> Any:
    return values.to_numpy(np.uint64) if _is_plain(values, "u") else pd.array(values, dtype="UInt64")


def _is_plain(values: pd.Series[Any], kinds: str) -> bool:
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in kinds


def _number(values: pd.Series[Any]) -> NDArray[np.float64]:
    if _is_plain(values, "f"):
        return values.to_numpy(np.float64)
    return pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)


def _truth(values: pd.Series[Any]) -> Any:
    return values.to_numpy(np.bool_) if _is_plain(values, "b") else pd.array(values, dtype="boolean")


_TYPED: dict[str, Callable[[pd.Series[Any]], Any]] = {
    "text": _text,
    "whole": _whole,
    "unsigned": _unsigned,
    "number": _number,
    "truth": _truth,
}


def _events(profile: ProfileData, selection: Selection) -> Parts:
    for part in host_events(profile, selection, Narrowed()):
        yield event_columns(part, part.rows)


def _ops(profile: ProfileData, selection: Selection) -> Parts:
    from xprof_nb.analysis.ops import ops  # noqa: PLC0415 - each table imports what it alone needs

    yield ops(profile, selection).frame


def _op_events(profile: ProfileData, selection: Selection) -> Parts:
    for part in chosen_parts(profile, selection):
        yield _executions(part, described_keys(profile, part.trace))


def _executions(part: HostPart, described: Columns) -> pd.DataFrame:
    trace, ops = part.trace, part.trace.ops
    everything = len(part.rows) == len(ops)

    def chosen(values: NDArray[Any]) -> NDArray[Any]:
        return values if everything else values[part.rows]

    key, step = chosen(ops.key), chosen(steps_of_ops(trace))
    numbers = np.append(step_spans(trace)["step"], 0)
    of_key = ("program", "op", "category", "framework_op")
    return pd.DataFrame(
        {
            "host": _repeated(trace.host, len(key)),
            "device": pd.Categorical.from_codes(chosen(ops.device), [device.name for device in trace.devices]),
            **{name: _by_key(described[name], key) for name in of_key},
            "program_id": trace.keys.program_id[key],
            "start_ps": chosen(ops.start_ps),
            "host_start_ps": chosen(ops.host_start_ps),
            "duration_ps": chosen(ops.duration_ps),
            "self_time_ps": chosen(ops.self_ps),
            "run_id": chosen(ops.run_id),
            "step": pd.arrays.IntegerArray(numbers[step], step < 0),
            "occurrences": chosen(ops.occurrences),
            "is_container": chosen(ops.contains),
        },
        copy=False,
    )


def _repeated(text: str, rows: int) -> pd.Categorical:
    return pd.Categorical.from_codes(np.zeros(rows, np.int8), [text])


def _by_key(texts: NDArray[np.object_], key: NDArray[np.int32]) -> pd.Categorical:
    codes, distinct = pd.factorize(texts)
    return pd.Categorical.from_codes(codes.astype(np.int32)[key], list(distinct))


def _steps(profile: ProfileData, selection: Selection) -> Parts:
    from xprof_nb.analysis.steps import steps  # noqa: PLC0415

    yield steps(profile, selection).frame


def _runs(profile: ProfileData, selection: Selection) -> Parts:
    wanted = None if selection.program is None else str(selection.program)
    for part in chosen_parts(profile, replace(selection, program=None, step=None)):
        runs = part.trace.runs
        keep = np.isin(runs.device, part.devices)
        if selection.window_ps is not None:
            keep &= (runs.start_ps >= selection.window_ps[0]) & (runs.start_ps < selection.window_ps[1])
        if wanted is not None:
            keep &= (runs.program.astype(str) == wanted) | (runs.program_id.astype(str) == wanted)
        frame = pd.DataFrame(
            {name: getattr(runs, name) for name in ("program", "program_id", "run_id", "start_ps", "duration_ps")}
        )
        frame["host"] = _repeated(part.trace.host, len(frame))
        frame["device"] = pd.Categorical.from_codes(runs.device, [device.name for device in part.trace.devices])
        yield frame[keep].reset_index(drop=True)


def _chosen_programs(profile: ProfileData, selection: Selection) -> list[Program]:
    wanted = None if selection.program is None else str(selection.program)
    return [program for program in profile.programs.values() if wanted in (None, program.name, str(program.id))]


def _instructions(profile: ProfileData, selection: Selection) -> Parts:
    for program in _chosen_programs(profile, selection):
        if readable_program(profile, program.id) is None:
            continue
        costs = costs_of(program)
        rows = [
            {
                "name": each.name,
                "opcode": each.opcode,
                "shape": str(each.shape),
                "computation": each.computation,
                "category": category(each, program),
                "framework_op": each.op_name or None,
                "source": in_cell(each.source, profile.metadata),
                "operands": ", ".join(each.operands) or None,
                "called": ", ".join(each.called) or None,
                "fusion_kind": each.fusion_kind or None,
                "custom_call_target": each.custom_call_target or None,
                "flops": costs.cost(each.name).flops,
                "bytes_accessed": costs.cost(each.name).bytes_accessed,
            }
            for each in program.instructions.values()
        ]
        yield pd.DataFrame(rows).assign(program=program.name, program_id=_ids(program, len(rows)))


def _ids(program: Program, rows: int) -> NDArray[np.uint64]:
    return np.full(rows, program.id, np.uint64)


def _buffers(profile: ProfileData, selection: Selection) -> Parts:
    from xprof_nb.analysis.buffers import buffers  # noqa: PLC0415

    for program in _chosen_programs(profile, selection):
        if readable_program(profile, program.id) is None:
            continue
        for space in sorted({allocation.color for allocation in program.buffers.allocations}):
            frame = buffers(profile, Selection(program=program.id), space, False).frame
            yield frame.assign(program=program.name, program_id=_ids(program, len(frame)), memory_space=space)


def _allocations(profile: ProfileData, selection: Selection) -> Parts:
    from xprof_nb.analysis.memory import memory  # noqa: PLC0415

    yield memory(profile, selection, False).frame


def _kernels(profile: ProfileData, selection: Selection) -> Parts:
    from xprof_nb.analysis.kernels import kernels  # noqa: PLC0415

    yield kernels(profile, selection, False).frame


def _devices(profile: ProfileData, selection: Selection) -> Parts:
    for part in chosen_parts(profile, Selection(host=selection.host, device=selection.device)):
        yield _device_rows(part.trace, part.devices)


def _device_rows(trace: HostTrace, rows: NDArray[np.int64]) -> pd.DataFrame:
    devices = [trace.devices[row] for row in rows]
    return pd.DataFrame(
        [
            {
                "host": device.host,
                "device": device.name,
                "backend": device.backend,
                "ordinal": device.ordinal,
                "model": device.model or None,
                "chip": device.chip,
                "global_chip": device.global_chip,
                "peak_flops_dtype": peaks.reference_dtype or None,
                "peak_flops_per_s": peaks.reference.value if peaks.reference else None,
                "peak_hbm_bytes_per_s": peaks.hbm.value if peaks.hbm else None,
                "capacity_bytes": peaks.capacity_bytes,
            }
            for device in devices
            for peaks in (roofs_of(device),)
        ]
    )


def _programs(profile: ProfileData, selection: Selection) -> Parts:
    described = {program.id: program.name for program in _chosen_programs(profile, selection)}
    ran = {
        int(number): str(name or "")
        for trace in chosen_hosts(profile, selection)
        for number, name in zip(trace.keys.program_id, trace.keys.program, strict=True)
        if selection.program is None or str(selection.program) in (str(number), name)
    }
    names = {**ran, **described}
    yield pd.DataFrame([_program_row(number, names[number], readable_program(profile, number)) for number in names])


def _program_row(number: int, name: str, program: Program | None) -> dict[str, Any]:
    known = program is not None
    return {
        "program": name or None,
        "program_id": number,
        "has_hlo": known,
        "instruction_count": len(program.instructions) if program else None,
        "replica_count": program.replica_count if program else None,
        "num_partitions": program.num_partitions if program else None,
    }


_BUILDERS: dict[str, Callable[[ProfileData, Selection], Parts]] = {
    "events": _events,
    "ops": _ops,
    "op_events": _op_events,
    "steps": _steps,
    "runs": _runs,
    "instructions": _instructions,
    "buffers": _buffers,
    "allocations": _allocations,
    "kernels": _kernels,
    "devices": _devices,
    "programs": _programs,
}
