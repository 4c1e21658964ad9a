"""What is each op? Its category, framework op, source and cost for one occurrence, from the trace or its program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.categories import category, work_kind
from xprof_nb.analysis.compute_dtype import NO_ARITHMETIC, Arithmetic, arithmetic, stated_dtype
from xprof_nb.analysis.costs.table import CostTable, instruction_costs
from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.asynchronous import start_keys
from xprof_nb.model.columns import Columns, texts
from xprof_nb.model.device import Device
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program
from xprof_nb.model.trace import HostTrace, OpKeys

WORDS = ["program", "op", "category", "framework_op", "source", "duplicate_of"]
_COSTS = ["flops", "model_flops", "bytes_accessed", "hbm_bytes"]
_HOST_MEMORY = "S(5)"
_counted: WeakKeyDictionary[Program, CostTable] = WeakKeyDictionary()
_described: WeakKeyDictionary[HostTrace, Columns] = WeakKeyDictionary()


def described_keys(profile: ProfileData, trace: HostTrace) -> Columns:
    """Return one row per row of ``trace.keys``, not to be changed; the trace's own word wins over the program's.

    Columns: ``program_id, program, op, category, work_kind, framework_op, source, duplicate_of, flops,
    model_flops, bytes_accessed, hbm_bytes, on_chip_read_bytes, on_chip_write_bytes``, costs per occurrence;
    ``compute_dtype, compute_unit, compute_passes`` as in `xprof_nb.analysis.compute_dtype.Arithmetic`.
    """
    if trace not in _described:
        _described[trace] = _describe(profile, trace)
    return _described[trace]


def _describe(profile: ProfileData, trace: HostTrace) -> Columns:
    keys = trace.keys
    names = [name for name in type(keys).__dataclass_fields__ if name != "hlo_text"]
    unstated = np.full(len(keys), np.nan)
    columns = {name: unstated if (values := getattr(keys, name)) is None else values for name in names}
    columns |= {name: texts(columns[name]) for name in WORDS} | {name: columns[name].copy() for name in _COSTS}
    device = trace.devices[0] if trace.devices else None
    computes = [
        Arithmetic(stated_dtype(text)) if flops > 0 else NO_ARITHMETIC
        for text, flops in zip(keys.hlo_text, keys.flops.tolist(), strict=True)
    ]
    programs = {number: readable_program(profile, number) for number in set(keys.program_id.tolist())}
    for row, (number, op) in enumerate(zip(keys.program_id.tolist(), columns["op"], strict=True)):
        program = programs[number]
        if program is not None:
            computes[row] = _fill_from_program(columns, row, program, program.instruction(op), device)
    columns["compute_dtype"] = texts(item.dtype for item in computes)
    columns["compute_unit"] = texts(item.unit for item in computes)
    columns["compute_passes"] = np.array([item.passes for item in computes], np.float64)
    if device is not None:
        _trust_normalised(columns, _normalised_flops(keys), device)
    columns["framework_op"] = texts(_framework_op(text) for text in columns["framework_op"])
    columns["source"] = texts(in_cell(text, profile.metadata) for text in columns["source"])
    named = zip(columns["category"], columns["op"], strict=True)
    columns["category"] = texts(text or _guessed_category(op) for text, op in named)
    kinds = texts(work_kind(text) for text in columns["category"])
    # Of custom calls we can count the multiplications that a vendor's library does, and no other work.
    kinds[(columns["category"] == "custom-call") & (columns["flops"] > 0) & np.isnan(keys.flops)] = "matrix"
    kinds[_touches_host(profile, keys)] = "host"
    return {**columns, "work_kind": kinds}


def _fill_from_program(
    columns: Columns, row: int, program: Program, instruction: Instruction | None, device: Device | None
) -> Arithmetic:
    """Fill in what the trace does not say of the op in a row; return how the op computes."""
    if columns["program"][row] == "":
        columns["program"][row] = program.name
    found = NO_ARITHMETIC
    if instruction is not None:
        costs = costs_of(program)
        cost = costs.cost(instruction.name)
        filled = {
            "category": category(instruction, program),
            "framework_op": instruction.op_name or None,
            "source": instruction.source or None,
            "duplicate_of": instruction.duplicate_of or None,
            "flops": cost.flops,
            "bytes_accessed": cost.bytes_accessed,
            "hbm_bytes": cost.bytes_accessed - cost.host_bytes,
        }
        for name, value in filled.items():
            _state(columns[name], row, value)
        found = arithmetic(instruction, program, costs, device)
    _state(columns["model_flops"], row, columns["flops"][row])
    return found


def _state(column: NDArray[Any], row: int, value: Any) -> None:
    """Let a value stand where nothing is stated: None, or NaN."""
    stated = column[row]
    if stated is None or stated != stated:  # noqa: PLR0124
        column[row] = value


def _normalised_flops(keys: OpKeys) -> NDArray[np.float64]:
    """Return how many FLOPs of the reference type the runtime counts for one of the model's, NaN where it does not.

    A TPU's runtime counts an f32 multiplication in 6 passes of bf16 sixfold, one of int8 half.
    """
    ratio = np.full(len(keys), np.nan)
    np.divide(keys.flops, keys.model_flops, out=ratio, where=(keys.flops > 0) & (keys.model_flops > 0))
    return ratio


def _trust_normalised(columns: Columns, ratio: NDArray[np.float64], device: Device) -> None:
    """Let the runtime's own count of passes win over what the precision of the HLO says."""
    has_unit = np.array([unit is not None for unit in columns["compute_unit"]], np.bool_)
    counted = np.isfinite(ratio) & ((ratio != 1) | has_unit)
    columns["compute_unit"][counted] = device.peaks.reference_dtype or None
    columns["compute_passes"][counted] = ratio[counted]


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
