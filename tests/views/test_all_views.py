"""All views of a run: what each saves, what a page holds of them, and what is chosen in them."""

import base64
import json
import re

import numpy as np
import pytest

import xprof_nb as xp
from tests.views.handmade import profile_data
from xprof_nb import assets, snapshot, views
from xprof_nb.errors import UsageError
from xprof_nb.model import columns
from xprof_nb.views import page, widget

PLAIN = sorted(set(snapshot.VIEWS) - {"op_profile", "trace", "explore"})


@pytest.fixture(scope="module")
def profile(cpu_profile):
    return xp.open(cpu_profile)


@pytest.fixture
def front_end(monkeypatch, tmp_path):
    for name in {view.module for view in snapshot.VIEWS.values()}:
        (tmp_path / f"{name}.js").write_text(f"export const mountPage = '{name}';")
    monkeypatch.setattr("xprof_nb.assets.STATIC", tmp_path)


@pytest.mark.parametrize("view", PLAIN)
def test_a_saved_view_holds_rows_of_its_frame(profile, view):
    payload = snapshot.build(profile.data, view)
    assert snapshot.json_bytes(payload) <= snapshot.LARGEST_PAYLOAD_BYTES
    saved, _ = columns.decode(base64.b64decode(payload["table"]))
    frame = profile.ask(view).frame
    assert payload["rows_total"] == len(frame)
    assert len(saved) <= len(frame)
    for name, column in saved.items():
        if column.dtype.kind == "f" and len(saved) == len(frame):
            np.testing.assert_array_equal(column, frame[name].to_numpy(np.float64, na_value=np.nan))


def test_columns_without_a_value_are_not_saved(profile):
    payload = snapshot.build(profile.data, "ops")
    saved, _ = columns.decode(base64.b64decode(payload["table"]))
    assert len(saved.columns)
    assert saved.notna().any().all()


def test_a_page_holds_every_view(profile, front_end):
    text = page.page(profile.explore())
    payload = json.loads(re.search('id="xprof-nb-payload">(.*?)</script>', text)[1])
    assert list(payload["extra"]["views"]) == [name for name, view in snapshot.VIEWS.items() if view.explored]
    assert json.loads(re.search('id="xprof-nb-library-bokeh">(.*?)</script>', text)[1]) == assets.library("bokeh")
    assert len(json.dumps(payload)) <= snapshot.LARGEST_PAGE_BYTES
    assert "<table" in text  # for print, and for who has no scripts


def test_a_profile_writes_that_page(profile, front_end, tmp_path):
    assert profile.to_html(tmp_path / "run.html").read_text() == page.page(profile.explore())


def test_a_notebook_keeps_the_two_that_answer_first(profile, front_end):
    data, _ = views.mimebundle(profile.explore())
    payload = data[snapshot.MIMETYPE]
    assert payload["view"] == "explore"
    assert tuple(payload["extra"]["views"]) == snapshot.SAVED_VIEWS
    assert len(json.dumps(data, indent=1)) < 300_000
    assert profile._repr_mimebundle_()[0]["text/plain"] == data["text/plain"]


def test_who_can_ask_gets_no_other_views_with_it(profile):
    assert snapshot.build_live(profile.data, "explore")["extra"] == {"views": {}}
    assert snapshot.build_live(profile.data, "trace")["extra"]["windows"]


def test_a_view_asks_for_another_of_its_run(profile):
    content, _ = widget.reply(
        profile.data, "explore", {}, {"id": 1, "query": "snapshot", "params": {"view": "steps", "params": {}}}
    )
    assert content["payload"]["view"] == "steps"
    content, _ = widget.reply(profile.data, "explore", {}, {"id": 2, "query": "snapshot", "params": {"view": 3}})
    assert (content["ok"], content["error"]["kind"]) == (False, "UsageError")


def test_libraries_come_from_installed_packages():
    content, _ = widget.reply(profile_data(), "steps", {}, {"id": 1, "query": "library", "params": {"name": "bokeh"}})
    assert content["text"] == assets.library("bokeh")
    assert "Bokeh" in content["text"]
    with pytest.raises(UsageError, match=r"unknown library '\.\./secret'"):
        assets.library("../secret")


def test_what_is_chosen_in_a_view_is_the_profile_s_selection(profile):
    assert profile.selection == {}
    choice = {"op": "dot.1", "program_id": "17", "step": 3, "window_ps": [1, 2]}
    assert widget.reply(profile.data, "ops", {}, {"id": 1, "query": "choose", "params": choice})[0]["ok"]
    assert profile.selection == choice
    for bad in ({"op": 3}, {"other": "x"}, {"op": "x" * 20_000}):
        content, _ = widget.reply(profile.data, "ops", {}, {"id": 2, "query": "choose", "params": bad})
        assert content["error"]["kind"] == "UsageError"
    assert profile.selection == choice
