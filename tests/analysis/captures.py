"""Captures of the programs in `cpu_workloads`, made when first asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import xprof_nb as xp


def captured(folders: pytest.TempPathFactory) -> Callable[[str], xp.Profile]:
    """Return a function that gives the profile of a workload; a capture is made once."""
    pytest.importorskip("jax")

    @cache
    def profile_of(workload: str) -> xp.Profile:
        logdir = folders.mktemp(workload)
        script = Path(__file__).with_name("cpu_workloads.py")
        command = [sys.executable, str(script), str(logdir), workload]
        made = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert made.returncode == 0, made.stderr[-2000:]
        return xp.open(logdir)

    return profile_of
