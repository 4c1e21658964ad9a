"""GPU profiles made up for closed forms: overlap, runs, steps, loops, command buffers, copies, what is missing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xprof_nb as xp
from tests.analysis.gpu_spaces import H100, US, GpuSpace, add_module, gemm_module, loop_module
from tests.xprof_oracle import ask_xprof, rows_of


def test_kernels_that_overlap_share_the_device(tmp_path: Path) -> None:
    made = GpuSpace(stop_us=20)
    gpu = made.gpu()
    made.kernel(gpu.line("Stream #1(Compute)"), "a", 0, 10)
    made.kernel(gpu.line("Stream #2(Compute)"), "b", 5, 10)
    profile = made.open(tmp_path)
    summary = profile.ops().summary
    assert summary["busy_time_ps"] == 15 * US
    assert summary["idle_fraction"] == 0.25
    frame = profile.ops().frame.set_index("op")
    assert frame["time_ps"].to_dict() == {"a": 10 * US, "b": 10 * US}
    assert frame["self_time_ps"].to_dict() == {"a": 7.5 * US, "b": 7.5 * US}
    assert set(frame["category"]) == {"kernel"}
    overview = profile.overview().frame.set_index("name")
    assert overview.loc["device_idle_fraction", "value"] == 0.25
    assert "union" in overview.loc["device_idle_fraction", "definition"] or "at least one op" in str(
        overview.loc["device_idle_fraction", "definition"]
    )


@pytest.mark.parametrize("by", ["program", "category", "framework", "source"])
def test_children_add_up_to_their_parent_and_nothing_vanishes(tmp_path: Path, by: str) -> None:
    made = GpuSpace(stop_us=100, jit_f=add_module())
    gpu = made.gpu()
    one, two = gpu.line("Stream #1(Compute)"), gpu.line("Stream #2(MemcpyH2D)")
    made.kernel(one, "k1", 0, 10, "jit_f/add.1")
    made.kernel(one, "k2", 10, 5, "jit_f/multiply.2")
    made.kernel(one, "lost", 20, 5)
    made.kernel(one, "tf_kernel", 30, 5, tf_op="a/b/MatMul_1:MatMul")
    made.kernel(two, "MemcpyH2D", 2, 20, memcpy_details="size:4000 dest:0 async:1")
    profile = made.open(tmp_path)
    frame = profile.op_profile(by=by).frame
    timed = frame[frame["kind"] != "fused"]
    for row in timed.itertuples():
        below = timed[timed["parent"] == row.node]
        if len(below):
            assert below["self_time_ps"].sum() == pytest.approx(row.self_time_ps)
    assert timed.loc[timed["kind"] == "idle", "self_time_ps"].iloc[0] == pytest.approx((100 - 25 - 2 - 3 - 0) * US)
    assert set(timed.loc[timed["kind"] == "op", "op"]) == {
        *("add.1", "multiply.2", "lost", "a/b/MatMul_1/tf_kernel", "MemcpyH2D"),
    }


def test_steps_are_inferred_from_runs(tmp_path: Path) -> None:
    made = GpuSpace(stop_us=40, jit_f=add_module())
    stream = made.gpu().line("Stream #1(Compute)")
    for start in (1, 11, 21):
        made.kernel(stream, "k1", start, 5, "jit_f/add.1")
        made.kernel(stream, "k2", start + 5, 3, "jit_f/multiply.2")
    profile = made.open(tmp_path)
    steps = profile.steps()
    assert steps.summary["kind"] == "inferred"
    assert steps.frame["duration_ps"].tolist() == [8 * US] * 3
    assert steps.summary["step_time_mean_ps"] == 10 * US
    assert steps.frame["busy_time_ps"].tolist() == [8 * US] * 3
    runs = profile.data.hosts[0].runs
    assert runs.start_ps.tolist() == [1 * US, 11 * US, 21 * US]
    assert profile.ops(step=1).frame["time_ps"].sum() == 8 * US


def test_steps_are_those_whose_code_launched_the_kernels(tmp_path: Path) -> None:
    """Dispatch runs ahead of the device: all kernels run after both annotations have ended."""
    made = GpuSpace(jit_f=add_module())
    python, worker, driver = made.host.line("python"), made.host.line("worker"), made.host.line("driver")
    stream = made.gpu().line("Stream #1(Compute)")
    for step in (0, 1):
        begin = 100 * step
        python.event("train", begin * US, 50 * US, _r=1, step_num=step)
        python.event("PjRtExecute", (begin + 10) * US, 5 * US, _pt=5, _p=70 + step)
        worker.event("Enqueue", (begin + 60) * US, 20 * US, _ct=5, _c=70 + step)
        worker.event("GpuExecutable::ExecuteThunks", (begin + 61) * US, 15 * US, module_name="jit_f")
        made.kernel(stream, "k1", 500 + 10 * step, 4, "jit_f/add.1", launch=begin + 62, line=driver)
        made.kernel(stream, "k2", 505 + 10 * step, 4, "jit_f/multiply.2", launch=begin + 64, line=driver)
    profile = made.open(tmp_path)
    trace = profile.data.hosts[0]
    assert trace.ops.step.tolist() == [0, 0, 1, 1]
    assert trace.ops.run_id.tolist() == [70, 70, 71, 71]
    assert profile.steps().summary["kind"] == "marked"
    assert profile.ops(step=1).frame["time_ps"].sum() == 8 * US
    assert len(trace.runs) == 2


def test_a_steps_line_marks_steps_where_nothing_else_does(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    gpu = made.gpu()
    stream = gpu.line("Stream #1(Compute)")
    made.kernel(stream, "k1", 10, 5, "jit_f/add.1")
    made.kernel(stream, "k1", 110, 5, "jit_f/add.1", group_id=8)
    derived = gpu.line("Steps", number=0xDEADBEEF - 2**32)
    derived.event("7", 0, 50 * US, group_id=7).event("8", 100 * US, 60 * US, group_id=8)
    gpu.line("XLA Ops", number=0xDEADBEEF + 5).event("add.1", 10 * US, 5 * US)
    profile = made.open(tmp_path)
    steps = profile.steps()
    assert steps.frame["step"].tolist() == [7, 8]
    assert steps.frame["duration_ps"].tolist() == [50 * US, 60 * US]
    assert profile.ops(step=8).frame["occurrences"].tolist() == [1]
    assert profile.ops().frame["time_ps"].sum() == 10 * US


def test_an_op_of_several_kernels_runs_once(tmp_path: Path) -> None:
    """Counting kernels would book its FLOPs twice; xprof does."""
    made = GpuSpace(jit_f=gemm_module(256))
    stream = made.gpu().line("Stream #1(Compute)")
    for start in (0, 100):
        made.kernel(stream, "splitK", start, 10, "jit_f/cublas.1")
        made.kernel(stream, "reduce", start + 10, 10, "jit_f/cublas.1")
    file = made.write(tmp_path)
    profile = xp.open(file)
    ours = profile.ops().frame.iloc[0]
    assert (ours["occurrences"], ours["time_ps"], ours["flops"]) == (2, 40 * US, 2 * 2 * 256**3)
    (theirs,) = rows_of(ask_xprof(file, "hlo_stats"))
    assert theirs["occurrences"] == 4
    like_xprof = profile.ops(compat="xprof").frame.iloc[0]
    assert like_xprof["occurrences"] == 4
    assert like_xprof["flops_per_s"] / 1e9 == pytest.approx(theirs["normalized_flop_rate"], rel=1e-6)


def test_ops_of_a_loop_run_as_often_as_the_loop(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=loop_module())
    stream = made.gpu().line("Stream #1(Compute)")
    for begin in (0, 100):
        made.kernel(stream, "predicate", begin, 1, "jit_f/while.1")
        for turn in range(3):
            made.kernel(stream, "k", begin + 10 + 5 * turn, 4, "jit_f/while.1::inner.1")
        made.kernel(stream, "k2", begin + 30, 4, "jit_f/last.1")
    profile = made.open(tmp_path)
    frame = profile.ops().frame.set_index("op")
    assert frame["occurrences"].to_dict() == {"inner.1": 6, "last.1": 2, "while.1": 2}
    assert frame.loc["inner.1", "flops"] == 6 * 8
    assert np.isnan(frame.loc["while.1", "flops"])
    runs = profile.data.hosts[0].runs
    assert (runs.start_ps.tolist(), runs.duration_ps.tolist()) == ([0, 100 * US], [34 * US, 34 * US])


def test_two_programs_may_have_ops_of_one_name(tmp_path: Path) -> None:
    """Kernels of one op name in a row in a step are one op to xprof, whatever their program."""
    made = GpuSpace(jit_f=add_module(1000), jit_g=add_module(5000))
    python = made.host.line("python")
    python.event("train", 0, 50 * US, _r=1, step_num=0)
    stream = made.gpu().line("Stream #1(Compute)")
    made.kernel(stream, "k", 100, 10, "jit_f/add.1", launch=10, line=python)
    made.kernel(stream, "k", 110, 30, "jit_g/add.1", launch=20, line=python)
    file = made.write(tmp_path)
    profile = xp.open(file)
    ours = profile.ops().frame.set_index("program")
    assert ours["time_ps"].to_dict() == {"jit_f": 10 * US, "jit_g": 30 * US}
    assert ours["flops"].to_dict() == {"jit_f": 1000, "jit_g": 5000}
    theirs = rows_of(ask_xprof(file, "hlo_stats"))
    found = profile.ops(compat="xprof").frame
    assert [(str(row.program_id), row.occurrences, row.time_ps) for row in found.itertuples()] == [
        (row["program_id"], row["occurrences"], pytest.approx(row["total_time"] * 1e6)) for row in theirs
    ]
    assert found["flops_per_s"].iloc[0] / 1e9 == pytest.approx(theirs[0]["normalized_flop_rate"], rel=1e-6)
    assert len(theirs) == 1


def test_a_matmul_is_rated_against_the_peak_of_its_type(tmp_path: Path) -> None:
    size, us = 8192, 1300.0
    made = GpuSpace(stop_us=2000, jit_f=gemm_module(size))
    made.kernel(made.gpu(stats=H100).line("Stream #1"), "nvjet_hsh_256x128_64x4", 0, us, "jit_f/cublas.1")
    profile = made.open(tmp_path)
    result = profile.ops()
    row = result.frame.iloc[0]
    assert row["flops"] == 2 * size**3
    assert row["flops_utilization"] == pytest.approx(2 * size**3 / (us * 1e-6) / 989e12)
    assert result.summary["peak_flops_dtype"] == "bf16"
    assert result.summary["peak_flops_label"] == "datasheet"
    assert "bf16" in profile.overview().frame.set_index("name").loc["flops_utilization", "definition"]
    assert profile.kernels().frame["uses_tensor_cores"].tolist() == [True]


def test_kernels_in_command_buffers_are_named_and_the_cure_too(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    stream = made.gpu().line("Stream #1(Compute)")
    for turn in range(3):
        made.kernel(stream, f"fusion_{turn}", 10 * turn, 5, cuda_graph_id=1)
    profile = made.open(tmp_path)
    assert profile.ops().frame["op"].tolist() == ["fusion_0", "fusion_1", "fusion_2"]
    assert profile.kernels().frame["occurrences"].sum() == 3
    for result in (profile.ops(), profile.op_profile(), profile.kernels()):
        (note,) = [note for note in result.notes if "command buffers" in note]
        assert "restart the kernel" in note
        (setting,) = re.findall(r"`(XLA_FLAGS=[^`]*)`", note)
        (word,) = shlex.split(setting)
        flag, _, value = word.removeprefix("XLA_FLAGS=").partition("=")
        assert (flag, value) == ("--xla_gpu_enable_command_buffer", "")


def test_a_graph_traced_as_a_whole_is_one_op(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    stream = made.gpu().line("Stream #1(Compute)")
    stream.event("CudaGraphExec:7", 0, 30 * US, cuda_graph_exec_id=7, correlation_id=1)
    profile = made.open(tmp_path)
    assert profile.kernels().frame["kind"].tolist() == ["command buffer"]
    assert any("command buffers" in note for note in profile.kernels().notes)


def test_a_gpu_in_use_without_its_plane_is_for_want_of_permission(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    made.host.line("python").event("GpuExecutable::ExecuteThunks", 0, 10 * US, module_name="jit_f")
    profile = made.open(tmp_path / "none")
    assert any("NVreg_RestrictProfilingToAdminUsers" in note for note in profile.ops().notes)
    made.gpu()
    silent = made.open(tmp_path / "silent")
    assert not len(silent.kernels().frame)
    assert any("permission" in note for note in silent.kernels().notes)
    assert any("No GPU kernel" in note for note in silent.kernels().notes)


def test_derived_kernels_without_a_lane_are_inconsistent(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    made.gpu().line("XLA Ops", number=0xDEADBEEF + 5).event("add.1", 0, 5 * US)
    profile = made.open(tmp_path)
    assert any("Inconsistent profile" in note for note in profile.ops().notes)
    assert not len(profile.ops().frame)


def test_launches_without_a_kernel_are_told(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    driver = made.host.line("driver")
    made.kernel(made.gpu().line("Stream #1"), "k", 20, 5, "jit_f/add.1", launch=1, line=driver)
    driver.event("cuLaunchKernel", 3 * US, US, correlation_id=99)
    assert any("of 2 kernels the host launched, 1 are on no stream" in note for note in made.open(tmp_path).ops().notes)


def test_devices_that_ran_nothing_are_named(tmp_path: Path) -> None:
    made = GpuSpace(stop_us=20, jit_f=add_module())
    for ordinal in range(8):
        stream = made.gpu(ordinal).line("Stream #1")
        if ordinal in (2, 5):
            made.kernel(stream, "k", 0, 10, "jit_f/add.1")
    profile = made.open(tmp_path)
    assert [device.name for device in profile.devices] == ["GPU:2", "GPU:5"]
    assert any("Devices traced: 2 of 8" in note for note in profile.overview().notes)
    assert profile.ops().summary["idle_fraction"] == 0.5
    assert profile.ops(device="GPU:5").frame["time_ps"].sum() == 10 * US


def test_copies_have_bytes_and_a_rate(tmp_path: Path) -> None:
    made = GpuSpace()
    stream = made.gpu().line("Stream #2(MemcpyH2D,MemcpyD2D)")
    made.kernel(
        stream, "MemcpyH2D", 0, 10, memcpy_details="kind_src:pageable kind_dst:device size:4000000 dest:0 async:1"
    )
    made.kernel(stream, "MemcpyH2D", 20, 10, memcpy_details="num_bytes:6000000 dest:0 async:1")
    made.kernel(stream, "MemcpyD2H", 40, 10, memcpy_details="size:0 dest:0 async:1")
    frame = made.open(tmp_path).kernels().frame.set_index("kind")
    to_device = frame.loc["host-to-device copy"]
    assert (to_device["occurrences"], to_device["bytes"]) == (2, 10_000_000)
    assert to_device["bytes_per_s"] == pytest.approx(10_000_000 / 20e-6)
    assert np.isnan(frame.loc["device-to-host copy", "bytes"])


def test_launch_shapes(tmp_path: Path) -> None:
    made = GpuSpace()
    stream = made.gpu().line("Stream #1(Compute)")
    made.kernel(stream, "k", 0, 10)
    made.kernel(stream, "old", 20, 10, kernel_details="regs:38 shm:512 grid:160,1,1 block:1024,1,1")
    made.kernel(stream, "odd", 40, 10, kernel_details="regs:-3 grid: block:1,2 occ_pct:nan \x00:7 static_shared:9e999")
    profile = made.open(tmp_path)
    frame = profile.kernels().frame.set_index("kernel")
    row = frame.loc["k"]
    assert (row["grid"], row["block"]) == ("160,1,1", "256,1,1")
    assert (row["registers_per_thread"], row["static_shared_bytes"], row["dynamic_shared_bytes"]) == (32, 1024, 2048)
    assert row["occupancy_fraction"] == 0.5
    assert frame.loc["old", "static_shared_bytes"] == 512
    assert np.isnan(frame.loc["old", "occupancy_fraction"])
    unknown = ["registers_per_thread", "static_shared_bytes", "occupancy_fraction", "grid", "block"]
    assert frame.loc["odd", unknown].isna().all()
    theirs = profile.kernels(compat="xprof").frame.set_index("kernel")
    assert theirs["block"].to_dict() == {"k": "256,1,1", "old": "1024,1,1", "odd": "1,1,1"}


def test_kernels_that_took_no_time_have_no_share(tmp_path: Path) -> None:
    made = GpuSpace()
    made.kernel(made.gpu().line("Stream #1(Compute)"), "k", 0, 0)
    result = made.open(tmp_path).kernels()
    assert result.summary["kernel_time_ps"] == 0
    assert result.summary["sentence"].endswith("the most expensive is k (–).")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("volta_h884gemm_128x128_ldg8_nn", True),
        ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", True),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute", True),
        ("cutlass3x_sm90_tensorop_s64x256x16gemm_bf16_bf16_f32", True),
        ("nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", True),
        ("void cutlass::device_kernel<flash::wgmma_mainloop>", True),
        ("ampere_sgemm_128x64_nn", None),
        ("loop_add_fusion", False),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", False),
        ("void Eigen::internal::EigenMetaKernel<...>", False),
    ],
)
def test_tensor_cores_by_name(tmp_path: Path, name: str, told: bool | None) -> None:
    made = GpuSpace()
    made.kernel(made.gpu().line("Stream #1"), name, 0, 10)
    (found,) = made.open(tmp_path).kernels().frame["uses_tensor_cores"]
    assert (None if pd.isna(found) else bool(found)) is told


def test_a_collective_is_known_by_its_library(tmp_path: Path) -> None:
    made = GpuSpace()
    made.kernel(
        made.gpu().line("Stream #1"), "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0, 10
    )
    profile = made.open(tmp_path)
    assert profile.kernels().frame["is_collective"].tolist() == [True]
    row = profile.ops().frame.iloc[0]
    assert (row["category"], row["work_kind"], row["bound_by"]) == ("all-gather", "collective", "link")


def test_another_backend_has_no_kernels_and_says_so(cpu_profile: Path) -> None:
    result = xp.open(cpu_profile).kernels()
    assert not len(result.frame)
    assert any("CPU" in note and "ops()" in note for note in result.notes)


def test_xprofs_table_of_kernels(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    stream = made.gpu().line("Stream #1(Compute)")
    made.kernel(stream, "volta_h884gemm", 0, 10.0005, "jit_f/add.1")
    made.kernel(stream, "volta_h884gemm", 20, 9.9995, "jit_f/add.1")
    made.kernel(stream, "old", 40, 5, kernel_details="regs:38 shm:512 grid:160,1,1 block:1024,1,1")
    made.kernel(stream, "short", 60, 0.0005)
    made.kernel(stream, "tf", 70, 3, tf_op="a/MatMul:MatMul")
    file = made.write(tmp_path)
    theirs = rows_of(ask_xprof(file, "kernel_stats"))
    ours = xp.open(file).kernels(compat="xprof").frame
    assert ours["kernel"].tolist() == [row["kernel_name"] for row in theirs]
    for row, expected in zip(ours.itertuples(), theirs, strict=True):
        assert (row.op or "", row.occurrences) == (expected["op_name"], expected["occurrences"])
        assert row.time_ps == pytest.approx(expected["total_duration_us"] * 1e6, abs=0.5)
        assert row.mean_time_ps == pytest.approx(expected["avg_duration_us"] * 1e6, abs=0.5)
        assert row.min_time_ps == pytest.approx(expected["min_duration_us"] * 1e6, abs=0.5)
        assert row.shared_bytes == expected["shmem_bytes"]
        assert row.uses_tensor_cores == expected["is_kernel_using_tensor_core"]
        assert row.tensor_core_eligible == expected["is_op_tensor_core_eligible"]


def test_damage_does_no_harm(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    gpu = made.gpu(
        stats={"core_count": -1, "clock_rate": float("nan"), "memory_bandwidth": 2**62, "device_vendor": b"\xff"}
    )
    stream = gpu.line("Stream #1")
    made.kernel(stream, "k", 0, -5, "jit_f/add.1", program_id="no number", correlation_id=-1)
    made.kernel(stream, "k", 5, 5, "::", hlo_module="")
    stream.aggregated("sum", 1000, 5 * US)
    profile = made.open(tmp_path)
    assert len(profile.ops().frame)
    assert len(profile.kernels().frame)
    assert profile.devices[0].peaks.reference is None


def test_time_grows_with_the_number_of_kernels_alone(tmp_path: Path) -> None:
    made = GpuSpace(jit_f=add_module())
    stream = made.gpu().line("Stream #1(Compute)")
    for turn in range(20_000):
        made.kernel(stream, "k1", turn, 0.4, "jit_f/add.1")
        made.kernel(stream, "k2", turn + 0.5, 0.4, "jit_f/multiply.2")
    profile = made.open(tmp_path)
    assert profile.ops().frame["occurrences"].tolist() == [20_000, 20_000]
    assert len(profile.data.hosts[0].runs) == 20_000
