"""What is in a folder: the local disk, or whatever file system `fsspec` knows behind a URL."""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from xprof_nb.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

# Two letters at least: "C:\logs" and "C:/logs" are Windows paths, not URLs of the scheme "c".
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class Entry:
    """One name in a folder; a link counts as what it points to."""

    name: str
    path: str
    is_folder: bool


@dataclass(frozen=True)
class FileFacts:
    """What is known of a file without reading it.

    Attributes
    ----------
    modified_ns
        Unix time of the last change; 0 when the file system does not say.
    """

    size_bytes: int
    modified_ns: int


class Place(Protocol):
    """A file system, seen as far as finding and reading profiles needs it. Methods raise `OSError`."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """Yield what the folder holds."""

    def facts(self, file: str) -> FileFacts:
        """Return size and time of a file."""

    def is_file(self, path: str) -> bool:
        """Tell whether the path is a file."""

    def is_folder(self, path: str) -> bool:
        """Tell whether the path is a folder."""

    def same_folder_key(self, folder: str) -> Hashable:
        """Return a key that is equal for two paths to one folder."""

    def read(self, file: str) -> bytes:
        """Return what the file contains."""

    def read_part(self, file: str, start: int, end: int) -> bytes:
        """Return what the file contains from one position to another."""

    def parent(self, path: str) -> str:
        """Return the folder that holds the path; the path itself at the top."""

    def join(self, folder: str, name: str) -> str:
        """Return the path of a name in a folder."""


def is_url(path: str) -> bool:
    """Tell a URL from a path; a Windows drive letter is not a scheme."""
    return _URL.match(path) is not None


def locate(path: str | os.PathLike[str]) -> tuple[Place, str]:
    """Return the file system a path is on, and the path as that file system writes it.

    Raises
    ------
    UsageError
        The path is empty, holds a NUL byte, or is a URL nothing installed can read.
    """
    text = os.fspath(path)
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is not a path", hint="Give a file, a run folder, a log dir or a URL.")
    if not is_url(text):
        return LOCAL, _absolute(text)
    if text.lower().startswith("file://"):
        return LOCAL, _absolute(url2pathname(urlsplit(text).path))
    return _Remote.at(text), text.rstrip("/")


def _absolute(path: str) -> str:
    """Return the full path without ``..``, links left as they are: people read it back in messages."""
    return os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - Path.absolute keeps the dots


class _Local:
    """The local disk."""

    def entries(self, folder: str) -> Iterator[Entry]:
        with os.scandir(folder) as found:
            for entry in found:
                yield Entry(entry.name, entry.path, _is_folder(entry))

    def facts(self, file: str) -> FileFacts:
        status = Path(file).stat()
        return FileFacts(status.st_size, status.st_mtime_ns)

    def is_file(self, path: str) -> bool:
        return Path(path).is_file()

    def is_folder(self, path: str) -> bool:
        return Path(path).is_dir()

    def same_folder_key(self, folder: str) -> Hashable:
        status = Path(folder).stat()
        return (status.st_dev, status.st_ino) if status.st_ino else str(Path(folder).resolve())

    def __reduce__(self) -> str:
        return "LOCAL"  # the one local disk, in whatever process

    def read(self, file: str) -> bytes:
        return Path(file).read_bytes()

    def read_part(self, file: str, start: int, end: int) -> bytes:
        with Path(file).open("rb") as stream:
            stream.seek(start)
            return stream.read(end - start)

    def parent(self, path: str) -> str:
        return str(Path(path).parent)

    def join(self, folder: str, name: str) -> str:
        return str(Path(folder) / name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that loops, or into a folder that may not be entered
        return False


LOCAL: Place = _Local()


@dataclass(frozen=True)
class _Remote:
    """A file system behind a URL, through fsspec."""

    files: Any
    scheme: str

    @classmethod
    def at(cls, url: str) -> _Remote:
        scheme = urlsplit(url).scheme.lower()
        import fsspec  # noqa: PLC0415 - a local path should not pay for it

        try:
            return cls(fsspec.filesystem(scheme), scheme)
        except ImportError as missing:
            raise UsageError(f"{scheme}:// needs a package that is not installed", hint=f"{missing}.") from missing
        except ValueError as unknown:
            raise UsageError(
                f"{scheme}:// is not a kind of URL that can be read here",
                hint="Use a path, or a URL fsspec knows, such as gs://bucket/folder.",
            ) from unknown
        except Exception as refused:  # credentials and network fail in a hundred ways
            raise NotFoundError(f"{scheme}:// cannot be reached", hint=f"{refused}.") from refused

    def entries(self, folder: str) -> Iterator[Entry]:
        for found in self._ask("ls", folder, detail=True):
            path = f"{self.scheme}://{str(found['name']).lstrip('/')}"
            if path.rstrip("/") != folder:  # object stores list the folder's own marker
                yield Entry(posixpath.basename(path.rstrip("/")), path.rstrip("/"), found["type"] == "directory")

    def facts(self, file: str) -> FileFacts:
        size_bytes = int(self._ask("info", file).get("size") or 0)
        try:
            modified_ns = int(self.files.modified(file).timestamp() * 1e9)
        except Exception:  # many file systems keep no time
            modified_ns = 0
        return FileFacts(size_bytes, modified_ns)

    def is_file(self, path: str) -> bool:
        return self._kind(path) == "file"

    def is_folder(self, path: str) -> bool:
        return self._kind(path) == "directory"

    def same_folder_key(self, folder: str) -> Hashable:
        return folder

    def read(self, file: str) -> bytes:
        return bytes(self._ask("cat_file", file))

    def read_part(self, file: str, start: int, end: int) -> bytes:
        return bytes(self._ask("cat_file", file, start=start, end=end))

    def parent(self, path: str) -> str:
        head = path.rpartition("/")[0]
        return path if head.endswith("/") or ":" not in head else head

    def join(self, folder: str, name: str) -> str:
        return f"{folder}/{name}"

    def _kind(self, path: str) -> str:
        """Return the kind of a path, "" if there is none; unlike fsspec's `isfile`, say so when it cannot be asked."""
        try:
            return str(self._ask("info", path)["type"])
        except FileNotFoundError:
            return ""

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        try:
            return getattr(self.files, method)(path, **options)
        except OSError:
            raise
        except Exception as failed:  # one kind of failure for callers, whatever the driver raised
            raise OSError(f"{type(failed).__name__}: {failed}") from failed
