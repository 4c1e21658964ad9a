"""Message classes built at run time, each schema in a descriptor pool of its own.

No generated code that ties us to one protobuf release, and no clash with another package that registered
``xla.HloProto``. A field that is not listed is skipped, so what newer programs write parses too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "xprof_nb.messages"
_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _FIELD.TYPE_BOOL,
    "bytes": _FIELD.TYPE_BYTES,
    "double": _FIELD.TYPE_DOUBLE,
    "float": _FIELD.TYPE_FLOAT,
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "string": _FIELD.TYPE_STRING,
    "uint32": _FIELD.TYPE_UINT32,
    "uint64": _FIELD.TYPE_UINT64,
}


def message_pool(
    messages: Mapping[str, str], enums: Mapping[str, str], syntax: Literal["proto2", "proto3"] = "proto3"
) -> descriptor_pool.DescriptorPool:
    """Return a pool with messages, ``"name number type, …"`` each, ``*type`` repeated; and enums, ``"NAME=0 …"``.

    In ``proto2`` a field that is set is sent, even if it is zero.
    """
    file = descriptor_pb2.FileDescriptorProto(name="xprof_nb/messages.proto", package=_PACKAGE, syntax=syntax)
    for name, values in enums.items():
        enum = file.enum_type.add(name=name)
        for value in values.split():
            label, _, number = value.partition("=")
            # Values of an enum share the package's scope, so each carries its enum's name.
            enum.value.add(name=f"{name}_{label}", number=int(number))
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field in filter(None, fields.split(", ")):
            _add_field(message, enums, *field.split())
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def class_of(pool: descriptor_pool.DescriptorPool, name: str) -> Any:
    """Return the class of a message of a pool."""
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _add_field(
    message: descriptor_pb2.DescriptorProto, enums: Mapping[str, str], name: str, number: str, kind: str
) -> None:
    field = message.field.add(name=name, number=int(number))
    field.label = _FIELD.LABEL_REPEATED if kind.startswith("*") else _FIELD.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    field.type = _FIELD.TYPE_ENUM if kind in enums else _FIELD.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.{kind}"
