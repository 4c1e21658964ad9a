"""A view in a real kernel: it answers, also while a cell runs, and dies with its cell's next run."""

from __future__ import annotations

import time
from pathlib import Path
from queue import Empty

import pytest
from jupyter_client.manager import start_new_kernel

from xprof_nb.model import columns
from xprof_nb.views import WIDGET_MIMETYPE

pytestmark = pytest.mark.timeout(120)

BUSY_S = 8.0
PATIENCE_S = 30.0
AFTERWARDS_S = 3.0
SHOW = """
import sys
sys.path.insert(0, {here!r})
from tests.views.handmade import Asked
from xprof_nb import queries, views
views.widget.STATIC = __import__("pathlib").Path({static!r})
asked = Asked(["fusion.1"])
queries.ask = asked.ask
from IPython.display import display
result = asked.result()
bundle, _ = views.mimebundle(result)
display(bundle, raw=True)
"""


def is_idle(message: dict) -> bool:
    return message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"


class Kernel:
    """A kernel and what a notebook's front end sends it."""

    def __init__(self, client) -> None:
        self.client = client

    def run(self, code: str, cell: str) -> list[dict]:
        """Run a cell and return what it displayed."""
        request = self.client.session.msg("execute_request", {"code": code, "silent": False, "store_history": True})
        request["metadata"]["cellId"] = cell
        self.client.shell_channel.send(request)
        shown = []
        for message in self.heard(request["header"]["msg_id"]):
            if message["msg_type"] == "error":
                pytest.fail("\n".join(message["content"]["traceback"]))
            if message["msg_type"] == "display_data":
                shown.append(message["content"]["data"])
            if is_idle(message):
                return shown
        raise AssertionError

    def until_idle(self, request_id: str) -> None:
        """Wait until the kernel says that it has done a request."""
        for message in self.heard(request_id):
            if is_idle(message):
                return
        raise AssertionError

    def ask(self, model: str, content: dict, subshell: str | None = None) -> dict | None:
        """Send a view's request and return the reply, None if the view is gone."""
        data = {"method": "custom", "content": content}
        request = self.client.session.msg("comm_msg", {"comm_id": model, "data": data})
        if subshell is not None:
            request["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(request)
        # The answer is worked out on a thread: it may come after the kernel has said that it is done.
        patience_s = PATIENCE_S
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=patience_s)
            except Empty:
                return None
            if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
                continue
            if message["msg_type"] == "comm_msg" and message["content"]["data"].get("method") == "custom":
                return message
            patience_s = AFTERWARDS_S if is_idle(message) else patience_s

    def heard(self, request_id: str):
        """Yield what the kernel publishes because of one request."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            message = self.client.get_iopub_msg(timeout=PATIENCE_S)
            if message["parent_header"].get("msg_id") == request_id:
                yield message

    def new_subshell(self) -> str:
        """Ask the kernel for a thread that serves messages beside the main one."""
        request = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(request)
        while True:
            reply = self.client.control_channel.get_msg(timeout=PATIENCE_S)
            if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                return reply["content"]["subshell_id"]


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    manager, client = start_new_kernel(kernel_name="python3")
    yield Kernel(client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_view_answers_and_dies_with_the_next_run_of_its_cell(kernel, built):
    code = SHOW.format(here=str(Path(__file__).parent), static=str(built))
    (bundle,) = kernel.run(code, "cell-1")
    model = bundle[WIDGET_MIMETYPE]["model_id"]
    reply = kernel.ask(model, {"id": 1, "query": "op_profile", "params": {}})
    assert reply["content"]["data"]["content"] == {"id": 1, "ok": True}
    frame, _ = columns.decode(reply["buffers"][0])
    assert "fusion.1" in list(frame["name"])

    (other,) = kernel.run(code, "cell-2")
    assert kernel.ask(model, {"id": 2, "query": "snapshot"}) is not None
    kernel.run(code, "cell-1")
    assert kernel.ask(model, {"id": 3, "query": "snapshot"}) is None
    assert kernel.ask(other[WIDGET_MIMETYPE]["model_id"], {"id": 4, "query": "snapshot"}) is not None


def test_a_view_answers_while_a_cell_runs(kernel, built):
    if "kernel subshells" not in (kernel.client.kernel_info(reply=True)["content"].get("supported_features") or []):
        pytest.skip("this ipykernel has no subshells")
    code = SHOW.format(here=str(Path(__file__).parent), static=str(built))
    (bundle,) = kernel.run(code, "cell-1")
    subshell = kernel.new_subshell()
    busy = kernel.client.execute(f"import time; time.sleep({BUSY_S}); ended = True")
    reply = kernel.ask(bundle[WIDGET_MIMETYPE]["model_id"], {"id": 1, "query": "op_profile"}, subshell)
    assert reply["content"]["data"]["content"]["ok"] is True
    # What was heard until the view's answer is gone, so this fails if the cell had ended before it.
    kernel.until_idle(busy)


def test_a_slow_answer_holds_up_no_other(kernel, built):
    (bundle,) = kernel.run(SHOW.format(here=str(Path(__file__).parent), static=str(built)), "cell-1")
    model = bundle[WIDGET_MIMETYPE]["model_id"]
    slowly = f"""
quickly = asked.ask
def ask(data, query, params=None):
    if query == "slow":
        __import__("time").sleep({BUSY_S})
    return quickly(data, "op_profile", {{}})
queries.ask = ask
"""
    kernel.run(slowly, "cell-2")
    request = {"comm_id": model, "data": {"method": "custom", "content": {"id": 1, "query": "slow"}}}
    kernel.client.shell_channel.send(kernel.client.session.msg("comm_msg", request))
    begun = time.monotonic()
    assert kernel.ask(model, {"id": 2, "query": "op_profile"})["content"]["data"]["content"]["id"] == 2
    assert time.monotonic() - begun < BUSY_S


def test_python_knows_what_is_selected_in_a_view(kernel, built):
    (bundle,) = kernel.run(SHOW.format(here=str(Path(__file__).parent), static=str(built)), "cell-1")
    model = bundle[WIDGET_MIMETYPE]["model_id"]
    state = {"shown": {"selection": {"start_ps": 5}}, "made": {"markers": []}}
    assert kernel.ask(model, {"id": 1, "query": "state", "params": state}) is not None
    again = kernel.ask(model, {"id": 2, "query": "snapshot"})
    assert again["content"]["data"]["content"]["payload"]["state"] == state
    (shown,) = kernel.run(
        "display({'text/plain': repr(views.widget.standing.standing(result.profile.data, 'op_profile')"
        "['shown']['selection'])}, raw=True)",
        "cell-2",
    )
    assert shown["text/plain"] == "{'start_ps': 5}"
