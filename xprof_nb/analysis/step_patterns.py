"""Which sequence of programs is one step, if nobody marked steps? The shortest that repeats over most of the time."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.model.columns import Columns, stacked
from xprof_nb.model.intervals import union
from xprof_nb.model.trace import ProgramRuns

LONGEST_PATTERN = 64
"""Programs in a step, at most."""
MINOR_FRACTION = 0.01
"""A program with less of the time of all runs than this is a helper, which says nothing about steps."""
SHORTEST_FRACTION = 0.5
"""Share of the time of the runs that a pattern has to cover; else the program that ran longest in all is the step."""
CLEAR_PAUSE = 2.0
"""A pause that much longer than any other of the pattern comes before the step begins."""
_AS_GOOD = 0.9
_MOST_NAMED = 3

Rows = NDArray[np.int64]
Pattern = tuple[int, ...]


def repetitions(runs: ProgramRuns) -> Columns:
    """Return the steps that repeated program runs make.

    A pattern is sought by program id and, where none repeats, by name: the same function compiled for several
    shapes. A device that ran none of the pattern's programs has a pattern of its own.

    Returns
    -------
    Columns
        ``device_row, step, name, start_ps, end_ps, is_cut``: one row per device and repetition. Cut are those of
        which the first or the last run of the device are only a part.
    """
    by_name, names = pd.factorize(runs.program)
    by_id, _ = pd.factorize(runs.program_id)
    devices = np.unique(runs.device)
    most_first = devices[np.argsort(-np.bincount(runs.device)[devices], kind="stable")] if len(devices) else devices
    for codes in (by_id, by_name):
        shared: Pattern = ()
        parts: list[Columns] = []
        for device in most_first.tolist():
            rows = np.flatnonzero(runs.device == device)
            of_device = codes[rows]
            pattern = shared if set(shared) <= set(of_device.tolist()) else ()
            pattern = pattern or _pattern(runs, rows, of_device)
            if pattern:
                label = _label([str(names[by_name[codes == code][0]]) for code in pattern])
                found = _on_device(runs, rows, of_device, pattern)
                count = len(found["step"])
                parts.append({**found, "device_row": np.full(count, device), "name": np.full(count, label, object)})
            shared = shared or pattern
        if parts:
            return stacked(_aligned(parts))
    none = dict.fromkeys(("device_row", "step", "start_ps", "end_ps"), np.empty(0, np.int64))
    return {**none, "name": np.empty(0, object), "is_cut": np.empty(0, np.bool_)}


def _pattern(runs: ProgramRuns, rows: Rows, codes: Rows) -> Pattern:
    """Return the programs of one step of a device, in order; empty if nothing repeats."""
    times = np.bincount(codes, runs.duration_ps[rows])
    counts = np.bincount(codes)
    again = counts >= 2
    major = again & (times >= MINOR_FRACTION * times[again].sum())
    kept = major[codes]
    if not kept.any():
        return ()
    rows, sequence = rows[kept], codes[kept]
    time = np.concatenate([[0], np.cumsum(runs.duration_ps[rows])])
    found = []
    for period in range(1, min(LONGEST_PATTERN, len(sequence) // 2) + 1):
        begins, lengths = _streaks(sequence[period:] == sequence[:-period], period)
        if len(begins):
            longest = int(np.argmax(lengths))
            covered_ps = union(time[begins], time[begins + lengths]).length_ps
            found.append((period, int(begins[longest]), int(lengths[longest]), covered_ps))
    most = max((covered for *_, covered in found), default=0)
    if most < SHORTEST_FRACTION * time[-1] or not found:
        return (int(np.argmax(np.where(major, times, -1))),)
    period, first, length, _ = next(each for each in found if each[3] >= _AS_GOOD * most)
    return _from_its_beginning(runs, rows[first : first + length], sequence[first : first + period])


def _streaks(same: NDArray[np.bool_], period: int) -> tuple[Rows, Rows]:
    """Return first run and number of runs of the streaks in which a period repeats at least once."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    first, length = edges[::2], edges[1::2] - edges[::2]
    long = length >= period
    return first[long], length[long] + period


def _from_its_beginning(runs: ProgramRuns, rows: Rows, pattern: Rows) -> Pattern:
    """Turn the pattern so that it begins after its longest pause, if that is clearly the longest."""
    period = len(pattern)
    turned = 0
    if period > 1:
        pauses = runs.start_ps[rows[1:]] - (runs.start_ps + runs.duration_ps)[rows[:-1]]
        place = np.arange(1, len(rows)) % period
        # The median: one compilation must not pass for the pause between steps.
        typical = pd.Series(np.maximum(pauses, 0)).groupby(place).median().to_numpy()
        second, longest = np.sort(typical)[-2:]
        turned = int(np.argmax(typical)) if longest > CLEAR_PAUSE * second else 0
    return tuple(int(code) for code in np.roll(pattern, -turned))


def _on_device(runs: ProgramRuns, rows: Rows, codes: Rows, pattern: Pattern) -> Columns:
    """Return begin and end of every repetition on a device, and of the parts the capture's edges left."""
    kept = np.isin(codes, pattern)
    rows, sequence, period = rows[kept], codes[kept], len(pattern)
    matches = np.ones(max(len(sequence) - period + 1, 0), np.bool_)
    for place, code in enumerate(pattern):
        matches &= sequence[place : place + len(matches)] == code
    first = _apart(np.flatnonzero(matches), period)
    last = first + period - 1
    cut = np.zeros(len(first), np.bool_)
    if len(first):
        before, after = sequence[: first[0]], sequence[last[-1] + 1 :]
        if 0 < len(before) < period and kept[0] and tuple(before) == pattern[-len(before) :]:
            first, last, cut = np.append(0, first), np.append(len(before) - 1, last), np.append(True, cut)
        if 0 < len(after) < period and kept[-1] and tuple(after) == pattern[: len(after)]:
            first, last = np.append(first, len(sequence) - len(after)), np.append(last, len(sequence) - 1)
            cut = np.append(cut, True)
    ends = np.maximum.accumulate((runs.start_ps + runs.duration_ps)[rows]) if len(rows) else rows
    return {
        "start_ps": runs.start_ps[rows[first]],
        "end_ps": ends[last],
        "is_cut": cut,
        "step": np.arange(len(first)),
    }


def _apart(positions: Rows, period: int) -> Rows:
    """Drop positions less than a period after the one before."""
    if (np.diff(positions) >= period).all():
        return positions
    kept = [int(positions[0])]
    for position in positions[1:].tolist():
        if position >= kept[-1] + period:
            kept.append(position)
    return np.array(kept, np.int64)


def _aligned(parts: list[Columns]) -> list[Columns]:
    """Give the steps of devices that saw fewer of them the numbers of the device that saw the most."""
    starts = max((part["start_ps"] for part in parts), key=len)
    between = (starts[1:] + starts[:-1]) / 2
    aligned = []
    for part in parts:
        if len(part["step"]) < len(starts):
            nearest = np.searchsorted(between, part["start_ps"])
            aligned.append({**part, "step": nearest} if (np.diff(nearest) > 0).all() else part)
        else:
            aligned.append(part)
    return aligned


def _label(names: list[str]) -> str:
    grouped = [(name, len(list(same))) for name, same in groupby(names)]
    shown = [f"{count} x {name}" if count > 1 else name for name, count in grouped]
    more = f" + {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return " + ".join(shown[:_MOST_NAMED]) + more
