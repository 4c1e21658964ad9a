"""The magics in a real kernel, message by message."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.jupyter.kernel import SETUP, THREAD, VIEW, Cell, started


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def kernel(folder):
    with started(folder) as kernel:
        assert not kernel.run(SETUP).errors
        # What is compiled on first use is compiled now, so that the tests below see ordinary times.
        kernel.run("%%xprof --name first\nsquare(operand)")
        yield kernel


@pytest.fixture
def at_work(kernel):
    kernel.run(THREAD)
    yield
    kernel.run("%xprof cancel")  # of a test that failed: none of the others must wait for its capture
    kernel.run("enough.set(); thread.join()")


def is_view(cell: Cell) -> bool:
    return bool(cell.displays) and VIEW in cell.displays[-1]


def recorded(folder: Path, run: str) -> dict:
    return json.loads((folder / "xprof-logs" / "plugins" / "profile" / run / "xprof-nb.json").read_text())


def test_a_cell_shows_its_value_and_then_its_profile(kernel, folder) -> None:
    cell = kernel.run("%%xprof --name cell --note 'first try'\ny = square(operand)\ny.shape")
    assert cell.displays[0]["text/plain"] == "(600, 600)"
    assert cell.kinds == ["execute_result", "display_data"]
    assert is_view(cell)
    assert "jit__lambda" in cell.displays[-1]["text/plain"]
    assert recorded(folder, "cell")["note"] == "first try"
    assert recorded(folder, "cell")["cell"].startswith("%%xprof --name cell")


def test_source_lines_of_hlo_lead_to_the_cell_as_it_was_typed(kernel, folder) -> None:
    source = (
        "%%xprof --name source\n\ndef cube(x):\n    return x @ x @ x\n\njax.jit(cube)(operand).block_until_ready()\n"
    )
    kernel.run(source)
    cells = recorded(folder, "source")["cells"]
    source = source.rstrip("\n")  # as IPython's history keeps it
    assert source in [cell["source"] for cell in cells.values()]
    frame = kernel.run("xp.open('xprof-logs/plugins/profile/source').ops().frame['source'].dropna().unique().tolist()")
    (name,) = [name for name, cell in cells.items() if cell["source"] == source]
    assert (
        f"In[{cells[name]['count']}]:4" in frame.displays[0]["text/plain"]
        or f"{name}:4" in frame.displays[0]["text/plain"]
    )


def test_an_error_is_shown_and_the_profile_below_it(kernel) -> None:
    cell = kernel.run("%%xprof --name error\nsquare(operand).block_until_ready()\n1 / 0")
    assert cell.errors == ["ZeroDivisionError"]
    assert cell.kinds == ["error", "display_data"]
    assert is_view(cell)
    assert is_view(kernel.run("%%xprof --name after-error\nsquare(operand).block_until_ready()"))


def test_an_interrupt_keeps_the_profile_so_far(kernel) -> None:
    identifier = kernel.send(
        "%%xprof --name interrupted\nsquare(operand).block_until_ready()\nprint('on')\ntime.sleep(60)"
    )
    kernel.read_until(lambda: "on" in kernel.cells[identifier].text)
    kernel.manager.interrupt_kernel()
    cell = kernel.finish(identifier)
    assert cell.errors == ["KeyboardInterrupt"]
    assert is_view(cell)
    assert is_view(kernel.run("%%xprof --name after-interrupt\nsquare(operand).block_until_ready()"))


def test_top_level_await_works_in_a_profiled_cell(kernel) -> None:
    cell = kernel.run(
        "%%xprof --name await\nimport asyncio\nawait asyncio.sleep(0.01)\nsquare(operand).block_until_ready()\n'slept'"
    )
    assert cell.displays[0]["text/plain"] == "'slept'"
    assert is_view(cell)


def test_another_cell_magic_may_follow(kernel) -> None:
    cell = kernel.run("%%xprof --name timed\n%%time\nsquare(operand).block_until_ready()\nNone")
    assert "Wall time" in cell.text
    assert is_view(cell)


def test_output_of_cells_run_inside_a_profiled_cell_does_not_end_it(kernel, folder) -> None:
    cell = kernel.run(
        "%%xprof --name nested\nget_ipython().run_cell('1 + 1')\nsquare(operand).block_until_ready()\nNone"
    )
    assert is_view(cell)
    assert "jit__lambda" in cell.displays[-1]["text/plain"]


def test_a_wrong_option_keeps_the_cell_from_running(kernel) -> None:
    cell = kernel.run("%%xprof --nam x\nprint('ran')")
    assert "UsageError" in cell.text
    assert "ran" not in cell.text


def test_armed_it_profiles_the_next_cell_and_ends_with_the_queue(kernel, folder) -> None:
    asking = kernel.run("%xprof capture 10m --name armed")
    assert "Armed" in asking.displays[0]["text/plain"]
    ran = [kernel.send(f"square(operand).block_until_ready(); print('cell {number}')") for number in range(3)]
    for number, identifier in enumerate(ran):
        assert kernel.finish(identifier).text == f"cell {number}\n"
    kernel.read_until(lambda: is_view(asking))
    assert len(asking.displays) == 1
    assert all(kernel.cells[identifier].kinds[0] == "stream" for identifier in ran)
    assert recorded(folder, "armed")["duration_s"] < 600
    assert "print('cell 0')" in recorded(folder, "armed")["cell"]


def test_armed_it_ends_after_its_time_though_the_cell_goes_on(kernel, folder) -> None:
    asking = kernel.run("%xprof capture 500ms --name limited")
    running = kernel.send("for _ in range(60):\n    square(operand).block_until_ready()\n    time.sleep(0.05)")
    kernel.read_until(lambda: is_view(asking))
    assert kernel.cells[running].status == "busy"
    kernel.finish(running)
    assert 0.4 < recorded(folder, "limited")["duration_s"] < 2


def test_code_below_the_magic_is_the_work_to_profile(kernel) -> None:
    cell = kernel.run("%xprof capture 30s --name below\nsquare(operand).block_until_ready()\nNone")
    kernel.read_until(lambda: is_view(cell))
    assert "jit__lambda" in cell.displays[-1]["text/plain"]


def test_work_in_a_thread_is_profiled_at_once_with_progress_each_second(kernel, folder, at_work) -> None:
    kernel.updates.clear()
    began = time.monotonic()
    asking = kernel.run("%xprof capture 3s --name running")
    assert time.monotonic() - began < 2
    assert "what is running" in asking.displays[0]["text/plain"]
    other = kernel.run("time.sleep(1); print('mine')")
    kernel.read_until(lambda: is_view(asking))
    assert (set(other.kinds), other.text) == ({"stream"}, "mine\n")  # the kernel may send a line in two
    times = [began, *(at for at, _ in kernel.updates)]
    assert max(later - earlier for earlier, later in pairwise(times)) < 2
    assert any("of 3 s" in text for _, text in kernel.updates)
    assert 2.5 < recorded(folder, "running")["duration_s"] < 6


def test_a_second_capture_is_told_who_has_the_profiler(kernel, at_work) -> None:
    asking = kernel.run("%xprof capture 1s --name holder")
    for code in ("%xprof capture 1s", "%%xprof\nsquare(operand)"):
        refused = kernel.run(code)
        assert len(refused.text.strip().splitlines()) == 1
        assert "under way" in refused.text
    refused = kernel.run("with xp.capture('other'): pass")
    assert refused.errors == ["ProfilerBusyError"]
    kernel.read_until(lambda: is_view(asking))


def test_the_users_own_trace_is_named(kernel) -> None:
    kernel.run("jax.profiler.start_trace('mine')")
    cell = kernel.run("%xprof capture 1s")
    assert "start_trace('mine')" in cell.text
    assert len(cell.text.strip().splitlines()) == 1
    assert not kernel.run("jax.profiler.stop_trace()").errors


def test_wait_waits_and_cancel_keeps_what_is_there(kernel, folder, at_work) -> None:
    asking = kernel.run("%xprof capture 600s --name cancelled")
    kernel.read_until(lambda: "Profiling what is running" in kernel.run("%xprof status").text)
    kernel.run("%xprof cancel")
    assert not kernel.run("%xprof wait").errors
    assert is_view(asking)
    assert recorded(folder, "cancelled")["duration_s"] < 60


def test_an_armed_capture_can_be_called_off_and_cannot_be_waited_for(kernel, folder) -> None:
    asking = kernel.run("%xprof capture 3s --name never")
    assert "waits for the next cell" in kernel.run("%xprof wait").text
    kernel.run("%xprof cancel")
    kernel.read_until(lambda: "Cancelled" in asking.displays[0]["text/plain"])
    kernel.run("square(operand).block_until_ready()")
    assert not (folder / "xprof-logs" / "plugins" / "profile" / "never").exists()


def test_a_question_about_the_newest_run_waits_for_the_capture_under_way(kernel, at_work) -> None:
    kernel.run("%xprof capture 1s --name asked-early")
    cell = kernel.run("%xprof op-profile --by category")
    assert "asked-early" in cell.displays[-1]["text/plain"]


def test_three_captures_in_a_second_are_three_runs(kernel) -> None:
    before = kernel.run("print(len(xp.runs()))").text
    kernel.run("for _ in range(3):\n    with xp.capture(): square(operand).block_until_ready()")
    assert int(kernel.run("print(len(xp.runs()))").text) == int(before) + 3


def test_an_unwritable_log_dir_is_refused_before_anything_runs(kernel, folder) -> None:
    (folder / "file").write_text("")
    cell = kernel.run("%%xprof --logdir file/logs\nprint('ran')")
    assert "cannot be written" in cell.text
    assert "ran\n" not in cell.text


def test_no_port_is_opened_by_a_capture(kernel) -> None:
    listening = (
        "import psutil\nprint(sorted(c.laddr.port for c in psutil.Process().net_connections() if c.status == 'LISTEN'))"
    )
    before = kernel.run(listening).text
    kernel.run("%%xprof\nsquare(operand)")
    assert kernel.run(listening).text == before


def test_unloading_takes_the_magics_away_and_loading_brings_them_back(kernel) -> None:
    kernel.run("%unload_ext xprof_nb")
    assert "not found" in kernel.run("%xprof status").text
    assert "not found" in kernel.run("%%xprof\n1").text
    kernel.run("%load_ext xprof_nb")
    assert "No capture" in kernel.run("%xprof status").text


def test_before_jax_has_started_the_capture_waits_for_it(tmp_path) -> None:
    with started(tmp_path) as kernel:
        asking = kernel.run("%load_ext xprof_nb\n%xprof capture 60s --name early")
        assert "Armed" in asking.displays[0]["text/plain"]
        cell = kernel.run(
            "import os, sys\nprint('jax' in sys.modules)\n"
            "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'"
        )
        assert cell.text == "False\n"
        work = (
            "import jax, jax.numpy as jnp\nx = jnp.ones((600, 600))\nfor _ in range(50): (x @ x).block_until_ready()\n"
        )
        assert kernel.run(work + "len(jax.devices())").displays[0]["text/plain"] == "2"
        kernel.read_until(lambda: is_view(asking))
        assert "jit" in asking.displays[-1]["text/plain"]


def test_a_kernel_that_is_shut_down_saves_what_it_has(tmp_path) -> None:
    with started(tmp_path) as kernel:
        kernel.run(SETUP)
        kernel.run("job = xp.capture_for(600, 'last')\nwhile job.state != 'running':\n    time.sleep(0.01)")
        kernel.run("square(operand).block_until_ready()")
        kernel.manager.shutdown_wait_time = 120  # a machine under load saves more slowly than in the usual 5 s
        kernel.manager.shutdown_kernel(now=False)
    assert recorded(tmp_path, "last")["duration_s"] < 60


def test_a_cell_shows_the_memory_it_took_and_who_holds_it(kernel) -> None:
    cell = kernel.run("%%xprof --name held --memory\nkept = {'w': jnp.ones((25, 1000, 1000))}\nsquare(operand)\nNone")
    assert cell.errors == []
    text = cell.displays[-1]["text/plain"]
    assert text.startswith("device memory of this cell")
    assert "kept['w']" in text
    assert "+95.4 MiB" in text  # 25 million float32
    assert "jit__lambda" in text
    failed = kernel.run("def fails():\n    big = jnp.ones((13, 1000, 1000))\n    raise ValueError\nfails()")
    assert failed.errors == ["ValueError"]
    snapshot = kernel.run("xp.memory_snapshot()").displays[0]
    assert "big in fails, held by the last traceback" in snapshot["text/plain"]
    assert "big in fails" in snapshot["text/html"]
    explained = kernel.run("xp.explain_oom('RESOURCE_EXHAUSTED: Out of memory allocating 4398046511104 bytes.')")
    assert "Free 49.6 MiB that only the last traceback holds (big in fails)" in explained.displays[0]["text/plain"]


def test_memory_is_watched_beside_the_notebook_too(kernel, at_work) -> None:
    asking = kernel.run("%xprof capture 500ms --name beside --memory\nmore = jnp.ones((25, 1000, 1000))\nNone")
    kernel.read_until(lambda: asking.displays[1]["text/plain"].startswith("device memory during this capture"))
    assert VIEW in asking.displays[0]
    assert "jit__lambda" in asking.displays[1]["text/plain"]
    assert "95.4 MiB" in asking.displays[1]["text/plain"]  # 25 million float32
    assert (
        "<caption>"
        in kernel.run("job = xp.capture_for(0.1, memory=True)\njob.wait()\njob.memory").displays[0]["text/html"]
    )
    assert (
        "memory=True"
        in kernel.run("try:\n    xp.capture('plain').memory\nexcept xp.ProfileError as e:\n    print(e)").text
    )


def test_the_doctor_is_a_table_that_names_states_and_cures(kernel) -> None:
    shown = kernel.run("%xprof doctor").displays[0]
    assert "<caption>doctor</caption>" in shown["text/html"]
    assert "views answer while a cell runs" in shown["text/plain"]
    assert "cpu" in shown["text/plain"]
    assert json.loads(kernel.run("%xprof doctor --format json").text)["findings"]


def test_runs_are_managed_from_the_notebook(kernel) -> None:
    kernel.run("with xp.capture('kept'):\n    square(operand).block_until_ready()")
    assert "tags of kept: good" in kernel.run("%xprof tag kept +good").text
    assert "brings it back" in kernel.run("%xprof rm kept").text
    assert "no run 'kept'" in kernel.run("%xprof open kept").text
    assert "restored" in kernel.run("%xprof restore kept").text
    assert kernel.run("%xprof rename kept 'better name'").text.startswith("renamed to")
    assert "better name" in kernel.run("%xprof ls").displays[0]["text/plain"]
