"""Whether two runs contain the same bytes."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xprof_nb.runs.layout import HostFile

CHUNK_BYTES = 8 * 2**20
MOST_FILES = 8


def identity(files: Sequence[HostFile]) -> str:
    """Return a hash of what the files contain, in the order of their hosts: equal bytes, equal identity.

    Reads every byte (SHA-256, for which processors have instructions, in chunks on several cores): size and time
    alone would call a file that was overwritten within the clock's grain the same.

    Raises
    ------
    NotFoundError
        A file cannot be read any more.
    """
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(MOST_FILES) as files_pool, ThreadPoolExecutor(cores) as pool:  # hashing releases the GIL
        digests = list(files_pool.map(partial(_of_file, pool), sorted(files, key=lambda file: file.host)))
    return hashlib.sha256(b"".join(digests)).hexdigest()[:32]


def _of_file(pool: Executor, file: HostFile) -> bytes:
    source = file.source()
    try:
        size = len(source) if isinstance(source, bytes) else Path(source).stat().st_size
        return _hashed(b"".join(pool.map(partial(_of_chunk, source), range(0, size, CHUNK_BYTES))))
    except OSError as refused:
        raise NotFoundError(f"cannot be read ({refused.strerror})", file=file.path) from refused


def _of_chunk(source: bytes | str, begin: int) -> bytes:
    if isinstance(source, bytes):
        return _hashed(memoryview(source)[begin : begin + CHUNK_BYTES])
    with Path(source).open("rb") as stream:
        stream.seek(begin)
        return _hashed(stream.read(CHUNK_BYTES))


def _hashed(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).digest()
