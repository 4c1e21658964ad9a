"""The register of questions: name -> typed parameters, function, answer. Kernel, server and shell all ask here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import UsageError
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.params import (
    BuffersParams,
    CompareParams,
    EventsParams,
    Filters,
    GraphParams,
    GraphSearchParams,
    KpisParams,
    MemoryHoldersParams,
    OpDetailsParams,
    OpProfileParams,
    OpSpreadParams,
    SqlParams,
    TraceEventParams,
    TraceExportParams,
    TraceMarksParams,
    TraceSearchParams,
    TraceSelectionParams,
    TraceWindowParams,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Query:
    """One registered question."""

    name: str
    params: type[Filters]
    function: Callable[[ProfileData, Any], Answer]


def _ops(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis import ops
    from xprof_nb.analysis.xprof import compat as xprof_compat

    selection = _selection(params)
    if params.compat == "xprof":
        table = xprof_compat.op_table(profile, selection)
        return xprof_compat.ops(table, xprof_compat.core_time_ps(profile, selection))
    return ops.ops(profile, selection)


def _op_profile(profile: ProfileData, params: OpProfileParams) -> Answer:
    from xprof_nb.analysis.op_nodes import Shown
    from xprof_nb.analysis.op_profile import op_profile

    shown = Shown(params.limit, params.under, params.search)
    return op_profile(profile, params.by, _selection(params), shown, params.compat == "xprof")


def _op_spread(profile: ProfileData, params: OpSpreadParams) -> Answer:
    from xprof_nb.analysis.op_spread import op_spread

    return _ours_alone(params, op_spread(profile, params.by, _selection(params)))


def _overview(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.overview import overview

    return overview(profile, _selection(params), params.compat == "xprof")


def _steps(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis import steps
    from xprof_nb.analysis.xprof import input as xprof_input

    selection = _selection(params)
    return xprof_input.steps(profile, selection) if params.compat == "xprof" else steps.steps(profile, selection)


def _compare(profile: ProfileData, params: CompareParams) -> Answer:
    from xprof_nb.analysis.compare import compare

    assert params.other is not None  # the parameters refuse that
    return _ours_alone(params, compare(profile, params.other, _selection(params)))


def _kpis(profile: ProfileData, params: KpisParams) -> Answer:
    from xprof_nb.analysis.kpis import Workload, kpis

    workload = Workload(params.tokens_per_step, params.items_per_step, params.parameters)
    return _ours_alone(params, kpis(profile, _selection(params), workload))


def _op_details(profile: ProfileData, params: OpDetailsParams) -> Answer:
    from xprof_nb.analysis.op_details import op_details

    return op_details(profile, int(params.program_id), params.op, _selection(params))


def _framework_ops(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.framework_ops import framework_ops

    return framework_ops(profile, _selection(params), params.compat == "xprof")


def _kernels(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.kernels import kernels

    return kernels(profile, _selection(params), params.compat == "xprof")


def _input_pipeline(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.input_pipeline import input_pipeline

    return input_pipeline(profile, _selection(params), params.compat == "xprof")


def _collectives(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.collectives import collectives

    return collectives(profile, _selection(params), params.compat == "xprof")


def _memory(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.memory import memory

    return memory(profile, _selection(params), params.compat == "xprof")


def _memory_holders(profile: ProfileData, params: MemoryHoldersParams) -> Answer:
    from xprof_nb.analysis.memory_holders import memory_holders

    return memory_holders(profile, _selection(params), params.at_ps)


def _buffers(profile: ProfileData, params: BuffersParams) -> Answer:
    from xprof_nb.analysis.buffers import buffers

    return buffers(profile, _selection(params), params.memory_space, params.compat == "xprof")


def _graph(profile: ProfileData, params: GraphParams) -> Answer:
    from xprof_nb.analysis.graph import graph

    return graph(profile, _selection(params), params.op, params.radius)


def _graph_search(profile: ProfileData, params: GraphSearchParams) -> Answer:
    from xprof_nb.analysis.graph_search import graph_search

    return graph_search(profile, _selection(params), params.text, params.limit)


def _graph_text(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.graph_export import graph_text

    return graph_text(profile, _selection(params))


def _roofline(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.roofline import roofline

    return roofline(profile, _selection(params), params.compat == "xprof")


def _events(profile: ProfileData, params: EventsParams) -> Answer:
    from xprof_nb.analysis.events import Narrowed, events

    return events(profile, _selection(params), Narrowed(params.pattern, params.min_python_ps, params.limit))


def _sql(profile: ProfileData, params: SqlParams) -> Answer:
    from xprof_nb.analysis.sql.select import sql

    return sql(profile, _selection(params), params.text, params.limit, params.seconds)


def graph_dot(answer: Answer) -> str:
    """Return an answer of ``graph`` in the DOT language."""
    from xprof_nb.analysis.graph_export import dot

    return dot(answer)


def program_text(program: Program, is_long: bool) -> str:
    """Return a whole program as HLO text."""
    from xprof_nb.analysis.graph_export import text

    return text(program, is_long)


def sql_schema() -> pd.DataFrame:
    """Return the tables that ``sql`` knows."""
    from xprof_nb.analysis.sql.schema import schema

    return schema()


def _trace(profile: ProfileData, params: TraceSelectionParams) -> Answer:
    from xprof_nb.analysis.timeline.trace import trace
    from xprof_nb.runs.markers import read_markers

    window = (params.start_ps, params.end_ps)
    return trace(profile, _selection(params), window, read_markers(profile))


def _trace_window(profile: ProfileData, params: TraceWindowParams) -> Answer:
    from xprof_nb.analysis.timeline.drawing import trace_window

    window = (params.start_ps, params.end_ps)
    return _by_track(params, trace_window(profile, window, params.pixels, params.tracks, params.most_rows))


def _trace_search(profile: ProfileData, params: TraceSearchParams) -> Answer:
    from xprof_nb.analysis.timeline.search import Wanted, trace_search

    wanted = Wanted(params.text, params.start_ps, params.end_ps, params.from_ps, params.forward)
    return _by_track(params, trace_search(profile, wanted, params.tracks))


def _trace_event(profile: ProfileData, params: TraceEventParams) -> Answer:
    from xprof_nb.analysis.timeline.event import trace_event

    return _by_track(params, trace_event(profile, params.track, int(params.event)))


def _trace_selection(profile: ProfileData, params: TraceSelectionParams) -> Answer:
    from xprof_nb.analysis.timeline.selection import trace_selection

    return _by_track(params, trace_selection(profile, params.start_ps, params.end_ps, params.tracks))


def _trace_export(profile: ProfileData, params: TraceExportParams) -> Answer:
    from xprof_nb.analysis.timeline.export import trace_export

    window = (params.start_ps, params.end_ps)
    return _by_track(params, trace_export(profile, params.format, window, params.tracks, params.part))


def _trace_busy(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.timeline.busy import trace_busy

    return _by_track(params, trace_busy(profile))


def _trace_marks(profile: ProfileData, params: TraceMarksParams) -> Answer:
    from xprof_nb.runs.markers import trace_marks

    return trace_marks(profile, params.markers)


def _ours_alone(params: Filters, answer: Answer) -> Answer:
    """Say that xprof's numbers were asked for where it has none."""
    why = ("compat= is not applied: xprof has no such numbers.",) if params.compat else ()
    return replace(answer, notes=(*answer.notes, *why))


def _by_track(params: Filters, answer: Answer) -> Answer:
    """Say that a part of the timeline is asked for by its tracks and times."""
    from xprof_nb.analysis.selection import FILTERS, not_applied

    why = "tracks= and times choose here; the rows of trace() with that filter say which"
    return replace(answer, notes=(*not_applied(_selection(params), FILTERS, why), *answer.notes))


def _selection(params: Filters) -> Any:
    from xprof_nb.analysis.selection import Selection

    return Selection(params.host, params.device, params.program, params.step, params.window_ps)


REGISTER: dict[str, Query] = {
    query.name: query
    for query in (
        Query("ops", Filters, _ops),
        Query("op_profile", OpProfileParams, _op_profile),
        Query("op_spread", OpSpreadParams, _op_spread),
        Query("op_details", OpDetailsParams, _op_details),
        Query("overview", Filters, _overview),
        Query("steps", Filters, _steps),
        Query("kpis", KpisParams, _kpis),
        Query("compare", CompareParams, _compare),
        Query("framework_ops", Filters, _framework_ops),
        Query("kernels", Filters, _kernels),
        Query("input_pipeline", Filters, _input_pipeline),
        Query("collectives", Filters, _collectives),
        Query("memory", Filters, _memory),
        Query("memory_holders", MemoryHoldersParams, _memory_holders),
        Query("buffers", BuffersParams, _buffers),
        Query("graph", GraphParams, _graph),
        Query("graph_search", GraphSearchParams, _graph_search),
        Query("graph_text", Filters, _graph_text),
        Query("roofline", Filters, _roofline),
        Query("events", EventsParams, _events),
        Query("sql", SqlParams, _sql),
        Query("trace", TraceSelectionParams, _trace),
        Query("trace_window", TraceWindowParams, _trace_window),
        Query("trace_search", TraceSearchParams, _trace_search),
        Query("trace_event", TraceEventParams, _trace_event),
        Query("trace_selection", TraceSelectionParams, _trace_selection),
        Query("trace_export", TraceExportParams, _trace_export),
        Query("trace_busy", Filters, _trace_busy),
        Query("trace_marks", TraceMarksParams, _trace_marks),
    )
}


def ask(profile: ProfileData, name: str, params: Mapping[str, Any] | None = None) -> Answer:
    """Answer the question ``name`` about ``profile``.

    Raises
    ------
    UsageError
        The question or one of its parameters is unknown or out of bounds.
    ProfileError
        The profile cannot answer it.
    """
    query = REGISTER.get(name)
    if query is None:
        raise UsageError(f"unknown question {name!r}", hint=f"Known: {', '.join(sorted(REGISTER))}.")
    given = {key: value for key, value in (params or {}).items() if value is not None}
    known = [field.name for field in fields(query.params)]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"{name} takes no {unknown[0]!r}", hint=f"It takes: {', '.join(known)}.")
    answer = _finite(_quietly(query.function, profile, query.params(**given)))
    if "compat" in given and not len(answer.frame):
        ours = ask(profile, name, {key: value for key, value in given.items() if key != "compat"})
        rows = units.counted(len(ours.frame), "row")
        left = (f"Ours has {rows}: leave out compat='xprof'.",) if len(ours.frame) else ours.notes
        answer = replace(answer, notes=(*answer.notes, *left))
    return replace(answer, notes=tuple(dict.fromkeys(answer.notes)))


def _quietly(function: Callable[[ProfileData, Any], Answer], profile: ProfileData, params: Filters) -> Answer:
    """Answer without warnings: numbers of a damaged file may overflow, and what does is taken out afterwards."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return function(profile, params)


def _finite(answer: Answer) -> Answer:
    """Return an answer in which what overflowed is missing: JSON has no infinity, and it is no measurement."""
    import numpy as np

    frame = answer.frame
    floats = frame.select_dtypes("float")
    if np.isinf(floats.to_numpy(np.float64)).any():
        frame = frame.assign(**{name: floats[name].where(~np.isinf(floats[name])) for name in floats})
    return replace(answer, frame=frame, summary=_finite_value(answer.summary))


def _finite_value(value: Any) -> Any:
    """Return a summary, or a part of one, with None for what is no number."""
    if isinstance(value, Mapping):
        return {name: _finite_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
