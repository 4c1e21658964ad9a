"""HloProto bytes -> `xprof_nb.model.program.Program`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from xprof_nb.errors import DamagedFileError
from xprof_nb.formats.hlo_buffers import read_buffers
from xprof_nb.formats.hlo_literal import literal_text
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.formats.hlo_sources import UNKNOWN, Sources
from xprof_nb.model.program import Computation, Instruction, Module, Program
from xprof_nb.model.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Numbers of the HloInstructionProto fields that have an attribute of their own on Instruction.
_NAME, _OPCODE, _SHAPE, _METADATA, _LITERAL, _PARAMETER_NUMBER, _FUSION_KIND = 1, 2, 3, 7, 8, 9, 11
_CUSTOM_CALL_TARGET, _ID, _OPERAND_IDS, _PREDECESSOR_IDS, _CALLED_IDS, _BACKEND_CONFIG = 28, 35, 36, 37, 38, 43
_OWN = frozenset(
    {
        _NAME,
        _OPCODE,
        _SHAPE,
        _METADATA,
        _LITERAL,
        _PARAMETER_NUMBER,
        _FUSION_KIND,
        _CUSTOM_CALL_TARGET,
        _ID,
        _OPERAND_IDS,
        _PREDECESSOR_IDS,
        _CALLED_IDS,
        _BACKEND_CONFIG,
    }
)
_DEEPEST_CALLS = 200


def read_program(proto: bytes, *, program_id: int, name: str, file: str) -> Program:
    """Return the program a serialized ``xla.HloProto`` describes.

    The bytes are decoded when the content is first asked for; that raises
    `xprof_nb.errors.DamagedFileError` when they are not a complete ``HloProto``.

    Parameters
    ----------
    proto
        Serialized ``xla.HloProto``.
    program_id
        The id events refer to it by.
    name
        Module name.
    file
        The profile it came from, for error messages.
    """
    # Not lambdas: hosts decoded in other processes send their programs back.
    label = f"{name}({program_id})"
    load, load_buffers = partial(_load, proto, label, file), partial(read_buffers, proto, label, file)
    return Program(program_id, name, load, load_buffers, proto)


def _load(proto: bytes, program: str, file: str) -> Module:
    message = message_class("HloProto")()
    try:
        message.ParseFromString(proto)
        return _Reader(message.hlo_module).module()
    except (DecodeError, _DanglingIdError) as error:
        raise DamagedFileError(
            f"the HLO of program {program} is not a complete HloProto ({error})",
            file=file,
            hint="Capture it again; a profile whose writing was interrupted looks like this",
        ) from error


class _DanglingIdError(Exception):
    """An id in the message refers to nothing."""


def _check_calls(computations: Sequence[Computation]) -> None:
    """Refuse computations that call one another too deep for a walk; one that calls itself is a walk's own affair."""
    callers = {computation.name: 0 for computation in computations}
    called = {
        computation.name: {name for instruction in computation.instructions for name in instruction.called}
        for computation in computations
    }
    for names in called.values():
        for name in names:
            callers[name] += 1
    ready = [name for name, count in callers.items() if count == 0]
    depth = 0
    while ready:
        depth += 1
        following = []
        for name in (inner for caller in ready for inner in called[caller]):
            callers[name] -= 1
            if callers[name] == 0:
                following.append(name)
        ready = following
    if depth > _DEEPEST_CALLS:
        raise _DanglingIdError(f"its computations call one another {depth:,} deep")


class _Reader:
    """Turns one ``HloModule`` message into a `Module`."""

    def __init__(self, message: Any) -> None:
        self._message = message
        self._sources = Sources(message.stack_frame_index)
        self._shapes: dict[bytes, Shape] = {}
        self._computation_names: dict[int, str] = {
            computation.id: computation.name for computation in message.computations
        }
        self._schedules = {entry.key: entry.value.instruction_ids for entry in message.schedule.sequences}

    def module(self) -> Module:
        message = self._message
        if not message.computations:
            raise _DanglingIdError("it has no computation")
        computations = [self._computation(computation) for computation in message.computations]
        _check_calls(computations)
        by_name = {computation.name: computation for computation in computations}
        stated = message.entry_computation_name
        assignment = message.device_assignment
        return Module(
            entry=stated if stated in by_name else self._called(message.entry_computation_id),
            computations=by_name,
            num_partitions=assignment.computation_count or 1,
            replica_count=assignment.replica_count or 1,
        )

    def _computation(self, message: Any) -> Computation:
        names = {_local(instruction.id): instruction.name for instruction in message.instructions}
        schedule = self._schedules.get(message.id)
        return Computation(
            name=message.name,
            instructions=tuple(
                self._instruction(instruction, names, message.name) for instruction in message.instructions
            ),
            root=_name_of(message.root_id, names),
            schedule=None if schedule is None else _names_of(schedule, names),
        )

    def _instruction(self, message: Any, names: Mapping[int, str], computation: str) -> Instruction:
        values: dict[int, Any] = {}
        attributes: dict[str, Any] = {}
        for descriptor, value in message.ListFields():
            number = descriptor.number
            if number in _OWN:
                values[number] = value
            else:
                attributes[descriptor.name] = _plain(descriptor, value)
        shape = self._shape(values[_SHAPE]) if _SHAPE in values else Shape("invalid")
        if _LITERAL in values:
            attributes["literal"] = literal_text(values[_LITERAL], shape)
        if _PREDECESSOR_IDS in values:
            attributes["control_predecessors"] = _names_of(values[_PREDECESSOR_IDS], names)
        metadata = values.get(_METADATA)
        source = UNKNOWN if metadata is None else self._sources.of(metadata)
        opcode = values.get(_OPCODE, "")
        return Instruction(
            name=values.get(_NAME, ""),
            opcode=opcode,
            shape=shape,
            operands=_names_of(values.get(_OPERAND_IDS, ()), names),
            called=tuple(self._called(id_) for id_ in values.get(_CALLED_IDS, ())),
            computation=computation,
            op_name="" if metadata is None else metadata.op_name,
            op_type="" if metadata is None else metadata.op_type,
            source_file=source.file,
            source_line=source.line,
            source_stack=source.stack,
            backend_config=values.get(_BACKEND_CONFIG, b"").decode("utf-8", "backslashreplace"),
            fusion_kind=values.get(_FUSION_KIND, ""),
            custom_call_target=values.get(_CUSTOM_CALL_TARGET, ""),
            parameter_number=values.get(_PARAMETER_NUMBER, 0) if opcode == "parameter" else -1,
            duplicate_of="" if metadata is None else metadata.deduplicated_name,
            attributes=attributes,
        )

    def _called(self, id_: int) -> str:
        try:
            return self._computation_names[id_]
        except KeyError:
            raise _DanglingIdError(f"it refers to computation {id_}, which it does not have") from None

    def _shape(self, message: Any) -> Shape:
        """Return the shape, one object for all equal ones: a program has few."""
        key = message.SerializeToString()
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = self._new_shape(message)
        return found

    def _new_shape(self, message: Any) -> Shape:
        layout = message.layout if message.HasField("layout") else None
        dynamic = tuple(message.is_dynamic_dimension)
        return Shape(
            dtype=_enum_name(message.DESCRIPTOR.fields_by_name["element_type"], message.element_type).lower(),
            dimensions=tuple(message.dimensions),
            minor_to_major=None if layout is None else tuple(layout.minor_to_major),
            tuple_shapes=tuple(self._shape(shape) for shape in message.tuple_shapes),
            tiles=() if layout is None else tuple(tuple(tile.dimensions) for tile in layout.tiles),
            element_bits=0 if layout is None else layout.element_size_in_bits,
            memory_space=0 if layout is None else layout.memory_space,
            dynamic=dynamic if any(dynamic) else (),
        )


def _local(id_: int) -> int:
    """Return an instruction's id inside its computation.

    XLA since 2025 puts the computation's id in the upper half in some of the places that refer to an instruction
    and not in others; before, ids were small numbers.
    """
    return id_ & 0xFFFFFFFF


def _name_of(id_: int, names: Mapping[int, str]) -> str:
    try:
        return names[_local(id_)]
    except KeyError:
        raise _DanglingIdError(f"it refers to instruction {id_}, which it does not have") from None


def _names_of(ids: Iterable[int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple([_name_of(id_, names) for id_ in ids])


def _plain(descriptor: Any, value: Any) -> Any:
    """Return a field's value as plain Python: a mapping for a message, a tuple for a list, a name for an enum."""
    if hasattr(value, "ListFields"):
        return {inner.name: _plain(inner, part) for inner, part in value.ListFields()}
    if isinstance(value, (str, bytes, float)):
        return value
    if isinstance(value, int):
        return value if descriptor.enum_type is None else _enum_name(descriptor, value)
    return tuple([_plain(descriptor, part) for part in value])


def _enum_name(descriptor: Any, number: int) -> str:
    known = descriptor.enum_type.values_by_number.get(number)
    return f"type{number}" if known is None else str(known.name).partition("_")[2]
