"""Steps with known laws: what a measurement of them would bring, without waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from xprof_nb.tuning.grid import Setting
from xprof_nb.tuning.point import DONE, OOM, Point


@dataclass
class Made:
    """Measures settings by laws.

    Attributes
    ----------
    step_s, memory
        Functions of the batch size.
    noise
        Standard deviation of a step's time and of the memory it takes, as shares.
    """

    step_s: Callable[[float], float]
    memory: Callable[[float], float] | None = None
    limit: float | None = None
    noise: float = 0.0
    memory_noise: float = 0.0
    seed: int = 0
    kinds: dict[str, Callable[[float], float]] = field(default_factory=dict)
    steps: int = 20
    measured: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def plan(self, setting: Setting) -> Point:
        size = float(setting["batch_size"])
        return Point(setting, planned_bytes=None if self.memory is None else self.memory(size), items=size)

    def __call__(self, setting: Setting) -> Point:
        size = float(setting["batch_size"])
        self.measured.append(size)
        needed = None
        if self.memory is not None:
            needed = self.memory(size) * (1 + self.memory_noise * self._random.standard_normal())
            if self.limit is not None and needed > self.limit:
                return Point(setting, OOM, items=size, limit_bytes=self.limit, note="RESOURCE_EXHAUSTED")
        times = self.step_s(size) * (1 + self.noise * self._random.standard_normal(self.steps))
        low, high = np.percentile(times, (25, 75))
        return Point(
            setting,
            DONE,
            step_time_s=float(np.median(times)),
            step_time_spread_s=float(high - low) / 2,
            step_count=self.steps,
            items=size,
            peak_bytes=needed,
            limit_bytes=self.limit,
            kind_time_s={kind: law(size) for kind, law in self.kinds.items()},
        )
