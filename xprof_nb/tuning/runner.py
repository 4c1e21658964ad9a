"""Going through the settings of a sweep: skip what will not fit, measure, keep, go on after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from xprof_nb.tuning.fitting import memory_law
from xprof_nb.tuning.grid import Setting
from xprof_nb.tuning.law import fit
from xprof_nb.tuning.order import Fixed, Order, spread_out
from xprof_nb.tuning.point import DONE, FINAL, OOM, PREDICTED, SKIPPED, Point
from xprof_nb.tuning.store import Store, key


class Measures(Protocol):
    """What can be found out of a setting."""

    def __call__(self, setting: Setting) -> Point:
        """Measure it."""

    def plan(self, setting: Setting) -> Point:
        """Return what is known without running it."""


class Runner:
    """Measures the settings of a sweep in turn.

    Parameters
    ----------
    axis
        The parameter along which things grow; None if none is a number.
    limit_bytes
        Memory of a device; None where nobody knows.
    changed
        Called with the points whenever there is one more.
    fresh
        Measure again what the store holds.

    Attributes
    ----------
    earlier
        How many of the points were measured before and are not measured again.
    """

    def __init__(
        self,
        measure: Measures,
        store: Store | None,
        axis: str | None,
        limit_bytes: float | None,
        changed: Callable[[Sequence[Point]], None] = lambda _points: None,
        *,
        fresh: bool = False,
    ) -> None:
        self._measure = measure
        self._store = store
        self._axis = axis
        self._limit_bytes = limit_bytes
        self._changed = changed
        self._kept = {} if store is None or fresh else store.read()
        self.points: list[Point] = []
        self.earlier = 0

    def run(self, order: Order) -> list[Point]:
        """Go through an order; return its points. What was measured before is not measured again."""
        for setting in order.settings(self.points):
            if any(point.setting == setting for point in self.points):
                continue
            kept = self._kept.get(key(setting))
            if kept is not None and kept.status in FINAL:
                self._add(kept)
                self.earlier += 1
            else:
                self._add(self._skipped(setting) or self._with_limit(self._measure(setting)))
        return self.points

    def run_few(self, settings: Sequence[Setting], most: int) -> list[Point]:
        """Plan all settings, measure at most so many of those that fit, and predict the rest."""
        planned = [self._with_limit(self._measure.plan(setting)) for setting in settings]
        fitting = [point for point in planned if not self._is_too_large(point.planned_bytes)]
        chosen = [fitting[place].setting for place in spread_out(len(fitting), most)] if fitting else []
        self.run(Fixed(chosen))
        by_setting = {key(point.setting): point for point in self.points}
        measured = list(self.points)
        rest = [point for point in planned if key(point.setting) not in by_setting]
        for point in rest:
            too_large = self._is_too_large(point.planned_bytes)
            self._add(replace(point, status=SKIPPED) if too_large else self._predicted(point, measured))
        places = {key(setting): place for place, setting in enumerate(settings)}
        self.points.sort(key=lambda point: places[key(point.setting)])
        self._changed(self.points)
        return self.points

    def _add(self, point: Point) -> None:
        self.points.append(point)
        if self._store is not None:
            self._kept[key(point.setting)] = point
            self._store.write(list(self._kept.values()))
        self._changed(self.points)

    def _with_limit(self, point: Point) -> Point:
        return point if point.limit_bytes is not None else replace(point, limit_bytes=self._limit_bytes)

    def _skipped(self, setting: Setting) -> Point | None:
        """Return the point of a setting that would not fit, None if it may."""
        alike = list(self._alike(setting))
        if self._axis is None:
            return None
        size = float(setting[self._axis])
        failed = [point for point in alike if point.status == OOM and float(point.setting[self._axis]) <= size]
        law = memory_law((point for point in alike if point.status == DONE), self._axis)
        needed = None if law is None else law.at(size)
        point = Point(setting, SKIPPED, planned_bytes=needed, limit_bytes=self._limit_bytes)
        if failed:
            return replace(point, note=f"{self._axis} {failed[0].setting[self._axis]} ran out of memory")
        return replace(point, note="predicted not to fit") if self._is_too_large(needed) else None

    def _alike(self, setting: Setting) -> Iterator[Point]:
        """Give the points that differ in nothing but the size."""
        rest = {name: value for name, value in setting.items() if name != self._axis}
        return (point for point in self.points if rest.items() <= point.setting.items())

    def _is_too_large(self, needed: float | None) -> bool:
        return needed is not None and self._limit_bytes is not None and needed > self._limit_bytes

    def _predicted(self, point: Point, measured: Sequence[Point]) -> Point:
        note = "predicted by the law fitted to what was measured"
        if self._axis is None:
            return replace(point, status=PREDICTED, note=note)
        done = [each for each in measured if each.status == DONE]
        law = fit([float(each.setting[self._axis]) for each in done], [each.step_time_s or 0.0 for each in done])
        time = None if law is None else law.at(float(point.setting[self._axis]))
        return replace(point, status=PREDICTED, step_time_s=time, note=note)
