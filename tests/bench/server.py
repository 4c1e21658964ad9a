"""How a Jupyter server fares while many browsers ask about profiles.

usage: python tests/bench/server.py [--clients N] [--seconds S]

Starts a server of its own with three runs: a capture of this CPU, made here, as large as several seconds of small ops,
and two copies. So many clients ask one question after the other, mixed: lists, snapshots of views, windows of the
timeline, op profiles. Half way one worker process is killed.

errors    none but for the question whose worker was killed
p95       of the time an answer takes, told (on 2 cores the questions wait for each other)
loop      the server never keeps its event loop from a tick for more than 50 ms; that others on the machine do is told
memory    of the server's own process below 400 MB; that of its workers is told

Exit status 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).parents[2]))

import jax.numpy as jnp
import psutil
from tiny_ops import settle
from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from tornado.netutil import bind_sockets

import xprof_nb as xp

REPOSITORY = Path(__file__).parents[2]
LONGEST_BLOCK_S, LARGEST_SERVER_BYTES = 0.05, 400e6
VIEWS = ("overview", "op_profile", "roofline", "steps", "buffers", "trace")
START_S, ARRIVING_S, ANSWER_S = 60, 2, 240


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=100, help="steps of the capture: 115 kB each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="xprof-nb-bench-") as name:
        runs = _runs(Path(name), options.steps)
        with _Server(Path(name)) as server:
            told = asyncio.run(_load(server, runs, options.clients, options.seconds))
            told |= server.told()
    return _report(told)


def _runs(folder: Path, steps: int) -> list[str]:
    state = settle(jnp.ones((16, 16))).block_until_ready()
    with xp.capture("first", logdir=folder / "logs") as cap:
        for _ in range(steps):
            state = settle(state).block_until_ready()
    first = Path(cap.profile.path)
    copies = [shutil.copytree(first, first.with_name(name)) for name in ("second", "third")]
    return [str(run) for run in (first, *copies)]


class _Server:
    """A Jupyter server with our extension, and one that looks at its event loop."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.token = folder, "bench"
        (socket,) = bind_sockets(0, "127.0.0.1")
        self.port = socket.getsockname()[1]
        socket.close()
        self.url = f"http://127.0.0.1:{self.port}/xprof-nb/api/v1/"

    def __enter__(self) -> _Server:
        config = self.folder / "config"
        config.mkdir()
        extensions = {"ServerApp": {"jpserver_extensions": {"xprof_nb": True, "ticking": True}}}
        (config / "jupyter_server_config.json").write_text(json.dumps(extensions))
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={self.port}"),
                *("--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}"),
                f"--ServerApp.root_dir={self.folder}",
            ],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), str(REPOSITORY))),
                "TICKS": str(self.folder / "ticks"),
                "JUPYTER_CONFIG_DIR": str(config),
            },
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "log").open("wb"),
            cwd=self.folder,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def workers(self) -> list[psutil.Process]:
        return [child for child in psutil.Process(self.process.pid).children() if "worker" in " ".join(child.cmdline())]

    def told(self) -> dict[str, Any]:
        ticks = [line.split() for line in (self.folder / "ticks").read_text().splitlines()]
        return {
            "late_max_s": max((float(late) for late, _ in ticks), default=0.0),
            "loop_max_s": max((min(float(late), float(computed)) for late, computed in ticks), default=0.0),
            "server_bytes": psutil.Process(self.process.pid).memory_info().rss,
            "worker_bytes": [worker.memory_info().rss for worker in self.workers()],
        }


async def _load(server: _Server, runs: list[str], clients: int, seconds: float) -> dict[str, Any]:
    AsyncHTTPClient.configure(None, max_clients=clients + 5)
    http = AsyncHTTPClient()
    headers = {"Authorization": f"token {server.token}"}

    async def ask(route: str, body: Any = None) -> bytes:
        method = "GET" if body is None else "POST"
        sent = None if body is None else json.dumps(body)
        answer = await http.fetch(
            server.url + route, method=method, body=sent, headers=headers, request_timeout=ANSWER_S, connect_timeout=30
        )
        return answer.body

    await _until_it_answers(server, ask)
    for run in runs:  # opened and compiled once: what follows is the load
        await ask("snapshot", {"run": run, "view": "trace"})
    times: list[float] = []
    errors: list[str] = []
    end = time.monotonic() + seconds
    (server.folder / "ticks").write_text("")

    async def client(number: int) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.uniform(0, ARRIVING_S))
        while time.monotonic() < end:
            route, body = _question(chance, runs)
            began = time.monotonic()
            try:
                await ask(route, body)
                times.append(time.monotonic() - began)
            except HTTPClientError as refused:
                errors.append(json.loads(refused.response.body)["error"]["kind"] if refused.response else str(refused))

    async def killer() -> None:
        await asyncio.sleep(seconds / 2)
        for worker in server.workers()[:1]:
            worker.send_signal(signal.SIGKILL)

    await asyncio.gather(killer(), *(client(number) for number in range(clients)))
    return {"times": times, "errors": errors}


async def _until_it_answers(server: _Server, ask: Callable[[str], Awaitable[bytes]]) -> None:
    began = time.monotonic()
    while True:
        try:
            await ask("version")
        except (HTTPClientError, OSError) as refused:
            if server.process.poll() is not None or time.monotonic() - began > START_S:
                sys.exit(f"the server does not answer ({refused}):\n{(server.folder / 'log').read_text()[-4000:]}")
            await asyncio.sleep(0.2)
        else:
            return


def _question(chance: random.Random, runs: list[str]) -> tuple[str, Any]:
    run = chance.choice(runs)
    kind = chance.random()
    if kind < 0.2:
        return "runs", None
    if kind < 0.4:
        return "snapshot", {"run": run, "view": chance.choice(VIEWS)}
    if kind < 0.5:
        return "query", {"run": run, "query": "op_profile", "params": {"by": chance.choice(("program", "category"))}}
    start = chance.randrange(10**11)
    window = {"start_ps": start, "end_ps": start + chance.randrange(10**6, 10**10), "pixels": 800}
    return "query", {"run": run, "query": "trace_window", "params": window}


def _report(told: dict[str, Any]) -> int:
    times = sorted(told["times"])
    lost = [error for error in told["errors"] if error != "WorkerError"]
    killed = len(told["errors"]) - len(lost)
    p95 = times[int(0.95 * len(times))] if times else float("nan")
    print(f"{len(times)} answers, {killed} lost with their worker, other errors: {lost[:5] or 'none'}")
    print(f"median {statistics.median(times) * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms, longest {max(times) * 1e3:.0f} ms")
    kept, late, bar = (1e3 * seconds for seconds in (told["loop_max_s"], told["late_max_s"], LONGEST_BLOCK_S))
    print(
        f"event loop kept for {kept:.0f} ms at most (bar {bar:.0f} ms), a tick {late:.0f} ms late with other processes"
    )
    workers = " + ".join(f"{size / 1e6:.0f}" for size in told["worker_bytes"])
    server, bar = told["server_bytes"] / 1e6, LARGEST_SERVER_BYTES / 1e6
    print(f"memory: server {server:.0f} MB (bar {bar:.0f} MB), workers {workers} MB")
    passed = (
        bool(times)
        and not lost
        and killed <= 1
        and told["loop_max_s"] <= LONGEST_BLOCK_S
        and told["server_bytes"] <= LARGEST_SERVER_BYTES
    )
    print("passed" if passed else "FAILED")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
