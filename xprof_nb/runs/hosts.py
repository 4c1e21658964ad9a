"""Hosts decoded one by one, as one profile: one origin of time, and program ids that mean one program each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xprof_nb.errors import DamagedFileError
from xprof_nb.model.aligned import renumbered, shifted
from xprof_nb.model.program import Program
from xprof_nb.model.trace import HostTrace
from xprof_nb.model.units import listed

LARGEST_OFFSET_PS = 3600 * 10**12
"""Hosts started further apart than this are not one capture, or their clocks are wrong."""
_SMALLEST_FINGERPRINT = 2**32

Decoded = tuple[HostTrace, Mapping[int, Program]]


@dataclass(frozen=True, eq=False)
class Hosts:
    """The hosts of a profile, and what was done to make them one."""

    traces: tuple[HostTrace, ...]
    programs: Mapping[int, Program]
    notes: tuple[str, ...]


def join_hosts(decoded: Sequence[Decoded]) -> Hosts:
    """Return hosts whose times count from the start of the earliest, and whose program ids are unambiguous."""
    traces, aligned = _aligned([trace for trace, _ in decoded])
    traces, programs, numbered = _unambiguous(traces, [programs for _, programs in decoded])
    return Hosts(tuple(traces), programs, (*aligned, *numbered))


def _aligned(traces: list[HostTrace]) -> tuple[list[HostTrace], list[str]]:
    """Put hosts on one clock by the wall clock at the start of each profiler."""
    if len(traces) < 2:
        return traces, []
    unknown = [trace.host for trace in traces if trace.session_ns is None]
    if unknown:
        return traces, [
            f"The files of {listed(unknown)} do not say when they were started: each host's times count from its own "
            "start, and windows of different hosts cannot be compared."
        ]
    starts_ns = [trace.session_ns[0] for trace in traces if trace.session_ns]
    offsets_ps = [(start - min(starts_ns)) * 1000 for start in starts_ns]
    if max(offsets_ps) > LARGEST_OFFSET_PS:
        return traces, [
            f"Hosts were started up to {max(offsets_ps) / 3.6e15:,.1f} h apart by their own clocks: they are not of "
            "one capture, or a clock is wrong. Each host's times count from its own start."
        ]
    moved = [shifted(trace, offset) for trace, offset in zip(traces, offsets_ps, strict=True)]
    later = [
        f"{trace.host} {offset / 1e9:+,.3f} ms" for trace, offset in zip(traces, offsets_ps, strict=True) if offset
    ]
    notes = [f"Times count from the start of the earliest host; started later: {listed(later)}."] if later else []
    return moved, [*notes, *_apart(moved)]


def _apart(traces: Sequence[HostTrace]) -> Iterator[str]:
    """Say which hosts were captured when no other was."""
    for trace in traces:
        begin, end = trace.window_ps
        others = [other.window_ps for other in traces if other is not trace]
        if all(stop <= begin or end <= start for start, stop in others):
            yield f"The capture of {trace.host} does not overlap that of any other host."


def _unambiguous(
    traces: Sequence[HostTrace], of_hosts: Sequence[Mapping[int, Program]]
) -> tuple[list[HostTrace], dict[int, Program], list[str]]:
    """Give a program whose id another host uses for a different program an id of its own.

    Only TPU runtimes number programs by their content; others count them, each process for itself.
    """
    programs: dict[int, Program] = {}
    names: dict[int, str] = {}
    changed, notes = [], []
    free = 1 + max((number for ids in map(_ids, traces, of_hosts) for number in ids if number < 2**62), default=0)
    for trace, own in zip(traces, of_hosts, strict=True):
        ids = _ids(trace, own)
        clashes = [number for number, name in ids.items() if _differs(number, name, own, programs, names)]
        given = dict(zip(clashes, range(free, free + len(clashes)), strict=True))
        free += len(clashes)
        for number, name in ids.items():
            names.setdefault(given.get(number, number), name)
        for number, program in own.items():
            new = given.get(number, number)
            programs.setdefault(new, program if new == number else program.with_id(new))
        changed.append(renumbered(trace, given))
        if given:
            said = [f"{ids[old]}({old}) is {new}" for old, new in given.items()]
            notes.append(
                f"{trace.host} numbers other programs as an earlier host does; its ids in this profile: {listed(said)}."
            )
    return changed, programs, notes


def _ids(trace: HostTrace, own: Mapping[int, Program]) -> dict[int, str]:
    """Return the name of every program a host ran or describes, by id."""
    first = np.unique(trace.keys.program_id, return_index=True)[1]
    ran = {int(trace.keys.program_id[row]): str(trace.keys.program[row] or "") for row in first}
    return {**ran, **{number: program.name for number, program in own.items()}}


def _differs(
    number: int, name: str, own: Mapping[int, Program], programs: Mapping[int, Program], names: Mapping[int, str]
) -> bool:
    """Whether an id already means another program."""
    if number not in names:
        return False
    if name and names[number] and name != names[number]:
        return True
    if number >= _SMALLEST_FINGERPRINT or number not in own or number not in programs:
        return False
    return not _same(own[number], programs[number])


def _same(first: Program, second: Program) -> bool:
    """Whether two programs of one name have the same instructions; bytes may differ in paths and notes alone."""
    if first.serialized == second.serialized:
        return True
    try:
        return _outline(first) == _outline(second)
    except DamagedFileError:
        return True


def _outline(program: Program) -> dict[str, tuple[str, str]]:
    return {name: (found.opcode, str(found.shape)) for name, found in program.instructions.items()}
