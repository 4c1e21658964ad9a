"""What every bench does: make a capture, run one side in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[2]
LIMIT_S = 900


def capture(logdir: Path, steps: int) -> Path:
    """Capture some steps of tiny XLA ops on this CPU and return the file; 2,500 make 285 MB and 5 million events."""
    script = Path(__file__).with_name("tiny_ops.py")
    output_of([sys.executable, str(script), str(logdir), str(steps)], {"JAX_PLATFORMS": "cpu"})
    (file,) = logdir.glob("plugins/profile/*/*.xplane.pb")
    return file


def output_of(command: list[str], environment: dict[str, str]) -> str:
    """Return what a command printed; a command that fails ends the bench."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode:
        sys.exit(f"{command[:2]} failed with status {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout
