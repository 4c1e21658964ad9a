"""Protobuf's own reading of an XSpace, to hold ours against: message classes made at run time in a private pool."""

from __future__ import annotations

import struct
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from xprof_nb.formats import xspace

# name=number, mark, type: "." is one, "*" repeats, "|" joins the message's oneof, "%" is a map from int64.
_SCHEMA = {
    "Space": "planes=1*Plane errors=2*string warnings=3*string hostnames=4*string",
    "Plane": "id=1.int64 name=2.string lines=3*Line event_metadata=4%EventMetadata stat_metadata=5%StatMetadata "
    "stats=6*Stat",
    "Line": "id=1.int64 name=2.string timestamp_ns=3.int64 events=4*Event duration_ps=9.int64 display_id=10.int64 "
    "display_name=11.string",
    "Event": "metadata_id=1.int64 offset_ps=2|int64 duration_ps=3.int64 stats=4*Stat num_occurrences=5|int64",
    "Stat": "metadata_id=1.int64 double_value=2|double uint64_value=3|uint64 int64_value=4|int64 str_value=5|string "
    "bytes_value=6|bytes ref_value=7|uint64",
    "EventMetadata": "id=1.int64 name=2.string metadata=3.bytes display_name=4.string stats=5*Stat child_id=6*int64",
    "StatMetadata": "id=1.int64 name=2.string description=3.string",
}
_SCALARS = {
    name: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in ("int64", "uint64", "double", "string", "bytes")
}


def _add_field(message: Any, name: str, number: int, kind: str, label: int = 1) -> Any:
    field = message.field.add(name=name, number=number, label=label)
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE, f".oracle.{kind}"
    return field


def _add_message(file: Any, name: str, fields: str) -> None:
    message = file.message_type.add(name=name)
    for text in fields.split():
        field, rest = text.split("=")
        mark = next(mark for mark in "*|%." if mark in rest)
        number, kind = rest.split(mark)
        if mark == "%":
            entry = message.nested_type.add(name="".join(map(str.title, field.split("_"))) + "Entry")
            entry.options.map_entry = True
            _add_field(entry, "key", 1, "int64")
            _add_field(entry, "value", 2, kind)
            kind = f"{name}.{entry.name}"
        added = _add_field(message, field, int(number), kind, label=3 if mark in "*%" else 1)
        if mark == "|":
            if not message.oneof_decl:
                message.oneof_decl.add(name="value")
            added.oneof_index = 0


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="oracle.proto", package="oracle", syntax="proto3")
    for name, fields in _SCHEMA.items():
        _add_message(file, name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"oracle.{name}")) for name in _SCHEMA}


MESSAGES = _classes()
Space = MESSAGES["Space"]


def parse(data: bytes) -> Any:
    """Return protobuf's reading; raises its DecodeError."""
    return Space.FromString(data)


# Both readings as plain Python, to compare with ==. Doubles go by their bits: NaN differs from itself.


def rows_of_messages(space: Any) -> list[Any]:
    return [
        list(space.hostnames),
        list(space.errors),
        list(space.warnings),
        [_plane_of_message(plane) for plane in space.planes],
    ]


def _plane_of_message(plane: Any) -> list[Any]:
    known = set(plane.event_metadata)
    return [
        plane.id,
        plane.name,
        [
            (line.id, line.name, line.display_name, line.timestamp_ns, line.duration_ps, line.display_id)
            for line in plane.lines
        ],
        {
            key: (value.name, value.display_name, _stats_of_message(plane, value.stats))
            for key, value in plane.event_metadata.items()
        },
        [
            (
                line,
                event.metadata_id if event.metadata_id in known else None,
                event.offset_ps,
                event.duration_ps,
                event.num_occurrences if event.WhichOneof("value") == "num_occurrences" else 1,
                event.WhichOneof("value") != "num_occurrences",
                _stats_of_message(plane, event.stats),
            )
            for line, events in enumerate(plane.lines)
            for event in events.events
        ],
        _stats_of_message(plane, plane.stats),
    ]


def _stats_of_message(plane: Any, stats: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        if kind is None or stat.metadata_id not in plane.stat_metadata:
            continue
        value = getattr(stat, kind)
        if kind == "ref_value":
            key = value - 2**64 if value >= 2**63 else value
            if key not in plane.stat_metadata:
                continue
            value = plane.stat_metadata[key].name
        name = plane.stat_metadata[stat.metadata_id].name
        found.setdefault("Hlo Proto" if name == "HLO Proto" else name, comparable(value))
    return found


def comparable(value: Any) -> Any:
    return struct.pack("<d", value) if isinstance(value, float) else value


def rows_of_columns(space: xspace.XSpace) -> list[Any]:
    return [
        list(space.hostnames),
        list(space.errors),
        list(space.warnings),
        [_plane_of_columns(plane) for plane in space.planes],
    ]


def _plane_of_columns(plane: xspace.XPlane) -> list[Any]:
    lines, metadata, events = plane.lines, plane.metadata, plane.events
    ids = metadata.id.tolist()
    event_stats = _stats_of_columns(
        len(events), dict(zip(plane.stat_names, plane.event_stats(*plane.stat_names), strict=True))
    )
    metadata_stats = _stats_of_columns(len(ids), {name: plane.metadata_stat(name) for name in plane.stat_names})
    return [
        plane.id,
        plane.name,
        list(
            zip(
                lines.id.tolist(),
                lines.name,
                lines.display_name,
                lines.timestamp_ns.tolist(),
                lines.duration_ps.tolist(),
                lines.display_id.tolist(),
                strict=True,
            )
        ),
        dict(zip(ids, zip(metadata.name, metadata.display_name, metadata_stats, strict=True), strict=True)),
        list(
            zip(
                events.line.tolist(),
                [ids[row] if row >= 0 else None for row in events.metadata.tolist()],
                events.offset_ps.tolist(),
                events.duration_ps.tolist(),
                events.occurrences.tolist(),
                events.positioned.tolist(),
                event_stats,
                strict=True,
            )
        ),
        {name: comparable(value) for name, value in plane.stats.items()},
    ]


def _stats_of_columns(n: int, columns: dict[str, xspace.StatColumn]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{} for _ in range(n)]
    for name, column in columns.items():
        for row in column.present.nonzero()[0].tolist():
            found[row][name] = comparable(column.value(row))
    return found
