"""Where runs and compiled code are kept, and what lies there that nobody sees."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.doctor.finding import Finding, checked
from xprof_nb.errors import UsageError
from xprof_nb.model.cache import cache_dir
from xprof_nb.model.units import size
from xprof_nb.runs import default_logdir
from xprof_nb.runs.leftovers import leftovers
from xprof_nb.runs.manage import TRASH, discarded
from xprof_nb.runs.under_way import lost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST_FILES = 20_000


def look() -> Iterator[Finding]:
    """Look at the log dir, what was left unsaved, the trash, and the cache."""
    from xprof_nb.capture import store  # noqa: PLC0415 - as a capture does it

    logdir = Path(default_logdir())
    yield checked("log dir", lambda: store.check_writable(logdir), f"{logdir}{_free(logdir)}")
    yield from (Finding("unsaved run", "warning", str(left), f"it is in {left.folder}") for left in leftovers(logdir))
    yield from (Finding("lost capture", "warning", str(gone), f"or delete {gone.file}") for gone in lost(logdir))
    thrown = discarded(logdir)
    if thrown:
        taken = _size(file for folder in thrown for file in folder.rglob("*"))
        cure = f"`restore RUN` brings one back; delete {logdir / TRASH} to free the space"
        yield Finding("trash", "ok", f"{len(thrown)} run{'s' * (len(thrown) > 1)}, {size(taken)}", cure)
    yield from cache()


def cache() -> Iterator[Finding]:
    """Say where compiled code is kept, and whether there is any."""
    try:
        folder = cache_dir()
    except UsageError as refused:
        yield Finding("cache", "warning", f"{refused.what}: code is compiled anew in every process", refused.hint)
        return
    yield Finding("cache", "ok", f"{folder}, {size(_size(folder.rglob('*')))}{_free(folder)}")
    kernels = sum(1 for _ in islice((folder / "kernels").rglob("*.nbi"), _MOST_FILES))
    if kernels:
        yield Finding("kernels", "ok", f"{kernels} compiled kernels are kept")
        return
    cure = "%load_ext xprof_nb compiles in the background; or open any profile once"
    yield Finding("kernels", "warning", "nothing is compiled yet: the first profile takes some seconds longer", cure)


def _size(files: Iterable[Path]) -> int:
    total = 0
    for file in islice(files, _MOST_FILES):
        try:
            total += file.lstat().st_size
        except OSError:  # gone since it was listed
            continue
    return total


def _free(folder: Path) -> str:
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    try:
        return f", {size(shutil.disk_usage(there).free)} free"
    except OSError:
        return ""
