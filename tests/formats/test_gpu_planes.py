"""GPU planes: devices and their roofs, lines that count and lines that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from tests.analysis.gpu_spaces import H100, US, V100, GpuSpace
from xprof_nb.formats.gpu.streams import is_derived
from xprof_nb.model.device import Device

MI300X = {
    "device_vendor": "AMD",
    "clock_rate": 2100000,
    "core_count": 304,
    "memory_bandwidth": 2662400000000,
    "memory_size": 206141652992,
    "compute_cap_major": 9,
    "compute_cap_minor": 4,
}


def device(folder: Path, stats: dict[str, Any]) -> Device:
    made = GpuSpace()
    made.kernel(made.gpu(stats=stats).line("Stream #1"), "k", 0, 10)
    (found,) = made.open(folder).devices
    return found


def test_a_named_gpu_has_the_peaks_of_its_datasheet(tmp_path: Path) -> None:
    found = device(tmp_path, H100)
    assert (found.backend, found.name, found.model) == ("gpu", "GPU:0", "NVIDIA H100 80GB HBM3")
    assert found.peaks.flops_per_s["bf16"].value == 989e12
    assert found.peaks.flops_per_s["bf16"].label == "datasheet"
    assert found.peaks.hbm is not None
    assert (found.peaks.hbm.value, found.peaks.hbm.label) == (3352320000000, "profile")
    assert found.peaks.capacity_bytes == 85029158912


@pytest.mark.parametrize(
    ("changed", "model", "bf16", "bandwidth"),
    [
        ({}, "AMD Instinct MI300X", 1307.4e12, 5300e9),
        ({"memory_size": 274877906944, "memory_bandwidth": 3000000000000}, "AMD Instinct MI325X", 1307.4e12, 6000e9),
        (
            {"core_count": 256, "clock_rate": 2400000, "memory_size": 309220868096, "memory_bandwidth": 4096000000000},
            "AMD Instinct MI355X",
            2516.6e12,
            8000e9,
        ),
    ],
)
def test_amds_halved_bandwidth_is_corrected(
    tmp_path: Path, changed: dict[str, Any], model: str, bf16: float, bandwidth: float
) -> None:
    found = device(tmp_path, MI300X | changed)
    assert found.model == model
    assert found.peaks.flops_per_s["bf16"].value == bf16
    assert found.peaks.hbm is not None
    assert found.peaks.hbm.value == bandwidth
    assert "half" in found.peaks.hbm.source


def test_an_unknown_amd_gpu_gets_twice_what_its_runtime_states(tmp_path: Path) -> None:
    found = device(tmp_path, MI300X | {"core_count": 100})
    assert found.model == ""
    assert found.peaks.hbm is not None
    assert (found.peaks.hbm.value, found.peaks.hbm.label) == (2 * 2662400000000, "computed")


def test_an_unnamed_gpu_is_told_from_its_counts(tmp_path: Path) -> None:
    """The runtime of 2020 states neither vendor nor name."""
    stats = {name: value for name, value in V100.items() if name not in ("device_vendor", "gpu_device_name")}
    found = device(tmp_path, stats)
    assert (found.model, found.vendor) == ("NVIDIA V100 SXM2", "")
    assert found.peaks.flops_per_s["f16"].value == 125e12
    assert found.peaks.hbm is not None
    assert found.peaks.hbm.value == 898048000000


def test_peaks_of_no_datasheet_are_computed_and_say_so(tmp_path: Path) -> None:
    found = device(tmp_path, V100 | {"gpu_device_name": "Prototype"})
    assert set(found.peaks.flops_per_s) == {"f16", "f32"}
    half = found.peaks.flops_per_s["f16"]
    assert half.value == pytest.approx(80 * 1.53e9 * 1024)
    assert half.label == "computed"
    assert "80 multiprocessors" in half.source
    assert found.peaks.flops_per_s["f32"].value == pytest.approx(15.7e12, rel=0.01)


@pytest.mark.parametrize("version", [(3, 5), (99, 0)])
def test_an_unknown_architecture_has_no_computed_peak(tmp_path: Path, version: tuple[int, int]) -> None:
    stats = V100 | {
        "gpu_device_name": "",
        "core_count": 81,
        "compute_cap_major": version[0],
        "compute_cap_minor": version[1],
    }
    found = device(tmp_path, stats)
    assert found.peaks.reference is None
    assert found.peaks.hbm is not None


def test_what_the_plane_states_wins(tmp_path: Path) -> None:
    found = device(tmp_path, H100 | {"peak_teraflops_per_second": 900.0, "peak_hbm_bw_gigabytes_per_second": 3000.0})
    assert found.peaks.reference is not None
    assert (found.peaks.reference.value, found.peaks.reference.label) == (900e12, "profile")
    assert found.peaks.hbm is not None
    assert found.peaks.hbm.value == 3000e9


@pytest.mark.parametrize(
    ("number", "name", "derived"),
    [
        (0xDEADBEEF, "0", True),
        (0xDEADBEEF + 5, "x", True),
        (-559038737, "Steps", True),
        (-559038734, "Any", True),
        (0xDEADBEEF - 1, "Stream #7", False),
        (16, "Stream #16(Kernel)", False),
        (16, "TensorFlow Name Scope", True),
    ],
)
def test_derived_lines(number: int, name: str, derived: bool) -> None:
    assert is_derived(number, name) is derived


def test_allocations_on_a_stream_take_no_time(tmp_path: Path) -> None:
    made = GpuSpace(stop_us=100)
    stream = made.gpu().line("Stream #1")
    made.kernel(stream, "k", 0, 10)
    stream.event("MemoryAllocation", 20 * US, 50 * US, memalloc_details="num_bytes:100")
    assert made.open(tmp_path).ops().summary["busy_time_ps"] == 10 * US


def test_nested_names_are_of_the_last(tmp_path: Path) -> None:
    made = GpuSpace()
    made.kernel(made.gpu().line("Stream #1"), "k", 0, 10, "jit_f/while.1::body::fusion.3", program_id=2**63 + 5)
    frame = xp.open(made.write(tmp_path)).ops().frame
    assert frame["op"].tolist() == ["fusion.3"]
    assert [int(number) for number in frame["program_id"]] == [2**63 + 5]
