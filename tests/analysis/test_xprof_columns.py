"""Every column of xprof's tables of ops: the number of ours that equals it, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import xprof_nb as xp
from tests.analysis import step_spaces
from tests.analysis.tpu_spaces import CMEM, HBM, MS, READ, VMEM, WRITE, Op, core, programs
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder

EXACT = 1e-6
GIB = 2**30
RECORDED = ["tpu-v6e-psum", "v100-tf", "mi300x-jax-gemm", "mi300x-jax-conv", "mi350-te-attention"]
TIMES = {"occurrences": ("occurrences", 1), "total_time": ("time_ps", 1e6), "avg_time": ("mean_time_ps", 1e6),
         "total_self_time": ("self_time_ps", 1e6), "avg_self_time": ("mean_self_time_ps", 1e6)}  # fmt: skip
HLO_STATS = {
    **TIMES,
    "total_self_time_percent": ("time_fraction", 1e-2),
    "cumulative_total_self_time_percent": ("cumulative_time_fraction", 1e-2),
    "dma_stall_percent": ("dma_stall_fraction", 1),
    "model_flop_rate": ("model_flops_per_s", 1e9),
    "normalized_flop_rate": ("flops_per_s", 1e9),
    "measured_memory_bw": ("bytes_per_s", GIB),
    "hbm_bw": ("hbm_bytes_per_s", GIB),
    "cmem_read_bw": ("cmem_read_bytes_per_s", GIB),
    "cmem_write_bw": ("cmem_write_bytes_per_s", GIB),
    "operational_intensity": ("arithmetic_intensity", 1),
    "vdd_energy": ("energy_j", 1),
    "hlo_rematerialization": ("is_rematerialized", None),
    "outside_compilation": ("is_outside_compilation", None),
    "category": ("category", None),
    "bound_by": ("bound_by", None),
    "core_type": ("core_type", None),
}
MEMORIES = ("hbm", "cmem_read", "cmem_write", "vmem_read", "vmem_write")
ROOFLINE = {
    **TIMES,
    "rank": ("rank", 1),
    "total_self_time_percent": ("self_time_fraction", 1),
    "cumulative_total_self_time_percent": ("cumulative_self_time_fraction", 1),
    "dma_stall_percent": ("dma_stall_fraction", 1),
    "measured_flop_rate": ("flops_per_s", 1e9),
    "model_flop_rate": ("model_flops_per_s", 1e9),
    "measured_memory_bw": ("bytes_per_s", GIB),
    **{f"{memory}_bw": (f"{memory}_bytes_per_s", GIB) for memory in MEMORIES},
    "operational_intensity": ("arithmetic_intensity", 1),
    **{f"{memory}_operational_intensity": (f"{memory}_arithmetic_intensity", 1) for memory in MEMORIES},
    "bottleneck_operational_intensity": ("bottleneck_arithmetic_intensity", 1),
    "total_time_per_core": ("time_per_core_ps", 1e6),
    "total_time_in_percentage": ("time_fraction", 1),
    "optimal_flop_rate": ("optimal_flops_per_s", 1e9),
    "roofline_efficiency": ("efficiency_fraction", 1),
    "compute_efficiency": ("flops_utilization", 1),
    "max_mem_bw_utilization": ("memory_utilization", 1),
    **{name: (name, None) for name in ("step", "category", "bound_by", "include_infeed_outfeed")},
    "operation": ("op", None),
    "hlo_module_id": ("program_id", None),
}
PROPERTIES = {
    "peak_flop_rate": ("peak_flops_per_s", 1e9),
    **{f"peak_{memory}_bw": (f"peak_{memory}_bytes_per_s", GIB) for memory in MEMORIES},
    **{f"{memory}_ridge_point": (f"{memory}_ridge_flops_per_byte", 1) for memory in MEMORIES},
    **{name: (name, 1) for name in ("has_cmem", "has_merged_vmem")},
    "megacore": ("has_megacore", 1),
    "time_scale_multiplier": ("time_scale", 1),
}
FRAMEWORK = {
    "rank": ("rank", 1),
    "occurrences": ("occurrences", 1),
    "total_time": ("time_ps", 1e6),
    "total_self_time": ("self_time_ps", 1e6),
    "measured_flop_rate": ("flops_per_s", 1e9),
    "model_flop_rate": ("model_flops_per_s", 1e9),
    "measured_memory_bw": ("bytes_per_s", GIB),
    "operational_intensity": ("arithmetic_intensity", 1),
    "host_or_device": ("on", None),
    "type": ("type", None),
    "operation": ("name", None),
    "bound_by": ("bound_by", None),
    "gpu_tensorcore_utilization": ("tensor_core_fraction", 1),
}
ELSEWHERE = {
    "rank": "the order of the rows",
    "program_id": "what the rows are found by",
    "hlo_op_name": "what the rows are found by",
    "hlo_op_expression": "text: the HLO text of op_details",
    "tf_op_name": "text: framework_op, compared with the recorded files",
    "source_info": "text: source, and the stack of op_details",
    "device_type": "text: the device's model, as it is sold",
    "autotuned": "No in every row: nothing in xprof sets it",
    "parent_op_name": "of rows of SparseCore ops below the op that offloaded them: test_tpu_planes",
    "eager": "Function in every row of every file here: test_nothing_recorded_was_run_eagerly",
    "avg_time": "total over occurrences",
    "avg_self_time": "total over occurrences",
    **dict.fromkeys(
        ("device_total_self_time_percent", "device_cumulative_total_self_time_percent",
         "host_total_self_time_percent", "Host_cumulative_total_self_time_percent"),
        "time_fraction, cumulative_time_fraction and busy_fraction: compared with framework_ops",
    ),
}  # fmt: skip


Named = Mapping[str, tuple[str, float | None]]


def assert_row(theirs: Mapping[str, Any], ours: Any, columns: Named, what: Any) -> None:
    """Compare every column there is with ours; one that is not known here needs its reason."""
    for name, value in theirs.items():
        if name not in columns:
            assert name in ELSEWHERE, name
            continue
        column, unit = columns[name]
        found = ours[column]
        if unit is None:
            shown = {True: "Yes", False: "No"}.get(found, found or "") if isinstance(value, str) else bool(found)
            assert shown == value, (what, name)
        else:
            number = 0.0 if found is None or pd.isna(found) else float(found)
            assert number == pytest.approx(float(value) * unit, rel=EXACT, abs=1e-12), (what, name)


def assert_op_tables(files: Path | list[Path], opened: Any) -> int:
    """Hold the tables of ops of a profile against xprof's; returns how many ops xprof has."""
    profile = xp.open(opened)
    table = rows_of(ask_xprof(files, "hlo_stats"))
    ops = profile.ops(compat="xprof").frame.set_index(["program_id", "op"])
    assert {(int(program), op) for program, op in ops.index} == {
        (int(row["program_id"]), row["hlo_op_name"]) for row in table
    }
    for row in table:
        key = (int(row["program_id"]), row["hlo_op_name"])
        assert_row(row, ops.loc[key], HLO_STATS, key)
    theirs = ask_xprof(files, "roofline_model")[0]
    result = profile.roofline(compat="xprof")
    assert len(result.frame) == len(theirs["rows"])
    assert_properties(theirs["p"], result.summary)
    for row, (_, ours) in zip(rows_of(theirs), result.frame.iterrows(), strict=True):
        assert_row(row, ours, ROOFLINE, (row["step"], row["operation"]))
    table_of_all = ask_xprof(files, "framework_op_stats")[0]
    answer = profile.framework_ops(compat="xprof")
    for row, (_, ours) in zip(rows_of(table_of_all), answer.frame.iterrows(), strict=True):
        assert_row(row, ours, FRAMEWORK, row["operation"])
    if "p" in table_of_all:
        assert answer.summary["is_training"] == (table_of_all["p"]["task_type"] == "Training")
    return len(table)


def assert_properties(theirs: Mapping[str, str], summary: Mapping[str, Any]) -> None:
    """Compare peaks and ridge points, which xprof prints with six digits."""
    for name, value in theirs.items():
        if name in ELSEWHERE:
            continue
        ours, unit = PROPERTIES[name]
        assert float(summary[ours]) == pytest.approx(float(value) * unit, rel=1e-5), name


@pytest.mark.parametrize("folder", RECORDED)
def test_recorded_profiles(folder: str, corpus: Path) -> None:
    (file,) = corpus.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    assert (assert_op_tables(file, file) == 0) == (folder == "v100-tf")


OPS = [
    Op("fusion.1", "convolution fusion", flops=10**9, model_flops=2 * 10**9, bytes_accessed=10**6,
       breakdown=((HBM, READ, 9 * 10**5), (CMEM, WRITE, 10**5), (CMEM, READ, 3 * 10**7)), tf_op="jit(f)/dot:"),
    Op("fusion.2.remat", "loop fusion", flops=10**5, bytes_accessed=10**7, tf_op="jit(f)/add:",
       breakdown=((HBM, READ, 5 * 10**4), (VMEM, READ, 5 * 10**8), (CMEM, READ, 10**5))),
    Op("mul.3", "loop fusion", flops=10**5, bytes_accessed=10**7, tf_op="jit(f)/jvp(rematted_computation)/mul:",
       breakdown=((VMEM, WRITE, 6 * 10**8),)),
    Op("kernel.1", "custom-call", flops=10**7, bytes_accessed=10**5, tf_op="jit(f)/pallas_call:"),
    Op("kernel.2", "custom-call", bytes_accessed=10**5, tf_op="jit(f)/pallas_call:"),
    Op("send-done.4", "send-done", text="%send-done.4 = token[] send-done(%send), is_host_transfer=true"),
    Op("send.5", "host send", bytes_accessed=10**4, tf_op="jit(f)/send:XlaSendToHost"),
    Op("all-reduce.6", "all-reduce", flops=10**4, bytes_accessed=10**6, tf_op="jit(f)/transpose(jvp(g))/psum:"),
    Op("infeed.7", "infeed", bytes_accessed=10**4),
]  # fmt: skip
STALLS = [{"dma_stall_duration_ps": 10**8, "Time Scale Multiplier": 0.9, "vdd_energy_j": 0.25}, {},
          {"vdd_energy_j": 0.5}]  # fmt: skip
COSTS = {"flops": 3 * 10**8, "model_flops": 2 * 10**8, "bytes_accessed": 10**7}


def measured(folder: Path, cmem: bool, steps: bool, host: str = "worker", late: int = 0) -> Path:
    """Two cores whose ops stall, run at another clock and draw energy."""
    space = SpaceBuilder(host)
    peaks = {"peak_cmem_rd_bw_gigabytes_per_second": 5000.0, "peak_cmem_wr_bw_gigabytes_per_second": 4000.0,
             "has_merged_vmem": 0} if cmem else {}  # fmt: skip
    count = len(OPS)
    for ordinal in range(2):
        events = [(row, late + 60 * n + 5 * row + ordinal, 2 + row % 3) for n in range(3) for row in range(count)]
        plane = core(space, ordinal, OPS, events, [("jit_f(7)", late + 60 * n, 55) for n in range(3)], has_megacore=1,
                     core_details=bytes([16, ordinal, 32, 0]), peak_sram_rd_bw_gigabytes_per_second=9000.0,
                     peak_sram_wr_bw_gigabytes_per_second=8000.0, **peaks)  # fmt: skip
        line = next(line for line in plane.message.lines if line.name == "XLA Ops")
        for number, event in enumerate(line.events):
            plane._add_stats(event, STALLS[number % 3])
            if OPS[number % count].category == "custom-call":
                plane._add_stats(event, COSTS)
            if OPS[number % count].name == "all-reduce.6":
                plane._add_stats(event, {"all_reduce_unique_id": number})
        if steps:
            marks = plane.line("Steps")
            for n in range(3):
                marks.event(str(n), (late + 60 * n) * MS, 58 * MS)
    programs(space, {7: "jit_f"})
    return space.write(folder)


@pytest.mark.parametrize("cmem", [False, True])
@pytest.mark.parametrize("steps", [False, True])
def test_made_up_tpus(tmp_path: Path, cmem: bool, steps: bool) -> None:
    file = measured(tmp_path, cmem, steps)
    assert assert_op_tables(file, file) == len(OPS)
    frame = xp.open(file).ops(compat="xprof").frame.set_index("op")
    assert set(frame.index[frame["is_rematerialized"]]) == {"fusion.2.remat", "mul.3"}
    assert set(frame.index[frame["is_outside_compilation"]]) == {"send-done.4", "send.5"}
    # 6 runs of 2 ms; 2 of them, or one in three, stalled for 0.1 ms each.
    assert frame.loc["fusion.1", "dma_stall_fraction"] == pytest.approx(6 * 0.1 / (6 * 2))
    assert ({"CMEM Read", "CMEM Write"} & set(frame["bound_by"]) != set()) == cmem


@pytest.mark.parametrize("seed", range(4))
def test_made_up_gpus_with_steps(tmp_path: Path, seed: int) -> None:
    file = step_spaces.grouped_gpus(seed, tmp_path)
    assert assert_op_tables(file, file) == 0


def test_tpus_of_two_hosts(tmp_path: Path) -> None:
    files = [measured(tmp_path / "run", cmem=False, steps=True, host=host, late=late) for host, late in
             (("alpha", 0), ("beta", 1))]  # fmt: skip
    assert assert_op_tables(files, tmp_path / "run") == len(OPS)
