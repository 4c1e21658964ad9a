"""The element type an op computes in, and the roof that is measured against.

A matrix unit multiplies the type of the operands, except that XLA lets some round their inputs: a TPU multiplies f32
in 1, 3 or 6 passes of bf16 (precision default, high, highest), an NVIDIA GPU of Ampere or later takes tf32 unless the
precision is highest. A dot that names its algorithm says all of this itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.costs.table import CostTable
from xprof_nb.model import hardware
from xprof_nb.model.columns import Columns, are_texts, numbered, texts
from xprof_nb.model.device import Device, Peaks
from xprof_nb.model.program import Instruction, Program

MATRIX = frozenset({"dot", "convolution", "ragged-dot"})
_WORTH_SAYING = 0.01
_LIBRARY = re.compile(r"__cublas|__cudnn\$conv|__onednn\$(matmul|conv)|__triton_gemm")
_FAMILY = ((r"f8", "f8"), (r"f4", "f4"), (r"[su](1|2|4)$", "s4"), (r"u8$", "s8"), (r"c64$", "f32"), (r"c128$", "f64"))
_TPU_PASSES = {"default": 1, "high": 3, "highest": 6}
_ALGORITHM = re.compile(r"(?:any_)?([a-z]+\d+)_.*?(?:_x(\d))?$")
_TEXT_RESULT = re.compile(r" = \(?([a-z]\w*)\[")


class Arithmetic(NamedTuple):
    """How an op computes.

    Attributes
    ----------
    dtype
        Element type it computes in, as XLA names it: of a matrix multiplication that of the wider operand, of
        other work that of the result; None for an op that computes nothing.
    unit
        Element type whose roof holds for it, None if that of `dtype` does.
    passes
        How often that unit goes over the operands.
    """

    dtype: str | None = None
    unit: str | None = None
    passes: float = 1.0


NO_ARITHMETIC = Arithmetic()


def arithmetic(instruction: Instruction, program: Program, costs: CostTable, device: Device | None) -> Arithmetic:
    """Return how an instruction computes on a device; of a fusion, how the costliest multiplication in it does."""
    found = max(_multiplications(instruction, program, set()), key=lambda item: _flops(item, costs), default=None)
    if found is not None:
        operands = [shape.dtype for shape in _operand_shapes(found, program)[:2]]
        dtype = max(operands, key=_width, default=None)
        return Arithmetic(dtype, *_unit(dtype, found, device))
    cost = costs.cost(instruction.name)
    if cost.flops == 0 and cost.transcendentals == 0:
        return NO_ARITHMETIC
    result = next((leaf.dtype for leaf in instruction.shape.leaves() if leaf.is_array), None)
    if result == "pred":
        result = next((shape.dtype for shape in _operand_shapes(instruction, program) if shape.is_array), result)
    return Arithmetic(result)


def stated_dtype(hlo_text: str | None) -> str | None:
    """Return the element type of the result in an op's HLO text, for an op whose program the profile lacks."""
    found = _TEXT_RESULT.search(hlo_text or "")
    return found[1] if found else None


@lru_cache(256)
def family(dtype: str | None) -> str | None:
    """Return the name under which peaks are stated: ``f8`` of ``f8e4m3fn``, ``f32`` of ``c64``."""
    for pattern, name in _FAMILY:
        if dtype is not None and re.match(pattern, dtype):
            return name
    return dtype


def with_roofs(columns: Columns, peaks: Peaks) -> Columns:
    """Add the roof of each op: ``roof_dtype, roof_flops_per_s``, and ``compute_ps``, the time its FLOPs need there.

    Where the roof of the op's own type is not known, that of the reference type is taken; see `roof_notes`.
    """
    values = {dtype: peak.value for dtype, peak in peaks.flops_per_s.items()}
    reference = peaks.reference_dtype if peaks.reference else None
    labels: list[str | None] = []
    roofs = np.full(len(columns["flops"]), np.nan)
    rows = zip(columns["compute_dtype"], columns["compute_unit"], columns["compute_passes"].tolist(), strict=True)
    for row, (dtype, unit, passes) in enumerate(rows):
        own = family(dtype) if isinstance(dtype, str) else None
        name, count = (unit, passes) if unit in values else (own if own in values else reference, 1.0)
        roofs[row] = values.get(name or "", np.nan) / count
        shown = name if count == 1 else f"{name} / {count:g}"
        labels.append(shown if name is not None and isinstance(dtype, str) else None)
    computes = np.array([isinstance(dtype, str) for dtype in columns["compute_dtype"]], np.bool_)
    return {
        **columns,
        "roof_dtype": texts(labels),
        "roof_flops_per_s": np.where(computes, roofs, np.nan),
        "compute_ps": columns["flops"].astype(np.float64) / roofs * 1e12,
    }


def with_one_roof(columns: Columns, peaks: Peaks) -> Columns:
    """Add the same columns as `with_roofs`, everything against the reference type, as xprof does."""
    flops = columns["flops"].astype(np.float64)
    value = peaks.reference.value if peaks.reference else np.nan
    return {
        **columns,
        "roof_dtype": np.full(len(flops), peaks.reference_dtype or None, object),
        "roof_flops_per_s": np.full(len(flops), value),
        "compute_ps": flops / value * 1e12,
    }


def roofs_used(columns: Columns, peaks: Peaks) -> list[dict[str, Any]]:
    """Return the FLOP/s roofs that ops were measured against, those of most FLOPs first, with their source."""
    flops, roofs = columns["flops"].astype(np.float64), columns["roof_flops_per_s"].astype(np.float64)
    measured = np.flatnonzero((flops > 0) & ~np.isnan(roofs) & are_texts(columns["roof_dtype"]))
    code, distinct = numbered(columns["roof_dtype"][measured], roofs[measured].tolist())
    total = np.bincount(code, flops[measured], minlength=len(distinct))
    used = []
    for (name, value), share in sorted(zip(distinct, (total / total.sum()).tolist(), strict=True)):
        peak = peaks.flops_per_s.get(name.partition(" / ")[0])
        stated = {"label": peak.label, "source": peak.source} if peak is not None else {"label": None, "source": None}
        used.append({"roof": name, "flops_per_s": value, "flops_fraction": share, **stated})
    return sorted(used, key=lambda entry: -entry["flops_fraction"])


def roof_notes(columns: Columns) -> list[str]:
    """Say which ops are measured against the roof of another type than their own, and why."""
    flops = columns["flops"].astype(np.float64)
    computing = np.flatnonzero((flops > 0) & are_texts(columns["roof_dtype"]))
    total = flops[computing].sum()
    dtypes, units, roofs, ops = (
        columns[name][computing] for name in ("compute_dtype", "compute_unit", "roof_dtype", "op")
    )
    rounded: dict[tuple[str, str], list[int]] = {}
    unknown: dict[tuple[str, str], list[int]] = {}
    for row, (dtype, unit, roof) in enumerate(zip(dtypes, units, roofs, strict=True)):
        if not isinstance(dtype, str):
            continue
        if isinstance(unit, str) and unit != family(dtype):
            rounded.setdefault((dtype, roof), []).append(row)
        elif roof != family(dtype):
            unknown.setdefault((dtype, roof), []).append(row)
    notes = [
        f"Matrix work on {dtype} ({_many(ops[rows])}) is measured against the {roof} peak: at its precision XLA lets "
        "this device round the inputs, or multiply them in passes."
        for (dtype, roof), rows in sorted(rounded.items())
        if dtype != roof
    ]
    return notes + [
        f"Work in {dtype} ({_many(ops[rows])}) is measured against the {roof} peak: no {dtype} peak of this device is "
        f"known. xp.hardware(model, {family(dtype)}_flops=…) states one."
        for (dtype, roof), rows in sorted(unknown.items())
        if flops[computing[rows]].sum() >= _WORTH_SAYING * total
    ]


def _many(ops: NDArray[np.object_]) -> str:
    count = len(set(ops))
    return f"{count} ops" if count != 1 else "1 op"


def _multiplications(instruction: Instruction, program: Program, seen: set[str]) -> Iterator[Instruction]:
    if instruction.opcode in MATRIX or _LIBRARY.match(instruction.custom_call_target):
        yield instruction
    if instruction.opcode in {"fusion", "call", "async-start"}:
        for name in instruction.called:
            if name not in seen and name in program.computations:
                seen.add(name)
                for inner in program.computations[name].instructions:
                    yield from _multiplications(inner, program, seen)


def _flops(instruction: Instruction, costs: CostTable) -> float:
    return float(np.nan_to_num(costs.cost(instruction.name).flops))


def _operand_shapes(instruction: Instruction, program: Program) -> list[Any]:
    return [found.shape for name in instruction.operands if (found := program.instruction(name)) is not None]


def _width(dtype: str) -> tuple[int, int]:
    """Order element types by what multiplying them takes: a float before an integer, then bits."""
    bits = re.search(r"\d+", dtype)
    return (0 if dtype[:1] in {"s", "u", "p"} else 1), int(bits[0]) if bits else 0


def _unit(dtype: str | None, instruction: Instruction, device: Device | None) -> tuple[str | None, float]:
    precision, algorithm = _precision(instruction)
    named = _ALGORITHM.fullmatch(algorithm)
    if named is not None:
        return family(named[1]), float(named[2] or 1)
    if dtype != "f32" or device is None:
        return None, 1.0
    if device.backend == "tpu":
        return "bf16", float(_TPU_PASSES.get(precision, 1))
    if device.backend == "gpu" and precision != "highest" and not _is_amd(device):
        return "tf32", 1.0
    return None, 1.0


def _precision(instruction: Instruction) -> tuple[str, str]:
    """Return the highest precision asked for either operand, and the algorithm if one is named."""
    config = instruction.attributes.get("precision_config") or {}
    if instruction.custom_call_target.startswith("__cublas"):
        config = _gemm_config(instruction.backend_config)
    asked = {str(precision).lower() for precision in config.get("operand_precision", ())}
    highest = next((name for name in ("highest", "high") if name in asked), "default")
    algorithm = str(config.get("algorithm", "")).lower().removeprefix("alg_dot_")
    return highest, "" if "unset" in algorithm else algorithm


def _gemm_config(backend_config: str) -> dict[str, Any]:
    try:
        config = json.loads(backend_config).get("gemm_backend_config", {}).get("precision_config", {})
    except (ValueError, AttributeError):
        return {}
    return config if isinstance(config, dict) else {}


def _is_amd(device: Device) -> bool:
    entry = hardware.find(device.model)
    return "amd" in device.model.lower() or (entry is not None and entry.vendor == "AMD")
