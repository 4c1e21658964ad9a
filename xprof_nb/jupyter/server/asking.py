"""Routes that answer questions about a run."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from tornado import web

from xprof_nb import assets
from xprof_nb.errors import UsageError
from xprof_nb.jupyter.server.door import Handler, may_read
from xprof_nb.jupyter.server.questions import CancelledError, Question
from xprof_nb.jupyter.server.workers import Job
from xprof_nb.runs.writing import changes

JOB_HEADER = "X-Xprof-Nb-Job"
_JOB_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
_TAG = re.compile(r'"([0-9a-f]{32})"')


class Asking(Handler):
    """A route whose answer a worker finds."""

    _job: Job | None = None

    async def ask(self, kind: str, run: str, name: str = "", params: dict[str, Any] | None = None) -> None:
        """Finish with a worker's answer, or with 304 if the client has it."""
        match = _TAG.fullmatch(self.request.headers.get("If-None-Match", "").removeprefix("W/"))
        job = Job(Question(kind, run, name, params or {}, match.group(1) if match else ""))
        job.id = self._job_id() or job.id
        pool, self._job = self.service.pool, job
        pool.enter(job)
        try:
            answer = await asyncio.get_running_loop().run_in_executor(self.service.askers, pool.answer, job)
        except CancelledError:
            if self.request.connection.stream.closed():  # type: ignore[union-attr]
                return
            raise
        finally:
            pool.leave(job)
        self.set_header("ETag", f'"{answer.tag}"')
        self.set_header("Cache-Control", "private, no-cache")
        if answer.body is None:
            self.set_status(304)
            self.finish()
            return
        binary = kind == "query"
        self.finish(answer.body, set_content_type="application/octet-stream" if binary else "application/json")

    def on_connection_close(self) -> None:
        """Cancel what nobody waits for any more."""
        super().on_connection_close()
        if self._job is not None:
            self._job.cancelled.set()

    def _job_id(self) -> str:
        given = self.request.headers.get(JOB_HEADER, "")
        if given and not _JOB_ID.fullmatch(given):
            raise UsageError(f"{JOB_HEADER} is no id", hint="Up to 64 letters, digits, - and _.")
        return given


class QueryHandler(Asking):
    """Answers to questions about a run."""

    @web.authenticated
    @may_read
    async def post(self) -> None:
        """Return the columns that answer a registered question."""
        body = self.body({"run": str, "query": str}, {"params": dict})
        if changes(body["query"], body.get("params", {})):
            await self.require("write")
        await self.ask("query", body["run"], body["query"], body.get("params"))


class SnapshotHandler(Asking):
    """What a view of a run shows first."""

    @web.authenticated
    @may_read
    async def post(self) -> None:
        """Return the payload a notebook output of the same view would hold."""
        body = self.body({"run": str, "view": str}, {"params": dict})
        await self.ask("snapshot", body["run"], body["view"], body.get("params"))


class ThumbnailHandler(Asking):
    """How a run went, for a row of a list."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Return busy shares and step times; none of a run that is too large to be opened for that."""
        run = self.named("run")
        if await self.work(self.service.watch.size_bytes, run) > self.service.settings.thumbnail_bytes:
            self.answer({"busy": [], "step_time_ps": []})
        else:
            await self.ask("thumbnail", run)


class LibraryHandler(Handler):
    """The libraries that draw charts, from the installed packages: no browser asks the network for them."""

    @web.authenticated
    @may_read
    async def get(self, name: str) -> None:
        """Return the source of a library."""
        source = await self.work(assets.library, name)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.finish(source, set_content_type="text/javascript; charset=utf-8")


class JobsHandler(Handler):
    """What the workers are asked."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Return the questions that wait for an answer, the oldest first."""
        jobs = self.service.pool.jobs()
        self.answer({"jobs": [_described(job) for job in jobs]})


class JobHandler(Handler):
    """One question that waits for its answer."""

    @web.authenticated
    @may_read
    async def delete(self, job_id: str) -> None:
        """Cancel it."""
        if not self.service.pool.cancel(job_id):
            raise web.HTTPError(404, "there is no such job; it may have ended")
        self.set_status(204)
        self.finish()


def _described(job: Job) -> dict[str, Any]:
    question = job.question
    return {
        "id": job.id,
        "run": question.run,
        "query": question.name or question.kind,
        "state": job.state,
        "started": job.started,
        "elapsed_s": job.elapsed_s,
    }
