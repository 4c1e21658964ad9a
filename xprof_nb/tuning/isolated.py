"""Each setting in a process of its own: an out-of-memory error, a leak or a crash stays there."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any

from xprof_nb.errors import UsageError
from xprof_nb.tuning.grid import Setting
from xprof_nb.tuning.measure import Measurement
from xprof_nb.tuning.point import FAILED, Point


class Isolated:
    """Measures in processes that are started for it."""

    def __init__(self, measurement: Measurement) -> None:
        self._measurement = measurement
        self._packed = _packed(measurement)

    def __call__(self, setting: Setting) -> Point:
        """Measure a setting."""
        found = self._there(_measure, setting)
        return found if found is not None else self._lost(setting)

    def plan(self, setting: Setting) -> Point:
        """Compile a setting."""
        found = self._there(_plan, setting)
        return found if found is not None else self._lost(setting)

    def _there(self, deed: Any, setting: Setting) -> Point | None:
        context = multiprocessing.get_context("spawn")  # a fork would inherit the runtime's threads as locks
        with ProcessPoolExecutor(1, mp_context=context) as process:
            try:
                return Point.from_json(process.submit(deed, self._packed, setting).result())
            except BrokenProcessPool:
                return None

    def _lost(self, setting: Setting) -> Point:
        note = "its process was lost; the system may have run out of memory"
        return replace(Point(setting, items=self._measurement.items(setting)), status=FAILED, note=note)


def _packed(measurement: Measurement) -> bytes:
    import cloudpickle  # noqa: PLC0415

    try:
        return bytes(cloudpickle.dumps(measurement))
    except Exception as unpicklable:
        raise UsageError(
            f"the step cannot be sent to another process ({unpicklable})",
            hint="Make what it needs inside make_step, or leave isolated=True away.",
        ) from unpicklable


def _measure(packed: bytes, setting: Setting) -> dict[str, Any]:
    return _unpacked(packed)(setting).to_json()


def _plan(packed: bytes, setting: Setting) -> dict[str, Any]:
    return _unpacked(packed).plan(setting).to_json()


def _unpacked(packed: bytes) -> Measurement:
    import pickle  # noqa: PLC0415

    measurement: Measurement = pickle.loads(packed)  # noqa: S301 - by the process that started this one
    return measurement
