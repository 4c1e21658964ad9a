"""What a run is recorded with beside its profile, so that it can be understood and repeated later."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from xprof_nb import __version__
from xprof_nb.model.measured import measured

_OF_JAX = ("jax", "jaxlib", "libtpu", "jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin")


def versions(packages: Iterable[str] = _OF_JAX) -> dict[str, str]:
    """Return the versions of what made the profile, of ``packages`` those that are installed."""
    found = {"python": platform.python_version(), "xprof_nb": __version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def devices() -> tuple[dict[str, Any], ...]:
    """Return the devices of this process."""
    import jax  # noqa: PLC0415 - jax only where it is used

    return tuple(
        {"kind": device.device_kind, "platform": device.platform, "id": device.id} for device in jax.local_devices()
    )


def xla_flags() -> str:
    """Return the flags XLA and libtpu were started with, as the environment says them."""
    names = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
    return " ".join(os.environ[name] for name in names if os.environ.get(name))


def peaks() -> dict[str, Any] | None:
    """Return this host's measured roofs, None if they have not been measured: no capture waits for that."""
    known = measured(socket.gethostname())
    return None if known is None else asdict(known)
