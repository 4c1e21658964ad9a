"""The kernel's side of a live view: it answers, errors are data, and a closed view holds nothing."""

import gc
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tests.views.handmade import profile_data
from xprof_nb import assets, queries, views
from xprof_nb.errors import ProfileError, UsageError
from xprof_nb.model import columns
from xprof_nb.views import widget

ipywidgets = pytest.importorskip("ipywidgets")


@pytest.fixture
def kernel(monkeypatch, built):
    """Make this process look like a kernel running one cell after another."""
    import IPython

    parent = {"metadata": {"cellId": "cell-1"}, "header": {"msg_id": "run-1"}}
    shell = SimpleNamespace(kernel=object(), get_parent=lambda: parent)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr("anywidget.widget.in_colab", lambda: False)
    widget._widget_class.cache_clear()

    def run(cell: str, execution: str) -> None:
        parent["metadata"]["cellId"], parent["header"]["msg_id"] = cell, execution

    yield run
    widget.close_all()
    widget._widget_class.cache_clear()


def live_views() -> list:
    from ipywidgets.widgets.widget import _instances

    return [view for view in _instances.values() if hasattr(view, "_shows")]


def test_a_request_is_answered_with_one_table(answering):
    answering(["fusion.1"])
    content, buffers = widget.reply(
        profile_data(), "op_profile", {}, {"id": 7, "query": "op_profile", "params": {"by": "category"}}
    )
    assert content == {"id": 7, "ok": True}
    frame, meta = columns.decode(buffers[0])
    assert list(frame["name"]) == ["host", "jit_step", "fusion.1", "idle"]
    assert meta["summary"]["by"] == "category"
    assert meta["summary"]["peak_flops_per_s"] is None
    assert meta["notes"] == ["no peak for this processor"]


def test_a_snapshot_is_a_query_too(answering):
    answering(["fusion.1"])
    content, buffers = widget.reply(profile_data(), "op_profile", {"by": "source"}, {"id": 1, "query": "snapshot"})
    assert content["payload"]["params"] == {"by": "source"}
    assert buffers == []


@pytest.mark.parametrize(
    ("data", "message", "kind", "hint"),
    [
        (None, {"id": 1, "query": "ops"}, "ProfileError", "Run its cell again."),
        (profile_data(), {"id": 1, "query": "ops"}, "UsageError", "Known: op_profile."),
        (profile_data(), {"id": 1, "query": 5}, "UsageError", ""),
        (profile_data(), {"id": 1, "query": "boom", "params": []}, "ValueError", None),
        (profile_data(), "nonsense", "UsageError", ""),
    ],
)
def test_an_error_is_data(monkeypatch, data, message, kind, hint):
    def ask(profile, name, params):
        if name == "boom":
            raise ValueError("a bug")
        raise UsageError(f"unknown question {name!r}", hint="Known: op_profile.")

    monkeypatch.setattr(queries, "ask", ask)
    content, buffers = widget.reply(data, "op_profile", {}, message)
    assert content["ok"] is False
    assert content["id"] == (1 if isinstance(message, dict) else None)
    assert content["error"]["kind"] == kind
    assert content["error"]["message"]
    assert hint is None or content["error"]["hint"] == hint
    assert not hint or hint not in content["error"]["message"]
    assert buffers == []


def test_a_running_kernel_gets_a_widget(answering, kernel):
    data, _ = views.mimebundle(answering(["fusion.1"]).result())
    (view,) = live_views()
    assert data[views.WIDGET_MIMETYPE] == {"version_major": 2, "version_minor": 0, "model_id": view.model_id}
    assert "fusion.1" not in repr(view.get_state())


def test_a_message_is_answered_by_the_widget(answering, kernel, monkeypatch):
    answering(["fusion.1"])
    widget.show(profile_data(), "op_profile", {})
    (view,) = live_views()
    sent = []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append((content, buffers)))
    view._handle_custom_msg({"id": 3, "query": "op_profile", "params": {}}, [])
    deadline = time.monotonic() + 30
    while not sent and time.monotonic() < deadline:
        time.sleep(0.01)
    ((content, buffers),) = sent
    assert content == {"id": 3, "ok": True}
    assert len(buffers) == 1


def test_running_a_cell_again_closes_what_it_showed(answering, kernel):
    answering(["fusion.1"])
    first = widget.show(profile_data(), "op_profile", {})
    also = widget.show(profile_data(), "op_profile", {})
    kernel("cell-2", "run-2")
    other = widget.show(profile_data(), "op_profile", {})
    kernel("cell-1", "run-3")
    again = widget.show(profile_data(), "op_profile", {})
    assert {view.model_id for view in live_views()} == {other, again}
    assert len({first, also, other, again}) == 4


def test_fifty_closed_views_hold_no_profile(answering, kernel, monkeypatch):
    answering(["fusion.1"])
    held = []
    for number in range(50):
        kernel("cell-1", f"run-{number}")
        data = profile_data()
        held.append(weakref.ref(data))
        widget.show(data, "op_profile", {})
    del data
    gc.collect()
    assert sum(ref() is not None for ref in held) == 1
    widget.close_all()
    gc.collect()
    assert sum(ref() is not None for ref in held) == 0
    assert live_views() == []


def test_without_a_built_front_end_the_table_says_why(answering, kernel, built):
    (built / "op_profile.js").unlink()
    data, _ = views.mimebundle(answering(["fusion.1"]).result())
    assert views.WIDGET_MIMETYPE not in data
    assert "the interactive view was not built" in data["text/html"]
    with pytest.raises(ProfileError, match="npm run build"):
        assets.module("op_profile")


def test_a_missing_value_crosses_as_missing():
    frame, _ = columns.decode(columns.encode(pd.DataFrame({"flops": [1.0, np.nan]})))
    assert frame["flops"].isna().tolist() == [False, True]
