"""What ran where: hosts, devices, versions, flags and the options of the capture."""

from __future__ import annotations

from collections import Counter
from typing import Any

from xprof_nb.model.profile import ProfileData


def environment(profile: ProfileData) -> dict[str, Any]:
    """Return the run's environment, as the file and the sidecar of its capture tell it; None is not known.

    ``xla_flags`` are recorded by captures of this package alone: no profile holds them.
    """
    versions = {name: value for host in profile.hosts for name, value in host.versions.items()}
    options = {name: value for host in profile.hosts for name, value in host.capture_options.items()}
    return {
        "hosts": [host.host for host in profile.hosts],
        "devices": [f"{device.host} {device.name} {device.model}".strip() for device in profile.devices],
        "device_models": dict(Counter(device.model or device.backend for device in profile.devices)),
        "programs": len(profile.programs),
        "versions": {**versions, **profile.metadata.get("versions", {})},
        "xla_flags": profile.metadata.get("xla_flags"),
        "options": profile.metadata.get("options") or options or None,
        "window": sorted({host.window_source for host in profile.hosts}),
    }
