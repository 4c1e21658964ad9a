"""How views stand is remembered by view, those inside another one too; what is no state is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import xprof_nb as xp
from tests.xspace_builder import SpaceBuilder
from xprof_nb.errors import UsageError
from xprof_nb.model.standing import LARGEST_BYTES, remember, standing


@pytest.fixture
def profile(tmp_path: Path) -> xp.Profile:
    builder = SpaceBuilder()
    builder.plane("/host:CPU").line("python").event("first", 0, 100).event("second", 200, 100).event("third", 400, 100)
    return xp.open(builder.write(tmp_path / "run"))


def test_each_view_stands_for_itself_and_for_those_inside_it(profile):
    assert standing(profile.data, "trace") == {}
    remember(profile.data, "trace", {"shown": {"window": 1}})
    assert standing(profile.data, "trace") == {"shown": {"window": 1}, "made": {}}
    inside = {"trace": {"window": 2}, "steps": {}}
    remember(profile.data, "explore", {"shown": {"view": "trace", "views": inside}, "made": {"trace": {"markers": []}}})
    assert standing(profile.data, "trace") == {"shown": {"window": 2}, "made": {"markers": []}}


@pytest.mark.parametrize("wrong", [{"shown": 3}, {"made": "x"}, {"shown": {"views": {"trace": 1}}}])
def test_what_is_no_state_is_refused(profile, wrong):
    with pytest.raises(UsageError, match="objects"):
        remember(profile.data, "explore", wrong)


def test_what_is_too_large_is_refused(profile):
    with pytest.raises(UsageError, match="At most"):
        remember(profile.data, "trace", {"shown": {"x": "y" * LARGEST_BYTES}})


def test_the_selection_of_a_timeline_is_what_is_selected_in_a_view(profile):
    view = profile.trace()
    row = int(view.frame.loc[view.frame["kind"] == "python", "track"].iloc[0])
    assert set(view.selection.frame["name"]) == {"first", "second", "third"}
    assert "Nothing is selected in a live view" in view.selection.notes[0]
    chosen = {"start_ps": 150, "end_ps": 350, "tracks": [row]}
    remember(profile.data, "trace", {"shown": {"selection": chosen}})
    assert list(view.selection.frame["name"]) == list(profile.trace().selection.frame["name"]) == ["second"]
    assert not view.selection.notes
    # Called, it is of another box.
    assert list(view.selection(0, 50).frame["name"]) == ["first"]
    assert view.selection.to_csv().startswith("name,")
    remember(profile.data, "trace", {"shown": {"selection": None}})
    assert len(view.selection.frame) == 3
