"""HloProto bytes -> the buffer assignment in it, without reading the program itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.model.buffers import Allocation, BufferAssignment, HeapTrace, LogicalBuffer, ShapeIndex

_LOCAL_BITS = 32


def read_buffers(proto: bytes, program: str, file: str) -> BufferAssignment:
    """Return the buffer assignment of a serialized ``xla.HloProto``, an empty one where it has none.

    What refers to nothing is left out.

    Raises
    ------
    DamagedFileError
        The bytes are not a complete ``HloProto``.
    """
    message = message_class("BufferedHlo")()
    try:
        message.ParseFromString(proto)
    except DecodeError as error:
        raise DamagedFileError(
            f"the HLO of program {program} is not a complete HloProto ({error})",
            file=file,
            hint="Capture it again; a profile whose writing was interrupted looks like this",
        ) from error
    assignment = message.buffer_assignment
    name_of = _Names(message.hlo_module.computations)
    places = {
        assigned.logical_buffer_id: (row, assigned.offset)
        for row, allocation in enumerate(assignment.buffer_allocations)
        for assigned in allocation.assigned
    }
    buffers = tuple(_buffer(buffer, name_of, places) for buffer in assignment.logical_buffers)
    row_of = {buffer.id: row for row, buffer in enumerate(buffers)}
    return BufferAssignment(
        buffers=buffers,
        allocations=tuple(_allocation(allocation, row_of) for allocation in assignment.buffer_allocations),
        traces=tuple(_trace(trace.events, row_of) for trace in assignment.heap_simulator_traces if trace.events),
        aliases=_aliases(assignment.buffer_aliases, name_of, row_of),
        donated=tuple(
            (tuple(entry.output_shape_index), entry.parameter_number, tuple(entry.parameter_shape_index))
            for entry in message.hlo_module.input_output_alias.entries
        ),
    )


class _Names:
    """Finds an instruction's name by its id.

    XLA since 2025 refers to an instruction by an id whose upper half is that of its computation; in the
    instruction itself it may write the lower half alone.
    """

    def __init__(self, computations: Iterable[Any]) -> None:
        self._whole: dict[int, str] = {}
        self._halves: dict[tuple[int, int], str] = {}
        for computation in computations:
            for instruction in computation.instructions:
                self._whole[instruction.id] = instruction.name
                self._halves[computation.id, instruction.id % 2**_LOCAL_BITS] = instruction.name

    def __call__(self, location: Any) -> str:
        id_ = location.instruction_id
        if id_ >> _LOCAL_BITS:
            name = self._halves.get((id_ >> _LOCAL_BITS, id_ % 2**_LOCAL_BITS))
        else:
            name = self._whole.get(id_)
        return name or str(location.instruction_name)


def _buffer(message: Any, name_of: _Names, places: Mapping[int, tuple[int, int]]) -> LogicalBuffer:
    allocation, offset = places.get(message.id, (-1, 0))
    return LogicalBuffer(
        id=message.id,
        instruction=name_of(message.defined_at),
        shape_index=tuple(message.defined_at.shape_index),
        size_bytes=max(message.size, 0),
        color=message.color,
        allocation=allocation,
        offset_bytes=offset,
    )


def _allocation(message: Any, row_of: Mapping[int, int]) -> Allocation:
    is_parameter = message.is_entry_computation_parameter
    return Allocation(
        index=message.index,
        size_bytes=max(message.size, 0),
        color=message.color,
        is_thread_local=message.is_thread_local,
        is_parameter=is_parameter,
        is_output=message.maybe_live_out,
        is_constant=message.is_constant,
        is_tuple=message.is_tuple,
        parameter_number=message.parameter_number if is_parameter else -1,
        parameter_index=tuple(message.parameter_shape_index),
        buffers=tuple(row_of[each.logical_buffer_id] for each in message.assigned if each.logical_buffer_id in row_of),
    )


def _trace(events: Iterable[Any], row_of: Mapping[int, int]) -> HeapTrace:
    columns = [
        (event.kind, row_of.get(event.buffer_id, -1), row_of.get(event.share_with_canonical_id, -1)) for event in events
    ]
    kind, buffer, shared_with = np.array(columns, np.int64).reshape(-1, 3).T
    return HeapTrace(kind, buffer, shared_with)


def _aliases(
    messages: Iterable[Any], name_of: _Names, row_of: Mapping[int, int]
) -> dict[tuple[str, ShapeIndex], tuple[int, ...]]:
    found: dict[tuple[str, ShapeIndex], tuple[int, ...]] = {}
    for message in messages:
        row = row_of.get(message.source_buffer_id)
        if row is not None:
            place = (name_of(message.location), tuple(message.location.shape_index))
            found[place] = (*found.get(place, ()), row)
    return found
