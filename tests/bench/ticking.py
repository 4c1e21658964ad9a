"""A server extension that writes down by how much ticks of the event loop came late, and what the server computed."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

EVERY_S = 0.01


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "ticking"}]


def _load_jupyter_server_extension(serverapp: Any) -> None:
    serverapp.io_loop.add_callback(_tick, Path(os.environ["TICKS"]))


async def _tick(file: Path) -> None:
    while True:
        began, computed = time.monotonic(), time.process_time()
        await asyncio.sleep(EVERY_S)
        late = time.monotonic() - began - EVERY_S
        if late > EVERY_S:
            with file.open("a") as sink:
                sink.write(f"{late:.4f} {time.process_time() - computed:.4f}\n")
