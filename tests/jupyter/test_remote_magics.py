"""Captures of others and the server, asked for in a real kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.capture.processes import free_port, process
from tests.jupyter.kernel import SETUP, THREAD, VIEW, Kernel, started


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with started(tmp_path_factory.mktemp("remote")) as kernel:
        assert kernel.run(SETUP).status == "idle"
        yield kernel


def shown(cell) -> str:
    return cell.displays[-1]["text/plain"]


def test_another_process_is_captured_while_the_kernel_goes_on(kernel: Kernel) -> None:
    with process("busy") as (_, port):
        cell = kernel.run(f"%xprof capture 1.5s --from localhost:{port} --name far")
        assert not cell.errors
        assert kernel.run("6 * 7").displays[-1]["text/plain"] == "42"
        kernel.read_until(lambda: VIEW in cell.displays[-1], 60)
    assert "op profile of far" in shown(cell)
    said = [text for _, text in kernel.updates if text.startswith(f"Profiling localhost:{port}")]
    assert len(said) >= 2
    assert kernel.run("%xprof wait").status == "idle"


def test_what_is_not_there_is_said_at_once(kernel: Kernel) -> None:
    closed = free_port()
    cell = kernel.run(f"%xprof capture 3s --from localhost:{closed}", timeout_s=10)
    assert f"UsageError: nobody listens at localhost:{closed}" in cell.text


def test_cancel_shows_what_came(kernel: Kernel) -> None:
    with process("busy") as (_, port):
        cell = kernel.run(f"%xprof capture 10m --from localhost:{port} --name cut")
        assert f"Profiling localhost:{port}" in kernel.run("%xprof status").text
        kernel.run("import time; time.sleep(0.5)\n%xprof cancel")
        kernel.read_until(lambda: VIEW in cell.displays[-1], 60)
    assert "op profile of cut" in shown(cell)


def test_the_server_starts_once_and_captures_of_it_work(kernel: Kernel) -> None:
    first, second = (kernel.run("%xprof server start").text for _ in range(2))
    assert first == second
    assert "no authentication" in first
    address = re.search(r"--from (\S+)", first)[1]
    assert address.startswith("127.0.0.1:")
    kernel.run(THREAD)
    cell = kernel.run(f"%xprof capture 0.3s --from {address} --name own")
    kernel.read_until(lambda: VIEW in cell.displays[-1], 60)
    kernel.run("enough.set()")
    assert "op profile of own" in shown(cell)
    assert address in kernel.run("%xprof server status").text
    assert "is stopped" in kernel.run("%xprof server stop").text
    assert "No profiler server was running" in kernel.run("%xprof server stop").text
    kernel.run(f"jax.profiler.start_server({free_port()}); None")
    assert "jax.profiler.start_server also listens" in kernel.run("%xprof server").text
