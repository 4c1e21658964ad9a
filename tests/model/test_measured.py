"""Measured peaks: kept per machine, the highest of each roof."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from xprof_nb.model.hardware import measured
from xprof_nb.model.measured import Machine, Measurement, read, this_machine, write

OTHER = Machine("elsewhere", "Some CPU", 8)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(tmp_path))
    return tmp_path


def measurement(
    machine: Machine, flops: float, stream: float, *, at_s: float = 1.0, busy: float | None = 0.0
) -> Measurement:
    return Measurement(machine, at_s, busy, {"f32": (flops, f"at {at_s:g}")}, {"hbm": (stream, f"at {at_s:g}")})


def test_what_is_written_is_read() -> None:
    written = write(measurement(OTHER, 1e11, 2e10, busy=None))
    assert read(OTHER) == written
    peaks = measured("elsewhere")
    assert peaks is not None
    assert peaks.reference is not None
    assert (peaks.reference.value, peaks.reference.label, peaks.reference.source) == (1e11, "measured", "at 1")
    assert peaks.hbm is not None
    assert peaks.hbm.value == 2e10


def test_each_roof_keeps_its_highest() -> None:
    write(measurement(OTHER, 1e11, 2e10, at_s=1, busy=0.9))
    kept = write(measurement(OTHER, 3e11, 1e10, at_s=2, busy=0.1))
    assert kept == read(OTHER)
    assert kept.flops_per_s == {"f32": (3e11, "at 2")}
    assert kept.bytes_per_s == {"hbm": (2e10, "at 1")}
    assert (kept.measured_s, kept.busy_fraction) == (2, 0.1)


def test_this_host_counts_only_with_its_present_cpu_and_cores() -> None:
    machine = this_machine()
    write(measurement(replace(machine, core_count=machine.core_count + 1), 9e11, 9e10))
    assert measured(socket.gethostname()) is None
    write(measurement(machine, 1e11, 1e10))
    peaks = measured(socket.gethostname())
    assert peaks is not None
    assert peaks.flops_per_s["f32"].value == 1e11


def test_of_another_host_the_latest_counts() -> None:
    write(measurement(OTHER, 1e11, 1e10, at_s=5))
    write(measurement(replace(OTHER, core_count=4), 5e10, 1e10, at_s=9))
    peaks = measured("elsewhere")
    assert peaks is not None
    assert peaks.flops_per_s["f32"].value == 5e10


def test_a_host_never_measured_has_none() -> None:
    assert measured("nowhere") is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 99}', '{"version": 1}', "null"])
def test_an_unusable_file_is_no_measurement(content: str, cache: Path) -> None:
    (cache / OTHER.file_name).write_text(content)
    assert read(OTHER) is None
    assert measured("elsewhere") is None
    write(measurement(OTHER, 1e11, 1e10))
    assert measured("elsewhere") is not None


def test_a_roof_of_nothing_is_absent(cache: Path) -> None:
    write(measurement(OTHER, 1e11, 1e10))
    file = cache / OTHER.file_name
    data = json.loads(file.read_text())
    data["flops_per_s"]["f64"] = [0, "nothing"]
    file.write_text(json.dumps(data))
    found = read(OTHER)
    assert found is not None
    assert set(found.flops_per_s) == {"f32"}


def test_nothing_is_left_beside_the_file(cache: Path) -> None:
    write(measurement(OTHER, 1e11, 1e10))
    assert [path.name for path in cache.iterdir()] == [OTHER.file_name]
