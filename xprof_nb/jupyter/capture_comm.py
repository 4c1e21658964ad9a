"""Where JupyterLab's side panel finds this kernel: one comm with a name everybody knows.

The comm is entered when the extension is loaded and never announced: a page asks which comms there are, and one that
is not there costs nothing. Opening one that a kernel does not know would print a complaint into the running cell.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from xprof_nb.jupyter.remote_control import RemoteControl

TARGET = "xprof_nb.capture"
_held: dict[str, tuple[Any, RemoteControl]] = {}


def listen(shell: Any) -> None:
    """Let pages talk to this kernel; nothing where there is none, as in a terminal."""
    if getattr(shell, "kernel", None) is None or TARGET in _held:
        return
    from comm import create_comm, get_comm_manager  # noqa: PLC0415 - only kernels have it

    comm = create_comm(comm_id=TARGET, target_name=TARGET, primary=False)
    control = RemoteControl(shell, partial(_send, comm))
    comm.on_msg(lambda message: control.receive(message["content"]["data"]))
    get_comm_manager().register_comm(comm)
    _held[TARGET] = comm, control


def fall_silent() -> None:
    """End that; a capture under way goes on."""
    if TARGET not in _held:
        return
    from comm import get_comm_manager  # noqa: PLC0415

    comm, control = _held.pop(TARGET)
    control.close()
    get_comm_manager().unregister_comm(comm)


def _send(comm: Any, message: dict[str, Any]) -> None:
    comm.send(message)
