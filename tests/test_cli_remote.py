"""``xprof-nb capture --from``: another process captured from a shell."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.processes import free_port, process
from xprof_nb import cli


@pytest.fixture(scope="module")
def busy() -> Iterator[int]:
    with process("busy") as (_, port):
        yield port


def test_a_shell_captures_another_process_and_tells_how_it_goes(busy: int, tmp_path: Path, capsys) -> None:
    asked = ["capture", "1.5s", "--from", f"localhost:{busy}", "--name", "far", "--logdir", str(tmp_path)]
    assert cli.main(asked) == cli.DONE
    out, told = capsys.readouterr()
    folder = tmp_path / "plugins" / "profile" / "far"
    assert f"saved {folder}" in out
    assert f"Profiling localhost:{busy}: 1." in told
    assert cli.main(["op-profile", "far", "--logdir", str(tmp_path)]) == cli.DONE
    assert "jit_step" in capsys.readouterr().out


def test_status_and_message_of_what_fails(tmp_path: Path, capsys) -> None:
    closed = free_port()
    assert cli.main(["capture", "3s", "--from", f"localhost:{closed}", "--logdir", str(tmp_path)]) == cli.CANNOT
    assert f"nobody listens at localhost:{closed}" in capsys.readouterr().err
    assert cli.main(["capture", "3s", "--from", "localhost", "--logdir", str(tmp_path)]) == cli.MISUSED
    assert "host:port" in capsys.readouterr().err


def test_an_interrupt_keeps_what_came(busy: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "xprof_nb.cli", "capture", "10m", "--from", f"localhost:{busy}"]
    shell = subprocess.Popen(
        [*command, "--logdir", str(tmp_path), "--name", "cut"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "Profiling" in shell.stderr.readline()
    began = time.monotonic()
    shell.send_signal(signal.SIGINT)
    out, _ = shell.communicate(timeout=60)
    assert time.monotonic() - began < 30
    assert shell.returncode == 0
    assert f"saved {tmp_path / 'plugins' / 'profile' / 'cut'}" in out
