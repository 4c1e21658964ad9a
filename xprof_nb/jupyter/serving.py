"""``%xprof server``: what it does and says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xprof_nb.capture import server

if TYPE_CHECKING:
    from xprof_nb.args.remote import ServerCommand


def serve(command: ServerCommand) -> str:
    """Do the command and return what to print; raises what `xprof_nb.capture.server.start` raises."""
    if command.action == "start":
        said = str(server.start(command.port, command.host))
    elif command.action == "stop":
        was = server.stop()
        said = "No profiler server was running." if was is None else f"The profiler server at {was.address} is stopped."
    else:
        now = server.listening()
        said = "No profiler server is running: %xprof server start." if now is None else str(now)
    return "\n".join(filter(None, (said, server.others())))
