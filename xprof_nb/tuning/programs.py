"""What compiled programs need of memory, before and after they have run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


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
    return needed_bytes(lower(*arguments, **names).compile().memory_analysis())


def needed_bytes(plan: Any) -> int | None:
    """Return arguments, outputs and temporaries of a program's plan, what outputs share with arguments once."""
    if plan is None:
        return None
    return int(
        plan.argument_size_in_bytes
        + plan.output_size_in_bytes
        - plan.alias_size_in_bytes
        + plan.temp_size_in_bytes
        + plan.generated_code_size_in_bytes
    )


class NewPrograms:
    """Notices which programs were compiled since it was made, and what the neediest of them needs."""

    def __init__(self) -> None:
        self._before = {id(executable): executable for executable in _alive()}

    def needed_bytes(self) -> int | None:
        """Return what the neediest new program needs on a device; None if none is new."""
        plans = [_plan(executable) for executable in _alive() if id(executable) not in self._before]
        return max((needed for plan in plans if (needed := needed_bytes(plan)) is not None), default=None)


def _alive() -> list[Any]:
    import jax  # noqa: PLC0415

    clients = {id(device.client): device.client for device in jax.local_devices()}
    return [executable for client in clients.values() for executable in client.live_executables()]


def _plan(executable: Any) -> Any:
    try:
        return executable.get_compiled_memory_stats()
    except Exception:  # backends refuse in ways of their own, and a plan less is no harm
        return None
