"""What is known of one setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from xprof_nb.tuning.grid import Setting

DONE, OOM, SKIPPED, FAILED, PREDICTED = "done", "oom", "skipped", "failed", "predicted"
FINAL = frozenset({DONE, OOM, FAILED})
"""What is not tried again by a sweep that goes on; the others depend on what else was measured."""


@dataclass(frozen=True)
class Point:
    """One setting and what was measured of it; None is what nobody knows.

    Attributes
    ----------
    status
        ``done``, ``oom`` (memory ran out), ``skipped`` (it would not fit), ``predicted`` (by the fitted law) or
        ``failed``.
    step_time_s, step_time_spread_s
        Untraced, from the start of a step to the start of the next: median, and half of the range of the middle half.
    step_count
        How many steps that is of.
    items
        Items a step works on: the batch size, or what the sweep was told.
    compile_time_s
        What the first step took beyond one of the others.
    planned_bytes
        What the compiled program needs on a device: arguments, outputs and temporaries.
    peak_bytes
        The most a device held: by its allocator, where it keeps a record, else the plan.
    kind_time_s
        Self time of a step by kind of work, from the profile.
    run
        Path of the profile.
    """

    setting: Setting
    status: str = DONE
    step_time_s: float | None = None
    step_time_spread_s: float | None = None
    step_count: int = 0
    items: float | None = None
    compile_time_s: float | None = None
    planned_bytes: float | None = None
    peak_bytes: float | None = None
    limit_bytes: float | None = None
    flops_per_s: float | None = None
    flops_utilization: float | None = None
    hbm_utilization: float | None = None
    arithmetic_intensity: float | None = None
    exposed_communication_fraction: float | None = None
    bound_by: str | None = None
    kind_time_s: Mapping[str, float] = field(default_factory=dict)
    top_ops: Mapping[str, str] = field(default_factory=dict)
    run: str | None = None
    note: str = ""

    @property
    def items_per_s(self) -> float | None:
        """Items of a step over its time."""
        return None if self.items is None or not self.step_time_s else self.items / self.step_time_s

    @property
    def needed_bytes(self) -> float | None:
        """Memory of a device: its peak, else what was planned."""
        return self.peak_bytes if self.peak_bytes is not None else self.planned_bytes

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Point:
        """Return what `to_json` gave; keys of a later version are ignored."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in kept.items() if key in known})
