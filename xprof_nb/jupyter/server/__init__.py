"""The REST door: runs and answers for a browser without a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xprof_nb.jupyter.server.config import XprofNb
from xprof_nb.jupyter.server.handlers import Service, routes

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "xprof_nb.jupyter.server"}]


def _warm() -> None:
    """Load the decoder's compiled code in the background, so that the first profile opened does not wait for it."""
    from xprof_nb.formats.warm import warm

    warm()


def _load_jupyter_server_extension(serverapp: ServerApp) -> None:
    settings = XprofNb(parent=serverapp)
    service = Service(settings, serverapp.root_dir)
    web_app: Any = serverapp.web_app
    web_app.add_handlers(".*$", routes(web_app.settings["base_url"], service))
    _warm()
    serverapp.log.info("xprof_nb | runs under %s", ", ".join(service.roots.folders))
