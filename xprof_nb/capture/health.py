"""Whether devices still work after the profiler let go of them: stopping CUPTI has been seen to cost the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb.capture.session import jax_started
from xprof_nb.errors import CaptureError

if TYPE_CHECKING:
    from pathlib import Path


def check_devices(saved: Path) -> None:
    """Raise CaptureError if a GPU of this process cannot be copied to; the run ``saved`` is whole."""
    if not jax_started():
        return
    import jax  # noqa: PLC0415 - it is there

    for device in jax.local_devices():
        if device.platform == "gpu":
            _check(jax, device, saved)


def _check(jax: Any, device: Any, saved: Path) -> None:
    try:
        jax.device_put(0.0, device).block_until_ready()
    except Exception as error:
        raise CaptureError(
            f"{device} is unusable since the profiler stopped ({type(error).__name__}: {str(error)[:200]}); "
            f"the profile is saved as {saved}",
            hint="Restart the kernel; the run stays.",
        ) from error
