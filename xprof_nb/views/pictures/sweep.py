"""Pictures of a sweep: what each setting gave along the parameter that was turned, and the laws fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xprof_nb.model import units
from xprof_nb.views.pictures.svg import INK, KINDS, Axis, Picture, Plot

HEIGHT = 220
_CURVE_POINTS = 60
_WIDER = 1.12


def pictures(drawn: Mapping[str, Any]) -> list[Picture]:
    """Return step time, throughput, utilisation and memory, each if two settings have it.

    Parameters
    ----------
    drawn
        ``axis``; ``points``, pairs of a size and a point; ``recommended`` and ``knee``, sizes or None; ``step_law`` and
        ``memory_law``, functions of a size or None; ``limit_bytes`` or None. Nothing at all if it is empty.
    """
    points: Sequence[tuple[float, Any]] = drawn.get("points", ())
    law, memory = drawn.get("step_law"), drawn.get("memory_law")
    made = (
        _chart(
            drawn,
            "Step time",
            units.duration,
            _each(points, _step_ps),
            law and (lambda n: law(n) * units.PS_PER_S),
            "matrix",
        ),
        _chart(
            drawn,
            "Items a second",
            units.significant,
            _each(points, _rate),
            law and (lambda n: n / law(n)),
            "elementwise",
        ),
        _chart(drawn, "FLOP/s used of the peak", units.percent, _each(points, _flops), None, "custom"),
        _chart(
            drawn, "Memory of a device", units.size, _each(points, _bytes), memory, "data", drawn.get("limit_bytes")
        ),
    )
    return [picture for picture in made if picture is not None]


def _chart(
    drawn: Mapping[str, Any],
    title: str,
    write: Callable[[Any], str],
    points: list[tuple[float, float]],
    law: Callable[[float], float] | None,
    kind: str,
    limit: float | None = None,
) -> Picture | None:
    if len(points) < 2:
        return None
    sizes = [size for size, _ in points]
    low, high = min(sizes), max(sizes)
    is_log = low > 0 and high / low >= 16
    x = Axis(low, high * (1.0 if high > low else 2.0), str(drawn["axis"]), lambda at: f"{at:g}", is_log)
    curve = [(size, law(size)) for size in _between(low, high, is_log=is_log)] if law is not None else []
    is_near = limit is not None and limit < 4 * max(value for _, value in points)
    top = max(value for _, value in (*points, *curve, *([(low, limit)] if is_near and limit else [])))
    plot = Plot(x, Axis(0, top * _WIDER or 1.0, "", write, base=1024 if write is units.size else 10.0), HEIGHT)
    if curve:
        plot.line(curve, INK, "5 4")
    if is_near and limit is not None:
        plot.line([(low, limit), (high, limit)], KINDS["host"], "6 4")
        plot.say(low, limit, f"capacity {units.size(limit)}")
    plot.line(points, KINDS[kind])
    for size, value in points:
        plot.dot(size, value, 3.5, KINDS[kind])
    knee = drawn.get("knee")
    if knee is not None and low < knee < high:
        plot.line([(knee, 0), (knee, top)], INK, "2 4")
        plot.say(knee, top, f"knee {knee:.3g}")
    for size, value in points:
        if size == drawn.get("recommended"):
            plot.diamond(size, value, 7)
    legend = [(KINDS[kind], "measured"), *([(INK, "fitted")] if curve else [])]
    advised = drawn.get("recommended")
    said = "" if advised is None else f", {drawn['axis']} {advised:g} recommended ◇"
    return plot.drawn(f"{title} against {drawn['axis']}{said}", legend)


def _between(low: float, high: float, *, is_log: bool) -> list[float]:
    shares = [number / (_CURVE_POINTS - 1) for number in range(_CURVE_POINTS)]
    return [low * (high / low) ** share if is_log else low + (high - low) * share for share in shares]


def _each(points: Sequence[tuple[float, Any]], value: Callable[[Any], float | None]) -> list[tuple[float, float]]:
    known = sorted((size, value(point)) for size, point in points if value(point) is not None)
    return [(size, float(found)) for size, found in known if found is not None]


def _step_ps(point: Any) -> float | None:
    return None if point.step_time_s is None else float(point.step_time_s) * units.PS_PER_S


def _rate(point: Any) -> float | None:
    return None if point.items_per_s is None else float(point.items_per_s)


def _flops(point: Any) -> float | None:
    return None if point.flops_utilization is None else float(point.flops_utilization)


def _bytes(point: Any) -> float | None:
    return None if point.needed_bytes is None else float(point.needed_bytes)
