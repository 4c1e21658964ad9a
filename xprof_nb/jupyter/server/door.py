"""What every route does: authorisation, size limit, work off the event loop, errors a client can show."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from xprof_nb.errors import NotFoundError, ProfileError, UsageError
from xprof_nb.jupyter.server.paths import ForbiddenPathError
from xprof_nb.jupyter.server.questions import CancelledError, WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from xprof_nb.jupyter.server.service import Service

RESOURCE = "xprof_nb"
_CLIENT_CLOSED_REQUEST = 499
_STATUS: tuple[tuple[type[ProfileError], int], ...] = (
    (ForbiddenPathError, 403),
    (NotFoundError, 404),
    (UsageError, 400),
    (CancelledError, _CLIENT_CLOSED_REQUEST),
    (WorkerError, 503),
    (ProfileError, 422),
)
Made = TypeVar("Made")
Method = TypeVar("Method", bound="Callable[..., Any]")
may_read: Callable[[Method], Method] = authorized(action="read")  # a POST that asks changes nothing
may_write: Callable[[Method], Method] = authorized(action="write")


class Handler(APIHandler):
    """A route of the extension."""

    auth_resource = RESOURCE

    def initialize(self, service: Service) -> None:
        """Take what the routes share."""
        self.service = service

    async def work(self, function: Callable[..., Made], *arguments: Any) -> Made:
        """Run a function on a thread of the server; its errors become answers."""
        return await asyncio.get_running_loop().run_in_executor(self.service.threads, function, *arguments)

    async def require(self, action: str) -> None:
        """Refuse who may not do more than the route itself asks for."""
        allowed = self.authorizer.is_authorized(self, self.current_user, action, self.auth_resource)
        if not (await allowed if inspect.isawaitable(allowed) else allowed):
            raise web.HTTPError(403, f"not allowed to {action} {self.auth_resource}")

    def body(self, required: dict[str, type], optional: dict[str, type]) -> dict[str, Any]:
        """Return the JSON object of the request, with exactly the keys and types a route takes.

        Raises
        ------
        UsageError
            It is not that.
        """
        limit = self.service.settings.request_bytes
        if len(self.request.body) > limit:
            raise web.HTTPError(413, f"the request is larger than {limit:,} bytes")
        try:
            body = json.loads(self.request.body, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError) as malformed:
            raise UsageError("the request is not JSON", hint=f"{malformed}.") from malformed
        if not isinstance(body, dict):
            raise UsageError("the request is not a JSON object")
        for key, kind in required.items():
            if not isinstance(body.get(key), kind):
                raise UsageError(f"the request needs {key!r}, {_KINDS[kind]}")
        kinds = {**required, **optional}
        for key, value in body.items():
            if key not in kinds:
                raise UsageError(f"unknown key {key!r}", hint=f"Known: {', '.join(kinds)}.")
            if not isinstance(value, kinds[key]):
                raise UsageError(f"{key!r} must be {_KINDS[kinds[key]]}")
        return body

    def named(self, key: str) -> str:
        """Return a parameter of the address.

        Raises
        ------
        UsageError
            It is missing, given twice, or no text.
        """
        try:
            values = self.get_query_arguments(key, strip=False)
        except web.HTTPError as undecodable:
            raise UsageError(f"{key!r} is no text in UTF-8") from undecodable
        if len(values) != 1:
            raise UsageError(f"the address needs one {key!r}", hint=f"…?{key}=…")
        return values[0]

    def compute_etag(self) -> None:
        """Leave the tag to the route: tornado's is a hash of the whole body, made on the event loop."""

    def answer(self, value: dict[str, Any]) -> None:
        """Finish with JSON."""
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(value, allow_nan=False))

    def write_error(self, status_code: int, **failure: Any) -> None:
        """Answer with what happened and what to do, never with a traceback."""
        error = failure.get("exc_info", (None, None))[1]
        if isinstance(error, ProfileError):
            what = {"kind": type(error).__name__, "message": _message(error), "hint": error.hint}
            self.set_status(next(status for kind, status in _STATUS if isinstance(error, kind)), "Refused")
        elif isinstance(error, web.HTTPError):
            what = {"kind": "HTTPError", "message": error.log_message or error.reason or self._reason, "hint": ""}
        else:
            what = {
                "kind": "InternalError",
                "message": f"the server failed ({status_code})",
                "hint": "Its log says why.",
            }
        self.finish(json.dumps({"error": what}))

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """Log a bad request as one line; only our own failures deserve a traceback."""
        if isinstance(error, ProfileError):
            self.log.warning("xprof_nb | %s %s: %s", self.request.method, self.request.path, error)
        else:
            super().log_exception(kind, error, trace)


def _message(error: ProfileError) -> str:
    """Return what happened and where, without the hint, which travels beside it."""
    return str(type(error)(error.what, file=error.file, position=error.position)).removesuffix(".")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is too large a number")
    return value


_KINDS: dict[type, str] = {str: "a string", dict: "an object", list: "a list"}
