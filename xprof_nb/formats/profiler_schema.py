"""Message classes of the profiler's own service: ``profiler_options.proto`` and ``profiler_service.proto`` of TSL."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pool

from xprof_nb.formats.message_pool import class_of, message_pool

SERVICE = "tensorflow.ProfilerService"
"""Full name of the gRPC service; JAX, TensorFlow and PyTorch/XLA all carry TSL's."""

# Names and numbers are TSL's, one line a message: `name number type`, `*` repeated.
_MESSAGES = {
    "ProfileOptions": "include_dataset_ops 1 bool, host_tracer_level 2 uint32, device_tracer_level 3 uint32, "
    "python_tracer_level 4 uint32, version 5 uint32, enable_hlo_proto 7 bool, start_timestamp_ns 8 uint64, "
    "duration_ms 9 uint64, repository_path 10 string, advanced_configuration 12 *AdvancedEntry, session_id 14 string",
    # An entry of a map is a message of key and value.
    "AdvancedEntry": "key 1 string, value 2 AdvancedValue",
    "AdvancedValue": "string_value 1 string, bool_value 2 bool, int64_value 3 int64",
    "ProfileRequest": "duration_ms 1 uint64, opts 4 ProfileOptions, repository_root 5 string, session_id 6 string, "
    "host_name 7 string, emit_xspace 9 bool",
    # The XSpace is a message; as bytes it needs no second decoder, and no copy of it.
    "ProfileResponse": "empty_trace 7 bool, xspace 8 bytes",
    "TerminateRequest": "session_id 1 string",
    "TerminateResponse": "",
}


@cache
def message_class(name: str) -> Any:
    """Return the class of a message, named as in TSL."""
    return class_of(_pool(), name)


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    return message_pool(_MESSAGES, {}, "proto2")
