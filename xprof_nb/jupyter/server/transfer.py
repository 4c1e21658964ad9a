"""Routes by which a run leaves and enters as one zip."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from tornado import web
from tornado.web import stream_request_body

from xprof_nb.errors import UsageError
from xprof_nb.jupyter.server.door import Handler, may_read, may_write
from xprof_nb.jupyter.server.managing import Managing, own_folder
from xprof_nb.runs import archive
from xprof_nb.runs.places import is_url

if TYPE_CHECKING:
    from xprof_nb.jupyter.server.service import Service

_BLOCK_BYTES = 2**18


class ExportHandler(Handler):
    """A run as one zip."""

    @web.authenticated
    @may_read
    async def get(self) -> None:
        """Send the zip, piece by piece."""
        folder = Path(mkdtemp(prefix="xprof-nb-export-"))
        try:
            zipped = await self.work(_packed, self.service, self.named("run"), folder)
            self.set_header("Content-Type", "application/zip")
            self.set_header("Content-Length", str(zipped.stat().st_size))
            self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(zipped.name, safe='')}")
            self.set_header("Cache-Control", "no-store")
            with zipped.open("rb") as stream:
                while block := await self.work(stream.read, _BLOCK_BYTES):
                    self.write(block)
                    await self.flush()
            await super(Handler, self).finish()
        finally:
            await self.work(shutil.rmtree, folder, True)


@stream_request_body
class ImportHandler(Managing):
    """A run from a zip, which goes to the disk as it comes in."""

    _folder: Path | None = None
    _sink: IO[bytes] | None = None

    async def prepare(self, **options: Any) -> None:
        """Refuse before anything is received."""
        await super().prepare(**options)
        if self.current_user is None:
            raise web.HTTPError(403, "Forbidden")
        await self.require("write")
        self.request.connection.set_max_body_size(self.service.settings.import_bytes)  # type: ignore[union-attr]
        self._folder = Path(mkdtemp(prefix="xprof-nb-import-"))
        self._sink = (self._folder / "imported.zip").open("wb")

    async def data_received(self, chunk: bytes) -> None:
        """Keep a piece."""
        if self._sink is not None:
            await self.work(self._sink.write, chunk)

    @web.authenticated
    @may_write
    async def post(self) -> None:
        """Put the run among those of a log dir; return where."""
        assert self._sink is not None
        self._sink.close()
        await self.change(_taken_in, Path(self._sink.name), self.named("logdir"))

    def on_finish(self) -> None:
        """Leave nothing behind."""
        self._forget()
        super().on_finish()

    def on_connection_close(self) -> None:
        """Leave nothing behind of what came only in part."""
        self._forget()
        super().on_connection_close()

    def _forget(self) -> None:
        if self._sink is not None:
            self._sink.close()
        if self._folder is not None:
            self.service.threads.submit(shutil.rmtree, self._folder, True)  # gigabytes take a while to go


def _packed(service: Service, run: str, folder: Path) -> Path:
    source = own_folder(service, run)
    return archive.export(source, folder / f"{source.name}.zip")


def _taken_in(service: Service, zipped: Path, logdir: str) -> dict[str, str]:
    where = service.roots.resolve(logdir)
    if is_url(where):
        raise UsageError(f"{logdir} is not on this machine", hint="Import into a log dir that is.")
    return {"run": str(archive.take_in(zipped, Path(where)))}
