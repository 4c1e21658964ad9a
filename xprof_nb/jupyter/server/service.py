"""What the routes of a server share."""

from __future__ import annotations

import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from xprof_nb.jupyter.server.paths import Roots
from xprof_nb.jupyter.server.questions import Terms
from xprof_nb.jupyter.server.watch import Watch
from xprof_nb.jupyter.server.workers import Pool
from xprof_nb.runs.layout import Limits

if TYPE_CHECKING:
    from xprof_nb.jupyter.server.config import XprofNb

_FILE_THREADS = 4


class Service:
    """Settings, roots, the list of runs, the workers, and the threads that wait for them.

    Attributes
    ----------
    threads
        For work on files, which is short.
    askers
        One for each worker: a question waits for its turn here.
    """

    def __init__(self, settings: XprofNb, base: str) -> None:
        self.settings = settings
        self.roots = Roots.of(base, settings.logdirs)
        self.watch = Watch(self.roots, Limits(depth=settings.scan_depth, seconds=settings.scan_seconds))
        terms = Terms(
            self.roots.base, self.roots.folders, settings.cache_bytes // settings.workers, settings.worker_bytes
        )
        self.pool = Pool(settings.workers, terms, settings.question_seconds)
        self.threads = ThreadPoolExecutor(_FILE_THREADS, thread_name_prefix="xprof-nb-files")
        self.askers = ThreadPoolExecutor(settings.workers, thread_name_prefix="xprof-nb-ask")
        # Of the server's end a module is not told: when nothing leads to the service any more, at the latest at exit.
        weakref.finalize(self, _end, self.pool, self.threads, self.askers)


def _end(pool: Pool, *threads: ThreadPoolExecutor) -> None:
    for some in threads:
        some.shutdown(wait=False, cancel_futures=True)
    pool.close()
