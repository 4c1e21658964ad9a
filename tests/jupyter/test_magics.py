"""The magics in an IPython shell of this process, which has no front end."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from xprof_nb.jupyter.cell_capture import begin_in_place
from xprof_nb.jupyter.cell_watch import CellWatch, goes_on_after_magic, only_magics


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "logs"))
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "xprof_nb")
    square = jax.jit(lambda x: x @ x)
    operand = jnp.ones((400, 400))
    square(operand).block_until_ready()
    shell.user_ns.update(square=square, operand=operand, jnp=jnp)
    yield shell
    shell.run_line_magic("unload_ext", "xprof_nb")
    InteractiveShell.clear_instance()


def test_a_profiled_cell_prints_one_table_and_no_progress(shell) -> None:
    with capture_output() as captured:
        result = shell.run_cell("%%xprof --name cell\nsquare(operand).block_until_ready()\n40 + 2", store_history=True)
    assert result.result == 42
    assert result.success
    texts = [output.data["text/plain"] for output in captured.outputs]
    assert "op profile of cell" in texts[-1]


def test_the_magic_called_by_code_runs_the_cell_too(shell) -> None:
    with capture_output() as captured:
        shell.run_cell_magic("xprof", "--name called", "y = square(operand).block_until_ready()")
    assert "y" in shell.user_ns
    assert "op profile of called" in captured.outputs[-1].data["text/plain"]


def test_answers_are_values(shell) -> None:
    with capture_output():
        shell.run_cell("%%xprof --name cell\nsquare(operand).block_until_ready()")
    assert shell.run_line_magic("xprof", "open").name == "cell"
    assert list(shell.run_line_magic("xprof", "ls")["run"]) == ["cell"]
    assert shell.run_line_magic("xprof", "ops").frame["time_ps"].sum() > 0
    assert shell.run_line_magic("xprof", "overview").query == "overview"


def test_the_first_line_of_a_cell_becomes_a_call_and_keeps_its_place() -> None:
    lines = ["%%xprof --name 'a b'\n", "f(x)\n", "await g()\n"]
    changed = begin_in_place(lines)
    assert changed[0] == "get_ipython().run_line_magic('xprof_begin_cell', \"--name 'a b'\")\n"
    assert changed[1:] == lines[1:]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["f(x)\n"],
        ["%%xprofile\n", "f(x)\n"],
        ["%%xprof\n"],
        ["%%xprof\n", "%%time\n", "f(x)\n"],
        ["%%xprof?\n", "f\n"],
    ],
)
def test_other_cells_are_left_alone(lines: list[str]) -> None:
    assert begin_in_place(lines) == lines


def test_cells_that_only_talk_to_us_do_not_count() -> None:
    assert only_magics("%xprof wait\n\n# a comment\n%xprof status")
    assert only_magics("")
    assert not only_magics("%xprof wait\nf(x)")
    assert not only_magics("%%xprof\nf(x)")


def test_code_after_the_magic_is_told_from_code_before_it() -> None:
    assert goes_on_after_magic("x = 1\n%xprof capture 3s\nf(x)")
    assert not goes_on_after_magic("%load_ext xprof_nb\nx = 1\n%xprof capture 3s\n# that was it\n")
    assert not goes_on_after_magic("f(x)")


def test_cells_in_cells_count_once(shell) -> None:
    seen: list[str] = []
    watch = CellWatch(shell, on_start=seen.append, on_end=lambda result: seen.append(f"end {result.success}"))
    shell.run_cell("get_ipython().run_cell('1 + 1');\nz = 3")
    assert seen == ["get_ipython().run_cell('1 + 1');\nz = 3", "end True"]
    shell.run_cell("%xprof status")
    assert len(seen) == 2
    assert watch.idle_s > 0
    watch.close()
    shell.run_cell("z = 4")
    assert len(seen) == 2


def test_the_memory_of_a_cell_names_the_array_that_stays(shell) -> None:
    with capture_output() as captured:
        shell.run_cell("%%xprof_mem\nweights = jnp.ones((25, 1024, 1024))\nweights.block_until_ready()\nNone")
    shown = captured.outputs[-1].data
    text = shown["text/plain"]
    assert "+100 MiB" in text
    assert "weights" in text
    assert "[25, 1024, 1024]" in text
    assert "keeps no allocator statistics" in text  # a CPU device
    assert "<td" in shown["text/html"]


def test_a_cell_that_fails_has_its_memory_shown(shell) -> None:
    with capture_output() as captured:
        shell.run_cell("%%xprof_mem\nraise ValueError('no')")
    assert "before" in captured.outputs[-1].data["text/plain"]
    assert "ValueError" in captured.stdout
