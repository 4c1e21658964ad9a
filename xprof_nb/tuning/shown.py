"""A sweep as tables and pictures, for notebooks with and without a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb.model import units
from xprof_nb.tuning.fitting import smallest_limit
from xprof_nb.tuning.point import DONE, PREDICTED

if TYPE_CHECKING:
    from xprof_nb.tuning.point import Point
    from xprof_nb.tuning.sweep import Sweep
    from xprof_nb.views.fallback import Table

HEADS = (
    "status",
    "step",
    "±",
    "items/s",
    "FLOP/s used",
    "memory bandwidth used",
    "bound by",
    "peak",
    "compile",
    "note",
)
WORDS = frozenset({"status", "bound by", "note"})


def plain(sweep: Sweep) -> str:
    """Return it for a terminal."""
    from xprof_nb.views import fallback

    return "\n\n".join([fallback.plain(_table(sweep)), *(f"note: {note}" for note in sweep.notes)])


def html(sweep: Sweep) -> str:
    """Return it for a notebook: sentence and table, charts, notes."""
    from xprof_nb.views import fallback
    from xprof_nb.views.pictures.sweep import pictures

    drawn = "".join(picture.html for picture in pictures(_drawn(sweep)))
    return "\n".join([fallback.html(_table(sweep)), drawn, fallback.html_list(sweep.notes)])


def _table(sweep: Sweep) -> Table:
    from xprof_nb.views.fallback import Table
    from xprof_nb.views.layouts import Column, one_line

    names = list(dict.fromkeys(name for point in sweep.points for name in point.setting))
    rows = [(*(str(point.setting.get(name, "")) for name in names), *_cells(point)) for point in sweep.points]
    columns = tuple(
        Column(one_line(head), tuple(one_line(row[at]) for row in rows), is_text=head in WORDS)
        for at, head in enumerate((*names, *HEADS))
    )
    caption = f"sweep over {' and '.join(names)}, {units.counted(len(rows), 'setting')}"
    return Table(one_line(caption), one_line(sweep.summary["sentence"], 300), columns, (0,) * len(rows), ())


def _cells(point: Point) -> tuple[str, ...]:
    return (
        point.status,
        units.seconds(point.step_time_s),
        units.seconds(point.step_time_spread_s),
        units.significant(point.items_per_s),
        units.utilization(point.flops_utilization),
        units.utilization(point.hbm_utilization),
        units.text(point.bound_by),
        units.size(point.needed_bytes),
        units.seconds(point.compile_time_s),
        point.note,
    )


def _drawn(sweep: Sweep) -> dict[str, Any]:
    """Return what the pictures are drawn of: points along the axis, and the fitted laws."""
    if sweep.axis is None:
        return {}
    shown = [point for point in sweep.best_group if point.status in (DONE, PREDICTED)]
    advised = sweep.advice
    law, memory = advised.step_law, advised.memory
    return {
        "axis": sweep.axis,
        "points": [(float(point.setting[sweep.axis]), point) for point in shown],
        "recommended": advised.recommended,
        "knee": advised.knee,
        "step_law": law.at if law is not None else None,
        "memory_law": memory.at if memory is not None else None,
        "limit_bytes": smallest_limit(sweep.points),
    }
