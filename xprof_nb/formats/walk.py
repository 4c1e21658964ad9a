"""Run the compiled walks: raise what they find, share the work among threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from xprof_nb.formats.codes import fault
from xprof_nb.formats.damage import damage
from xprof_nb.formats.source import Source

_THREADS = min(8, os.cpu_count() or 1)


def check(kernel: Callable[..., int], source: Source, place: str, *arguments: Any) -> int:
    """Call a kernel on the bytes of ``source``.

    Raises
    ------
    ProfileError
        The bytes of ``place`` ("plane '/host:CPU'") are damaged.
    """
    result = kernel(source.buf, *arguments)
    if result < 0:
        raise damage(source, *fault(result), place)
    return result


def in_threads(work: Callable[[int, int], None], parts: Sequence[tuple[int, int]]) -> None:
    """Do ``work(first, last)`` for every part; the first error is raised."""
    if len(parts) <= 1:
        for part in parts:
            work(*part)
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(lambda part: work(*part), parts):
            pass
