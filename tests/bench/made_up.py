"""Made-up captures of devices this machine does not have, as long as asked for: steps of 100 us, all alike."""

from __future__ import annotations

from pathlib import Path

from tests.analysis.gpu_spaces import US, GpuSpace, add_module
from tests.tpu_builder import Core
from tests.xspace_builder import LineBuilder, SpaceBuilder

STEP_US = 100
_ALL_REDUCE = "%{name} = f32[1024]{{0}} {opcode}({operand}), replica_groups={{{{0,1}}}}"


def write_gpu(folder: Path, steps: int) -> Path:
    """Write two GPUs that run XLA's kernels, a collective and a copy in each step, fed and launched by one thread."""
    space = GpuSpace(steps * STEP_US, m=add_module())
    main, calls = space.host.line("main"), space.host.line("driver")
    streams = []
    for ordinal in range(2):
        plane = space.gpu(ordinal)
        streams.append((plane.line("Stream #1(Compute)"), plane.line("Stream #2(MemcpyH2D)")))
    for step in range(steps):
        start = step * STEP_US
        _host_step(main, start, step)
        for compute, copies in streams:
            for number, op in enumerate(("m/add.1", "m/multiply.2", "")):
                name = "ncclDevKernel_AllReduce_Sum_f32_RING" if not op else f"loop_{number}_fusion"
                at = start + 20 + 20 * number
                space.kernel(compute, name, at, 15, op, launch=start + 8 + number, line=calls)
            details = "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"
            space.kernel(copies, "MemcpyH2D", start + 30, 10, memcpy_details=details, launch=start + 12, line=calls)
    return space.write(folder)


def write_tpu(folder: Path, steps: int) -> Path:
    """Write two TPU cores with an op, an asynchronous all-reduce and a copy to the host in each step."""
    space = SpaceBuilder()
    main = space.plane("/host:CPU").line("main")
    for ordinal in range(2):
        core = Core(space, f"/device:TPU:{ordinal}")
        core.op("fusion.1", "loop fusion", flops=2048.0, bytes_accessed=12288)
        for half, operand in (("start", "%fusion.1"), ("done", "%all-reduce-start.1")):
            opcode = f"all-reduce-{half}"
            core.op(f"{opcode}.1", opcode, _ALL_REDUCE.format(name=f"{opcode}.1", opcode=opcode, operand=operand))
        core.op("copy-start.1", "copy-start", "%copy-start.1 = f32[1024]{0:S(5)} copy-start(%fusion.1)")
        core.op("copy-done.1", "copy-done", "%copy-done.1 = f32[1024]{0:S(5)} copy-done(%copy-start.1)")
        starts = range(0, steps * STEP_US, STEP_US)
        order = ("all-reduce-start.1", "fusion.1", "copy-start.1", "all-reduce-done.1", "copy-done.1")
        core.ops((name, start + 10 + 15 * at, 10) for start in starts for at, name in enumerate(order))
        core.runs(("jit_f(7)", start + 5, STEP_US - 10) for start in starts)
        core.steps((str(step), step * STEP_US, STEP_US - 2) for step in range(steps))
    for step in range(steps):
        _host_step(main, step * STEP_US, step)
    return space.write(folder)


def _host_step(line: LineBuilder, start: int, step: int) -> None:
    """Let a host take a batch, launch a step, and its allocator give and take what the step needs."""
    line.event("train", start * US, (STEP_US - 5) * US, _r=1, step_num=step)
    line.event("Iterator::Prefetch::Next", (start + 1) * US, 4 * US)
    line.event("PjitFunction(f)", (start + 7) * US, 8 * US)
    for name, at, heap in (("MemoryAllocation", 20, 8192), ("MemoryDeallocation", 80, 4096)):
        sizes = {"allocation_bytes": 4096, "requested_bytes": 4000, "bytes_allocated": heap, "bytes_reserved": 0}
        where = {"bytes_available": 2**30 - heap, "peak_bytes_in_use": 8192, "addr": 4096 * (step % 8 + 1)}
        line.event(name, (start + at) * US, US, allocator_name="GPU_0_bfc", **sizes, **where)
