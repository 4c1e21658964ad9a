"""Who held the memory at any moment: sums to the total of that moment, whichever it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.test_memory import CAPACITY, FILES, History, xplane
from xprof_nb.analysis.memory_holders import HELD_BEFORE
from xprof_nb.errors import UsageError


@pytest.mark.parametrize("name", FILES)
def test_at_any_moment_the_rows_add_up(name: str, corpus: Path) -> None:
    profile = xp.open(xplane(corpus, name))
    frame = profile.memory().frame
    begin, end = int(frame["start_ps"].min()), int(frame["start_ps"].max())
    for at_ps in np.linspace(begin, end, 7).astype(int).tolist():
        held = profile.ask("memory_holders", at_ps=at_ps).frame
        before = frame[frame["start_ps"] <= at_ps]
        expected = before.groupby("allocator").tail(1).set_index("allocator")
        expected = expected[expected["total_bytes"] > 0]
        assert held.groupby("allocator")["bytes"].sum().to_dict() == expected["total_bytes"].to_dict()
        assert held.groupby("allocator")["at_ps"].first().to_dict() == expected["start_ps"].to_dict()


def test_allocations_come_and_go(tmp_path: Path) -> None:
    history = History(held_before=100).allocate(10, 1, 400, tf_op="a").allocate(20, 2, 300, tf_op="b").free(30, 1)
    profile = xp.open(history.write(tmp_path))

    def held(at_ps: float | None) -> dict[str, float]:
        frame = profile.ask("memory_holders", at_ps=at_ps).frame
        return dict(zip(frame["framework_op"].fillna(frame["holder"]), frame["bytes"], strict=True))

    assert held(10) == held(19.5) == {"a": 400, HELD_BEFORE: 100}
    assert held(None) == held(20) == {"a": 400, "b": 300, HELD_BEFORE: 100}
    assert held(30) == held(CAPACITY) == {"b": 300, HELD_BEFORE: 100}
    nothing = profile.ask("memory_holders", at_ps=9)
    assert not len(nothing.frame)
    assert "Nothing was recorded of memory up to 9.00 ps" in nothing.notes[0]


def test_filters_are_those_of_memory(tmp_path: Path) -> None:
    history = History().allocate(10, 1, 400).allocate(20, 2, 300).free(30, 1)
    profile = xp.open(history.write(tmp_path))
    assert profile.ask("memory_holders", at_ps=100, window_ps=(0, 25)).frame["bytes"].sum() == 700
    assert "program= is not applied" in profile.ask("memory_holders", program="jit_f").notes[0]
    for wrong in ({"device": "GPU:7"}, {"host": "other"}, {"at_ps": "soon"}, {"at_ps": 2.0**70}):
        with pytest.raises(UsageError):
            profile.ask("memory_holders", **wrong)
