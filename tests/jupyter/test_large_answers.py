"""Answers larger than the messages that connections were dropped for: they arrive, and the connection stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jupyter_client.session import Session
from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from tests.many_events import write_many
from xprof_nb.model import columns
from xprof_nb.model.cache import cache_dir
from xprof_nb.views import WIDGET_MIMETYPE

pytestmark = pytest.mark.timeout(120)

CACHE = str(cache_dir())
"""That of this machine: with a home of its own a kernel would compile anew."""
EVENTS = 700_000
MOST_BYTES = 100_000_000
"""What this client takes; a browser has no such limit."""
SHOW = """
import xprof_nb as xp
xp.open({folder!r}).events()
"""


class Notebook:
    """What a notebook's page says to its kernel, through one WebSocket of a Jupyter server."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self._session = Session()

    async def send(self, kind: str, content: dict[str, Any]) -> str:
        message = self._session.msg(kind, content)
        del message["header"]["date"]
        await self.socket.write_message(json.dumps({**message, "channel": "shell"}, default=str))
        return str(message["header"]["msg_id"])

    async def heard(self, request: str, kind: str) -> dict[str, Any]:
        """Return the next message of a kind that a request led to."""
        while (data := await self.socket.read_message()) is not None:
            message = json.loads(data) if isinstance(data, str) else deserialize_binary_message(data)
            if message["parent_header"].get("msg_id") == request and message["msg_type"] == kind:
                return message
        pytest.fail("the connection was dropped")

    async def ask(self, model: str, query: str, **params: Any) -> tuple[dict[str, Any], list[memoryview]]:
        """Ask as a view does, and return the content and buffers of the answer."""
        content = {"id": query, "query": query, "params": params}
        request = await self.send("comm_msg", {"comm_id": model, "data": {"method": "custom", "content": content}})
        message = await self.heard(request, "comm_msg")
        return message["content"]["data"]["content"], message["buffers"]


async def test_30_mb_arrive_and_the_connection_stays(
    monkeypatch, jp_fetch, jp_http_port, jp_base_url, jp_auth_header, tmp_path
):
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", CACHE)
    (tmp_path / "run").mkdir()
    write_many(tmp_path / "run" / "big.xplane.pb", EVENTS)
    kernel = json.loads((await jp_fetch("api", "kernels", method="POST", body="{}")).body)["id"]
    address = f"ws://localhost:{jp_http_port}{jp_base_url}api/kernels/{kernel}/channels"
    socket = await websocket_connect(HTTPRequest(address, headers=jp_auth_header), max_message_size=MOST_BYTES)
    notebook = Notebook(socket)
    request = await notebook.send("execute_request", {"code": SHOW.format(folder=str(tmp_path / "run"))})
    shown = await notebook.heard(request, "execute_result")
    model = shown["content"]["data"][WIDGET_MIMETYPE]["model_id"]

    content, (table,) = await notebook.ask(model, "events")
    assert content == {"id": "events", "ok": True}
    assert len(table) > 30_000_000
    frame, _ = columns.decode(table)
    assert len(frame) == EVENTS + 1
    assert frame["duration_ps"].sum() == EVENTS * 500_000 + 10**9

    content, (table,) = await notebook.ask(model, "events", limit=3)
    assert content["ok"]
    assert len(columns.decode(table)[0]) == 3
    socket.close()
    await jp_fetch("api", "kernels", kernel, method="DELETE")
