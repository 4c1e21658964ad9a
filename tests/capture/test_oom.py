"""What is read of out-of-memory errors, in the words of each runtime."""

from __future__ import annotations

import time

import jax.numpy as jnp
import pytest

from xprof_nb.capture import oom

GIB, MIB = 2**30, 2**20
TPU_COMPILE = """\
RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 17.20G of 15.75G hbm. \
Exceeded hbm capacity by 1.45G.

Total hbm usage >= 17.73G:
    reserved        530.00M
    program          16.70G
    arguments       512.00M

Output size 0B; shares 0B with arguments.

Program hbm requirement 16.70G:
    global           276.0K
    scoped           516.0K
    HLO temp         16.50G (99.9% utilization: Unpadded (12.40G) Padded (16.50G), 0.0% fragmentation (1.01M))

  Largest program allocations in hbm:

  1. Size: 4.00G
     Operator: op_name="jit(train_step)/jvp(Model)/attention/dot_general" source_file="/home/a/model.py" source_line=59
     Shape: f32[32,4096,64]{2,1,0:T(8,128)}
     Unpadded size: 2.00G
     Extra memory due to padding: 2.00G (2.0x expansion)
     XLA label: fusion.1265 = fusion(custom-call.224), kind=kOutput
     Allocation type: HLO temp
     ==========================

  2. Size: 512.00M
     Shape: f32[128,1048576]{1,0:T(8,128)}
     Unpadded size: 512.00M
     XLA label: copy.3
     Allocation type: HLO temp
     ==========================
"""
GPU_BFC = """\
RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12884901888 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    6.00GiB
              constant allocation:         0B
        maybe_live_out allocation:    6.00GiB
     preallocated temp allocation:   12.00GiB
                 total allocation:   24.00GiB
              total fragmentation:         0B (0.00%)
Peak buffers:
\tBuffer 1:
\t\tSize: 12.00GiB
\t\tOperator: op_name="jit(f)/jit(main)/dot_general" source_file="/m.py" source_line=689
\t\tXLA Label: fusion
\t\tShape: f32[4096,786432]
\t\t==========================

\tBuffer 2:
\t\tSize: 384.0KiB
\t\tEntry Parameter Subshape: f32[256,128,3]
\t\t==========================
"""


def test_a_tpu_compiler_that_ran_out() -> None:
    said = oom.read(TPU_COMPILE)
    assert said.is_memory
    assert (said.used_bytes, said.limit_bytes, said.space) == (round(17.2 * GIB), round(15.75 * GIB), "hbm")
    assert said.asked_bytes is None
    assert said.parts["HLO temp"] == round(16.5 * GIB)
    assert said.parts["arguments"] == 512 * MIB
    first, second = said.largest
    assert (first.size_bytes, first.unpadded_bytes) == (4 * GIB, 2 * GIB)
    assert first.op == "jit(train_step)/jvp(Model)/attention/dot_general"
    assert first.source == "/home/a/model.py:59"
    assert first.shape == "f32[32,4096,64]{2,1,0:T(8,128)}"
    assert (first.label.partition(" ")[0], first.kind) == ("fusion.1265", "HLO temp")
    assert (second.size_bytes, second.op) == (512 * MIB, "")


def test_a_gpu_allocator_that_ran_out() -> None:
    said = oom.read(GPU_BFC)
    assert said.asked_bytes == 12 * GIB
    assert said.parts == {
        "parameter": 6 * GIB,
        "constant": 0,
        "maybe_live_out": 6 * GIB,
        "preallocated temp": 12 * GIB,
        "total": 24 * GIB,
    }
    first, second = said.largest
    assert (first.size_bytes, first.label, first.source) == (12 * GIB, "fusion", "/m.py:689")
    assert (second.size_bytes, second.shape, second.kind) == (384 * 1024, "f32[256,128,3]", "parameter")


@pytest.mark.parametrize(
    ("text", "asked", "free", "space"),
    [
        (
            "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 4.39G. That was not possible. "
            "There are 2.30G free.; (0x0x0_HBM0)",
            round(4.39 * GIB),
            round(2.3 * GIB),
            "0x0x0_HBM0",
        ),
        (
            "RESOURCE_EXHAUSTED: Error loading program: Attempting to reserve 7.04G at the bottom of memory. That was "
            "not possible. There are 6.90G free, 0B reserved, and 6.90G reservable.",
            round(7.04 * GIB),
            round(6.9 * GIB),
            "",
        ),
        (
            "RESOURCE_EXHAUSTED: Could not allocate 10485760 bytes in memory 0x0x0_HBM0; 4374528 bytes allocatable, "
            "14942208 bytes available",
            10 * MIB,
            4374528,
            "",
        ),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12.00GiB.", 12 * GIB, None, ""),
        (
            "RESOURCE_EXHAUSTED: Failed to allocate request for 32.00MiB (33554432B) on device ordinal 0",
            32 * MIB,
            None,
            "device ordinal 0",
        ),
        (
            "Allocator (GPU_1_bfc) ran out of memory trying to allocate 27.93GiB (rounded to 29995136256)requested",
            round(27.93 * GIB),
            None,
            "GPU_1_bfc",
        ),
    ],
)
def test_other_runtimes(text, asked, free, space) -> None:
    said = oom.read(text)
    assert said.is_memory
    assert (said.asked_bytes, said.free_bytes, said.space) == (asked, free, space)


def test_memory_in_pieces() -> None:
    said = oom.read(
        "RESOURCE_EXHAUSTED: Attempting to allocate 31.06M. That was not possible. There are 58.64M free. Due to "
        "fragmentation, the largest contiguous region of free memory is 30.56M.; (0x0x0_HBM0)"
    )
    assert (said.asked_bytes, said.contiguous_bytes) == (round(31.06 * MIB), round(30.56 * MIB))


def test_a_real_one_of_this_machine() -> None:
    with pytest.raises((ValueError, RuntimeError), match="RESOURCE_EXHAUSTED") as failed:
        jnp.zeros((2**60,), jnp.int8).block_until_ready()
    assert oom.read(str(failed.value)).asked_bytes == 2**60


@pytest.mark.parametrize("text", ["", "division by zero", "Size: " * 50_000, "Used 1.2.3G of xG", "\0" * 1000])
def test_any_other_text_is_read_as_nothing(text) -> None:
    said = oom.read(text)
    assert (said.is_memory, said.asked_bytes, said.used_bytes, said.largest) == (False, None, None, ())


def test_a_message_of_any_length_is_read_in_bounded_time() -> None:
    began = time.process_time()
    oom.read(GPU_BFC * 100_000)
    oom.read("Attempting to allocate " + "9" * 5_000_000)
    assert time.process_time() - began < 60
