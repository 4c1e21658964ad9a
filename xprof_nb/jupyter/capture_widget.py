"""``%xprof panel``: a Capture button in the output of a cell, which works while other cells run."""

from __future__ import annotations

from functools import cache
from typing import Any

from xprof_nb import api, assets
from xprof_nb.errors import UsageError
from xprof_nb.jupyter.output_area import OutputArea
from xprof_nb.jupyter.remote_control import RemoteControl


def capture_widget(shell: Any) -> Any:
    """Return the widget and say below it where the views of its captures will be.

    Raises
    ------
    UsageError
        There is no kernel a page could talk to.
    ProfileError
        The front end of this installation was not built.
    """
    if getattr(shell, "kernel", None) is None:
        raise UsageError("%xprof panel needs a notebook", hint="In a terminal, %xprof capture 3s captures as well.")
    return _widget_class()(shell)


@cache
def _widget_class() -> type:
    """Return the class of the widget; made on first use, since importing anywidget takes a while."""
    import anywidget  # noqa: PLC0415

    class XprofNbCapture(anywidget.AnyWidget):  # type: ignore[misc]
        """The kernel's side of one Capture button."""

        _esm = assets.module("capture")

        def __init__(self, shell: Any) -> None:
            super().__init__()
            # As for views: an answer must not choose the shell on which the next message comes.
            self.comm._reply_subshell_for = None
            self._area = OutputArea(shell)
            self._control = RemoteControl(shell, self._tell, self._show)
            self.on_msg(lambda _, message, __: self._control.receive(message))

        def say_where(self) -> None:
            """Claim the place below the widget for views of its captures."""
            self._area.say("Views of what is captured here open below.")

        def _tell(self, message: dict[str, Any]) -> None:
            if self.comm is not None:
                self.send(message)

        def _show(self, path: str, view: str) -> None:
            profile = api.open(path)
            self._area.show(profile.explore() if view == "explore" else profile.op_profile())

        def close(self) -> None:
            self._control.close()
            super().close()

    return XprofNbCapture
