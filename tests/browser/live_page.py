"""A page with one live view and nothing else: what it asks, this process answers over loopback as a kernel does."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from xprof_nb import assets
from xprof_nb.snapshot import VIEWS
from xprof_nb.views import widget

if TYPE_CHECKING:
    from xprof_nb.model.profile import ProfileData

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>view</title>
<style>:root { color-scheme: light dark } body { margin: 8px }</style>
<main id="view"></main>
<script type="module">
import widget from '/view.js';
const listeners = [];
const model = {
  on: (event, listener) => event === 'msg:custom' && listeners.push(listener),
  off() {},
  async send(message) {
    const answer = await fetch(location.href, { method: 'POST', body: JSON.stringify(message) })
      .then(response => response.arrayBuffer())
      .catch(() => null);
    if (answer === null) return; // The page is left or the server is gone: a widget's kernel is silent then, too.
    const size = new DataView(answer).getUint32(0, true);
    const content = JSON.parse(new TextDecoder().decode(answer.slice(4, 4 + size)));
    const table = answer.slice(4 + size);
    for (const listener of listeners) listener(content, table.byteLength ? [new Uint8Array(table)] : []);
  }
};
widget.render({ model, el: document.getElementById('view') });
</script></html>"""


@contextmanager
def served(view: str, **profiles: ProfileData) -> Iterator[str]:
    """Serve a view of open profiles; yield the address before the name of one."""
    module = assets.module(VIEWS[view].module).encode()

    class Kernel(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            is_module = self.path == "/view.js"
            self._send(module if is_module else PAGE.encode(), "text/javascript" if is_module else "text/html")

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content, buffers = widget.reply(profiles[self.path.strip("/")], view, {}, message)
            head = json.dumps(content).encode()
            self._send(struct.pack("<I", len(head)) + head + b"".join(buffers), "application/octet-stream")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Kernel)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
