"""Other processes with a profiler server, and ports nobody listens at."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROCESS = Path(__file__).with_name("profiled_process.py")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def process(work: str) -> Iterator[tuple[subprocess.Popen, int]]:
    port = free_port()
    command = [sys.executable, str(PROCESS), str(port), work]
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    started = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    )
    try:
        assert started.stdout.readline() == b"ready\n"
        yield started, port
    finally:
        started.kill()
        started.communicate()
