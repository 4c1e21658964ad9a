"""Datasheet peaks: the right chip or none, dense, with their source."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from xprof_nb.errors import UsageError
from xprof_nb.model import hardware


@pytest.fixture(autouse=True)
def no_file_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XPROF_NB_HARDWARE", raising=False)


@pytest.mark.parametrize(
    ("name", "dtype", "flops_per_s", "bytes_per_s"),
    [
        ("TPU v2", "bf16", 46e12, 716e9),
        ("TPU v3", "bf16", 123e12, 900e9),
        ("TPU v4", "bf16", 275e12, 1200e9),
        ("TPU v5 lite", "bf16", 197e12, 819e9),
        ("TPU v5e", "s8", 394e12, 819e9),
        ("TPU v5", "bf16", 459e12, 2765e9),
        ("TPU v5p", "bf16", 459e12, 2765e9),
        ("TPU v6 Lite", "bf16", 918e12, 1638e9),
        ("TPU v6e", "s8", 1836e12, 1638e9),
        ("TPU7x", "bf16", 2307e12, 7380e9),
        ("TPU v7x", "f8", 4614e12, 7380e9),
        ("Tesla V100-SXM2-16GB", "f16", 125e12, 900e9),
        ("Tesla T4", "f16", 65e12, 320e9),
        ("NVIDIA A10", "bf16", 125e12, 600e9),
        ("NVIDIA L4", "bf16", 121e12, 300e9),
        ("NVIDIA A100-SXM4-40GB", "bf16", 312e12, 1555e9),
        ("NVIDIA A100-SXM4-80GB", "bf16", 312e12, 2039e9),
        ("NVIDIA A100 80GB PCIe", "bf16", 312e12, 1935e9),
        ("NVIDIA H100 80GB HBM3", "bf16", 989e12, 3350e9),
        ("NVIDIA H100 PCIe", "bf16", 756e12, 2000e9),
        ("NVIDIA H200", "bf16", 989e12, 4800e9),
        ("NVIDIA B200", "bf16", 2250e12, 8000e9),
        ("NVIDIA GB200", "bf16", 2500e12, 8000e9),
        ("AMD Instinct MI300X", "bf16", 1307.4e12, 5300e9),
        ("AMD Instinct MI325X", "bf16", 1307.4e12, 6000e9),
        ("AMD Instinct MI350X", "bf16", 2306.9e12, 8000e9),
        ("AMD Instinct MI355X", "bf16", 2516.6e12, 8000e9),
        ("trn1", "bf16", 190e12, 820e9),
        ("Inferentia2", "bf16", 190e12, 820e9),
        ("AWS Trainium2", "bf16", 667e12, 2900e9),
        ("Trn3", "bf16", 671e12, 4900e9),
    ],
)
def test_the_peaks_of_a_device_by_the_name_runtimes_give_it(
    name: str, dtype: str, flops_per_s: float, bytes_per_s: float
) -> None:
    peaks = hardware.datasheet(name)
    assert peaks is not None
    assert peaks.flops_per_s[dtype].value == flops_per_s
    assert peaks.hbm is not None
    assert peaks.hbm.value == bytes_per_s
    assert (peaks.hbm.label, bool(peaks.hbm.source)) == ("datasheet", True)
    assert peaks.reference is not None


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 NVL", "NVIDIA GH200 480GB", "NVIDIA A10G", "Tesla V100-PCIE-16GB", "TPU v4 lite",
        "AMD Instinct MI300A", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA GB300", "NVIDIA L40S", "Intel Xeon",
        "NVIDIA", "80GB", "",
    ],
)  # fmt: skip
def test_a_model_the_table_does_not_know_is_not_taken_for_its_neighbour(name: str) -> None:
    assert hardware.datasheet(name) is None
    assert hardware.device_peaks(name) is None


def test_one_device_of_a_chip_has_its_share() -> None:
    chip, device = hardware.datasheet("TPU v3"), hardware.device_peaks("TPU v3")
    assert chip is not None
    assert device is not None
    assert device.flops_per_s["bf16"].value == chip.flops_per_s["bf16"].value / 2
    assert device.hbm is not None
    assert device.hbm.value == 450e9
    assert "one of 2 cores of the chip" in device.hbm.source
    assert device.capacity_bytes == 2**34
    assert hardware.device_peaks("TPU v6e") == hardware.datasheet("TPU v6e")


def test_the_table_has_a_row_each_and_no_zero() -> None:
    table = hardware.table()
    assert table["name"].is_unique
    assert table["source"].str.len().min() > 10
    assert {"vendor", "bf16_flops_per_s", "f32_flops_per_s", "hbm_bytes_per_s", "capacity_bytes"} <= set(table)
    assert (table["date"].str.len() == 7).all()
    assert (table["link"] != "").all()
    row = table.set_index("name").loc["TPU v5e"]
    assert (row["link_bytes_per_s"], row["vmem_capacity_bytes"], row["clock_hz"]) == (200e9, 128 * 2**20, 1.5e9)
    assert (row["bf16_flops_per_s"], row["capacity_bytes"]) == (197e12, 16_000_000_000)
    assert math.isnan(row["f32_flops_per_s"])
    numbers = table.select_dtypes("number").drop(columns="devices_per_chip")
    assert numbers.min().min() > 0


def test_every_entry_is_found_by_each_of_its_names() -> None:
    for entry in hardware.table().itertuples():
        for name in entry.names.split(", "):
            found = hardware.find(name)
            assert found is not None, name
            assert found.name == entry.name, name


def test_a_file_of_ones_own_adds_and_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        '[[hardware]]\nname = "NVIDIA H100 NVL"\nflops_per_s = { bf16 = 835e12 }\nhbm_bytes_per_s = 3900e9\n'
        '[[hardware]]\nname = "TPU v5e"\nflops_per_s = { bf16 = 190e12 }\nsource = "our own test stand"\n'
    )
    monkeypatch.setenv("XPROF_NB_HARDWARE", str(own))
    added, changed = hardware.datasheet("NVIDIA H100 NVL"), hardware.datasheet("TPU v5e")
    assert added is not None
    assert added.reference is not None
    assert (added.reference.value, added.reference.source) == (835e12, str(own))
    assert changed is not None
    assert changed.flops_per_s["bf16"].source == "our own test stand"
    assert changed.hbm is None
    assert hardware.datasheet("TPU v4") is not None


@pytest.mark.parametrize(
    "content",
    ["not toml", "x = 1", "[[hardware]]\nflops_per_s = { bf16 = 1e12 }",
     '[[hardware]]\nname = "x"\nhbm_bytes_per_s = 0',
     '[[hardware]]\nname = "x"\nflops_per_s = { bf16 = "fast" }', '[[hardware]]\nname = "x"\nhbm_bytes_per_s = -1.0'],
)  # fmt: skip
def test_a_file_that_is_no_table_is_named(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(content)
    monkeypatch.setenv("XPROF_NB_HARDWARE", str(own))
    with pytest.raises(UsageError, match=r"XPROF_NB_HARDWARE.*mine\.toml"):
        hardware.datasheet("TPU v5e")


def test_a_file_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPROF_NB_HARDWARE", str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match=r"none\.toml"):
        hardware.table()
