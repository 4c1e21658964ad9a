"""Message classes of XLA's ``hlo.proto`` and ``xla_data.proto``, as far as profiles need them."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pool

from xprof_nb.formats.message_pool import class_of, message_pool

# Names and numbers are XLA's (hlo.proto, xla_data.proto), one line a field: `name number type`, `*` repeated.
_ENUMS = {
    "PrimitiveType": "INVALID=0 PRED=1 S8=2 S16=3 S32=4 S64=5 U8=6 U16=7 U32=8 U64=9 F16=10 F32=11 F64=12 TUPLE=13 "
    "OPAQUE=14 C64=15 BF16=16 TOKEN=17 C128=18 F8E5M2=19 F8E4M3FN=20 S4=21 U4=22 F8E4M3B11FNUZ=23 F8E5M2FNUZ=24 "
    "F8E4M3FNUZ=25 S2=26 U2=27 F8E4M3=28 F8E3M4=29 S1=30 U1=31 F4E2M1FN=32 F8E8M0FNU=33 BUFFER=34",
    "FftType": "FFT=0 IFFT=1 RFFT=2 IRFFT=3",
    "RandomDistribution": "rng_invalid=0 rng_uniform=1 rng_normal=2",
    "RandomAlgorithm": "rng_default=0 rng_three_fry=1 rng_philox=2",
    "Transpose": "TRANSPOSE_INVALID=0 NO_TRANSPOSE=1 TRANSPOSE=2 ADJOINT=3",
    "Precision": "default=0 high=1 highest=2",
    "DotAlgorithm": "unset=0 any_f8_any_f8_f32=1 any_f8_any_f8_f32_fast_accum=2 f16_f16_f16=3 f16_f16_f32=4 "
    "bf16_bf16_bf16=5 bf16_bf16_f32=6 bf16_bf16_f32_x3=7 bf16_bf16_f32_x6=8 tf32_tf32_f32=9 tf32_tf32_f32_x3=10 "
    "f32_f32_f32=11 f64_f64_f64=12 bf16_bf16_f32_x9=13",
    "CustomCallApiVersion": "API_VERSION_UNSPECIFIED=0 API_VERSION_ORIGINAL=1 API_VERSION_STATUS_RETURNING=2 "
    "API_VERSION_STATUS_RETURNING_UNIFIED=3 API_VERSION_TYPED_FFI=4",
}

_MESSAGES = {
    # The buffer assignment can be larger than the program, and a question needs one or the other: each is read alone.
    "HloProto": "hlo_module 1 HloModule",
    "BufferedHlo": "hlo_module 1 NamedModule, buffer_assignment 3 BufferAssignment",
    "NamedModule": "computations 3 *NamedComputation, input_output_alias 8 InputOutputAlias",
    "NamedComputation": "instructions 2 *NamedInstruction, id 5 int64",
    "NamedInstruction": "name 1 string, id 35 int64",
    "InputOutputAlias": "entries 1 *AliasEntry",
    "AliasEntry": "output_shape_index 1 *int64, parameter_number 2 int64, parameter_shape_index 3 *int64",
    "HloModule": "name 1 string, entry_computation_name 2 string, computations 3 *HloComputation, id 5 int64, "
    "entry_computation_id 6 int64, schedule 7 HloSchedule, device_assignment 15 DeviceAssignment, "
    "stack_frame_index 17 StackFrameIndex",
    "HloComputation": "name 1 string, instructions 2 *HloInstruction, id 5 int64, root_id 6 int64",
    "HloSchedule": "sequences 1 *ScheduleEntry",
    "ScheduleEntry": "key 1 int64, value 2 InstructionSequence",
    "InstructionSequence": "instruction_ids 1 *int64",
    "DeviceAssignment": "replica_count 1 int32, computation_count 2 int32",
    "StackFrameIndex": "file_names 1 *string, function_names 2 *string, file_locations 3 *FileLocation, "
    "stack_frames 4 *StackFrame",
    "FileLocation": "file_name_id 1 int32, function_name_id 2 int32, line 3 int32, column 4 int32",
    "StackFrame": "file_location_id 1 int32, parent_frame_id 2 int32",
    "HloInstruction": "name 1 string, opcode 2 string, shape 3 Shape, metadata 7 OpMetadata, literal 8 Literal, "
    "parameter_number 9 int64, fusion_kind 11 string, tuple_index 13 int64, dimensions 14 *int64, window 15 Window, "
    "convolution_dimension_numbers 16 ConvolutionDimensionNumbers, slice_dimensions 17 *SliceDimensions, "
    "exponent_bits 18 int32, mantissa_bits 19 int32, dynamic_slice_sizes 20 *int64, padding_config 21 PaddingConfig, "
    "distribution 23 RandomDistribution, epsilon 24 float, feature_index 25 int64, channel_id 26 int64, "
    "custom_call_target 28 string, dot_dimension_numbers 30 DotDimensionNumbers, fft_type 31 FftType, "
    "fft_length 32 *int64, gather_dimension_numbers 33 GatherDimensionNumbers, gather_slice_sizes 34 *int64, "
    "id 35 int64, operand_ids 36 *int64, control_predecessor_ids 37 *int64, called_computation_ids 38 *int64, "
    "backend_config 43 bytes, is_host_transfer 47 bool, "
    "scatter_dimension_numbers 48 ScatterDimensionNumbers, replica_groups 49 *ReplicaGroup, "
    "feature_group_count 50 int64, precision_config 51 PrecisionConfig, source_target_pairs 52 *SourceTarget, "
    "batch_group_count 58 int64, triangular_solve_options 59 TriangularSolveOptions, is_stable 60 bool, "
    "cholesky_options 62 CholeskyOptions, comparison_direction 63 string, custom_call_has_side_effect 65 bool, "
    "delta 66 int64, indices_are_sorted 67 bool, unique_indices 69 bool, rng_algorithm 70 RandomAlgorithm, "
    "use_global_device_ids 71 bool, comparison_type 72 string, output_operand_aliasing 74 *OutputOperandAliasing, "
    "custom_call_api_version 77 CustomCallApiVersion, async_execution_thread 79 string, "
    "cross_program_prefetch_index 80 int32, k 81 int64, largest 85 bool, "
    "collective_device_list 87 CollectiveDeviceList, ragged_dot_dimension_numbers 90 RaggedDotDimensionNumbers, "
    "iota_collective_device_list 92 IotaReplicaGroupList",
    "OpMetadata": "op_type 1 string, op_name 2 string, source_file 3 string, source_line 4 int32, "
    "deduplicated_name 12 string, stack_frame_id 15 int32, scheduling_name 16 string, source_column 18 int32",
    "Shape": "element_type 2 PrimitiveType, dimensions 3 *int64, tuple_shapes 4 *Shape, layout 5 Layout, "
    "is_dynamic_dimension 6 *bool",
    "Layout": "minor_to_major 1 *int64, tiles 6 *Tile, element_size_in_bits 7 int64, memory_space 8 int64",
    "Tile": "dimensions 1 *int64",
    "Literal": "shape 1 Shape, preds 2 *bool, u8s 3 bytes, s32s 4 *int32, s64s 5 *int64, u32s 6 *uint32, "
    "u64s 7 *uint64, f32s 8 *float, f64s 9 *double, f16s 11 bytes, c64s 12 *float, bf16s 13 bytes, s8s 15 bytes, "
    "u16s 16 bytes, s16s 17 bytes, c128s 18 *double",
    "Window": "dimensions 1 *WindowDimension",
    "WindowDimension": "size 1 int64, stride 2 int64, padding_low 3 int64, padding_high 4 int64, "
    "window_dilation 5 int64, base_dilation 6 int64, window_reversal 7 bool",
    "ConvolutionDimensionNumbers": "kernel_input_feature_dimension 3 int64, kernel_output_feature_dimension 4 int64, "
    "kernel_spatial_dimensions 6 *int64, input_batch_dimension 7 int64, input_feature_dimension 8 int64, "
    "output_batch_dimension 9 int64, output_feature_dimension 10 int64, input_spatial_dimensions 11 *int64, "
    "output_spatial_dimensions 12 *int64",
    "SliceDimensions": "start 1 int64, limit 2 int64, stride 3 int64",
    "PaddingConfig": "dimensions 1 *PaddingDimension",
    "PaddingDimension": "edge_padding_low 1 int64, edge_padding_high 2 int64, interior_padding 3 int64",
    "DotDimensionNumbers": "lhs_contracting_dimensions 1 *int64, rhs_contracting_dimensions 2 *int64, "
    "lhs_batch_dimensions 3 *int64, rhs_batch_dimensions 4 *int64",
    "RaggedDotDimensionNumbers": "dot_dimension_numbers 1 DotDimensionNumbers, lhs_ragged_dimensions 2 *int64, "
    "rhs_group_dimensions 3 *int64",
    "GatherDimensionNumbers": "offset_dims 1 *int64, collapsed_slice_dims 2 *int64, start_index_map 3 *int64, "
    "index_vector_dim 4 int64, operand_batching_dims 5 *int64, start_indices_batching_dims 6 *int64",
    "ScatterDimensionNumbers": "update_window_dims 1 *int64, inserted_window_dims 2 *int64, "
    "scatter_dims_to_operand_dims 3 *int64, index_vector_dim 4 int64, input_batching_dims 5 *int64, "
    "scatter_indices_batching_dims 6 *int64",
    "ReplicaGroup": "replica_ids 1 *int64",
    "IotaReplicaGroupList": "num_replica_groups 1 int64, num_devices_per_group 2 int64, iota_reshape_dims 3 *int64, "
    "iota_transpose_perm 4 *int32",
    "CollectiveDeviceList": "replica_groups 1 *ReplicaGroup, iota_replica_group_list 2 IotaReplicaGroupList",
    "SourceTarget": "source 1 int64, target 2 int64",
    "PrecisionConfig": "operand_precision 1 *Precision, algorithm 2 DotAlgorithm",
    "TriangularSolveOptions": "left_side 1 bool, lower 2 bool, unit_diagonal 3 bool, transpose_a 4 Transpose",
    "CholeskyOptions": "lower 1 bool",
    "OutputOperandAliasing": "output_shape_index 1 *int64, operand_index 2 int64, operand_shape_index 3 *int64",
    "BufferAssignment": "logical_buffers 1 *LogicalBuffer, buffer_aliases 2 *BufferAlias, "
    "buffer_allocations 3 *BufferAllocation, heap_simulator_traces 4 *HeapSimulatorTrace",
    "LogicalBuffer": "id 1 int64, size 2 int64, defined_at 3 BufferLocation, color 4 int64",
    "BufferLocation": "instruction_name 2 string, shape_index 3 *int64, instruction_id 4 int64",
    "BufferAlias": "source_buffer_id 1 int64, location 2 BufferLocation",
    "BufferAllocation": "index 1 int64, size 2 int64, is_thread_local 3 bool, is_entry_computation_parameter 5 bool, "
    "parameter_number 6 int64, maybe_live_out 7 bool, color 8 int64, assigned 9 *AssignedBuffer, "
    "parameter_shape_index 10 *int64, is_tuple 11 bool, is_constant 12 bool, is_parameter_aliased_with_output 13 bool",
    "AssignedBuffer": "logical_buffer_id 1 int64, offset 2 int64, size 3 int64",
    "HeapSimulatorTrace": "events 1 *HeapSimulatorEvent, whole_module_simulation 2 bool, "
    "buffer_allocation_index 3 int64",
    "HeapSimulatorEvent": "kind 1 int32, buffer_id 2 int64, computation_name 3 string, instruction_name 4 string, "
    "share_with_canonical_id 5 int64",
}


@cache
def message_class(name: str) -> Any:
    """Return the class of a message, named as in `hlo.proto` without its ``Proto``."""
    return class_of(_pool(), name)


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    return message_pool(_MESSAGES, _ENUMS)
