"""What an administrator can set: ``c.XprofNb.… = …`` in ``jupyter_server_config.py``."""

from __future__ import annotations

from traitlets import Float, Int, List, Unicode
from traitlets.config import Configurable


class XprofNb(Configurable):  # type: ignore[misc]
    """Settings of the server extension."""

    logdirs = List(
        Unicode(),
        help="Folders (or URLs fsspec can read) whose runs may be listed and opened, beside the server's root folder "
        "and $XPROF_NB_LOGDIR. Relative ones count from the server's root folder.",
    ).tag(config=True)
    scan_depth = Int(6, min=0, help="How many folders deep to look for runs.").tag(config=True)
    scan_seconds = Float(
        20.0, min=0.1, help="How long a look for runs may take, in the background; what is not seen by then is cut."
    ).tag(config=True)
    cache_bytes = Int(
        2 * 2**30,
        min=0,
        help="Opened profiles are kept for the next question up to this size of their files, over all workers.",
    ).tag(config=True)
    request_bytes = Int(2**20, min=1024, help="Largest request body, but for an import.").tag(config=True)
    import_bytes = Int(4 * 2**30, min=1024, help="Largest zip that may be imported.").tag(config=True)
    thumbnail_bytes = Int(
        64 * 2**20, min=0, help="Runs larger than this get no thumbnail in the list, since it takes opening them."
    ).tag(config=True)
    workers = Int(2, min=1, help="How many processes answer questions, one at a time each.").tag(config=True)
    worker_bytes = Int(
        8 * 2**30, min=2**28, help="How much memory a worker may take, where the system can hold it to that (Linux)."
    ).tag(config=True)
    question_seconds = Float(300.0, min=0.1, help="How long a question may take.").tag(config=True)
