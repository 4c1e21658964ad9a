"""What is each op? Its category, framework op, source and cost for one occurrence, from the trace or its program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.compute_dtype import NO_ARITHMETIC, Arithmetic, arithmetic, stated_dtype
from xprof_nb.analysis.costs import CostTable, instruction_costs
from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.asynchronous import start_keys
from xprof_nb.model.columns import words
from xprof_nb.model.device import Device
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.model.trace import HostTrace, OpKeys

WORDS = ["program", "op", "category", "framework_op", "source", "duplicate_of"]
_FILLED = ["category", "framework_op", "source", "duplicate_of", "flops", "bytes_accessed", "hbm_bytes"]
_HOST_MEMORY = "S(5)"
_counted: WeakKeyDictionary[Program, CostTable] = WeakKeyDictionary()
_described: WeakKeyDictionary[HostTrace, pd.DataFrame] = WeakKeyDictionary()


def described_keys(profile: ProfileData, trace: HostTrace) -> pd.DataFrame:
    """Return one row per row of ``trace.keys``; the trace's own word wins over the program's.

    Columns: ``program_id, program, op, category, work_kind, framework_op, source, duplicate_of, flops,
    model_flops, bytes_accessed, hbm_bytes, on_chip_read_bytes, on_chip_write_bytes``, costs per occurrence;
    ``compute_dtype, compute_unit, compute_passes`` as in `xprof_nb.analysis.compute_dtype.Arithmetic`.
    """
    if trace not in _described:
        _described[trace] = _describe(profile, trace)
    return _described[trace]


def _describe(profile: ProfileData, trace: HostTrace) -> pd.DataFrame:
    keys = trace.keys
    names = [name for name in type(keys).__dataclass_fields__ if name != "hlo_text"]
    unstated = np.full(len(keys), np.nan)
    columns = {name: getattr(keys, name) for name in names}
    frame = pd.DataFrame({name: unstated if values is None else pd.Series(values) for name, values in columns.items()})
    for name in WORDS:
        frame[name] = words(getattr(keys, name))
    device = trace.devices[0] if trace.devices else None
    normalised = _normalised_flops(keys)
    computes = [
        Arithmetic(stated_dtype(text)) if flops > 0 else NO_ARITHMETIC
        for text, flops in zip(keys.hlo_text, keys.flops, strict=True)
    ]
    for program_id in np.unique(keys.program_id):
        program = readable_program(profile, int(program_id))
        if program is not None:
            rows = frame.index[keys.program_id == program_id]
            _fill_from_program(frame, rows, program)
            for row in rows:
                computes[row] = _arithmetic(frame.at[row, "op"], program, device)
    frame["compute_dtype"] = words(item.dtype for item in computes)
    frame["compute_unit"] = words(item.unit for item in computes)
    frame["compute_passes"] = np.array([item.passes for item in computes], np.float64)
    if device is not None:
        _trust_normalised(frame, normalised, device)
    frame["framework_op"] = words(_framework_op(text) for text in frame["framework_op"])
    frame["source"] = words(in_cell(text, profile.metadata) for text in frame["source"])
    named = zip(frame["category"], frame["op"], strict=True)
    frame["category"] = words(text or _guessed_category(op) for text, op in named)
    kinds = words(work_kind(text) for text in frame["category"])
    # Of custom calls we can count the multiplications that a vendor's library does, and no other work.
    library = (frame["category"] == "custom-call") & (frame["flops"] > 0) & np.isnan(keys.flops)
    frame["work_kind"] = kinds.mask(library, "matrix").mask(_touches_host(profile, keys), "host")
    return frame


def _fill_from_program(frame: pd.DataFrame, rows: pd.Index[int], program: Program) -> None:
    costs = costs_of(program)
    filled: dict[str, list[Any]] = {name: [] for name in _FILLED}
    for row in rows:
        instruction = program.instruction(frame.at[row, "op"])
        if instruction is None:
            values: tuple[Any, ...] = (None, None, None, None, np.nan, np.nan, np.nan)
        else:
            cost = costs.cost(instruction.name)
            values = (
                category(instruction, program),
                instruction.op_name or None,
                instruction.source or None,
                instruction.duplicate_of or None,
                cost.flops,
                cost.bytes_accessed,
                cost.bytes_accessed - cost.host_bytes,
            )
        for name, value in zip(filled, values, strict=True):
            filled[name].append(value)
    frame.loc[rows, "program"] = frame.loc[rows, "program"].where(frame.loc[rows, "program"] != "", program.name)
    for name, values_of in filled.items():
        stated = frame.loc[rows, name]
        frame.loc[rows, name] = stated.where(stated.notna(), pd.Series(values_of, index=rows, dtype=stated.dtype))
    modelled = frame.loc[rows, "model_flops"]
    frame.loc[rows, "model_flops"] = modelled.where(modelled.notna(), frame.loc[rows, "flops"])


def _arithmetic(op: str, program: Program, device: Device | None) -> Arithmetic:
    instruction = program.instruction(op)
    return NO_ARITHMETIC if instruction is None else arithmetic(instruction, program, costs_of(program), device)


def _normalised_flops(keys: OpKeys) -> NDArray[np.float64]:
    """Return how many FLOPs of the reference type the runtime counts for one of the model's, NaN where it does not.

    A TPU's runtime counts an f32 multiplication in 6 passes of bf16 sixfold, one of int8 half.
    """
    ratio = np.full(len(keys), np.nan)
    np.divide(keys.flops, keys.model_flops, out=ratio, where=(keys.flops > 0) & (keys.model_flops > 0))
    return ratio


def _trust_normalised(frame: pd.DataFrame, ratio: NDArray[np.float64], device: Device) -> None:
    """Let the runtime's own count of passes win over what the precision of the HLO says."""
    counted = np.isfinite(ratio) & ((ratio != 1) | frame["compute_unit"].notna().to_numpy(bool))
    frame.loc[counted, "compute_unit"] = device.peaks.reference_dtype or None
    frame.loc[counted, "compute_passes"] = ratio[counted]


def _touches_host(profile: ProfileData, keys: OpKeys) -> NDArray[np.bool_]:
    """Return which ops copy to or from host memory, space 5 in a layout; a done half as the start half it completes."""
    copies = np.array(
        [
            bool(text) and "copy" in str(op) and _HOST_MEMORY in text.partition(" = ")[2].partition("metadata=")[0]
            for op, text in zip(keys.op, keys.hlo_text, strict=True)
        ],
        np.bool_,
    )
    started = start_keys(keys, profile.programs)
    return copies | ((started >= 0) & copies[started])


def readable_program(profile: ProfileData, program_id: int) -> Program | None:
    """Return a program of the profile; None if the profile lacks it or its HLO is damaged: times need no HLO."""
    program = profile.programs.get(program_id)
    if program is not None:
        try:
            _ = program.module
        except DamagedFileError:
            return None
    return program


def costs_of(program: Program) -> CostTable:
    """Return the costs of a program's instructions, counted once."""
    if program not in _counted:
        _counted[program] = instruction_costs(program)
    return _counted[program]


def in_cell(source: str | None, metadata: Mapping[str, Any]) -> str | None:
    """Return ``In[5]:3`` for a line of a notebook cell the capture knew, any other source as it is."""
    if not source:
        return None
    file, _, line = source.rpartition(":")
    cell = metadata.get("cells", {}).get(file)
    return f"In[{cell['count']}]:{line}" if cell else source


def _framework_op(text: str | None) -> str | None:
    """Return the path of a framework op; TPU runtimes append ``:<type>``."""
    return text.partition(":")[0] if text else None


def _guessed_category(op: str) -> str:
    """Return the opcode an HLO name is made of: ``all-reduce.12`` -> ``all-reduce``."""
    return op.rstrip("0123456789").rstrip(".") or "unknown"
