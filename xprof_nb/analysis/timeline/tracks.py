"""Which tracks a timeline has, in the order they are shown: hosts, devices, what they did, threads below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from weakref import WeakKeyDictionary

import numpy as np

from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.step_spans import step_spans
from xprof_nb.analysis.timeline import derived
from xprof_nb.analysis.timeline.curves import Rates, Samples
from xprof_nb.analysis.timeline.lanes import Lanes
from xprof_nb.analysis.timeline.recorded import recorded
from xprof_nb.errors import UsageError
from xprof_nb.model.columns import are_texts
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace

Content = Lanes | Samples | Rates
Find = Callable[[ProfileData, HostTrace], Content]

ORDER = (
    *("utilization", "steps", "programs", "ops", "async", "collectives", "scopes", "source", "stream", "engine"),
    *("memory", "counter"),
)
LONGEST_SHOWN_PYTHON = 20_000
MOST_OPEN_DEVICES = 8
_DEVICE_PLANE = re.compile(r"/device:(.+)", re.DOTALL)
_PYTHON = re.compile(r"python|main/|MainThread")
_LINE_KINDS = {
    "Steps": "steps",
    "XLA Modules": "programs",
    "XLA Ops": "ops",
    "Async XLA Ops": "async",
    **dict.fromkeys(("TensorFlow Ops", "Framework Ops"), "ops"),
    **dict.fromkeys(("Source code", "Source"), "source"),
    **dict.fromkeys(("TensorFlow Name Scope", "Framework Name Scope"), "scopes"),
}
_READ_ALREADY = {"Steps", "XLA Modules", "XLA Ops"}
_UTILIZATIONS = (("flops", "FLOP/s"), ("hbm_bytes", "B/s"))
_FOLDED = {"scopes", "source", "engine", "threads"}


@dataclass(eq=False)
class Track:
    """One row of the timeline, or a header over others.

    Attributes
    ----------
    parent
        Row of the track above, -1 at the top.
    unit
        Of a curve's values: ``"fraction"``, ``"FLOP/s"``, ``"B"`` or ``""``.
    event_count
        None where only laying out tells.
    line
        Row of the host's recorded lines, -1 for a track that was derived.
    """

    kind: str
    name: str
    depth: int = 0
    parent: int = -1
    host: str = ""
    device: str = ""
    device_row: int = -1
    folded: bool = False
    unit: str = ""
    event_count: int | None = 0
    line: int = -1
    host_row: int = -1
    find: Find | None = None


@dataclass(eq=False)
class Timeline:
    """The tracks of a profile, those laid out so far with their events."""

    tracks: tuple[Track, ...]
    origin_ps: int
    end_ps: int
    contents: dict[int, Content] = field(default_factory=dict)
    locks: defaultdict[int, RLock] = field(default_factory=partial(defaultdict, RLock))
    """One a track: while millions of events are laid out the other tracks are drawn."""

    def content(self, profile: ProfileData, track: int) -> Content | None:
        """Return what a track shows, None for a header; laid out the first time."""
        found = self.tracks[track]
        if found.find is None:
            return None
        if track not in self.contents:
            with self.locks[track]:
                if track not in self.contents:
                    self.contents[track] = found.find(profile, profile.hosts[found.host_row])
        return self.contents[track]

    def lanes(self, profile: ProfileData, track: int) -> Lanes | None:
        """Return the events of a track, None if it has none: a header or a curve."""
        content = self.content(profile, track)
        return content if isinstance(content, Lanes) else None

    def open_tracks(self) -> list[int]:
        """Return the tracks with content that nothing folded hides."""
        hidden, shown = set(), []
        for row, track in enumerate(self.tracks):
            if track.folded or track.parent in hidden:
                hidden.add(row)
            elif track.find is not None:
                shown.append(row)
        return shown

    def checked(self, tracks: list[int] | tuple[int, ...]) -> list[int]:
        """Return the rows asked for.

        Raises
        ------
        UsageError
            There is no such track.
        """
        wrong = [row for row in tracks if not 0 <= row < len(self.tracks)]
        if wrong:
            raise UsageError(f"no track {wrong[0]}", hint=f"This profile has tracks 0 to {len(self.tracks) - 1}.")
        return list(dict.fromkeys(tracks))


_TIMELINES: WeakKeyDictionary[ProfileData, Timeline] = WeakKeyDictionary()


def timeline_of(profile: ProfileData) -> Timeline:
    """Return the timeline of a profile, made once."""
    if profile not in _TIMELINES:
        begin = min((trace.window_ps[0] for trace in profile.hosts), default=0)
        end = max((trace.window_ps[1] for trace in profile.hosts), default=0)
        rows = [track for row, trace in enumerate(profile.hosts) for track in _host(profile, trace, row)]
        _TIMELINES[profile] = Timeline(_with_parents(rows), begin, end)
    return _TIMELINES[profile]


def _with_parents(rows: list[Track]) -> tuple[Track, ...]:
    above: dict[int, int] = {}
    for row, track in enumerate(rows):
        track.parent = above.get(track.depth - 1, -1)
        above[track.depth] = row
    return tuple(rows)


def _host(profile: ProfileData, trace: HostTrace, host_row: int) -> Iterator[Track]:
    for track in _of_host(profile, trace):
        track.host, track.host_row = trace.host, host_row
        yield track


def _of_host(profile: ProfileData, trace: HostTrace) -> Iterator[Track]:
    yield Track("host", trace.host)
    lines, memory = _lines_by_owner(trace), _memory(trace)
    named = [name for name in (*lines, *memory) if name is not None]
    owners = [*(device.name for device in trace.devices), *named]
    for number, owner in enumerate(dict.fromkeys(owners)):
        row = next((row for row, device in enumerate(trace.devices) if device.name == owner), -1)
        children = list(_derived(profile, trace, row)) if row >= 0 else []
        have = {child.kind for child in children}
        for line in lines.get(owner, ()):
            children += _line(trace, line, have)
        children += memory.get(owner, ())
        if any(child.kind == "async" and child.line >= 0 for child in children):
            children = [child for child in children if child.kind != "async" or child.line >= 0]
        children.sort(key=lambda child: ORDER.index(child.kind))
        yield Track(
            "device", owner, 1, folded=not children or number >= MOST_OPEN_DEVICES, device=owner, device_row=row
        )
        for child in children:
            child.depth, child.device, child.device_row = 2, owner, row
            yield child
    for track in memory.get(None, ()):
        track.depth = 1
        yield track
    yield from _threads(trace, lines.get(None, []))


def _lines_by_owner(trace: HostTrace) -> dict[str | None, list[int]]:
    """Return the lines of each device by the device's name, those of the host's threads under None."""
    found: dict[str | None, list[int]] = {}
    for line, plane in enumerate(trace.lines.plane):
        device = _DEVICE_PLANE.fullmatch(plane)
        owner = device[1] if device else None if plane.startswith("/host:") else plane
        found.setdefault(owner, []).append(line)
    return found


def _derived(profile: ProfileData, trace: HostTrace, device: int) -> Iterator[Track]:
    def track(kind: str, name: str, find: Callable[..., Content], count: int | None, unit: str = "") -> Track:
        found = partial(_found, find, device)
        return Track(kind, name, folded=kind in _FOLDED, unit=unit, event_count=count, find=found)

    op_count = int(np.count_nonzero(trace.ops.device == device))
    spans = step_spans(trace)
    step_count = int(np.isin(spans["device_row"], [device, -1]).sum())
    if step_count:
        yield track("steps", "Steps", derived.steps_of, step_count)
    run_count = int(np.count_nonzero(trace.runs.device == device))
    if run_count:
        yield track("programs", "Programs", derived.programs_of, run_count)
    if not op_count:
        return
    described = described_keys(profile, trace)
    ops = track("ops", "Ops", derived.ops_of, op_count)
    yield ops
    for cost, rate in _UTILIZATIONS:
        if (described[cost] > 0).any():
            has_roof = derived.roof_of(trace, device, cost) is not None
            name, unit = (f"{rate} of peak", "fraction") if has_roof else (rate, rate)
            yield track("utilization", name, partial(_utilization, cost), op_count, unit)
    async_count = len(derived.asynchronous_rows(trace, device))
    if async_count:
        yield track("async", "Async ops", derived.asynchronous_of, async_count)
    collective = derived.collective_keys(profile, trace)
    if collective.any():
        count = int(np.count_nonzero(collective[trace.ops.key] & (trace.ops.device == device)))
        if count:
            yield track("collectives", "Collectives", derived.collectives_of, count)
    if are_texts(described["framework_op"]).any():
        yield track("scopes", "Framework scopes", derived.scopes_of, None)
    if are_texts(described["source"]).any():
        yield track("source", "Source", derived.source_of, None)


def _memory(trace: HostTrace) -> dict[str | None, list[Track]]:
    """Return the memory of each device by its name, that of the host itself under None."""
    found: dict[str | None, list[Track]] = {}
    for code, device in derived.allocators_of(trace).items():
        name = f"Memory: {trace.allocations.allocators[code]}"
        count = int(np.count_nonzero(trace.allocations.allocator == code))
        track = Track("memory", name, unit="B", event_count=count, find=partial(derived.memory_of, code))
        found.setdefault(device, []).append(track)
    return found


def _found(find: Callable[..., Content], device: int, profile: ProfileData, trace: HostTrace) -> Content:
    return find(profile, trace, device)


def _utilization(cost: str, profile: ProfileData, trace: HostTrace, device: int) -> Rates:
    timeline = timeline_of(profile)
    ops = next(
        row
        for row, track in enumerate(timeline.tracks)
        if track.kind == "ops" and track.line < 0 and track.device_row == device
        and profile.hosts[track.host_row] is trace
    )  # fmt: skip
    lanes = timeline.lanes(profile, ops)
    assert lanes is not None
    return derived.utilization_of(profile, trace, device, cost, lanes)


def _line(trace: HostTrace, line: int, have: set[str]) -> Iterator[Track]:
    name = trace.lines.name[line]
    if line in trace.lines.counters:
        for counter in trace.lines.counters[line]:
            yield Track("counter", counter, event_count=None, line=line, find=partial(_counter, line, counter))
        return
    kind = _LINE_KINDS.get(name, "stream" if name.startswith("Stream") else "engine")
    if not (name in _READ_ALREADY and kind in have):
        yield _recorded_track(trace, line, kind, 2, kind in _FOLDED)


def _threads(trace: HostTrace, lines: list[int]) -> Iterator[Track]:
    """Return the lines of a host's threads: Python's, counters, and the others in a folder of their own."""
    counters = [line for line in lines if line in trace.lines.counters]
    python = {line for line in lines if _PYTHON.match(trace.lines.name[line])}
    others = [line for line in lines if line not in python and line not in trace.lines.counters]
    for line in sorted(python):
        count = int(trace.lines.event_count[line])
        yield _recorded_track(trace, line, "python", 1, count > LONGEST_SHOWN_PYTHON)
    for track in (track for line in counters for track in _line(trace, line, set())):
        track.depth = 1
        yield track
    if others:
        yield Track("threads", f"Threads ({len(others):,})", 1, folded=True)
        yield from (_recorded_track(trace, line, "thread", 2, False) for line in others)


def _recorded_track(trace: HostTrace, line: int, kind: str, depth: int, folded: bool) -> Track:
    name = trace.lines.name[line] or f"line {line}"
    count = int(trace.lines.event_count[line])
    return Track(kind, name, depth, folded=folded, event_count=count, line=line, find=partial(_recorded, line))


def _recorded(line: int, profile: ProfileData, trace: HostTrace) -> Content:
    return recorded(profile, trace).lanes[line]


def _counter(line: int, name: str, profile: ProfileData, trace: HostTrace) -> Content:
    return recorded(profile, trace).counters[line, name]
