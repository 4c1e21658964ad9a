"""xprof's own memory viewer: the same plan by its rules, odd ones included.

Rules as in xprof 2.24 (`hlo_proto_to_memory_visualization_utils`): of a memory space one heap trace is replayed, that
of its first temporary allocation; what is not temporary is there all the time and goes by the name of the largest
buffer in it, in space 0 alone; buffers below 16 KiB are one row; pointers of tuples that the trace leaves out are
not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.analysis.buffer_lifetimes import replay, shape_of
from xprof_nb.model.answer import Answer
from xprof_nb.model.buffers import ALLOC, FREE, Allocation, HeapTrace
from xprof_nb.model.columns import words
from xprof_nb.model.program import Program

SMALL_BYTES = 2**14
COLUMNS = ["buffer_id", "name", "op", "opcode", "shape", "bytes", "unpadded_bytes", "kind", "framework_op"]


@dataclass(frozen=True, eq=False)
class Heap:
    """What a replay of one heap trace gives.

    Attributes
    ----------
    events
        ``op, heap_bytes, unpadded_bytes`` before each event, and a last row after all.
    peak_event
        Event that raised the heap to its peak; 0 without a trace.
    at_peak
        Rows of the buffers on the heap then, in the order they were allocated.
    spans
        First and last event of each buffer, by XLA's number.
    """

    events: pd.DataFrame
    peak_event: int
    peak_bytes: int
    unpadded_peak_bytes: int
    at_peak: list[int]
    spans: dict[int, tuple[int, int]]


def buffers(program: Program, color: int) -> Answer:
    """Return the rows of xprof's table of the peak in its order, and its sums in the summary."""
    heap = replayed(program, color)
    allocations = [each for each in program.buffers.allocations if each.color == color]
    held = sum(each.size_bytes for each in allocations if each.is_held)
    of_held = [row for each in allocations if color == 0 and (row := _largest(each, program)) >= 0]
    frame = _rows([*of_held, *heap.at_peak], program)
    summary = {
        "program": program.name,
        "program_id": str(program.id),
        "memory_space": color,
        "peak_bytes": heap.peak_bytes + held,
        "unpadded_peak_bytes": heap.unpadded_peak_bytes + held,
        "peak_position": heap.peak_event,
        "parameter_bytes": sum(each.size_bytes for each in allocations if each.is_parameter),
        "output_bytes": sum(each.size_bytes for each in allocations if each.is_output),
        "non_reusable_bytes": sum(each.size_bytes for each in allocations if each.is_thread_local or each.is_tuple),
        "held_bytes": held,
        "allocated_bytes": sum(each.size_bytes for each in allocations if not each.is_thread_local),
    }
    return Answer(frame, summary, ("Numbers as xprof computes them.",))


def replayed(program: Program, color: int) -> Heap:
    """Return what xprof's replay of a program's heap in one memory space gives."""
    trace = _trace(program, color)
    if trace is None:
        return Heap(pd.DataFrame({"op": [], "heap_bytes": [], "unpadded_bytes": []}), 0, 0, 0, [], {})
    table = program.buffers.buffers
    spans = replay(trace, np.arange(len(table), dtype=np.int64))
    sizes = np.array([(table[row].size_bytes, _unpadded(row, program)) for row, _, _ in spans], np.int64).reshape(-1, 2)
    taken, freed = (np.array([span[which] for span in spans], np.int64) for which in (1, 2))
    changes = np.zeros((len(trace) + 1, 2), np.int64)
    np.add.at(changes, taken, sizes)
    np.subtract.at(changes, freed, sizes)  # what is never freed has the last row, which no sum before it sees
    after = np.cumsum(changes[:-1], axis=0)
    peak = int(np.argmax(after[:, 0]))
    before = np.vstack([np.zeros((1, 2), np.int64), after])
    on_heap = [(start, row) for (row, start, end) in spans if start <= peak < end]
    frees = np.flatnonzero(trace.kind == FREE)
    own_free = dict(zip(trace.buffer[frees].tolist(), frees.tolist(), strict=True))
    limits = {
        table[row].id: (start, min(end if trace.kind[start] == ALLOC else own_free.get(row, end), len(trace) - 1))
        for row, start, end in spans
    }
    ops = [table[row].instruction for row in trace.buffer.tolist()]
    events = pd.DataFrame({"op": [*ops, ""], "heap_bytes": before[:, 0], "unpadded_bytes": before[:, 1]})
    return Heap(events, peak, int(after[peak, 0]), int(after[peak, 1]), [row for _, row in sorted(on_heap)], limits)


def _trace(program: Program, color: int) -> HeapTrace | None:
    """Return the trace xprof picks; a trace belongs to the allocation of its first buffer."""
    assignment = program.buffers
    of_allocation = {
        assignment.buffers[first].allocation: trace
        for trace in assignment.traces
        if (first := int(trace.buffer[0])) >= 0
    }
    for row, allocation in enumerate(assignment.allocations):
        if allocation.color == color and allocation.kind == "temporary" and row in of_allocation:
            return of_allocation[row]
    counts = [
        sum(assignment.buffers[row].color == color for row in trace.buffer.tolist() if row >= 0)
        for trace in assignment.traces
    ]
    return assignment.traces[int(np.argmax(counts))] if any(counts) else None


def _largest(allocation: Allocation, program: Program) -> int:
    """Return the buffer that xprof takes for what is not temporary, -1 if none."""
    if not allocation.is_held:
        return -1
    sizes = [program.buffers.buffers[row].size_bytes for row in allocation.buffers]
    return allocation.buffers[int(np.argmax(sizes))] if any(sizes) else -1


def _unpadded(row: int, program: Program) -> int:
    shape = shape_of(program.buffers.buffers[row], program)
    return 0 if shape is None else shape.top_level_bytes


def _rows(shown: list[int], program: Program) -> pd.DataFrame:
    assignment = program.buffers
    rows: list[dict[str, Any]] = []
    small = 0
    for row in shown:
        buffer = assignment.buffers[row]
        if buffer.size_bytes < SMALL_BYTES:
            small += buffer.size_bytes
            continue
        instruction = program.instruction(buffer.instruction)
        index = ",".join(map(str, buffer.shape_index))
        rows.append(
            {
                "buffer_id": buffer.id,
                "name": f"{buffer.instruction}{{{index}}}" if index else buffer.instruction,
                "op": buffer.instruction,
                "opcode": instruction.opcode if instruction else None,
                "shape": str(shape_of(buffer, program)),
                "bytes": buffer.size_bytes,
                "unpadded_bytes": _unpadded(row, program),
                "kind": assignment.allocations[buffer.allocation].kind.capitalize(),
                "framework_op": instruction.op_name if instruction else None,
            }
        )
    if small:
        rows.append({"buffer_id": -1, "name": f"small (<{SMALL_BYTES} bytes)", "bytes": small, "unpadded_bytes": 0})
    frame = pd.DataFrame(rows, columns=COLUMNS)
    for name in ("name", "op", "opcode", "shape", "kind", "framework_op"):
        frame[name] = words(frame[name])
    return frame
