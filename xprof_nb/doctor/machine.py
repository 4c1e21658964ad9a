"""What this process may use: processors, memory, devices, and the counters of GPUs."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.doctor.finding import Finding, checked
from xprof_nb.model.units import size

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("/")
_SYS_ADMIN = 21
"""Bit of CAP_SYS_ADMIN in a process's capabilities."""


def look() -> Iterator[Finding]:
    """Look at processors, devices, the profiler and the rights to use counters."""
    from xprof_nb.capture import session  # noqa: PLC0415 - the one thing here that may load jax

    yield processors()
    yield devices()
    yield checked("profiler", session.check_free, "free")
    yield from nvidia_counters()
    yield from rocm_access()


def processors(root: Path = ROOT) -> Finding:
    """Return how many CPUs and how much memory this process may use, container limits included."""
    count = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    quota = _numbers(root / "sys/fs/cgroup/cpu.max") or [
        *_numbers(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
        *_numbers(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ]
    if len(quota) == 2 and quota[0] > 0:
        count = min(count, quota[0] / quota[1])
    memory = [number * 1024 for number in _numbers(root / "proc/meminfo")[:1]]
    for limit in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        memory += _numbers(root / limit)
    said = f"{count:g} CPU{'s' * (count != 1)}"
    return Finding("machine", "ok", f"{said}, {size(min(memory))} of memory" if memory else said)


def devices() -> Finding:
    """Return the devices jax has; it is not started for this, as that would fix flags a cell may still set."""
    from xprof_nb.capture.session import jax_started  # noqa: PLC0415

    if not jax_started():
        return Finding("devices", "ok", "JAX has not started in this process")
    import jax  # noqa: PLC0415 - it is there

    found = jax.local_devices()
    counts = Counter(str(device.device_kind) for device in found)
    text = ", ".join(f"{kind} × {count}" if count > 1 else kind for kind, count in counts.items())
    if {device.platform for device in found} == {"cpu"} and (ROOT / "proc/driver/nvidia/version").exists():
        return Finding("devices", "warning", f"{text}, though there is a GPU", 'pip install -U "jax[cuda13]"')
    return Finding("devices", "ok", text)


def nvidia_counters(root: Path = ROOT) -> Iterator[Finding]:
    """Say whether NVIDIA's driver lets this process profile; nothing where there is no such driver."""
    try:
        params = (root / "proc/driver/nvidia/params").read_text("utf-8", "replace")
    except OSError:
        return
    restricted = re.search(r"^RmProfilingAdminOnly:\s*1\b", params, re.MULTILINE) is not None
    if not restricted or _is_admin(root):
        yield Finding("GPU counters", "ok", "the driver lets this process use them")
        return
    yield Finding(
        "GPU counters",
        "warning",
        "the driver keeps them for administrators (RmProfilingAdminOnly: 1): GPU kernels may be missing from profiles",
        "put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/ and restart the machine, or "
        "give the process CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN)",
    )


def rocm_access(root: Path = ROOT) -> Iterator[Finding]:
    """Say whether this user may use AMD's GPUs; nothing where there is none."""
    nodes = [node for node in (root / "dev/kfd", *sorted((root / "dev/dri").glob("renderD*"))) if node.exists()]
    if not (root / "dev/kfd").exists():
        return
    closed = [str(node) for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if not closed:
        yield Finding("GPU access", "ok", "/dev/kfd and the render nodes are open to this user")
        return
    yield Finding(
        "GPU access",
        "warning",
        f"{', '.join(closed)} may not be used: AMD's GPUs record nothing",
        "sudo usermod -aG render,video $USER, and log in again",
    )


def _is_admin(root: Path) -> bool:
    with suppress(OSError, ValueError):
        status = (root / "proc/self/status").read_text("utf-8", "replace")
        found = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", status, re.MULTILINE)
        return found is not None and bool(int(found[1], 16) >> _SYS_ADMIN & 1)
    return False


def _numbers(file: Path) -> list[int]:
    """Return the numbers a file of the kernel holds, none if it does not exist or says ``max``."""
    try:
        return [int(word) for word in re.findall(r"-?\d+", file.read_text("ascii", "replace")[:10_000])]
    except OSError:
        return []
