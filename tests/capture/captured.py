"""What a capture left behind, read without our own decoder."""

from __future__ import annotations

from pathlib import Path

import jax


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def run_names(logdir: Path) -> list[str]:
    return sorted(folder.name for folder in (logdir / "plugins" / "profile").iterdir())


def op_names(folder: Path) -> set[str]:
    """Names of the ops a run holds, read by jax itself."""
    (file,) = folder.glob("*.xplane.pb")
    data = jax.profiler.ProfileData.from_file(str(file))
    return {
        event.name
        for plane in data.planes
        for line in plane.lines
        for event in line.events
        if any(name == "hlo_op" for name, _ in event.stats)
    }
