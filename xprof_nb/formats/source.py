"""The bytes of a file: read or mapped, named in errors, and given back to the system when they have been read."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

import numpy as np
import numpy.typing as npt

from xprof_nb.errors import DamagedFileError, NotAProfileError, NotFoundError, ProfileError

SMALL_BYTES = 4_000_000
"""Files up to this size are held in memory: neither reading nor keeping them costs anything to speak of."""


class Source:
    """Read-only bytes under a name.

    Attributes
    ----------
    name
        What errors call it.
    buf
        The bytes, uint8[n], read-only.
    view
        The same bytes.
    """

    def __init__(self, data: bytes | memoryview | mmap.mmap, name: str) -> None:
        self.name = name
        self.view = memoryview(data).cast("B").toreadonly()
        self.buf = np.frombuffer(self.view, np.uint8)
        self._map = data if isinstance(data, mmap.mmap) else None

    def __len__(self) -> int:
        return len(self.view)

    def text(self, start: int, end: int) -> str:
        """Return checked UTF-8 bytes as text."""
        return str(self.view[start:end], "utf-8", "replace") if end > start else ""

    def let_go_of(self, where: npt.NDArray[np.int64]) -> None:
        """Let go of the part in which these positions are."""
        if self._map is not None and len(where):
            self.let_go(int(where.min()), int(where.max()))

    def let_go(self, start: int, end: int) -> None:
        """Tell the system that this part has been read: mapped pages count as this process's memory until then."""
        if self._map is None or not hasattr(self._map, "madvise"):
            return
        start = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        end = end // mmap.PAGESIZE * mmap.PAGESIZE
        if end > start:
            self._map.madvise(mmap.MADV_DONTNEED, start, end - start)


def open_source(source: str | os.PathLike[str] | bytes | bytearray | memoryview, name: str | None = None) -> Source:
    """Return the bytes of a path, or the bytes given.

    Raises
    ------
    NotFoundError
        No such file.
    DamagedFileError
        The file is empty.
    ProfileError
        The file cannot be read.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        opened = Source(_one_block(source), name or "<bytes>")
    else:
        opened = _map_file(Path(source))
        opened.name = name or opened.name
    if not len(opened):
        raise _empty(opened.name)
    return opened


def _one_block(data: bytes | bytearray | memoryview) -> bytes | memoryview:
    """Return bytes in one piece, that nobody changes meanwhile."""
    if isinstance(data, bytes):
        return data
    view = memoryview(data)
    return view if view.readonly and view.c_contiguous else bytes(view)


def _map_file(path: Path) -> Source:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise NotAProfileError("this is a folder", file=path, hint="Name a *.xplane.pb file in it.")
        if not stat.S_ISREG(mode):  # a pipe or a device might never end
            raise NotAProfileError("this is not a regular file", file=path, hint="Copy its contents to a file first.")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= SMALL_BYTES:
                return Source(file.read(), str(path))
            return Source(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ), str(path))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError("there is no such file", file=path, hint="Check the path.") from None
    except (OSError, ValueError) as error:
        raise ProfileError(f"cannot be read ({_reason(error)})", file=path) from error


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error)


def _empty(name: str) -> DamagedFileError:
    return DamagedFileError(
        "the file is empty (0 bytes)",
        file=name,
        position=0,
        hint="Some profilers save a capture of more than 2 GiB as 0 bytes: capture a shorter time, or copy it again.",
    )
