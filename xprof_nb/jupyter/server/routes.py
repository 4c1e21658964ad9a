"""Which address is answered by what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.utils import url_path_join

from xprof_nb.jupyter.server import asking, managing, transfer
from xprof_nb.jupyter.server.managing import API

if TYPE_CHECKING:
    from xprof_nb.jupyter.server.door import Handler
    from xprof_nb.jupyter.server.service import Service

HANDLERS: dict[str, type[Handler]] = {
    "version": managing.VersionHandler,
    "runs": managing.RunsHandler,
    "run": managing.RunHandler,
    "trash": managing.TrashHandler,
    "restore": managing.RestoreHandler,
    "export": transfer.ExportHandler,
    "import": transfer.ImportHandler,
    "query": asking.QueryHandler,
    "snapshot": asking.SnapshotHandler,
    "thumbnail": asking.ThumbnailHandler,
    r"library/(\w{1,40})": asking.LibraryHandler,
    "jobs": asking.JobsHandler,
    r"jobs/([\w-]{1,64})": asking.JobHandler,
}


def routes(base_url: str, service: Service) -> list[tuple[str, type[Handler], dict[str, Any]]]:
    """Return every route of the extension."""
    return [
        (url_path_join(base_url, "xprof-nb", "api", f"v{API}", name), handler, {"service": service})
        for name, handler in HANDLERS.items()
    ]
