"""The REST door: runs and answers for a browser without a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb.jupyter.server.config import XprofNb
from xprof_nb.jupyter.server.routes import routes
from xprof_nb.jupyter.server.service import Service

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "xprof_nb.jupyter.server"}]


def _load_jupyter_server_extension(serverapp: ServerApp) -> None:
    settings = XprofNb(parent=serverapp)
    service = Service(settings, serverapp.root_dir)
    web_app: Any = serverapp.web_app
    web_app.add_handlers(".*$", routes(web_app.settings["base_url"], service))
    service.threads.submit(service.pool.start)
    serverapp.log.info("xprof_nb | runs under %s", ", ".join(service.roots.folders))
