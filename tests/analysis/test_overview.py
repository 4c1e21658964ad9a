"""The overview: closed forms of busy and idle time and of steps, xprof's page where it says the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.captures import captured
from tests.analysis.tpu_spaces import HBM, READ, Op, core
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder
from xprof_nb.model.compilations import Compilations

US = 10**6
KERNEL = Op("fusion.1", "loop fusion", flops=10**6, bytes_accessed=10**6, breakdown=((HBM, READ, 10**6),))
OTHER = Op("copy.1", "copy", bytes_accessed=10**3)


def values(result: Any) -> dict[str, float]:
    return dict(zip(result.frame["name"], result.frame["value"], strict=True))


def test_ops_that_overlap_are_busy_once(tmp_path: Path) -> None:
    """Kernels 0-10 and 5-15 in a window of 20: busy 15, idle 25 %."""
    space = SpaceBuilder()
    core(space, 0, [KERNEL, OTHER], [(0, 0, 10e-3), (1, 5e-3, 10e-3)])
    space.task_environment(0, 20 * 1000)
    result = xp.open(space.write(tmp_path)).overview()
    assert values(result)["device_busy_fraction"] == pytest.approx(0.75)
    assert values(result)["device_idle_fraction"] == pytest.approx(0.25)
    definitions = result.frame.set_index("name")["definition"]
    assert "at least one op ran" in definitions["device_idle_fraction"]
    assert (definitions.str.len() > 10).all()


def test_a_step_lasts_until_the_next_one_starts(tmp_path: Path) -> None:
    """Runs 0-8, 10-18 and 20-28, after 2 us of nothing: a step of 10, not 8."""
    space = SpaceBuilder()
    starts = [2, 12, 22]
    core(space, 0, [KERNEL], [(0, s * 1e-3, 8e-3) for s in starts], [("jit_f(7)", s * 1e-3, 8e-3) for s in starts])
    space.task_environment(0, 50 * 1000)
    summary = xp.open(space.write(tmp_path)).overview().summary
    assert (summary["step_kind"], summary["step_time_mean_ps"]) == ("inferred", 10 * US)
    assert summary["step_time_sd_ps"] == 0
    assert (summary["step_busy_fraction"], summary["step_host_fraction"]) == (1, 0)


def steps_with_a_compilation(folder: Path) -> Path:
    space = SpaceBuilder()
    lengths = [100, 10, 10, 10, 10]
    starts = [0, 100, 110, 120, 130]
    events = [(0, (start + 1) * 1e-3, 4e-3) for start in starts]
    core(space, 0, [KERNEL], events, [("jit_f(7)", (start + 1) * 1e-3, 4e-3) for start in starts])
    line = space.plane("/host:CPU").line("python")
    for number, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        line.event("train", start * US, length * US, step_num=number, _r=1)
    line.event("backend_compile", 5 * US, 80 * US).event("PjRtClient::Compile", 10 * US, 70 * US)
    space.task_environment(0, 200 * 1000)
    return space.write(folder)


def test_a_step_that_compiles_is_named_and_left_out(tmp_path: Path) -> None:
    result = xp.open(steps_with_a_compilation(tmp_path)).overview()
    summary = result.summary
    assert summary["compile_time_ps"] == 80 * US
    assert (summary["step_time_median_ps"], summary["step_time_max_ps"]) == (10 * US, 10 * US)
    assert any("compilation 80.0 µs in step 0" in note for note in result.notes)


def test_compilations_that_overlap_count_once() -> None:
    times = Compilations(np.array([10, 50]), np.array([20, 60]))
    assert (len(times), times.total_ps) == (2, 20)


@pytest.mark.parametrize("run", ["tpu-v6e-psum", "v100-tf", "mi300x-jax-gemm", "mi350-te-attention"])
def test_the_peak_of_memory_is_what_allocators_recorded(run: str, corpus: Path) -> None:
    profile = xp.open(corpus / run)
    ours, memory = values(profile.overview()), profile.memory()
    assert ours["peak_memory_bytes"] == memory.frame["total_bytes"].max() == memory.summary["peak_bytes"]
    assert ours["memory_capacity_bytes"] == memory.summary["capacity_bytes"]
    summary = profile.overview().summary
    assert (summary["peak_memory_source"], summary["peak_memory_of"]) == ("recorded", memory.summary["device"])
    assert values(profile.overview(compat="xprof"))["peak_memory_bytes"] == ours["peak_memory_bytes"]
    chosen = profile.devices[-1].name
    one = profile.memory(device=chosen).summary
    assert values(profile.overview(device=chosen))["peak_memory_bytes"] == one["peak_bytes"]


def test_without_allocators_the_peak_of_memory_is_the_largest_plan(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    profile = captured(tmp_path_factory)("annotated_calls")
    result = profile.overview()
    planned = [profile.buffers(program=str(program)).summary["peak_bytes"] for program in profile.programs]
    assert values(result)["peak_memory_bytes"] == max(planned) == profile.buffers().summary["peak_bytes"]
    assert result.summary["peak_memory_source"] == "planned"
    assert result.summary["peak_memory_of"] == profile.buffers().summary["program"]

    nothing = SpaceBuilder()
    core(nothing, 0, [KERNEL], [(0, 0, 1)])
    result = xp.open(nothing.write(tmp_path)).overview()
    assert np.isnan(values(result)["peak_memory_bytes"])
    assert result.summary["peak_memory_source"] is None
    definition = result.frame.set_index("name")["definition"]["peak_memory_bytes"]
    assert definition.startswith("No allocator event was recorded")


def test_the_environment_says_what_ran(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core(space, 0, [KERNEL], [(0, 0, 1)], libtpu_version="1.2", driver="575")
    space.plane("/host:metadata", {"jax_version": "0.10.2"})
    options = b"\x08\x01\x10\x02\x18\x01 \x01(\x018\x01"
    space.plane("Task Environment", {"profile_start_time": 1, "profile_stop_time": 10**7, "profile_options": options})
    environment = xp.open(space.write(tmp_path)).overview().summary["environment"]
    assert environment["versions"] == {"libtpu_version": "1.2", "driver": "575", "jax_version": "0.10.2"}
    assert environment["options"]["host_tracer_level"] == 2
    assert environment["device_models"] == {"TPU v5 lite": 1}
    assert environment["hosts"] == ["worker"]
    json.dumps(environment)


PERCENTS = {
    "device_idle_time_percent": "device_idle_fraction",
    "device_duty_cycle_percent": "device_duty_cycle_fraction",
    "device_tf_op_percent": "device_op_count_fraction",
    "host_tf_op_percent": "host_op_count_fraction",
    "host_idle_time_percent": "host_idle_fraction",
    "device_compute_16bit_percent": "compute_16bit_time_fraction",
    "device_compute_32bit_percent": "compute_32bit_time_fraction",
}


def assert_as_xprof(file: Path) -> set[str]:
    """Hold the overview against xprof's page; returns the percentages both have."""
    page = ask_xprof(file, "overview_page")
    analysis, properties = page[0], page[0]["p"]
    result = xp.open(file).overview(compat="xprof")
    ours = values(result)
    both = {theirs for theirs, name in PERCENTS.items() if theirs in properties and not np.isnan(ours[name])}
    for theirs in both:
        assert f"{ours[PERCENTS[theirs]] * 100:.1f}%" == properties[theirs], theirs
    assert_steps_as_xprof(result.summary, page[1]["p"])
    assert int(page[2]["p"]["host_count"]) == ours["host_count"]
    if "device_core_count" in ours:
        assert int(page[2]["p"]["device_core_count"]) == ours["device_core_count"]
    top = {row["op"]: row for row in result.summary["top_ops"]}
    expected = [row for row in rows_of(analysis) if row["operation"] != "IDLE"]
    assert len(top) == len(expected)
    for row in expected:
        found = top[row["operation"]]
        assert found["busy_fraction"] == pytest.approx(row["selfTimePercent"], rel=1e-6)
        assert found["category"] == row["category"]
        assert found["flops_per_s"] == pytest.approx(row["flopRate"] * 1e9, rel=1e-6)
    return both


def assert_steps_as_xprof(summary: dict[str, Any], properties: dict[str, str]) -> None:
    for theirs, name in (("average", "mean"), ("standard_deviation", "sd"), ("minimum", "min"), ("maximum", "max")):
        shown = properties[f"steptime_ms_{theirs}"]
        digits = len(shown.partition(".")[2])
        assert f"{(summary[f'step_time_{name}_ps'] or 0.0) / 1e9:.{digits}f}" == shown, theirs


def test_the_recorded_tpu_is_as_xprof_has_it(corpus: Path) -> None:
    (file,) = corpus.glob("tpu-v6e-psum/plugins/profile/*/*.xplane.pb")
    assert assert_as_xprof(file) >= {"device_idle_time_percent", "device_duty_cycle_percent", "device_tf_op_percent"}


@pytest.mark.parametrize("folder", ["v100-tf", "mi300x-jax-gemm", "mi300x-jax-conv", "mi350-te-attention"])
def test_the_recorded_gpus_are_as_xprof_has_them(folder: str, corpus: Path) -> None:
    (file,) = corpus.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    both = assert_as_xprof(file)
    assert both >= {"device_tf_op_percent", "host_tf_op_percent", "device_compute_16bit_percent"}
    summary = xp.open(file).overview(compat="xprof").summary
    assert (summary["step_count"], summary["step_time_mean_ps"] is None) == (
        (1, False) if folder == "v100-tf" else (0, True)
    )


def test_a_capture_of_this_cpu_is_as_xprof_has_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The steps are; of devices xprof says 0 %, since it knows none here."""
    profile = captured(tmp_path_factory)("annotated_calls")
    page = ask_xprof(Path(profile.data.hosts[0].file), "overview_page")
    summary = profile.overview(compat="xprof").summary
    assert_steps_as_xprof(summary, page[1]["p"])
    assert summary["step_count"] == len(rows_of(page[1])) == 8
    assert (page[0]["p"]["device_idle_time_percent"], page[2]["p"]["device_core_count"]) == ("0.0%", "0")


def test_made_up_tpus_are_as_xprof_has_them(tmp_path: Path) -> None:
    space = SpaceBuilder()
    ops = [KERNEL, Op("infeed.1", "infeed"), Op("fusion.9", "megacore fusion"), Op("recv.1", "host recv"),
           Op("fusion.1", "loop fusion", program=8, flops=10**5, tf_op="jit(g)/mul:")]  # fmt: skip
    for ordinal in range(2):
        core(
            space,
            ordinal,
            ops,
            [(0, 1, 10), (1, 12, 5), (2, 20, 4), (3, 30, 3), (4, 40 + ordinal, 2)],
            [("jit_f(7)", 0.5, 35), ("jit_g(8)", 39, 5)],
            core_details=bytes([16, ordinal, 32, ordinal // 2]),
        )
    assert_as_xprof(space.write(tmp_path))
