"""Real profiles to read: the ones beside the repository, where they are, and one of this machine's CPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
_CAPTURE = """
import sys
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    return jax.lax.fori_loop(0, 5, lambda _, y: jnp.tanh(y @ y.T) * 0.5, x)

x = step(jnp.ones((16, 16))).block_until_ready()
jax.profiler.start_trace(sys.argv[1])
for n in range(3):
    with jax.profiler.StepTraceAnnotation("train", step_num=n):
        x = step(x).block_until_ready()
jax.profiler.stop_trace()
"""


def corpus_files() -> list[Path]:
    """Profiles that are whole; none where the corpus is absent."""
    return [path for path in sorted(_CORPUS.glob("*/plugins/profile/*/*.xplane.pb")) if "broken" not in str(path)]


@pytest.fixture(scope="session")
def cpu_capture(tmp_path_factory) -> Path:
    """A real capture of a few steps on this machine's CPU."""
    pytest.importorskip("jax")
    folder = tmp_path_factory.mktemp("capture")
    subprocess.run([sys.executable, "-c", _CAPTURE, str(folder)], check=True, capture_output=True, timeout=240)
    (path,) = folder.glob("plugins/profile/*/*.xplane.pb")
    return path


@pytest.fixture(scope="session")
def real_profiles(cpu_capture) -> list[bytes]:
    return [path.read_bytes() for path in (cpu_capture, *corpus_files())]
