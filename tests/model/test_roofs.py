"""The roofs of a device: the user's word, the profile's, the datasheet's, in that order."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import xprof_nb as xp
from xprof_nb.errors import UsageError
from xprof_nb.model import roofs
from xprof_nb.model.device import Device, Peak, Peaks
from xprof_nb.model.measured import Measurement, this_machine, write

RUNTIME = Peaks({"bf16": Peak(946.7e12, "profile", "the runtime")}, "bf16", {"hbm": Peak(1638e9, "profile", "")})
V6E = Device("h", "tpu", 0, "TPU:0", model="TPU v6 Lite", peaks=RUNTIME)


@pytest.fixture(autouse=True)
def nothing_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("XPROF_NB_HARDWARE", raising=False)
    monkeypatch.setattr(roofs, "_OWN", {})


def test_what_the_profile_states_comes_first_and_the_datasheet_adds_to_it() -> None:
    found = roofs.roofs_of(V6E)
    assert (found.flops_per_s["bf16"].value, found.flops_per_s["bf16"].label) == (946.7e12, "profile")
    assert (found.flops_per_s["s8"].value, found.flops_per_s["s8"].label) == (1836e12, "datasheet")
    assert found.link is not None
    assert found.link.value == 400e9
    assert found.capacity_bytes == 32_000_000_000
    assert found.on_chip_bytes["vmem"] == 128 * 2**20


def test_the_users_own_word_wins_and_can_be_taken_back() -> None:
    row = xp.hardware("TPU v6e", bf16_flops=900e12, hbm_bytes_per_s=1500e9).iloc[0]
    assert (row["bf16_flops_per_s"], row["hbm_bytes_per_s"], row["s8_flops_per_s"]) == (900e12, 1500e9, 1836e12)
    found = roofs.roofs_of(V6E)
    assert (found.flops_per_s["bf16"].value, found.flops_per_s["bf16"].label) == (900e12, "user")
    assert found.hbm is not None
    assert found.hbm.value == 1500e9
    xp.hardware("TPU v6 Lite", bf16_flops=None)
    assert roofs.roofs_of(V6E).flops_per_s["bf16"].value == 946.7e12
    assert roofs.roofs_of(V6E).hbm == found.hbm


def test_a_model_no_table_knows_can_be_stated() -> None:
    npu = Device("h", "gpu", 0, "NPU:0", model="My NPU 64GB")
    assert roofs.roofs_of(npu) == Peaks()
    xp.hardware("My NPU", f64_flops=1e12, hbm_bytes_per_s=2e12)
    assert xp.hardware("my npu")["hbm_bytes_per_s"].tolist() == [2e12]
    assert xp.hardware("no such model", bf16_flops=None).empty
    found = roofs.roofs_of(npu)
    assert found.reference is not None
    assert (found.reference_dtype, found.reference.value) == ("f64", 1e12)
    table = xp.hardware().set_index("name")
    assert table.loc["My NPU", "f64_flops_per_s"] == 1e12
    assert math.isnan(table.loc["TPU v4", "f64_flops_per_s"])


def test_a_cpu_is_called_cpu() -> None:
    xp.hardware("cpu", f32_flops=1e11)
    assert roofs.roofs_of(Device("h", "cpu", 0, "CPU:0")).flops_per_s["f32"].value == 1e11


def test_a_measured_machine_is_in_the_table() -> None:
    with pytest.raises(UsageError):
        xp.hardware("cpu")
    write(Measurement(this_machine(), 86400.0 * 365, 0.0, {"f32": (1e11, "a product")}, {"hbm": (2e10, "a sum")}))
    row = xp.hardware("cpu").iloc[0]
    assert (row["f32_flops_per_s"], row["hbm_bytes_per_s"], row["date"]) == (1e11, 2e10, "1971-01")
    assert "calibrate" in row["source"]


def test_what_is_stated_is_of_the_whole_chip() -> None:
    xp.hardware("TPU v3", bf16_flops=140e12)
    core = Device("h", "tpu", 0, "TPU:0", model="TPU v3")
    assert roofs.roofs_of(core).flops_per_s["bf16"].value == 70e12


@pytest.mark.parametrize(
    "peaks", [{"bf16_flops": 0}, {"bf16_flops": -1.0}, {"bf16_flops": math.inf}, {"bf16_flops": "fast"}, {"speed": 1e9}]
)
def test_what_is_no_roof_is_refused(peaks: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        xp.hardware("TPU v6e", **peaks)
    with pytest.raises(UsageError, match="without a name"):
        xp.hardware(bf16_flops=1e12)


def test_what_was_not_believed_is_kept_for_who_wants_to_compare() -> None:
    assert roofs.passed_over(V6E)[0].flops_per_s == {}
    sheet = roofs.passed_over(V6E)[1].flops_per_s
    assert {name: (peak.value, peak.label) for name, peak in sheet.items()} == {"bf16": (918e12, "datasheet")}
    xp.hardware("TPU v6e", bf16_flops=900e12)
    stated, sheet = (peaks.flops_per_s["bf16"].value for peaks in roofs.passed_over(V6E))
    assert (stated, sheet) == (946.7e12, 918e12)
    assert roofs.passed_over(Device("h", "cpu", 0, "CPU:0"))[0] == Peaks()
