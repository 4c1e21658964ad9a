"""GPU planes of an XSpace (CUDA, ROCm) to op executions, program runs and step marks.

A kernel belongs to the XLA op its `hlo_op` names; one without is an op of its own, named after TensorFlow's op and
itself. Kernels of several streams overlap: each keeps its own duration, and they share the device's time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.formats import nesting, plausible
from xprof_nb.formats.gpu import launches as gpu_launches
from xprof_nb.formats.gpu import names as gpu_names
from xprof_nb.formats.gpu import notes as gpu_notes
from xprof_nb.formats.gpu import runs as gpu_runs
from xprof_nb.formats.gpu.device import gpu_device
from xprof_nb.formats.gpu.streams import ABSENT, Streams, traced
from xprof_nb.formats.host_ops import HostOps
from xprof_nb.formats.tpu.lines import rows_of
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.columns import Columns, coded, stacked
from xprof_nb.model.kernels import KINDS
from xprof_nb.model.program import Program
from xprof_nb.model.trace import OpEvents, OpKeys, StepMarks

Ints = NDArray[np.int64]

_CONTROL = ("while", "conditional", "call")
"""Ops whose own kernels only steer; what they call is seen, and carries the cost."""


def read_gpus(
    streams: Streams,
    planes: Sequence[XPlane],
    host: str,
    host_plane: XPlane | None,
    marks: StepMarks,
    programs: Mapping[int, Program],
) -> tuple[HostOps, list[str]]:
    """Return ops, program runs and step marks of the GPUs that ran something, and what to know of them.

    Parameters
    ----------
    streams
        What the streams of `planes` ran.
    marks
        Steps the program annotated; where there are none, those of a ``Steps`` line are taken.
    """
    every_plane = planes
    streams, seen = traced(streams)
    planes = [every_plane[row] for row in seen]
    launched = gpu_launches.find_launches(streams, host_plane)
    key, keys = _keys(streams, launched, programs)
    executions = gpu_runs.find_executions(streams, key, keys, launched, programs)
    recorded = _recorded_steps(planes) if not len(marks) else marks
    marks = recorded if len(recorded) else marks
    step = launched.steps(marks) if marks.device is None else _steps_recorded(streams, marks)
    start_ps, duration_ps = streams.column("start_ps"), streams.column("duration_ps")
    device, line = streams.codes("device").astype(np.int32), streams.codes("line").astype(np.int32)
    parent = nesting.parents(line, start_ps, start_ps + duration_ps)
    ops = OpEvents(
        key=key,
        device=device,
        start_ps=start_ps,
        duration_ps=duration_ps,
        host_start_ps=start_ps,
        host_duration_ps=duration_ps,
        self_ps=nesting.shared_times(device, parent, start_ps, start_ps + duration_ps),
        transfer_ps=np.full(len(key), np.nan),
        run_id=executions.run_id,
        step=step,
        occurrences=executions.occurrences,
        contains=nesting.containers(parent) | _steers(keys)[key],
    )
    devices = tuple(gpu_device(plane, host, len(every_plane)) for plane in planes)
    found = HostOps(devices, keys, ops, partial(gpu_runs.program_runs, streams, key, keys, executions), marks)
    return found, gpu_notes.notes(streams, launched, every_plane, planes, programs)


def _keys(
    streams: Streams, launched: gpu_launches.Launched, programs: Mapping[int, Program]
) -> tuple[NDArray[np.int32], OpKeys]:
    """Return each event's row of the distinct ops, and the ops."""
    kind = gpu_names.kinds(streams, launched)
    in_program = gpu_names.of_xla(streams)
    of_xla = {
        "program": _program_ids(streams, programs),
        "hlo_op": streams.codes("hlo_op"),
        "hlo_module": streams.codes("hlo_module"),
        "path": streams.codes("path"),
    }
    alone = {"framework": gpu_names.framework_codes(streams), "name": streams.codes("name"), "kind": kind}
    identity = {name: np.where(in_program, values, -1) for name, values in of_xla.items()}
    identity |= {name: np.where(in_program, -1, values) for name, values in alone.items()}
    code = coded(*identity.values()).astype(np.int32)
    example = np.unique(code, return_index=True)[1]
    chosen, xla = {name: values[example] for name, values in identity.items()}, in_program[example]
    module = _texts(streams.texts["hlo_module"], chosen["hlo_module"])
    op = _texts([text.rpartition("::")[2] for text in streams.texts["hlo_op"]], chosen["hlo_op"])
    path = _texts([text.rpartition("::")[2] for text in streams.texts["path"]], streams.codes("path")[example])
    lone = _lone_ops(streams, chosen)
    unknown, nan = np.full(len(xla), None, object), np.full(len(xla), np.nan)
    costs = ("flops", "model_flops", "bytes_accessed", "hbm_bytes", "on_chip_read_bytes", "on_chip_write_bytes")
    return code, OpKeys(
        program_id=np.where(xla, chosen["program"], 0).view(np.uint64),
        program=np.where(xla, module, ""),
        op=np.where(xla, op, lone["op"]),
        category=np.where(xla, unknown, lone["category"]),
        framework_op=np.where(xla, path, lone["path"]),
        source=unknown,
        hlo_text=unknown,
        duplicate_of=unknown,
        **dict.fromkeys(costs, nan),
    )


def _lone_ops(streams: Streams, chosen: Columns) -> dict[str, NDArray[np.object_]]:
    """Return what the ops are called that are of no XLA op: after TensorFlow's op and the kernel, or the kernel."""
    framework = gpu_names.framework_ops(streams)
    paths = _texts([op.name for op in framework], chosen["framework"])
    types = _texts([op.kind for op in framework], chosen["framework"])
    names, kinds = _texts(streams.texts["name"], chosen["name"]), _texts(KINDS, chosen["kind"])
    ops = [f"{path}/{name}" if path else name for path, name in zip(paths, names, strict=True)]
    categories = gpu_names.categories(kinds.tolist(), names.tolist(), types.tolist())
    return {"op": np.array([*ops, None], object)[:-1], "category": categories, "path": paths}


def _texts(texts: Sequence[str | None], codes: NDArray[Any]) -> NDArray[np.object_]:
    return np.array([*texts, None], object)[np.asarray(codes, np.int64)]


def _program_ids(streams: Streams, programs: Mapping[int, Program]) -> Ints:
    """Return the program id of each event; where it is not stated, that of the only program of its module's name."""
    stated = streams.column("program_id")
    by_name: dict[str, list[int]] = {}
    for number, program in programs.items():
        by_name.setdefault(program.name, []).append(number)
    only = [found[0] if len(found := by_name.get(name, [])) == 1 else 0 for name in streams.texts["hlo_module"]]
    named = np.array([*only, 0], np.uint64).view(np.int64)[streams.codes("hlo_module")]
    return np.where(stated == ABSENT, named, stated)


def _steers(keys: OpKeys) -> NDArray[np.bool_]:
    steers = [str(op).partition(".")[0] in _CONTROL for op in keys.op]
    return np.array(steers, np.bool_) & (keys.program != "")


def _recorded_steps(planes: Sequence[XPlane]) -> StepMarks:
    """Return the steps of ``Steps`` lines, each of one device, numbered by group, else by name, else in order."""
    parts: list[Columns] = []
    for device, plane in enumerate(planes):
        rows = rows_of(plane, ("Steps",))
        group, step_name = plane.stats_of(rows, "group_id", "step_name")
        codes, texts = step_name.texts()
        shown = _texts(plane.metadata.name, plane.events.metadata[rows])
        names = np.where(codes >= 0, _texts(texts, codes), shown)
        by_name = [float(name) if re.fullmatch(r"\d{1,15}", name) else np.nan for name in names]
        parts.append(
            {
                "device": np.full(len(rows), device, np.int32),
                "number": plausible.step_numbers(np.where(group.present, group.ints(), by_name)),
                "name": names,
                "start_ps": plane.events.starts_of(rows),
                "duration_ps": plane.events.duration_ps[rows],
            }
        )
    steps = stacked(parts)
    order = np.lexsort((steps["device"], steps["start_ps"]))
    return StepMarks(**{name: values[order] for name, values in steps.items()})


def _steps_recorded(streams: Streams, marks: StepMarks) -> NDArray[np.int32]:
    """Return the row of the step each event belongs to: that of its group, else the one it begins in."""
    assert marks.device is not None
    device, start_ps, group = streams.codes("device"), streams.column("start_ps"), streams.column("group_id")
    found = np.full(len(device), -1, np.int32)
    for one in np.unique(marks.device):
        of_device = np.flatnonzero(marks.device == one)
        rows = np.flatnonzero(device == one)
        held = np.searchsorted(marks.start_ps[of_device], start_ps[rows], side="right") - 1
        until = (marks.start_ps + marks.duration_ps)[of_device]
        by_time = np.where((held >= 0) & (start_ps[rows] < until[held]), of_device[held], -1)
        stated = pd.Index(marks.number[of_device])
        by_group = stated.get_indexer(group[rows]) if stated.is_unique else np.full(len(rows), -1)
        found[rows] = np.where(by_group >= 0, of_device[by_group], by_time)
    return found
