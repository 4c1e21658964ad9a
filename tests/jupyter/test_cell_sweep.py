"""``%%xprof sweep`` in an IPython shell of this process."""

from __future__ import annotations

import linecache

import jax
import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import xprof_nb as xp
from xprof_nb import args
from xprof_nb.errors import UsageError
from xprof_nb.jupyter.cell_capture import begin_in_place
from xprof_nb.jupyter.cell_sweep import CellStep


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "logs"))
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "xprof_nb")
    shell.user_ns.update(square=jax.jit(lambda x: x @ x.T), jnp=jnp, total=0)
    yield shell
    shell.run_line_magic("unload_ext", "xprof_nb")
    InteractiveShell.clear_instance()


def swept(shell, line: str, body: str):
    with capture_output():
        return shell.run_cell(f"%%xprof sweep {line}\n{body}").result


def test_values_of_variables() -> None:
    command = args.parse_cell_magic("sweep batch=1,2 lr=0.5,1e-3 remat=none,full x64=true,False --steps 7 --few 3")
    assert command == args.SweepCommand(
        {"batch": (1, 2), "lr": (0.5, 0.001), "remat": ("none", "full"), "x64": (True, False)}, steps=7, most_runs=3
    )
    assert args.parse_cell_magic("sweep batch_size=auto").parameters == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("sweep", "required"),
        ("sweep batch_size", "sets no variable"),
        ("sweep batch_size=1,2, ", "empty"),
        ("sweep 3=1", "sets no variable"),
        ("sweep class=1", "sets no variable"),
        ("sweep a=1 a=2", "twice"),
        ("sweep batch=auto", "batch_size alone"),
        ("sweep a=1 --steps 0", "whole number"),
        ("sweep a=1 --step 3", "did you mean --steps"),
    ],
)
def test_what_is_no_sweep(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        args.parse_cell_magic(line)


def test_a_swept_cell_is_not_rewritten_into_a_capture() -> None:
    lines = ["%%xprof sweep batch_size=1,2\n", "f(batch_size)\n"]
    assert begin_in_place(lines) == lines


def test_the_last_line_is_timed_and_the_others_prepare(shell) -> None:
    result = swept(shell, "batch_size=4,64 --steps 3", "x = jnp.ones((batch_size, 256))\nsquare(x)")
    assert result.frame.batch_size.tolist() == [4, 64]
    assert result.frame.status.tolist() == ["done", "done"]
    assert result.frame.items_per_s.tolist() == pytest.approx(result.frame.batch_size / result.frame.step_time_s)
    # A product of (n, 256) and (256, n) is of 2 * n * n * 256 FLOPs.
    flops = [result.profile(batch_size=size).overview().summary["flops"] for size in (4, 64)]
    assert flops[1] / flops[0] == pytest.approx(64**2 / 4**2)
    assert "x" not in shell.user_ns
    assert "batch_size" not in shell.user_ns


def test_a_step_may_carry_its_state(shell) -> None:
    result = swept(shell, "n=1,3 --steps 4 --no-profile", "seen = []\nlast = seen.append(total := total + n)")
    assert result.frame.status.tolist() == ["done", "done"]
    assert shell.user_ns["total"] == 0


def test_two_variables_with_a_count_of_items(shell) -> None:
    body = "x = jnp.ones((batch * sequence, 8))\nlambda: square(x)"
    result = swept(shell, "batch=1,2 sequence=8,16 --items batch*sequence --steps 2 --no-profile", body)
    assert [list(row) for row in result.frame[["batch", "sequence"]].to_numpy()] == [[1, 8], [1, 16], [2, 8], [2, 16]]
    assert [point.items for point in result.points] == [8, 16, 16, 32]
    assert set(result.recommended) == {"batch", "sequence"}
    best = result.recommended
    assert result.summary["sentence"].startswith(f"Use batch {best['batch']} with sequence {best['sequence']}: ")
    assert any("two sizes do not tell its error" in note for note in result.notes) or best["batch"] == 1


def test_a_changed_cell_is_measured_anew(shell) -> None:
    body = "counted.append(batch_size)\n{}square(jnp.ones((batch_size, 4)))"
    shell.user_ns["counted"] = counted = []
    for mark, so_far in (("", [1, 2]), ("", [1, 2]), ("pass\n", [1, 2, 1, 2])):
        swept(shell, "batch_size=1,2 --steps 2 --no-profile", body.format(mark))
        assert counted == so_far


def test_ops_know_their_line_of_the_cell(shell) -> None:
    made = CellStep(shell, "y = 1\n\nz = 2\n1 / (batch_size - 3)\n")
    assert made(4)() == 1.0
    with pytest.raises(ZeroDivisionError) as caught:
        made(3)()
    frame = caught.traceback[-1]
    assert frame.lineno + 1 == 5  # the magic is the first
    assert linecache.getline(str(frame.frame.code.raw.co_filename), 5).strip() == "1 / (batch_size - 3)"


@pytest.mark.parametrize(
    ("body", "why"),
    [("x = 1\nif x: pass", "no step"), ("x = (", "not Python"), ("# nothing", "no step")],
)
def test_a_cell_without_a_step_says_so(shell, body: str, why: str) -> None:
    with pytest.raises(IPythonUsageError, match=why):
        shell.run_cell_magic("xprof", "sweep batch_size=1", body)


def test_the_runs_of_a_cell_are_listed(shell) -> None:
    result = swept(shell, "batch_size=2 --steps 2 --name mine", "square(jnp.ones((batch_size, 4)))")
    assert result.frame.run[0].endswith("mine-batch_size2")
    assert xp.runs().origin.tolist() == ["sweep"]
