"""What every test may ask for: real profiles, made here or found beside the repository, and a Jupyter server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"]

REPO = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Recorded profiles of TPUs, GPUs and Neuron; they are no part of the repository."""
    folder = REPO.parent / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip(f"no recorded profiles at {folder}")
    return folder


@pytest.fixture(scope="session")
def cpu_profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run folder of a real capture of a small JAX training loop on this CPU (read-only)."""
    logdir = tmp_path_factory.mktemp("cpu") / "logs"
    script = Path(__file__).with_name("train_and_capture.py")
    command = [sys.executable, str(script), str(logdir)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    if made.returncode == 3:
        pytest.skip("jax is not installed")
    assert made.returncode == 0, made.stderr
    (run,) = (logdir / "plugins" / "profile").iterdir()
    return run
