"""When and how often the magics capture, in a real kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.jupyter.kernel import SETUP, VIEW, Cell, started

LOOP = """\
for number in range({steps}):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        square(operand).block_until_ready()
        time.sleep(0.02)
"""
GO_ON = """\
from xprof_nb.capture import jobs
while (job := jobs.current()) is not None and not job.folders:
    with jax.profiler.StepTraceAnnotation("train"):
        square(operand).block_until_ready()
        time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("plans")


@pytest.fixture(scope="module")
def kernel(folder):
    with started(folder) as kernel:
        assert not kernel.run(SETUP).errors
        kernel.run("%%xprof --name first\nsquare(operand)")
        yield kernel


def is_view(cell: Cell) -> bool:
    return bool(cell.displays) and VIEW in cell.displays[-1]


def runs_in(folder: Path, name: str) -> list[dict]:
    runs = sorted((folder / "xprof-logs" / "plugins" / "profile").glob(f"{name}*"))
    return [json.loads((run / "xprof-nb.json").read_text()) for run in runs]


def test_so_many_steps_of_the_next_cell_are_captured_while_it_goes_on(kernel, folder) -> None:
    asking = kernel.run("%xprof capture --steps 5 --name steps --preset light")
    assert "Armed" in asking.displays[0]["text/plain"]
    running = kernel.send(LOOP.format(steps=200))
    kernel.read_until(lambda: is_view(asking))
    assert kernel.cells[running].status == "busy"
    kernel.manager.interrupt_kernel()
    kernel.finish(running)
    (recorded,) = runs_in(folder, "steps")
    assert recorded["step_kind"] == "marked"
    assert recorded["step_count"] >= 5
    assert recorded["options"]["preset"] == "light"
    text = asking.displays[-1]["text/plain"]
    assert "Overhead ×" in text
    assert "host tracing: a step took" in text
    assert any("light: host level 1, Python calls off" in said for _, said in kernel.updates)


def test_a_burst_of_three_is_three_runs_and_shows_the_last(kernel, folder) -> None:
    asking = kernel.run("%xprof capture --every 0.5s --for 0.2s -n 3 --name burst")
    running = kernel.send(LOOP.format(steps=150))
    kernel.read_until(lambda: is_view(asking))
    kernel.finish(running)
    assert len(runs_in(folder, "burst")) == 3
    assert "One of several captures in a row, after burst, burst-2." in asking.displays[-1]["text/plain"]
    assert any("(2 of 3)" in said for _, said in kernel.updates)


def test_a_slow_step_is_waited_for(kernel, folder) -> None:
    asking = kernel.run("%xprof capture 60s --when-slower 3x --steps 2 --name slow")
    pause = "with jax.profiler.StepTraceAnnotation('train', step_num=-1):\n    time.sleep(1)\n"
    # On a machine under load another step may be the slow one; the loop goes on until the capture has what it wants.
    kernel.run(LOOP.format(steps=20) + pause + GO_ON)
    kernel.read_until(lambda: is_view(asking))
    (recorded,) = runs_in(folder, "slow")
    assert recorded["slow_step"]["factor"] > 3
    assert recorded["step_count"] >= 3
    assert "The slow step took" in asking.displays[-1]["text/plain"]


def test_a_profiled_cell_may_be_captured_in_part(kernel, folder) -> None:
    cell = kernel.run("%%xprof --steps 3 --name part\n" + LOOP.format(steps=60))
    assert is_view(cell)
    (recorded,) = runs_in(folder, "part")
    assert recorded["duration_s"] < 1
    assert recorded["cell"].startswith("%%xprof --steps 3")


def test_a_capture_that_code_started_is_followed_and_ended_by_the_magic(kernel, folder) -> None:
    kernel.run("job = xp.capture_for(600, 'code')")
    kernel.read_until(lambda: "Profiling what is running" in kernel.run("%xprof status").text)
    kernel.run("%xprof cancel")
    assert not kernel.run("%xprof wait").errors
    assert kernel.run("job.state").displays[0]["text/plain"] == "'done'"
    assert "No capture" in kernel.run("%xprof status").text
