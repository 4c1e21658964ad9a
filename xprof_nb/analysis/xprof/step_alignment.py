"""Which steps of several hosts are one step: xprof's alignment.

Rules as in xprof 2.24 (`step_intersection`): the host whose steps span the least time is the chief; the steps of
another are moved against the chief's by as many places as give them the most time in common; what every host has stays.
"""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int]


def first_steps(hosts: Sequence[Sequence[Span]]) -> tuple[list[int], int]:
    """Return for each host the place of its first step that all have, and how many steps all have.

    Parameters
    ----------
    hosts
        Begin and end of the steps of each host, in order, on its own clock.
    """
    lengths = [max(end for _, end in spans) - min(begin for begin, _ in spans) if spans else 0 for spans in hosts]
    chief = lengths.index(min(lengths))
    offsets = [_offset(spans, hosts[chief]) for spans in hosts]
    begin = max(max(offset, 0) for offset in offsets)
    end = min(min(len(hosts[chief]), len(spans) + offset) for spans, offset in zip(hosts, offsets, strict=True))
    return [begin - offset for offset in offsets], max(end - begin, 0)


def _offset(spans: Sequence[Span], chief: Sequence[Span]) -> int:
    """Return by how many places later the chief has a step; of equals the least, those of a later start first."""
    common: dict[int, int] = {}
    row = of_chief = 0
    while row < len(spans) and of_chief < len(chief):
        (begin, end), (chief_begin, chief_end) = spans[row], chief[of_chief]
        overlap = max(min(end, chief_end) - max(begin, chief_begin), 0)
        common[of_chief - row] = common.get(of_chief - row, 0) + overlap
        row, of_chief = row + (end <= chief_end), of_chief + (chief_end <= end)
    places = [*range(len(chief)), *range(-1, -len(spans), -1)]
    return max(places, key=lambda place: common.get(place, 0), default=0)
