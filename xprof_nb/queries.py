"""The register of questions: name -> typed parameters, function, answer. Kernel, server and shell all ask here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from xprof_nb.errors import UsageError
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData

By = Literal["program", "category", "framework", "source"]
MOST_ROWS = 1_000_000
_LARGEST = 2**63 - 1
_LONGEST_NUMBER = 20


@dataclass(frozen=True)
class Filters:
    """What every question takes; None means all. ``compat="xprof"`` asks for xprof's own number."""

    host: str | None = None
    device: str | int | None = None
    program: str | int | None = None
    step: int | None = None
    window_ps: tuple[int, int] | None = None
    compat: str | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        _check(self.host is None or isinstance(self.host, str), "host", self.host, "a host's name")
        for name in ("device", "program"):
            value = getattr(self, name)
            _check(value is None or _is_name_or_number(value), name, value, "a name or a number")
        _check(self.step is None or _is_whole(self.step), "step", self.step, "a step's number")
        _check(self.compat in (None, "xprof"), "compat", self.compat, "'xprof' or nothing")
        if self.window_ps is not None:
            _check(_is_window(self.window_ps), "window_ps", self.window_ps, "two times in ps, the first earlier")
            object.__setattr__(self, "window_ps", tuple(self.window_ps))


@dataclass(frozen=True)
class OpProfileParams(Filters):
    """Parameters of ``op_profile``; see `xprof_nb.analysis.op_profile.Shown`."""

    by: By = "program"
    limit: int | None = None
    under: str | None = None
    search: str | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(self.by in get_args(By), "by", self.by, " or ".join(get_args(By)))
        bounded = self.limit is None or (_is_whole(self.limit) and 1 <= self.limit <= MOST_ROWS)
        _check(bounded, "limit", self.limit, f"1 to {MOST_ROWS:,} rows")
        for name in ("under", "search"):
            value = getattr(self, name)
            _check(value is None or isinstance(value, str), name, value, "text")


@dataclass(frozen=True)
class OpDetailsParams(Filters):
    """Parameters of ``op_details``: the program id, as text since browsers lose its last digits, and the op."""

    program_id: str | int = ""
    op: str = ""

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        text = str(self.program_id)[: _LONGEST_NUMBER + 1]  # Python itself refuses to read thousands of digits
        whole = text.isdecimal() and len(text) <= _LONGEST_NUMBER and int(text) < 2**64
        _check(whole, "program_id", self.program_id, "a program's number")
        _check(isinstance(self.op, str) and self.op != "", "op", self.op, "an op's name")


def _check(holds: bool, name: str, value: object, wanted: str) -> None:
    if not holds:
        raise UsageError(f"{name} cannot be {value!r}", hint=f"It takes {wanted}.")


def _is_whole(value: object) -> bool:
    """Whether it is a whole number that a column of the profile could hold."""
    return isinstance(value, int) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def _is_name_or_number(value: object) -> bool:
    return isinstance(value, str) or _is_whole(value) or _is_program_id(value)


def _is_program_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _is_window(value: object) -> bool:
    return (
        isinstance(value, tuple | list) and len(value) == 2 and all(_is_whole(v) for v in value) and value[0] < value[1]
    )


@dataclass(frozen=True)
class Query:
    """One registered question."""

    name: str
    params: type[Filters]
    function: Callable[[ProfileData, Any], Answer]


def _ops(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis import ops, xprof_compat

    selection = _selection(params)
    if params.compat == "xprof":
        return xprof_compat.ops(ops.op_table(profile, selection), xprof_compat.core_time_ps(profile, selection))
    return ops.ops(profile, selection)


def _op_profile(profile: ProfileData, params: OpProfileParams) -> Answer:
    from xprof_nb.analysis.op_profile import Shown, op_profile

    shown = Shown(params.limit, params.under, params.search)
    return op_profile(profile, params.by, _selection(params), shown, params.compat == "xprof")


def _overview(profile: ProfileData, params: Filters) -> Answer:
    from xprof_nb.analysis.overview import overview

    return overview(profile, _selection(params), params.compat == "xprof")


def _steps(profile: ProfileData, _params: Filters) -> Answer:
    from xprof_nb.analysis.steps import steps

    return steps(profile)


def _op_details(profile: ProfileData, params: OpDetailsParams) -> Answer:
    from xprof_nb.analysis.op_details import op_details

    return op_details(profile, int(params.program_id), params.op, _selection(params))


def _selection(params: Filters) -> Any:
    from xprof_nb.analysis.selection import Selection

    return Selection(params.host, params.device, params.program, params.step, params.window_ps)


REGISTER: dict[str, Query] = {
    query.name: query
    for query in (
        Query("ops", Filters, _ops),
        Query("op_profile", OpProfileParams, _op_profile),
        Query("op_details", OpDetailsParams, _op_details),
        Query("overview", Filters, _overview),
        Query("steps", Filters, _steps),
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
    return _finite(query.function(profile, query.params(**given)))


def _finite(answer: Answer) -> Answer:
    """Return an answer in which what overflowed is missing: JSON has no infinity, and it is no measurement."""
    import numpy as np

    frame = answer.frame
    floats = [name for name, column in frame.items() if column.dtype.kind == "f" and np.isinf(column).any()]
    if floats:
        frame = frame.assign(**{name: frame[name].where(np.isfinite(frame[name])) for name in floats})
    summary = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in answer.summary.items()
    }
    return replace(answer, frame=frame, summary=summary)
