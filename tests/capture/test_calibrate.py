"""Measuring this machine: in a process of its own, once, with the circumstances stated."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from xprof_nb.capture import calibrate
from xprof_nb.model.measured import Measurement, read, this_machine, write

REPO = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(tmp_path))
    return tmp_path


def known(busy: float | None, age_s: float) -> Measurement:
    source = {"f32": (1e11, "known")}
    return write(Measurement(this_machine(), time.time() - age_s, busy, source, {"hbm": (1e10, "known")}))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Stand in for the subprocess: note how it is called and keep a better measurement."""
    calls: list[dict[str, Any]] = []

    def run(command: list[str], **options: Any) -> None:
        calls.append({"command": command, **options})
        write(Measurement(this_machine(), time.time(), 0.0, {"f32": (2e11, "new")}, {"hbm": (2e10, "new")}))

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_it_measures_in_a_process_that_nothing_steers(
    runs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    monkeypatch.setenv("KEPT", "yes")
    peaks = calibrate.ensure(timeout_s=9)
    assert peaks is not None
    assert peaks.flops_per_s["f32"].value == 2e11
    (call,) = runs
    assert call["command"] == [sys.executable, "-m", "xprof_nb.capture.calibrate"]
    environment = call["env"]
    assert environment["JAX_PLATFORMS"] == "cpu"
    assert not {"XLA_FLAGS", "JAX_ENABLE_X64"} & set(environment)
    assert environment["KEPT"] == "yes"
    assert environment["PYTHONPATH"].split(os.pathsep)[0] == str(REPO)
    assert call["timeout"] == 9


def test_what_is_known_is_not_measured_again(runs: list[dict[str, Any]]) -> None:
    known(busy=0.1, age_s=1e6)
    assert calibrate.ensure() is not None
    assert runs == []


@pytest.mark.parametrize(
    ("busy_then", "age_s", "busy_now", "again"),
    [
        (0.9, 1e6, 0.0, True),
        (0.9, 1e6, 0.9, False),
        (0.9, 1.0, 0.0, False),
        (None, 1e6, 0.0, False),
        (0.9, 1e6, None, False),
    ],
)
def test_a_busy_measurement_is_repeated_once_it_is_quiet(
    busy_then: float | None, age_s: float, busy_now: float | None, again: bool,
    runs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    known(busy_then, age_s)
    monkeypatch.setattr(calibrate, "busy_fraction", lambda: busy_now)
    peaks = calibrate.ensure()
    assert peaks is not None
    assert len(runs) == again
    assert peaks.flops_per_s["f32"].value == (2e11 if again else 1e11)


@pytest.mark.parametrize(
    "error",
    [
        subprocess.TimeoutExpired("python", 1),
        subprocess.CalledProcessError(1, "python", stderr=b"no jax"),
        OSError("no fork"),
    ],
)
def test_a_measurement_that_fails_is_no_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    assert calibrate.ensure() is None


def test_a_machine_without_psutil_is_asked_for_its_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.setattr(os, "getloadavg", lambda: (1e9, 0, 0), raising=False)
    assert calibrate.busy_fraction() == 1.0
    monkeypatch.delattr(os, "getloadavg")
    assert calibrate.busy_fraction() is None


def test_a_busy_machine_is_stated() -> None:
    machine = replace(this_machine(), hostname="h", cpu="c", core_count=2)
    assert "on h (c, 2 cores)" in calibrate._circumstances(machine, 0.1)
    assert "while other work used 63% of the machine" in calibrate._circumstances(machine, 0.63)
    assert "while" not in calibrate._circumstances(machine, None)


def test_a_real_measurement_is_plausible(cache: Path) -> None:
    pytest.importorskip("jax")
    environment = {**os.environ, "PYTHONPATH": str(REPO), "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    made = subprocess.run(
        [sys.executable, "-m", "xprof_nb.capture.calibrate"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "GFLOP/s" in made.stdout
    found = read(this_machine())
    assert found is not None
    assert set(found.flops_per_s) == {"f32", "bf16", "f64"}
    assert 1e9 < found.flops_per_s["f32"][0] < 1e14
    assert 1e8 < found.bytes_per_s["hbm"][0] < 1e13
    assert "matrix product" in found.flops_per_s["f32"][1]


def test_a_sweep_on_a_machine_that_nobody_measured_measures_it(runs: list[dict[str, Any]], tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    step = jax.jit(lambda a: a @ a)
    swept = xp.sweep(
        lambda size: lambda: step(jax.numpy.ones((size, size))), [256], steps=2, profile_steps=1, logdir=tmp_path
    )
    assert len(runs) == 1
    assert swept.frame.bound_by.tolist() == ["compute"]


def test_measurements_at_once_wait_for_one(runs: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: calibrate.ensure(), range(4)))
    assert len(runs) == 1
    assert {peaks.flops_per_s["f32"].value for peaks in found if peaks is not None} == {2e11}
