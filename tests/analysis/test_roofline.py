"""The roofline: closed forms on made-up devices, xprof's own table where it makes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.tpu_spaces import CMEM, HBM, PEAKS, READ, VMEM, WRITE, Op, core, programs
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder

EXACT = 1e-9
GFLOP, GIB = 1e9, 2**30
OPS = [
    Op("while.1", "while", flops=10**12, bytes_accessed=10**9),
    Op("fusion.1", "convolution fusion", flops=10**12, bytes_accessed=3 * 10**9,
       breakdown=((HBM, READ, 10**9), (VMEM, READ, 2 * 10**9), (VMEM, WRITE, 5 * 10**8))),
    Op("fusion.2", "loop fusion", flops=5 * 10**6, bytes_accessed=6 * 10**9, breakdown=((HBM, WRITE, 6 * 10**9),)),
    Op("fusion.1", "loop fusion", program=8, flops=10**6, bytes_accessed=10**6),
    Op("infeed.1", "infeed", bytes_accessed=10**6),
    Op("all-reduce.1", "all-reduce", bytes_accessed=10**8, breakdown=((HBM, READ, 10**8),)),
    Op("tiny.1", "loop fusion", flops=10, bytes_accessed=80, breakdown=((HBM, READ, 80),)),
]  # fmt: skip
# row of OPS, start, duration (ms)
EVENTS = [(0, 0, 60), (1, 5, 10), (2, 20, 10), (1, 35, 10), (3, 65, 5), (4, 72, 4), (5, 80, 10), (6, 95, 1)]
MODULES = [("jit_a(7)", 0, 62), ("jit_b(8)", 64, 7)]


def made_up(folder: Path, **stats: Any) -> Path:
    space = SpaceBuilder()
    core(space, 0, OPS, EVENTS, MODULES, **stats)
    core(space, 1, OPS, EVENTS[:5], MODULES, **stats)
    space.task_environment(0, 100 * 10**6)
    return space.write(folder)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> xp.Profile:
    return xp.open(made_up(tmp_path_factory.mktemp("roofline")))


def row(profile: xp.Profile, **wanted: Any) -> Any:
    frame = profile.roofline().frame
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_an_op_that_computes_is_held_against_both_roofs(profile: xp.Profile) -> None:
    op = row(profile, level="op", name="fusion.1", program_id="7")
    seconds, times = 40e-3, 4  # both cores, two executions of 10 ms each
    assert (op["time_ps"], op["occurrences"]) == (40 * 10**9, times)
    assert op["flops_per_s"] == pytest.approx(times * 1e12 / seconds, rel=EXACT)
    assert op["flops_utilization"] == pytest.approx(1e14 / 197e12, rel=EXACT)
    assert op["hbm_utilization"] == pytest.approx(times * 1e9 / seconds / 819e9, rel=EXACT)
    assert op["vmem_read_utilization"] == pytest.approx(times * 2e9 / seconds / 22000e9, rel=EXACT)
    assert op["vmem_write_bytes"] == times * 5e8
    assert op["hbm_arithmetic_intensity"] == pytest.approx(1000, rel=EXACT)
    assert op["vmem_read_arithmetic_intensity"] == pytest.approx(500, rel=EXACT)
    assert op["attainable_flops_per_s"] == pytest.approx(197e12, rel=EXACT)  # 1000 FLOP/B x 819 GB/s is more
    assert op["efficiency_fraction"] == pytest.approx(1e14 / 197e12, rel=EXACT)
    assert op["bound_by"] == "compute"


def test_an_op_left_of_the_ridge_may_attain_what_its_bytes_allow(profile: xp.Profile) -> None:
    op = row(profile, level="op", name="fusion.2")
    assert op["attainable_flops_per_s"] == pytest.approx(5e6 / 6e9 * 819e9, rel=EXACT)
    assert op["efficiency_fraction"] == pytest.approx(op["flops_per_s"] / op["attainable_flops_per_s"], rel=EXACT)
    assert op["efficiency_fraction"] == pytest.approx(600e9 / 819e9, rel=EXACT)
    assert op["bound_by"] == "hbm"


def test_what_uses_no_roof_is_bound_by_latency_and_what_waits_by_whom_it_waits_for(profile: xp.Profile) -> None:
    assert row(profile, name="tiny.1")["bound_by"] == "latency"
    assert row(profile, name="all-reduce.1")["bound_by"] == "link"
    assert row(profile, name="infeed.1")["bound_by"] == "host"


def test_the_whole_counts_what_containers_hold_once_over_all_of_the_time(profile: xp.Profile) -> None:
    whole = row(profile, level="program")
    flops = 4e12 + 2 * 5e6 + 2 * 1e6 + 10
    assert whole["time_ps"] == 2 * 100 * 10**9
    assert whole["flops"] == pytest.approx(flops, rel=EXACT)
    assert whole["flops_per_s"] == pytest.approx(flops / 0.2, rel=EXACT)
    assert whole["hbm_bytes"] == pytest.approx(4e9 + 2 * 6e9 + 1e8 + 80, rel=EXACT)
    assert np.isnan(row(profile, name="while.1")["flops"])


def test_the_ridges_of_every_memory_and_type(profile: xp.Profile) -> None:
    summary = profile.roofline().summary
    ridges = {(ridge["memory"], ridge["dtype"]): ridge["flops_per_byte"] for ridge in summary["ridges"]}
    assert ridges["hbm", "bf16"] == pytest.approx(197e12 / 819e9)
    assert ridges["hbm", "s8"] == pytest.approx(394e12 / 819e9)
    assert ridges["vmem_write", "bf16"] == pytest.approx(197e12 / 15000e9)
    assert ridges["link", "bf16"] == pytest.approx(197e12 / 200e9)
    roofs = {roof["name"]: roof for roof in summary["roofs"]}
    assert (roofs["bf16"]["label"], roofs["s8"]["label"]) == ("profile", "datasheet")
    assert {roof["source"] != "" for roof in summary["roofs"]} == {True}
    assert "ridge" in summary["sentence"]


def test_a_collective_is_held_against_the_links(tmp_path: Path) -> None:
    """An all-reduce of 4 MiB over 4 devices in 100 us: a ring sends 2 * 3/4 of it, of the 200 GB/s of a TPU v5e."""
    text = "%all-reduce.1 = f32[1048576]{0} all-reduce(f32[1048576]{0} %p), replica_groups={{0,1,2,3}}"
    space = SpaceBuilder()
    core(space, 0, [Op("all-reduce.1", "all-reduce", bytes_accessed=2**23, text=text)], [(0, 0, 0.1)])
    op = row(xp.open(space.write(tmp_path)), level="op", name="all-reduce.1")
    assert op["link_bytes"] == 2**22 * 1.5
    assert op["link_utilization"] == pytest.approx(2**22 * 1.5 / 100e-6 / 200e9)
    assert op["bound_by"] == "link"


def test_a_device_nobody_knows_has_points_and_no_roofs(tmp_path: Path) -> None:
    unknown = dict.fromkeys((name for name in PEAKS if name.startswith("peak")), 0.0)
    profile = xp.open(made_up(tmp_path, device_type_string="TPU v99", **unknown))
    result = profile.roofline()
    op = row(profile, level="op", name="fusion.1", program_id="7")
    assert op["flops_per_s"] == pytest.approx(1e14)
    assert op["hbm_arithmetic_intensity"] == pytest.approx(1000)
    for name in ("flops_utilization", "hbm_utilization", "attainable_flops_per_s", "efficiency_fraction"):
        assert np.isnan(op[name])
    assert op["bound_by"] is None
    assert result.summary["roofs"] == result.summary["ridges"] == []
    assert "not known" in result.summary["sentence"]
    assert any("xp.hardware" in note for note in result.notes)
    xp.hardware("TPU v99", bf16_flops=200e12)
    try:
        assert row(profile, level="op", name="fusion.1", program_id="7")["flops_utilization"] == pytest.approx(0.5)
    finally:
        xp.hardware("TPU v99", bf16_flops=None)


def test_over_a_roof_is_marked_and_not_clipped(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core(space, 0, [Op("copy.1", "copy", bytes_accessed=1, breakdown=((HBM, READ, 2_481_570_000),))], [(0, 0, 1)])
    profile = xp.open(space.write(tmp_path))
    op = row(profile, level="op", name="copy.1")
    assert op["hbm_utilization"] == pytest.approx(3.03)
    assert op["is_suspicious"]
    assert any("105 %" in note for note in profile.roofline().notes)


def test_a_profile_without_ops_says_why(tmp_path: Path) -> None:
    space = SpaceBuilder()
    space.plane("/host:CPU").line("python").event("nothing", 0, 5)
    result = xp.open(space.write(tmp_path)).roofline()
    assert result.frame.empty
    assert result.notes


NUMBERS = {
    "occurrences": ("occurrences", 1), "total_time": ("time_ps", 1e6), "total_self_time": ("self_time_ps", 1e6),
    "total_self_time_percent": ("self_time_fraction", 1),
    "cumulative_total_self_time_percent": ("cumulative_self_time_fraction", 1),
    "measured_flop_rate": ("flops_per_s", GFLOP), "model_flop_rate": ("model_flops_per_s", GFLOP),
    "measured_memory_bw": ("bytes_per_s", GIB), "hbm_bw": ("hbm_bytes_per_s", GIB),
    "cmem_read_bw": ("cmem_read_bytes_per_s", GIB), "cmem_write_bw": ("cmem_write_bytes_per_s", GIB),
    "vmem_read_bw": ("vmem_read_bytes_per_s", GIB), "vmem_write_bw": ("vmem_write_bytes_per_s", GIB),
    "operational_intensity": ("arithmetic_intensity", 1),
    **{f"{memory}_operational_intensity": (f"{memory}_arithmetic_intensity", 1)
       for memory in ("hbm", "cmem_read", "cmem_write", "vmem_read", "vmem_write", "bottleneck")},
    "total_time_per_core": ("time_per_core_ps", 1e6), "total_time_in_percentage": ("time_fraction", 1),
    "optimal_flop_rate": ("optimal_flops_per_s", GFLOP), "roofline_efficiency": ("efficiency_fraction", 1),
    "compute_efficiency": ("flops_utilization", 1), "max_mem_bw_utilization": ("memory_utilization", 1),
}  # fmt: skip
WORDS = {"bound_by": "bound_by", "category": "category", "operation": "op"}
PROPERTIES = {
    "peak_flop_rate": ("peak_flops_per_s", GFLOP),
    **{f"peak_{memory}_bw": (f"peak_{memory}_bytes_per_s", GIB)
       for memory in ("hbm", "cmem_read", "cmem_write", "vmem_read", "vmem_write")},
    **{f"{memory}_ridge_point": (f"{memory}_ridge_flops_per_byte", 1)
       for memory in ("hbm", "cmem_read", "cmem_write", "vmem_read", "vmem_write")},
}  # fmt: skip


def assert_as_xprof(file: Path) -> int:
    table = ask_xprof(file, "roofline_model")[0]
    ours = xp.open(file).roofline(compat="xprof")
    key = ["step", "include_infeed_outfeed", "program_id", "op"]
    found = ours.frame.set_index(key)
    assert found.index.is_unique
    compared = 0
    for expected in rows_of(table):
        place = expected["step"], expected["include_infeed_outfeed"], expected["hlo_module_id"], expected["operation"]
        row = found.loc[place]
        compared += 1
        for theirs, (name, unit) in NUMBERS.items():
            assert row[name] == pytest.approx(expected[theirs] * unit, rel=1e-6, abs=1e-12), (place, theirs)
        for theirs, name in WORDS.items():
            assert found.reset_index().set_index(key, drop=False).loc[place][name] == expected[theirs], (place, theirs)
    assert compared == len(found)
    for theirs, (name, unit) in PROPERTIES.items():
        assert ours.summary[name] == pytest.approx(float(table["p"][theirs]) * unit, rel=1e-5), theirs
    assert ours.summary["device_type"] == table["p"]["device_type"]
    return compared


def test_the_recorded_tpu_is_as_xprof_has_it(corpus: Path) -> None:
    (file,) = corpus.glob("tpu-v6e-psum/plugins/profile/*/*.xplane.pb")
    assert assert_as_xprof(file) == 38


def test_a_made_up_tpu_is_as_xprof_has_it(tmp_path: Path) -> None:
    assert assert_as_xprof(made_up(tmp_path)) == 2 * 9 - 1


def test_recorded_steps_are_as_xprof_has_them(tmp_path: Path) -> None:
    space = SpaceBuilder()
    for ordinal in range(2):
        plane = core(space, ordinal, OPS, EVENTS, MODULES, core_details=bytes([16, ordinal, 32, 0]))
        line = plane.line("Steps")
        for number, (start, duration) in enumerate([(0, 62), (64, 35)]):
            line.event(str(number), start * 10**9, duration * 10**9, group_id=number, step_idle_time_ps=10**9)
    programs(space, {7: "jit_a", 8: "jit_b"})
    assert assert_as_xprof(space.write(tmp_path)) == 2 * (9 + 2) - 1


def test_a_tpu_with_cmem_is_as_xprof_has_it(tmp_path: Path) -> None:
    space = SpaceBuilder()
    ops = [
        Op("fusion.9", "loop fusion", flops=10**10, bytes_accessed=10**10,
           breakdown=((HBM, READ, 10**9), (CMEM, READ, 8 * 10**9), (CMEM, WRITE, 10**9), (VMEM, READ, 10**8))),
        Op("fusion.8", "megacore fusion", flops=10**10, bytes_accessed=10**10, breakdown=((HBM, READ, 10**9),)),
    ]  # fmt: skip
    core(space, 0, ops, [(0, 0, 5), (1, 5, 5)], device_type_string="TPU v4", peak_teraflops_per_second=137.5,
         peak_hbm_bw_gigabytes_per_second=614.0, peak_cmem_rd_bw_gigabytes_per_second=3000.0,
         peak_cmem_wr_bw_gigabytes_per_second=2000.0, peak_vmem_rd_bw_gigabytes_per_second=0.0,
         peak_vmem_wr_bw_gigabytes_per_second=0.0, has_merged_vmem=0, has_megacore=1)  # fmt: skip
    file = space.write(tmp_path)
    assert_as_xprof(file)
    assert xp.open(file).roofline().frame.set_index("name").loc["fusion.9", "bound_by"] == "cmem_read"
