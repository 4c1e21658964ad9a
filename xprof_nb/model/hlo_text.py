"""One instruction as XLA prints it.

Where XLA prints ``stack_frame_id``, a number that means nothing outside the whole module, we print the source line
it stands for. Shardings, frontend attributes and layout constraints are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb.model.shape import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from xprof_nb.model.program import Instruction, Program

    _Printer = Callable[[Any, Instruction], list[str]]

_CALLED = {
    "while": ("body", "condition"),
    "select-and-scatter": ("select", "scatter"),
    "fusion": ("calls",),
    "async-start": ("calls",),
    "async-update": ("calls",),
    "async-done": ("calls",),
}


def instruction_text(instruction: Instruction, program: Program) -> str:
    """Return ``%name = shape opcode(operands), attributes, metadata={…}, backend_config=…``."""
    head = f"%{instruction.name} = {instruction.shape} {instruction.opcode}({_arguments(instruction)})"
    tail = [*_attributes(instruction), *_called(instruction, program), *_dependencies(instruction)]
    metadata = _metadata(instruction)
    if metadata:
        tail.append(f"metadata={{{metadata}}}")
    if instruction.backend_config:
        tail.append(f"backend_config={_config(instruction.backend_config)}")
    return ", ".join([head, *tail])


def _arguments(instruction: Instruction) -> str:
    if instruction.opcode == "parameter":
        return str(instruction.parameter_number)
    if instruction.opcode == "constant":
        return str(instruction.attributes.get("literal", "{...}"))
    return numbered([f"%{operand}" for operand in instruction.operands])


def _metadata(instruction: Instruction) -> str:
    parts = []
    if instruction.op_type:
        parts.append(f"op_type={_quoted(instruction.op_type)}")
    if instruction.op_name:
        parts.append(f"op_name={_quoted(instruction.op_name)}")
    if instruction.source_file:
        parts.append(f"source_file={_quoted(instruction.source_file)} source_line={instruction.source_line}")
    return " ".join(parts)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _config(text: str) -> str:
    # XLA prints JSON bare and quotes anything else.
    return text if text.startswith("{") else _quoted(text)


def _called(instruction: Instruction, program: Program) -> list[str]:
    called = [f"%{name}" for name in instruction.called]
    if not called:
        return []
    if instruction.opcode == "conditional":
        predicate = program.instruction(instruction.operands[0]) if instruction.operands else None
        if predicate is not None and predicate.shape.dtype == "pred" and len(called) == 2:
            return [f"true_computation={called[0]}", f"false_computation={called[1]}"]
        return [f"branch_computations={{{', '.join(called)}}}"]
    labels = _CALLED.get(instruction.opcode, ("to_apply",))
    if len(labels) != len(called):
        return [f"called_computations={{{', '.join(called)}}}"]
    pairs = [f"{label}={name}" for label, name in zip(labels, called, strict=True)]
    return pairs[::-1] if instruction.opcode == "while" else pairs


def _dependencies(instruction: Instruction) -> list[str]:
    names: Sequence[str] = instruction.attributes.get("control_predecessors", ())
    return [f"control-predecessors={{{', '.join(f'%{name}' for name in names)}}}"] if names else []


def _attributes(instruction: Instruction) -> Iterator[str]:
    """Yield the attributes in the order of XLA's printer; an attribute at its default is not printed."""
    attributes = instruction.attributes
    for name, print_it in _PRINTERS.items():
        if name in attributes:
            yield from print_it(attributes[name], instruction)
    if instruction.opcode in _INDEXED and _INDEXED[instruction.opcode] not in attributes:
        yield from _PRINTERS[_INDEXED[instruction.opcode]]((), instruction)
    if instruction.opcode == "get-tuple-element":
        yield f"index={attributes.get('tuple_index', 0)}"
    if instruction.fusion_kind:
        yield f"kind={instruction.fusion_kind}"
    if instruction.custom_call_target:
        yield f"custom_call_target={_quoted(instruction.custom_call_target)}"
    for name, print_it in _LAST_PRINTERS.items():
        if name in attributes:
            yield from print_it(attributes[name], instruction)


_INDEXED = {"broadcast": "dimensions", "iota": "dimensions"}
"""Opcodes whose list of dimensions is printed even when it is empty."""


def _set(values: Sequence[object]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def _dimensions(values: Sequence[int], instruction: Instruction) -> list[str]:
    if instruction.opcode == "iota":
        return [f"iota_dimension={values[0] if values else 0}"]
    return [f"dimensions={_set(values)}"]


def _window(window: Mapping[str, Any], _: Instruction) -> list[str]:
    dimensions = window.get("dimensions", ())
    if not dimensions:
        return []

    def joined(key: str) -> str:
        return "x".join(str(dimension.get(key, 0)) for dimension in dimensions)

    def any_other(key: str, default: int) -> bool:
        return any(dimension.get(key, 0) != default for dimension in dimensions)

    parts = [f"size={joined('size')}"]
    if any_other("stride", 1):
        parts.append(f"stride={joined('stride')}")
    if any_other("padding_low", 0) or any_other("padding_high", 0):
        edges = (f"{dimension.get('padding_low', 0)}_{dimension.get('padding_high', 0)}" for dimension in dimensions)
        parts.append(f"pad={'x'.join(edges)}")
    if any_other("base_dilation", 1):
        parts.append(f"lhs_dilate={joined('base_dilation')}")
    if any_other("window_dilation", 1):
        parts.append(f"rhs_dilate={joined('window_dilation')}")
    if any_other("window_reversal", 0):
        parts.append("rhs_reversal=" + "x".join(str(int(d.get("window_reversal", False))) for d in dimensions))
    return [f"window={{{' '.join(parts)}}}"]


def _dim_labels(numbers: Mapping[str, Any], _: Instruction) -> list[str]:
    def labels(first: tuple[str, str], second: tuple[str, str], spatial: str) -> str:
        places = {numbers.get(first[0], 0): first[1], numbers.get(second[0], 0): second[1]}
        places.update({place: str(i) for i, place in enumerate(numbers.get(spatial, ()))})
        return "".join(places[place] for place in sorted(places))

    left = labels(("input_batch_dimension", "b"), ("input_feature_dimension", "f"), "input_spatial_dimensions")
    kernel = labels(
        ("kernel_input_feature_dimension", "i"), ("kernel_output_feature_dimension", "o"), "kernel_spatial_dimensions"
    )
    out = labels(("output_batch_dimension", "b"), ("output_feature_dimension", "f"), "output_spatial_dimensions")
    return [f"dim_labels={left}_{kernel}->{out}"]


def _dot(numbers: Mapping[str, Any], _: Instruction) -> list[str]:
    names = {
        "lhs_batch_dims": "lhs_batch_dimensions",
        "lhs_contracting_dims": "lhs_contracting_dimensions",
        "rhs_batch_dims": "rhs_batch_dimensions",
        "rhs_contracting_dims": "rhs_contracting_dimensions",
    }
    return [f"{label}={_set(numbers[field])}" for label, field in names.items() if field in numbers]


def _ragged_dot(numbers: Mapping[str, Any], instruction: Instruction) -> list[str]:
    parts = _dot(numbers.get("dot_dimension_numbers", {}), instruction)
    parts.append(f"lhs_ragged_dims={_set(numbers.get('lhs_ragged_dimensions', ()))}")
    if "rhs_group_dimensions" in numbers:
        parts.append(f"rhs_group_dims={_set(numbers['rhs_group_dimensions'])}")
    return parts


def _index_dimensions(required: tuple[str, ...], optional: tuple[str, ...]) -> _Printer:
    def print_it(numbers: Mapping[str, Any], instruction: Instruction) -> list[str]:
        parts = [f"{name}={_set(numbers.get(name, ()))}" for name in required]
        parts += [f"{name}={_set(numbers[name])}" for name in optional if name in numbers]
        parts.append(f"index_vector_dim={numbers.get('index_vector_dim', 0)}")
        if instruction.opcode == "gather":
            parts.append(f"slice_sizes={_set(instruction.attributes.get('gather_slice_sizes', ()))}")
        return parts

    return print_it


def _slice(dimensions: Sequence[Mapping[str, int]], _: Instruction) -> list[str]:
    strided = any(dimension.get("stride", 1) != 1 for dimension in dimensions)

    def bounds(dimension: Mapping[str, int]) -> str:
        text = f"{dimension.get('start', 0)}:{dimension.get('limit', 0)}"
        return f"[{text}:{dimension.get('stride', 1)}]" if strided else f"[{text}]"

    return [f"slice={{{', '.join(map(bounds, dimensions))}}}"]


def _padding(config: Mapping[str, Any], _: Instruction) -> list[str]:
    dimensions = config.get("dimensions", ())
    interior = any(dimension.get("interior_padding", 0) for dimension in dimensions)
    keys = ("edge_padding_low", "edge_padding_high", *(("interior_padding",) if interior else ()))
    return ["padding=" + "x".join("_".join(str(d.get(key, 0)) for key in keys) for d in dimensions)]


def _groups(groups: Sequence[Mapping[str, Any]], _: Instruction) -> list[str]:
    return [f"replica_groups={_set([_set(group.get('replica_ids', ())) for group in groups])}"]


def _iota_groups(groups: Mapping[str, Any], _: Instruction) -> list[str]:
    shape = [groups.get("num_replica_groups", 0), groups.get("num_devices_per_group", 0)]
    reshape = groups.get("iota_reshape_dims", ())
    order = groups.get("iota_transpose_perm", ())
    transpose = f"T({','.join(map(str, order))})" if list(order) != list(range(len(order))) else ""
    return [f"replica_groups=[{','.join(map(str, shape))}]<=[{','.join(map(str, reshape))}]{transpose}"]


def _device_list(devices: Mapping[str, Any], instruction: Instruction) -> list[str]:
    if "iota_replica_group_list" in devices:
        return _iota_groups(devices["iota_replica_group_list"], instruction)
    return _groups(devices.get("replica_groups", ()), instruction)


def _pairs(pairs: Sequence[Mapping[str, int]], _: Instruction) -> list[str]:
    texts = [f"{{{pair.get('source', 0)},{pair.get('target', 0)}}}" for pair in pairs]
    return [f"source_target_pairs={_set(texts)}"]


def _precision(config: Mapping[str, Any], _: Instruction) -> list[str]:
    precision = config.get("operand_precision", ())
    return [f"operand_precision={_set(precision)}"] if any(p != "default" for p in precision) else []


def _aliasing(entries: Sequence[Mapping[str, Any]], _: Instruction) -> list[str]:
    def alias(entry: Mapping[str, Any]) -> str:
        operand = f"({entry.get('operand_index', 0)}, {_set(entry.get('operand_shape_index', ()))})"
        return f"{_set(entry.get('output_shape_index', ()))}: {operand}"

    texts = map(alias, entries)
    return [f"output_to_operand_aliasing={{{', '.join(texts)}}}"]


def _triangular(options: Mapping[str, Any], _: Instruction) -> list[str]:
    flags = [f"{name}=true" for name in ("left_side", "lower", "unit_diagonal") if options.get(name)]
    return [*flags, f"transpose_a={options.get('transpose_a', 'NO_TRANSPOSE')}"]


def _group_count(label: str) -> _Printer:
    return lambda count, instruction: [f"{label}={count}"] if count > 1 and instruction.opcode == "convolution" else []


def _plain(label: str) -> _Printer:
    return lambda value, _: [f"{label}={str(value).lower() if isinstance(value, bool) else value}"]


def _list(label: str) -> _Printer:
    return lambda values, _: [f"{label}={_set(values)}"]


_PRINTERS: Mapping[str, _Printer] = {
    "channel_id": _plain("channel_id"),
    "replica_groups": _groups,
    "collective_device_list": _device_list,
    "iota_collective_device_list": _iota_groups,
    "use_global_device_ids": _plain("use_global_device_ids"),
    "source_target_pairs": _pairs,
    "window": _window,
    "convolution_dimension_numbers": _dim_labels,
    "feature_group_count": _group_count("feature_group_count"),
    "batch_group_count": _group_count("batch_group_count"),
    "dot_dimension_numbers": _dot,
    "ragged_dot_dimension_numbers": _ragged_dot,
    "precision_config": _precision,
    "dimensions": _dimensions,
    "slice_dimensions": _slice,
    "dynamic_slice_sizes": _list("dynamic_slice_sizes"),
    "padding_config": _padding,
    "comparison_direction": _plain("direction"),
    "comparison_type": lambda kind, _: ["type=TOTALORDER"] if kind == "TOTALORDER" else [],
    "exponent_bits": _plain("exponent_bits"),
    "mantissa_bits": _plain("mantissa_bits"),
    "gather_dimension_numbers": _index_dimensions(
        ("offset_dims", "collapsed_slice_dims", "start_index_map"),
        ("operand_batching_dims", "start_indices_batching_dims"),
    ),
    "scatter_dimension_numbers": _index_dimensions(
        ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
        ("input_batching_dims", "scatter_indices_batching_dims"),
    ),
    "indices_are_sorted": _plain("indices_are_sorted"),
    "unique_indices": _plain("unique_indices"),
    "fft_length": lambda length, instruction: [
        f"fft_type={instruction.attributes.get('fft_type', 'FFT')}",
        f"fft_length={_set(length)}",
    ],
    "cholesky_options": lambda options, _: ["lower=true"] if options.get("lower") else [],
    "triangular_solve_options": _triangular,
    "is_stable": _plain("is_stable"),
    "distribution": _plain("distribution"),
    "rng_algorithm": _plain("algorithm"),
    "delta": _plain("delta"),
    "epsilon": lambda value, _: [f"epsilon={value:.6g}"],
    "feature_index": _plain("feature_index"),
    "k": _plain("k"),
    "largest": _plain("largest"),
    "is_host_transfer": _plain("is_host_transfer"),
}
"""How each attribute is printed, in XLA's order."""

_LAST_PRINTERS: Mapping[str, _Printer] = {
    "custom_call_has_side_effect": _plain("custom_call_has_side_effect"),
    "output_operand_aliasing": _aliasing,
    "custom_call_api_version": lambda version, _: (
        [f"api_version={version}"] if version != "API_VERSION_ORIGINAL" else []
    ),
}
"""The same for those that follow a fusion's kind and a custom call's target."""
