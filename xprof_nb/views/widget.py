"""The view in a running notebook: an anywidget that asks the kernel, and the kernel's side of that talk.

A request is a custom message ``{"id", "query", "params"}``; the reply is ``{"id", "ok": true}`` with one buffer (a
table of `model.columns`), ``{"id", "ok": true, "payload"}`` for the query ``"snapshot"`` (of this view, or of another
one of the run), ``{"id", "ok": true, "text"}`` for a ``"library"``, nothing more to a ``"choose"``, which tells what a
person chose, or ``{"id", "ok": false, "error": {"kind",
"message", "hint"}}``. JupyterLab sends these on a subshell when the kernel has them (ipykernel 7),
so a view answers while a cell runs; the work is done on threads, so that one that takes seconds holds up no other.

The message ``"state"`` tells how the view stands: what it looks at and what is selected. The widget keeps it for the
next time it is drawn, in another tab or after a reload, and `model.standing` gives it to Python.

The profile is never a trait: widget state is saved, compared and sent as a whole. A widget lets go of its profile
when it closes, and it closes when its cell runs again.
"""

from __future__ import annotations

import logging
import sys
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from xprof_nb import assets, queries, snapshot
from xprof_nb.errors import ProfileError, UsageError
from xprof_nb.model import chosen, columns, standing

if TYPE_CHECKING:
    from xprof_nb.model.profile import ProfileData

_log = logging.getLogger(__name__)


def show(data: ProfileData, view: str, params: Mapping[str, Any]) -> str | None:
    """Return the model id of a new live view, or None where no kernel could answer it.

    Views that an earlier run of the same cell left behind are closed: their output is gone.

    Raises
    ------
    ProfileError
        The front end of this installation was not built.
    """
    place = _place()
    if place is None:
        return None
    cell, run = place
    for older in [widget for widget in _SHOWN[cell] if widget.run != run]:
        older.close()
    widget = _widget_class(view)(data, view, dict(params), run)
    _SHOWN[cell].add(widget)
    return str(widget.model_id)


def close_all() -> None:
    """Close every live view of this kernel; what they show stays as a snapshot."""
    for widgets in list(_SHOWN.values()):
        for widget in list(widgets):
            widget.close()
    _SHOWN.clear()


def reply(
    data: ProfileData | None, view: str, params: Mapping[str, Any], message: Any, state: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the content and buffers that answer one request; whatever goes wrong is part of the answer.

    Parameters
    ----------
    data
        The profile, None once the view is closed.
    view, params
        What the view shows, for the query ``"snapshot"``.
    message
        The content of the request, as it came.
    state
        How the view stood when it was last shown, for the query ``"snapshot"`` too.
    """
    identifier = message.get("id") if isinstance(message, Mapping) else None
    try:
        query, asked = _request(message)
        if data is None:
            raise ProfileError("this view is closed", hint="Run its cell again.")
        if query in _AT_ONCE:
            _take(data, view, query, asked)
            return {"id": identifier, "ok": True}, []
        if query == "snapshot":
            payload = {**_payload(data, view, params, asked), **({} if "view" in asked else {"state": state or {}})}
            return {"id": identifier, "ok": True, "payload": payload}, []
        if query == "library":
            return {"id": identifier, "ok": True, "text": assets.library(str(asked.get("name")))}, []
        answer = queries.ask(data, query, asked)
        meta = snapshot.json_safe({"summary": answer.summary, "notes": answer.notes})
        return {"id": identifier, "ok": True}, [columns.encode(answer.frame, meta)]
    except ProfileError as error:
        return {"id": identifier, "ok": False, "error": _described(error)}, []
    except Exception as error:
        _log.exception("a view's request failed")
        hint = "The kernel's log has the traceback; please report it with this message."
        described = {"kind": type(error).__name__, "message": str(error), "hint": hint}
        return {"id": identifier, "ok": False, "error": described}, []


def _payload(data: ProfileData, view: str, params: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of this view, or of another of the same run."""
    if "view" not in asked:
        return snapshot.build_live(data, view, params)
    if not isinstance(asked["view"], str) or not isinstance(asked.get("params", {}), Mapping):
        raise UsageError("a snapshot is of a view by its name, with its params")
    return snapshot.build_live(data, asked["view"], asked.get("params", {}))


def _request(message: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(message, Mapping):
        raise UsageError("a request is an object with id, query and params")
    query, params = message.get("query"), message.get("params") or {}
    if not isinstance(query, str) or not isinstance(params, Mapping):
        raise UsageError("a request names a query and its params are an object")
    return query, {str(name): value for name, value in params.items()}


def _take(data: ProfileData, view: str, query: str, told: dict[str, Any]) -> None:
    if query == "choose":
        chosen.choose(data, told)
    else:
        standing.remember(data, view, told)


def _described(error: ProfileError) -> dict[str, str]:
    message = str(error).removesuffix(error.hint).rstrip()
    return {"kind": type(error).__name__, "message": message, "hint": error.hint}


def _place() -> tuple[str, str] | None:
    """Return the cell that runs and which run of it, or None where there is no kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    parent = shell.get_parent() or {}
    cell = (parent.get("metadata") or {}).get("cellId") or "a cell without a name"
    return str(cell), str((parent.get("header") or {}).get("msg_id"))


_AT_ONCE = frozenset({"state", "choose"})
"""What only tells something: no work, and the last one counts."""
# Which views a cell has shown. Weak, so that this table never keeps a widget: ipywidgets does until it is closed.
_SHOWN: defaultdict[str, WeakSet[Any]] = defaultdict(WeakSet)


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4, thread_name_prefix="xprof-nb-view")


@cache
def _widget_class(view: str) -> type:
    """Return the widget class that draws ``view``; made on first use, since importing anywidget takes a while."""
    import anywidget  # noqa: PLC0415

    class View(anywidget.AnyWidget):  # type: ignore[misc]
        """A live view of one profile."""

        _esm = assets.module(snapshot.VIEWS[view].module)

        def __init__(self, data: ProfileData, view: str, params: Mapping[str, Any], run: str) -> None:
            self.run = run
            self._data: ProfileData | None = data
            self._shows = (view, params)
            self._state: Mapping[str, Any] = {}
            super().__init__()
            # ipykernel 7.4 answers on the shell that spoke last, which is the one the cell runs on. A view's question
            # goes where the front end sends it: to a subshell, so that it need not wait for the cell.
            self.comm._reply_subshell_for = None
            self.on_msg(type(self)._answer)

        def _answer(self, message: Any, _buffers: list[bytes]) -> None:
            if isinstance(message, Mapping) and message.get("query") in _AT_ONCE:
                self._work(message)
            else:  # the context has what the answer is the child of
                _workers().submit(copy_context().run, self._work, message)

        def _work(self, message: Any) -> None:
            content, buffers = reply(self._data, *self._shows, message, self._state)
            if self._data is not None and isinstance(message, Mapping) and message.get("query") == "state":
                self._state = standing.standing(self._data, self._shows[0])
            if self.comm is not None:  # the cell may have run again meanwhile
                self.send(content, buffers)

        def close(self) -> None:
            self._data = None
            super().close()

    View.__name__ = View.__qualname__ = f"XprofNb{view.title().replace('_', '')}"
    return View
