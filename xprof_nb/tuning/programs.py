"""What compiled programs need of memory, before and after they have run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xprof_nb.capture.memory_report import ProgramMemory, executables_of, planned_for


def planned_bytes(step: Callable[[], Any]) -> int | None:
    """Return what the program of a step needs on a device, without running it; None if that cannot be known.

    It can where the step is a jitted function of no argument, or a `functools.partial` of a jitted function; of a
    Python function nobody knows what it will call.
    """
    jitted, arguments, names = step, (), {}
    if isinstance(step, functools.partial):
        jitted, arguments, names = step.func, step.args, step.keywords
    lower = getattr(jitted, "lower", None)
    if lower is None:
        return None
    plan = lower(*arguments, **names).compile().memory_analysis()
    return None if plan is None else ProgramMemory.of("", plan).needed_bytes


class NewPrograms:
    """Notices which programs were compiled since it was made, and what the neediest of them needs."""

    def __init__(self) -> None:
        self._before = {id(executable): executable for executable in _alive()}

    def needed_bytes(self) -> int | None:
        """Return what the neediest new program needs on a device; None if none is new."""
        plans = [planned_for(executable) for executable in _alive() if id(executable) not in self._before]
        return max((plan.needed_bytes for plan in plans if plan is not None), default=None)


def _alive() -> list[Any]:
    import jax  # noqa: PLC0415

    return [executable for executables in executables_of(jax.local_devices()) for executable in executables]
