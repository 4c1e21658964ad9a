"""Routes that list runs and change them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tornado import web

from xprof_nb import __version__
from xprof_nb.errors import UsageError
from xprof_nb.jupyter.server.door import Handler, may_read, may_write
from xprof_nb.runs import manage
from xprof_nb.runs.places import is_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from xprof_nb.jupyter.server.service import Service

API = 1
CAPABILITIES = ("jobs", "manage", "thumbnails", "transfer")
MOST_RUNS = 1000
PATIENCE_S = 0.5
"""Who asks for the list waits so long for a look at the log dirs to end: most are small."""


class VersionHandler(Handler):
    """Which version answers."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Return the versions of package and API, and what this server can beyond answering."""
        self.answer({"version": __version__, "api": API, "capabilities": list(CAPABILITIES)})


class RunsHandler(Handler):
    """Which runs there are."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Return the runs under every root, newest first; 304 if they are those the client has."""
        look = asyncio.wrap_future(self.service.watch.look())
        await asyncio.wait([look], timeout=PATIENCE_S)
        tag, found = self.service.watch.runs()
        self.set_header("ETag", f'"{tag}"')
        self.set_header("Cache-Control", "private, no-cache")
        if self.request.headers.get("If-None-Match", "").removeprefix("W/") == f'"{tag}"':
            self.set_status(304)
            self.finish()
        else:
            self.finish(found, set_content_type="application/json")


class Managing(Handler):
    """A route that changes runs."""

    async def change(self, deed: Callable[..., dict[str, Any]], *arguments: Any) -> None:
        """Do something with the files of runs, and say what became of it."""
        try:
            done = await self.work(deed, self.service, *arguments)
        finally:
            self.service.watch.forget()
        self.answer(done)


class RunHandler(Managing):
    """One run."""

    @web.authenticated
    @may_write
    async def patch(self) -> None:
        """Rename a run, or change its note or tags; return where it is now."""
        body = self.body({"run": str}, {"name": str, "note": str, "tags": list})
        await self.change(_changed, body)


class TrashHandler(Managing):
    """The trash of log dirs."""

    @web.authenticated
    @may_write
    async def post(self) -> None:
        """Move runs there; return how each is had back."""
        await self.change(_trashed, self.body({"runs": list}, {})["runs"])


class RestoreHandler(Managing):
    """What brings runs back."""

    @web.authenticated
    @may_write
    async def post(self) -> None:
        """Move runs out of the trash; return where they are."""
        await self.change(_restored, self.body({"trash": list}, {})["trash"])


def own_folder(service: Service, run: str) -> Path:
    """Return the folder of a run that may be changed: in a log dir of this machine, under a root.

    Raises
    ------
    ForbiddenPathError, NotFoundError, UsageError
        It is elsewhere, not there, or no run of a log dir.
    """
    real = Path(_local(service, run))
    folder = manage.managed(real, real.parent)
    service.roots.resolve(str(folder.parents[2]))  # its log dir, where the trash is, must be readable too
    return folder


def _local(service: Service, path: str) -> str:
    real = service.roots.resolve(path)
    if is_url(real):
        raise UsageError(f"{path} cannot be changed from here", hint="Copy the run into a log dir on this machine.")
    return real


def _changed(service: Service, body: dict[str, Any]) -> dict[str, Any]:
    folder = own_folder(service, body["run"])
    if "tags" in body:
        manage.set_tags(folder, _texts(body["tags"], "tags"))
    if "note" in body:
        manage.annotate(folder, body["note"])
    if "name" in body:
        folder = manage.rename(folder, body["name"])
    return {"run": folder.name, "path": str(folder)}


def _trashed(service: Service, runs: list[Any]) -> dict[str, Any]:
    folders = [own_folder(service, run) for run in _texts(runs, "runs")]
    return {"trashed": [{"run": str(folder), "trash": str(manage.discard(folder))} for folder in folders]}


def _restored(service: Service, trash: list[Any]) -> dict[str, Any]:
    folders = [Path(_local(service, path)) for path in _texts(trash, "trash")]
    return {"runs": [str(manage.put_back(folder)) for folder in folders]}


def _texts(values: list[Any], key: str) -> list[str]:
    if not all(isinstance(value, str) for value in values) or len(values) > MOST_RUNS:
        raise UsageError(f"{key!r} must be a list of up to {MOST_RUNS} strings")
    return values
