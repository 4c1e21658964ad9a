"""What somebody who looks at this kernel from a page sees of it: devices, memory, who profiles, the capture."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from xprof_nb import api
from xprof_nb.capture.local import Capture
from xprof_nb.capture.memory_watch import held_now
from xprof_nb.capture.session import check_free, jax_started, undisturbed
from xprof_nb.errors import ProfileError, ProfilerBusyError

if TYPE_CHECKING:
    from pathlib import Path

    from xprof_nb.capture.jobs import Job


def look(job: Job | None, devices: list[dict[str, Any]]) -> dict[str, Any]:
    """Return it as JSON can hold it; JAX is looked at and never started.

    Parameters
    ----------
    job
        The capture under way, else the last one.
    devices
        What they held when last seen: while somebody profiles they are not asked, since that would be recorded.
    """
    profiler = _profiler(job)
    with undisturbed() as free:
        seen = _devices() if free and profiler["held_by"] == "nobody" else devices
    return {
        "kind": "state",
        "jax": _jax(),
        "devices": seen,
        "profiler": profiler,
        "job": None if job is None else job.status.to_dict(),
    }


def runs_of(job: Job) -> list[dict[str, Any]]:
    """Return the runs an ended job made, each with its size, and what bounds the last of them."""
    runs: list[dict[str, Any]] = [
        {"name": folder.name, "path": str(folder), "size_bytes": _size_bytes(folder), "sentence": ""}
        for folder in job.folders
    ]
    if runs:
        try:
            runs[-1]["sentence"] = str(api.open(job.folders[-1]).overview().summary["sentence"])
        except ProfileError as error:
            runs[-1]["sentence"] = str(error)
    return runs


def _devices() -> list[dict[str, Any]]:
    return [
        {
            "name": memory.device,
            "held_bytes": memory.after_bytes,
            "limit_bytes": memory.limit_bytes,
            "measured_by": memory.measured_by,
        }
        for memory in held_now()
    ]


def _jax() -> str:
    if jax_started():
        return "started"
    return "imported" if "jax" in sys.modules else "not imported"


def _profiler(job: Job | None) -> dict[str, str]:
    """Return who holds the profiler: nobody, we, or another, and in words."""
    code = Capture.running()
    if job is not None and not job.ended() and job.state != "armed":
        return {"held_by": "us", "said": job.status.doing}
    if code is not None:
        return {"held_by": "us", "said": f"captured in code: {code.name}"}
    try:
        check_free()
    except ProfilerBusyError as error:
        return {"held_by": "another", "said": str(error)}
    return {"held_by": "nobody", "said": "free"}


def _size_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
