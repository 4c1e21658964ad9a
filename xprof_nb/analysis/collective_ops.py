"""Which ops move data between devices or memories, how much, and among whom: read from the HLO or the kernel's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.categories import COLLECTIVE_OPCODES
from xprof_nb.analysis.op_identity import described_keys, readable_program
from xprof_nb.model.columns import Columns, are_texts, texts
from xprof_nb.model.kernels import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, PEER
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Instruction, Program
from xprof_nb.model.shape import Shape
from xprof_nb.model.trace import HostTrace

ASYNC_COPY, HOST_OFFLOAD, HOST_TRANSFER = "async copy", "host offload", "host transfer"
_GPU_COPIES = {
    HOST_TO_DEVICE: HOST_TO_DEVICE,
    DEVICE_TO_HOST: DEVICE_TO_HOST,
    PEER: PEER,
    DEVICE_TO_DEVICE: ASYNC_COPY,
}
"""Kinds of a GPU's copies that belong to no XLA op."""
COPIES = (ASYNC_COPY, HOST_OFFLOAD, HOST_TRANSFER, HOST_TO_DEVICE, DEVICE_TO_HOST, PEER)
_HALF = re.compile(r"-(start|update|done)$")
_COPYING = frozenset({"copy", "slice", "dynamic-slice", "dynamic-update-slice", "async"})
_OPCODE = re.compile(r"\s([a-z][\w-]*)\(")
_SHAPE = re.compile(r"\b([a-z]\w*)\[([\d,<=]*)\]")
_NUMBERS = re.compile(r"(?:\d+\.)+")
"""At the end of a name, read backwards: so a name of dots and digits is read once, not from each of its places."""
_SIZE = re.compile(r"\d{1,18}")
_GROUPS = re.compile(
    r"(?:replica_groups|source_target_pairs)=(\{\{[\d,{} ]*?\}\}|\{\}|\[[\d,]*\]<=\[[\d,]*\](?:T\([\d,]*\))?)"
)
_KERNEL = re.compile(
    r"[nr]ccl\w{0,200}?(AllReduce|AllGather|ReduceScatter|AllToAll|Broadcast|SendRecv|Reduce)", re.IGNORECASE
)
_KERNEL_DTYPE = re.compile(r"_(bf16|f8e4m3|f8e5m2|f16|f32|f64|u8|i8|u32|i32|u64|i64)(?:_|$)")
_KERNEL_KINDS = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "collective-broadcast",
    "sendrecv": "send/recv",
    "reduce": "reduce",
}


@dataclass(frozen=True)
class Moved:
    """What one op moves: element type, payload as nccl-tests counts it, groups as XLA writes them, members of one."""

    dtype: str | None = None
    payload_bytes: float = np.nan
    replica_groups: str | None = None
    group_size: float = np.nan


_KEYS: WeakKeyDictionary[HostTrace, Columns] = WeakKeyDictionary()


def moving_keys(profile: ProfileData, trace: HostTrace) -> Columns:
    """Return one row per row of ``trace.keys``; not to be changed.

    Columns: ``kind`` (None for an op that moves nothing: a collective's opcode without its half, or one of `COPIES`),
    ``dtype``, ``payload_bytes`` of one occurrence, ``replica_groups``, ``group_size``; and of `described_keys`
    ``program, program_id, op, framework_op, source, work_kind``.
    """
    if trace not in _KEYS:
        _KEYS[trace] = _moving_keys(profile, trace)
    return _KEYS[trace]


def _moving_keys(profile: ProfileData, trace: HostTrace) -> Columns:
    described = described_keys(profile, trace)
    columns = {name: described[name] for name in ("program", "program_id", "op", "framework_op", "source", "work_kind")}
    named = zip(described["category"], described["op"], described["work_kind"] == "host", strict=True)
    kinds = texts(
        _GPU_COPIES.get(str(category)) or _kind(str(category), str(op), bool(touches))
        for category, op, touches in named
    )
    moved = [Moved()] * len(kinds)
    for row in np.flatnonzero(are_texts(kinds)).tolist():
        program = readable_program(profile, int(columns["program_id"][row]))
        moved[row] = _moved(str(kinds[row]), str(columns["op"][row]), trace.keys.hlo_text[row], program)
    payload_bytes = np.array([each.payload_bytes for each in moved], np.float64)
    is_copy = np.array([category in _GPU_COPIES for category in described["category"]], np.bool_)
    copies = is_copy & (columns["program"] == "")
    if copies.any():
        payload_bytes[copies] = _copied_bytes(trace)[copies]
    return {
        **columns,
        "kind": kinds,
        "dtype": texts(each.dtype for each in moved),
        "payload_bytes": payload_bytes,
        "replica_groups": texts(each.replica_groups for each in moved),
        "group_size": np.array([each.group_size for each in moved], np.float64),
    }


def _copied_bytes(trace: HostTrace) -> NDArray[np.float64]:
    """Return what the copies of each key moved, as a mean of those that say it; NaN if none does."""
    of_event, key = trace.kernels.bytes, trace.ops.key
    known = np.isfinite(of_event)
    total, count = (np.bincount(key[known], values, len(trace.keys)) for values in (of_event[known], None))
    return np.asarray(total / np.where(count > 0, count, np.nan), np.float64)


def bus_factor(kind: str, group_size: float) -> float:
    """Return bus bandwidth over algorithm bandwidth, as nccl-tests defines it; 1 where data crosses a link once."""
    if kind == "all-reduce":
        return 2 * (group_size - 1) / group_size
    if kind in {"all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all"}:
        return (group_size - 1) / group_size
    return 1.0


def without_numbers(op: str) -> str:
    """Return ``all-reduce`` of ``all-reduce.1.2``."""
    number = _NUMBERS.match(op[::-1])
    return op[: len(op) - number.end()] if number else op


def _kind(category: str, op: str, touches_host: bool) -> str | None:
    name = category.lower().removesuffix(" fusion")
    base = _HALF.sub("", name)
    kernel = _KERNEL.search(op)
    if kernel is not None:
        return _KERNEL_KINDS[kernel[1].lower()]
    if name.startswith("host ") or base in {"infeed", "outfeed"}:
        return HOST_TRANSFER
    if base in COLLECTIVE_OPCODES:
        return base
    by_name = _HALF.sub("", without_numbers(op))
    if base == "async" and by_name in COLLECTIVE_OPCODES:
        return by_name
    if base in _COPYING and touches_host:
        return HOST_OFFLOAD
    return ASYNC_COPY if base in _COPYING and base != name else None


def _moved(kind: str, op: str, text: str | None, program: Program | None) -> Moved:
    instruction = program.instruction(op) if program is not None else None
    if program is not None and instruction is not None:
        operands = [program.instruction(name) for name in instruction.operands]
        inputs = [leaf for each in operands if each is not None for leaf in each.shape.leaves()]
        printed = program.text(_collective(instruction, program).name)
        return _counted(kind, inputs, list(instruction.shape.leaves()), printed, program)
    opcode = _OPCODE.search(text or "")
    if text is None or opcode is None:
        dtype = _KERNEL_DTYPE.search(op)
        return Moved(dtype=dtype[1] if dtype else None)
    arguments = text[opcode.end() :].partition(", channel_id=")[0].partition(", replica_groups=")[0]
    return _counted(kind, _shapes(arguments), _shapes(text[: opcode.start()]), text, program)


def _collective(instruction: Instruction, program: Program) -> Instruction:
    """Return the collective an asynchronous wrapper starts, or the instruction itself."""
    if instruction.opcode != "async-start" or not instruction.called:
        return instruction
    body = program.computations.get(instruction.called[0])
    root = program.instruction(body.root) if body is not None else None
    return root or instruction


def _shapes(text: str) -> list[Shape]:
    return [Shape(dtype, tuple(map(int, _SIZE.findall(sizes)))) for dtype, sizes in _SHAPE.findall(text)]


def _counted(kind: str, inputs: Sequence[Shape], outputs: Sequence[Shape], text: str, program: Program | None) -> Moved:
    found = _GROUPS.search(text)
    groups = found[1] if found else None
    size = _group_size(kind, groups, program)
    counted = outputs[:1] if kind == "recv" else inputs
    payload = float(sum(shape.bytes for shape in counted if shape.is_array))
    if kind == "all-gather":
        payload *= size  # what each device has in the end
    largest = max((shape for shape in counted if shape.is_array), key=lambda shape: shape.bytes, default=None)
    return Moved(largest.dtype if largest else None, payload if largest else np.nan, groups, size)


def _group_size(kind: str, groups: str | None, program: Program | None) -> float:
    if kind in COPIES or kind in {"send", "recv"}:
        return np.nan
    if groups and groups.startswith("["):
        sizes = _SIZE.findall(groups.partition("]")[0])
        return float(sizes[-1]) if sizes else np.nan
    if groups and groups != "{}":
        if kind == "collective-permute":
            return float(len(set(re.findall(r"\d+", groups))))
        members = [group.count(",") + 1 for group in re.findall(r"\{([\d,]+)\}", groups)]
        return float(max(members, default=np.nan))
    return float(program.num_partitions * program.replica_count) if program is not None else np.nan
