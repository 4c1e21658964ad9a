"""What ``capture --from`` does, whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb import api

if TYPE_CHECKING:
    from collections.abc import Callable

    from xprof_nb.args.remote import RemoteCommand

TICK_S = 1.0


def start(command: RemoteCommand) -> Any:
    """Start a capture of other processes; see `xprof_nb.capture.remote_job.capture_from` for what it raises."""
    asked = {"patience_s": command.patience_s, "shared": command.shared}
    return api.capture_from(
        command.servers,
        command.duration_s,
        command.name,
        command.logdir,
        note=command.note,
        preset=command.preset,
        host_tracer_level=command.host_tracer_level,
        python_tracer_level=command.python_tracer_level,
        device_tracing=command.device_tracing,
        max_devices=command.max_devices,
        **{option: value for option, value in asked.items() if value is not None},
    )


def capture(command: RemoteCommand, tell: Callable[[str], None]) -> str:
    """Capture, telling each second how it goes, and return what to print.

    The first interrupt ends the capture and keeps what there is; one more gives up on servers that have not sent it.

    Raises
    ------
    ProfileError
        Nothing was captured; says why, of each server.
    """
    job = start(command)
    while not _ended(job, tell):
        job.cancel()
    profile = job.profile
    lines = [f"saved {profile.path}", *job.notes, f"Next: xprof-nb overview {profile.path}"]
    return "\n".join(lines)


def _ended(job: Any, tell: Callable[[str], None]) -> bool:
    """Wait for the end; return False on an interrupt."""
    try:
        while not job.ended(TICK_S):
            tell(job.doing)
    except KeyboardInterrupt:
        return False
    return True
