"""A capture whose process was killed is missed by somebody."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.capture.captured import names_in
from xprof_nb.capture.local import Capture
from xprof_nb.runs.catalog import runs
from xprof_nb.runs.under_way import MARK, lost

KILLED = """
import os, signal, sys
import jax.numpy as jnp
import xprof_nb as xp

with xp.capture("train", sys.argv[1]):
    jnp.ones(3).block_until_ready()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_killed_in_the_middle_is_told_and_the_next_capture_works(logdir) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(logdir)], check=False)
    assert done.returncode == -signal.SIGKILL
    (gone,) = lost(logdir)
    assert gone.run == "train"
    (note,) = [note for note in runs(logdir).attrs["notes"] if "train" in note]
    assert "is lost. Capture it again." in note
    with Capture("train", logdir) as again:
        assert len(lost(logdir)) == 1
    assert again.folder.name == "train"


def test_a_capture_that_ends_in_any_way_leaves_no_mark(logdir) -> None:
    cap = Capture("a", logdir)
    with cap:
        assert sum(name.startswith(MARK) for name in names_in(logdir)) == 1
        assert lost(logdir) == []
    with pytest.raises(ValueError, match="theirs"), cap:
        raise ValueError("theirs")
    cap.start()
    cap.abandon()
    assert names_in(logdir) == ["plugins"]


def test_marks_that_mean_nothing_are_passed_over(tmp_path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    whole = {"run": "a", "process": gone.pid, "host": "elsewhere", "started_s": 1.0}
    texts = ["", "[]", "{", "x" * 20_000, json.dumps(whole), json.dumps({**whole, "process": 2**80})]
    for number, text in enumerate(texts):
        (tmp_path / f"{MARK}{number}").write_text(text)
    assert lost(tmp_path) == []


def test_another_users_process_counts_as_alive(tmp_path, monkeypatch, logdir) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    with Capture("a", logdir):
        monkeypatch.setattr(os, "kill", refused)
        assert lost(logdir) == []
