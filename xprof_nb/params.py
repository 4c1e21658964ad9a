"""What questions take: the filters of all of them, and what some take besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from xprof_nb.errors import UsageError
from xprof_nb.model.grouping import By
from xprof_nb.model.profile import ProfileData

TraceFormat = Literal["chrome", "perfetto"]
MOST_ROWS = 1_000_000
FARTHEST = 20
MOST_SECONDS = 600
MOST_PIXELS = 8192
MOST_BOXES = 10_000
MOST_TRACKS = 1000
MOST_MARKERS = 1000
MOST_PARTS = 1000
LONGEST_MARK = 200
LONGEST_PATTERN = 1000
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
class OpSpreadParams(Filters):
    """Parameters of ``op_spread``: which tree of the op profile."""

    by: By = "program"

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(self.by in get_args(By), "by", self.by, " or ".join(get_args(By)))


@dataclass(frozen=True)
class OpProfileParams(OpSpreadParams):
    """Parameters of ``op_profile``; see `xprof_nb.analysis.op_profile.Shown`."""

    limit: int | None = None
    under: str | None = None
    search: str | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
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


@dataclass(frozen=True)
class BuffersParams(Filters):
    """Parameters of ``buffers``; memory spaces by XLA's number, 0 the device's main memory."""

    memory_space: int = 0

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(_is_whole(self.memory_space), "memory_space", self.memory_space, "a memory space's number")


@dataclass(frozen=True)
class CompareParams(Filters):
    """Parameters of ``compare``: the other profile, opened by whoever asks, who knows which paths may be read."""

    other: ProfileData | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(isinstance(self.other, ProfileData), "other", self.other, "another opened profile")


@dataclass(frozen=True)
class KpisParams(Filters):
    """Parameters of ``kpis``: what a profile cannot know of a step; see `xprof_nb.analysis.kpis.Workload`."""

    tokens_per_step: float | None = None
    items_per_step: float | None = None
    parameters: float | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        for name in ("tokens_per_step", "items_per_step", "parameters"):
            value = getattr(self, name)
            _check(value is None or _is_amount(value), name, value, "a positive number")


@dataclass(frozen=True)
class MemoryHoldersParams(Filters):
    """Parameters of ``memory_holders``: a time in ps on the timeline's clock, each allocator's peak if None."""

    at_ps: float | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(self.at_ps is None or _is_time(self.at_ps), "at_ps", self.at_ps, "a time in ps")


@dataclass(frozen=True)
class GraphParams(Filters):
    """Parameters of ``graph``: the op in the middle, the program's root if None, and how far around it."""

    op: str | None = None
    radius: int = 2

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(self.op is None or isinstance(self.op, str), "op", self.op, "an op's name")
        bounded = _is_whole(self.radius) and 0 <= self.radius <= FARTHEST
        _check(bounded, "radius", self.radius, f"0 to {FARTHEST} edges")


@dataclass(frozen=True)
class GraphSearchParams(Filters):
    """Parameters of ``graph_search``: words of an op's name, opcode, shape or framework op; every op without any."""

    text: str = ""
    limit: int = 100

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        bounded = isinstance(self.text, str) and len(self.text) <= LONGEST_PATTERN
        _check(bounded, "text", _shown(self.text), f"up to {LONGEST_PATTERN:,} characters")
        _check(_is_whole(self.limit) and 1 <= self.limit <= MOST_ROWS, "limit", self.limit, f"1 to {MOST_ROWS:,} rows")


@dataclass(frozen=True)
class EventsParams(Filters):
    """Parameters of ``events``; see `xprof_nb.analysis.events.Narrowed`."""

    pattern: str | None = None
    min_python_ps: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(self.pattern is None or isinstance(self.pattern, str), "pattern", self.pattern, "a regular expression")
        timed = self.min_python_ps is None or (_is_whole(self.min_python_ps) and self.min_python_ps >= 0)
        _check(timed, "min_python_ps", self.min_python_ps, "a time in ps")
        bounded = self.limit is None or (_is_whole(self.limit) and 1 <= self.limit <= MOST_ROWS)
        _check(bounded, "limit", self.limit, f"1 to {MOST_ROWS:,} rows")


@dataclass(frozen=True)
class SqlParams(Filters):
    """Parameters of ``sql``: one SELECT statement, the tables' schema without one; see `analysis.sql.select`."""

    text: str = ""
    limit: int = 100_000
    seconds: float = 30

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(isinstance(self.text, str), "text", self.text, "a SELECT statement")
        _check(_is_whole(self.limit) and 1 <= self.limit <= MOST_ROWS, "limit", self.limit, f"1 to {MOST_ROWS:,} rows")
        number = isinstance(self.seconds, int | float) and not isinstance(self.seconds, bool)
        _check(number and 0 < self.seconds <= MOST_SECONDS, "seconds", self.seconds, f"up to {MOST_SECONDS:,} s")


@dataclass(frozen=True)
class TraceWindowParams(Filters):
    """Parameters of ``trace_window``: times in ps from the timeline's beginning, tracks as rows of ``trace``."""

    start_ps: float | None = None
    end_ps: float | None = None
    pixels: int = 1000
    tracks: tuple[int, ...] | None = None
    most_rows: int = MOST_BOXES

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check_span(self)
        _check_tracks(self)
        most = _is_whole(self.most_rows) and 1 <= self.most_rows <= MOST_BOXES
        _check(most, "most_rows", self.most_rows, f"1 to {MOST_BOXES:,} rows")
        bounded = _is_whole(self.pixels) and 1 <= self.pixels <= MOST_PIXELS
        _check(bounded, "pixels", self.pixels, f"1 to {MOST_PIXELS:,} pixels")


@dataclass(frozen=True)
class TraceSelectionParams(Filters):
    """Parameters of ``trace_selection``, and of ``trace``, whose view shows that window first.

    Times are in ps from the timeline's beginning; None means all of it, and the tracks that are open at first.
    """

    start_ps: float | None = None
    end_ps: float | None = None
    tracks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check_span(self)
        _check_tracks(self)


@dataclass(frozen=True)
class TraceSearchParams(Filters):
    """Parameters of ``trace_search``: part of a name, or ``/a regular expression/``; where the next hit is wanted."""

    text: str = ""
    start_ps: float | None = None
    end_ps: float | None = None
    from_ps: float | None = None
    forward: bool = True
    tracks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check_span(self)
        _check_tracks(self)
        bounded = isinstance(self.text, str) and 1 <= len(self.text) <= LONGEST_PATTERN
        _check(bounded, "text", self.text, f"1 to {LONGEST_PATTERN} characters")
        _check(self.from_ps is None or _is_time(self.from_ps), "from_ps", self.from_ps, "a time in ps")
        _check(isinstance(self.forward, bool), "forward", self.forward, "true or false")


@dataclass(frozen=True)
class TraceEventParams(Filters):
    """Parameters of ``trace_event``: a row of ``trace``, and what ``trace_window`` calls the event."""

    track: int = -1
    event: float = -1

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(_is_whole(self.track) and self.track >= 0, "track", self.track, "a track's number")
        whole = _is_time(self.event) and self.event >= 0 and float(self.event).is_integer()
        _check(whole, "event", self.event, "an event's number")


@dataclass(frozen=True)
class TraceExportParams(TraceSelectionParams):
    """Parameters of ``trace_export``: what to write, all of it if None, and which part of the file is asked for."""

    format: TraceFormat = "chrome"
    part: int = 0

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        _check(self.format in get_args(TraceFormat), "format", self.format, " or ".join(get_args(TraceFormat)))
        _check(_is_whole(self.part) and 0 <= self.part < MOST_PARTS, "part", self.part, "a part's number, from 0")


@dataclass(frozen=True)
class TraceMarksParams(Filters):
    """Parameters of ``trace_marks``: the markers to keep instead of those there are, None to read them."""

    markers: tuple[Mapping[str, Any], ...] | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before any work is done."""
        super().__post_init__()
        if self.markers is None:
            return
        bounded = isinstance(self.markers, list | tuple) and len(self.markers) <= MOST_MARKERS
        _check(bounded, "markers", type(self.markers).__name__, f"a list of at most {MOST_MARKERS:,} markers")
        for marker in self.markers:
            _check(_is_marker(marker), "markers", _shown(marker), "markers of id, name, color and time_ps")
        object.__setattr__(self, "markers", tuple(self.markers))


def _check_span(params: Any) -> None:
    for name in ("start_ps", "end_ps"):
        value = getattr(params, name)
        _check(value is None or _is_time(value), name, value, "a time in ps, within 53 days")
    ordered = params.start_ps is None or params.end_ps is None or params.start_ps < params.end_ps
    _check(ordered, "end_ps", params.end_ps, "a time after start_ps")


def _check_tracks(params: Any) -> None:
    if params.tracks is None:
        return
    bounded = isinstance(params.tracks, list | tuple) and len(params.tracks) <= MOST_TRACKS
    _check(bounded, "tracks", type(params.tracks).__name__, f"a list of at most {MOST_TRACKS:,} tracks")
    for track in params.tracks:
        _check(_is_whole(track) and track >= 0, "tracks", _shown(track), "numbers of tracks")
    object.__setattr__(params, "tracks", tuple(params.tracks))


def _is_time(value: object) -> bool:
    """Whether it is a time that 64-bit picoseconds can hold, with room for sums."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST // 2


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e30


def _is_marker(value: object) -> bool:
    if not isinstance(value, Mapping) or set(value) - {"id", "name", "color", "time_ps"}:
        return False
    texts = [value.get(key, "") for key in ("id", "name", "color")]
    return all(isinstance(text, str) and len(text) <= LONGEST_MARK for text in texts) and _is_time(value.get("time_ps"))


def _shown(value: object) -> str:
    return repr(value)[:80]


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
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(_is_whole(v) and _is_time(v) for v in value)
        and value[0] < value[1]
    )
