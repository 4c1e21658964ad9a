"""A workload of `cpu_workloads`, captured in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def captured(logdir: Path, workload: str) -> Path:
    """Run a workload under jax.profiler and return the log dir; skips the test where jax is not installed."""
    pytest.importorskip("jax")
    script = Path(__file__).with_name("cpu_workloads.py")
    command = [sys.executable, str(script), str(logdir), workload]
    made = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    return logdir
