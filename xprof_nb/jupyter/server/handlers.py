"""The routes under ``xprof-nb/api/v1``: thin over `xprof_nb.queries`, off the event loop."""

from __future__ import annotations

import asyncio
import inspect
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from xprof_nb import __version__, assets
from xprof_nb.errors import NotFoundError, ProfileError, UsageError
from xprof_nb.jupyter.server.cache import ProfileCache
from xprof_nb.jupyter.server.paths import ForbiddenPathError, Roots
from xprof_nb.runs.catalog import listed, remarks
from xprof_nb.runs.joining import find_run
from xprof_nb.runs.layout import Limits, RunFiles, Scan, scan
from xprof_nb.runs.places import is_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from xprof_nb.jupyter.server.config import XprofNb
    from xprof_nb.model.profile import ProfileData

API = 1
_STATUS: tuple[tuple[type[ProfileError], int], ...] = (
    (ForbiddenPathError, 403),
    (NotFoundError, 404),
    (UsageError, 400),
    (ProfileError, 422),
)
Made = TypeVar("Made")
Method = TypeVar("Method", bound="Callable[..., Any]")
may_read: Callable[[Method], Method] = authorized(action="read")  # a POST that asks changes nothing


class Service:
    """What the routes share: settings, roots, opened profiles, and the threads that work."""

    def __init__(self, settings: XprofNb, base: str) -> None:
        self.settings = settings
        self.roots = Roots.of(base, settings.logdirs)
        self.cache = ProfileCache(settings.cache_bytes, _open)
        self.pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="xprof-nb")

    def profile(self, path: str) -> ProfileData:
        """Open what a browser named, if every file of it is under a root."""
        real = self.roots.resolve(path)
        run = find_run(real, admits=self.roots.holds)
        for file in run.files:
            if not self.roots.holds(file.path):
                raise ForbiddenPathError(f"{file.host} of {run.run} links to a file this server may not read")
        return self.cache.get(real if len(run.files) == 1 and real == run.files[0].path else run.folder, run)

    def runs(self) -> dict[str, Any]:
        """List the runs under every root, newest first."""
        limits = Limits(depth=self.settings.scan_depth, seconds=self.settings.scan_seconds)
        found: dict[str, RunFiles] = {}
        notes, truncated = [], False
        for root in self.roots.folders:
            part = self._under(root, limits)
            found.update((_key(run), run) for run in part.runs if _key(run) not in found)
            notes += remarks(root, part) if part.runs or part.truncated or part.unreadable else []
            truncated = truncated or part.truncated
        rows = [asdict(row) for row in listed(found.values())]
        for row in rows:
            row["started"] = row["started"].isoformat(timespec="milliseconds") if row["started"] else None
        return {"runs": rows, "roots": list(self.roots.folders), "truncated": truncated, "notes": notes}

    def _under(self, root: str, limits: Limits) -> Scan:
        if not is_url(root) and not Path(root).is_dir():
            return Scan((), 0, (), truncated=False)
        try:
            return scan(root, limits, admits=self.roots.holds)
        except ProfileError:  # a remote log dir that cannot be reached must not hide the local ones
            return Scan((), 0, (root,), truncated=False)


class Handler(APIHandler):
    """What every route does: authorisation, size limit, work on a thread, errors a client can show."""

    auth_resource = "xprof_nb"

    def initialize(self, service: Service) -> None:
        """Take what the routes share."""
        self.service = service

    async def work(self, function: Callable[..., Made], *arguments: Any) -> Made:
        """Run a function on the pool; its errors become answers."""
        return await asyncio.get_running_loop().run_in_executor(self.service.pool, function, *arguments)

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
            body = json.loads(self.request.body, parse_constant=_refuse)
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

    def answer(self, value: dict[str, Any]) -> None:
        """Finish with JSON."""
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(value, allow_nan=False))

    def write_error(self, status_code: int, **failure: Any) -> None:
        """Answer with what happened and what to do, never with a traceback."""
        error = failure.get("exc_info", (None, None))[1]
        if isinstance(error, ProfileError):
            what = {"kind": type(error).__name__, "message": _message(error), "hint": error.hint}
            self.set_status(next(status for kind, status in _STATUS if isinstance(error, kind)))
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


class VersionHandler(Handler):
    """Which version answers."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Return the versions of package and API."""
        self.answer({"version": __version__, "api": API})


class RunsHandler(Handler):
    """Which runs there are."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Return the runs under every root, newest first."""
        self.answer(await self.work(self.service.runs))


class QueryHandler(Handler):
    """Answers to questions about a run."""

    @web.authenticated
    @may_read
    async def post(self) -> None:
        """Return the columns that answer a registered question."""
        body = self.body({"run": str, "query": str}, {"params": dict})
        if await self.work(_changes, body["query"], body.get("params", {})):
            await self.require("write")
        data = await self.work(_ask, self.service, body["run"], body["query"], body.get("params", {}))
        self.set_header("Cache-Control", "no-store")
        self.finish(data, set_content_type="application/octet-stream")


class SnapshotHandler(Handler):
    """What a view of a run shows first."""

    @web.authenticated
    @may_read
    async def post(self) -> None:
        """Return the payload a notebook output of the same view would hold."""
        body = self.body({"run": str, "view": str}, {"params": dict})
        self.answer(await self.work(_snapshot, self.service, body["run"], body["view"], body.get("params", {})))


class LibraryHandler(Handler):
    """The libraries that draw charts, from the installed packages: no browser asks the network for them."""

    @web.authenticated
    @may_read
    async def get(self, name: str) -> None:
        """Return the source of a library."""
        source = await self.work(assets.library, name)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.finish(source, set_content_type="text/javascript; charset=utf-8")


def routes(base_url: str, service: Service) -> list[tuple[str, type[Handler], dict[str, Any]]]:
    """Return every route of the extension."""
    handlers: dict[str, type[Handler]] = {
        "version": VersionHandler,
        "runs": RunsHandler,
        "query": QueryHandler,
        "snapshot": SnapshotHandler,
        r"library/(\w{1,40})": LibraryHandler,
    }
    return [
        (url_path_join(base_url, "xprof-nb", "api", f"v{API}", name), handler, {"service": service})
        for name, handler in handlers.items()
    ]


# The analysis core (numba, pandas) is imported by the first question, on a worker: a server start must not wait for it.


def _open(run: RunFiles) -> ProfileData:
    from xprof_nb.runs.opening import open_run  # noqa: PLC0415

    profile: ProfileData = open_run(run)
    return profile


def _ask(service: Service, run: str, query: str, params: dict[str, Any]) -> bytes:
    from xprof_nb import queries  # noqa: PLC0415
    from xprof_nb.model import columns  # noqa: PLC0415

    answer = queries.ask(service.profile(run), query, {**_AT_MOST.get(query, {}), **params})
    return columns.encode(answer.frame, {"summary": dict(answer.summary), "notes": list(answer.notes)})


def _changes(query: str, params: dict[str, Any]) -> bool:
    from xprof_nb import queries  # noqa: PLC0415

    return queries.changes(query, params)


def _snapshot(service: Service, run: str, view: str, params: dict[str, Any]) -> dict[str, Any]:
    from xprof_nb import snapshot  # noqa: PLC0415

    payload: dict[str, Any] = snapshot.build_live(service.profile(run), view, params)
    return payload


def _key(run: RunFiles) -> str:
    return run.folder if is_url(run.folder) else str(Path(run.folder).resolve())


def _message(error: ProfileError) -> str:
    """Return what happened and where, without the hint, which travels beside it."""
    return str(type(error)(error.what, file=error.file, position=error.position)).removesuffix(".")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_AT_MOST: dict[str, dict[str, Any]] = {"events": {"limit": 100_000}}
"""What bounds an answer unless the client asks for more: millions of events do not cross to a browser."""
_KINDS: dict[type, str] = {str: "a string", dict: "an object"}
