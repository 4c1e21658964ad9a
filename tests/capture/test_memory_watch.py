"""What code takes of device memory, on a CPU, whose devices keep no statistics."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import jax.numpy as jnp
import numpy as np

from xprof_nb.capture.memory_report import LIVE_ARRAYS
from xprof_nb.capture.memory_watch import MemoryWatch

MIB = 2**20


def test_what_stays_is_kept_and_named() -> None:
    watch = MemoryWatch()
    weights = jnp.asarray(np.ones((10, 1024, 1024), np.float32))
    report = watch.report({"weights": weights, "_hidden": weights})
    (device,) = report.devices
    assert device.measured_by == LIVE_ARRAYS
    assert device.kept_bytes == 40 * MIB
    assert device.peak_bytes >= device.after_bytes
    assert (report.arrays[0].held_by, report.arrays[0].shape) == (("weights", "_hidden"), (10, 1024, 1024))
    assert report.arrays[0].size_bytes == 40 * MIB
    assert "no allocator statistics" in report.notes[0]


def test_what_is_freed_is_in_the_peak_alone() -> None:
    watch = MemoryWatch()
    passing = jnp.asarray(np.ones((10, 1024, 1024), np.float32))
    time.sleep(0.1)
    del passing
    report = watch.report({})
    (device,) = report.devices
    assert device.peak_bytes - device.before_bytes >= 40 * MIB
    assert device.kept_bytes < MIB
    assert all(array.size_bytes < MIB for array in report.arrays)


def test_statistics_of_a_device_are_believed_before_arrays() -> None:
    class Device:
        in_use, peak = 1000, 5000

        def memory_stats(self) -> dict[str, int]:
            return {"bytes_in_use": self.in_use, "peak_bytes_in_use": self.peak}

    device = Device()
    watch = MemoryWatch.__new__(MemoryWatch)
    watch._jax = type("Jax", (), {"live_arrays": staticmethod(list)})
    watch._devices, watch._statistics = [device], {device: device.memory_stats()}
    watch._before = watch._held()
    watch._peak = dict(watch._before)
    device.in_use = 1200
    watch._raise_peaks(watch._held())
    assert watch._peak[device] == 1200  # the allocator's peak is older than the watch
    device.peak = 7000
    watch._raise_peaks(watch._held())
    assert watch._peak[device] == 7000


BEFORE_JAX = """
import json
from xprof_nb.capture.memory_watch import MemoryWatch, look
from xprof_nb.capture.session import jax_started

notes = look({}).notes
watch = MemoryWatch()
assert not jax_started()
import jax

jax.config.update("jax_num_cpu_devices", 2)
weights = jax.numpy.ones((1024, 1024))
report = watch.report({"weights": weights})
print(json.dumps([notes[0], [(one.before_bytes, one.peak_bytes, one.after_bytes) for one in report.devices]]))
"""


def test_a_watch_from_before_jax_starts_leaves_its_flags_alone() -> None:
    done = subprocess.run([sys.executable, "-c", BEFORE_JAX], capture_output=True, text=True, check=True)
    note, devices = json.loads(done.stdout)
    assert "JAX has not started" in note
    assert devices == [[0, 4 * MIB, 4 * MIB], [0, 0, 0]]
