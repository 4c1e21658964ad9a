"""What a sweep says in words, each with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xprof_nb.model import units
from xprof_nb.model.units import listed, seconds, size
from xprof_nb.tuning.advice import KNEE, Advice, knee_of
from xprof_nb.tuning.fitting import smallest_limit
from xprof_nb.tuning.law import HIGH, LOW, Law
from xprof_nb.tuning.point import DONE, OOM, SKIPPED, Point

MOST_SPREAD = 10
WITHIN = f"{HIGH - LOW} % interval"


def sentence(advised: Advice, points: Sequence[Point], axis: str) -> str:
    """Return the one thing to know."""
    if advised.recommended is None:
        failed = [point for point in points if point.note]
        return f"No setting could be measured: {failed[0].note}" if failed else "Nothing was measured."
    best = next(p for p in points if p.setting.get(axis) == advised.recommended and p.status == DONE)
    rate = "" if best.items_per_s is None else f", {units.quantity(best.items_per_s, 'items/s')}"
    return (
        f"Use {axis} {_number(advised.recommended)}{_with(best, axis)}: step {seconds(best.step_time_s)}{rate}"
        f"{_why(advised, points, axis)}."
    )


def _with(point: Point, axis: str) -> str:
    others = [f"{name} {value}" for name, value in point.setting.items() if name != axis]
    return f" with {listed(others)}" if others else ""


def _why(advised: Advice, points: Sequence[Point], axis: str) -> str:
    sizes = [float(point.setting[axis]) for point in points if point.status == DONE]
    recommended = float(advised.recommended or 0)
    stopped = any(point.status in (OOM, SKIPPED) and float(point.setting[axis]) > recommended for point in points)
    if recommended >= max(sizes):
        return ", the largest that fits" if stopped else ", the largest that was tried"
    beyond = advised.largest is not None and advised.largest < max(sizes)
    return ", the largest that leaves memory free" if beyond else "; larger ones bring no more"


def remarks(advised: Advice, points: Sequence[Point], axis: str, reserve: float) -> Iterator[str]:
    """Give what else follows from the points."""
    if advised.step_law is not None:
        yield f"A step takes {_law(advised.step_law, axis)}."
    if advised.cliff is not None:
        after, before = advised.cliff.after, advised.cliff.before
        yield (
            f"From {axis} {_number(advised.cliff.size)} on another law holds: {seconds(after.per_item)} an item, not "
            f"{seconds(before.per_item)}. Something no longer fits where it did, a cache for instance."
        )
    elif advised.knee is not None and advised.step_law is not None:
        low = knee_of(advised.step_law.fixed_interval[0], advised.step_law.per_item_interval[1])
        high = knee_of(advised.step_law.fixed_interval[1], advised.step_law.per_item_interval[0])
        if high < MOST_SPREAD * advised.knee:  # an interval up to anywhere tells nobody anything
            yield (
                f"Throughput reaches {KNEE:.0%} of the most this law allows at {axis} {_number(advised.knee)} "
                f"({WITHIN} {_number(low)} to {_number(high)})."
            )
    yield from _about_kinds(advised, axis)
    yield from _about_memory(advised, points, axis, reserve)
    if advised.next_size is not None and advised.step_law is not None:
        at = advised.next_size
        gain = advised.step_law.gain(float(advised.recommended or 1), at)
        error = advised.step_law.error_fraction
        doubt = "two sizes do not tell its error" if math.isnan(error) else f"its error is {error:.1%}"
        yield f"Next to try: {axis} {at}, which the law predicts to bring {gain:.1%} more ({doubt})."


def _about_kinds(advised: Advice, axis: str) -> Iterator[str]:
    for kind in advised.fixed_kinds:
        law = advised.kind_laws[kind]
        steps = advised.step_law
        whole = sum(each.at(law.first) for each in advised.kind_laws.values())
        if steps is None or not law.at(law.first) > 0.01 * whole:
            continue
        first, last = (law.at(n) / max(steps.at(n), 1e-300) for n in (law.first, law.last))
        yield (
            f"Time in {kind} work does not grow with {axis}: {seconds(law.at(law.last))} a step, "
            f"{first:.1%} of it at {_number(law.first)} and {last:.1%} at {_number(law.last)}."
        )
    growing = [kind for kind, law in advised.kind_laws.items() if law.grows]
    largest = max(growing, key=lambda kind: advised.kind_laws[kind].per_item, default=None)
    if largest is not None:
        law = advised.kind_laws[largest]
        low, high = law.per_item_interval
        yield (
            f"What grows most is {largest} work: {seconds(law.per_item)} an item "
            f"({WITHIN} {seconds(low)} to {seconds(high)})."
        )


def _about_memory(advised: Advice, points: Sequence[Point], axis: str, reserve: float) -> Iterator[str]:
    limit = smallest_limit(points)
    if advised.memory is not None:
        law = advised.memory
        yield f"Memory is {size(law.fixed)} and {size(law.per_item)} an item."
    if limit is None:
        yield "How much memory a device has is not known here: give memory_limit_bytes= to have what fits predicted."
    elif advised.largest is not None:
        yield f"Up to {axis} {advised.largest} fit into {size(limit)} with {reserve:.0%} left free."
    lost = [point for point in points if point.status == OOM]
    if lost:
        yield f"Memory ran out at {listed(f'{axis} {_number(float(point.setting[axis]))}' for point in lost)}."


def _law(law: Law, axis: str) -> str:
    (least, most), (low, high) = law.fixed_interval, law.per_item_interval
    return (
        f"{seconds(law.fixed)} and {seconds(law.per_item)} for each of {axis} "
        f"({WITHIN} {seconds(least)} to {seconds(most)}, and {seconds(low)} to {seconds(high)})"
    )


def _number(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e6 and value != int(value) else f"{value:.0f}"
