"""A run as one zip, to send and to take in: ``<run>/<host>.xplane.pb`` … and what its capture recorded."""

from __future__ import annotations

import os
import shutil
import stat
import unicodedata
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from xprof_nb.errors import DamagedFileError, NotAProfileError, NotFoundError, ProfileError, UsageError
from xprof_nb.model.units import listed, size
from xprof_nb.runs import sidecar
from xprof_nb.runs.layout import SUFFIX, SUFFIXES
from xprof_nb.runs.leftovers import is_whole_file
from xprof_nb.runs.names import check_name
from xprof_nb.runs.shelf import new_staging, publish, runs_folder
from xprof_nb.runs.sidecar import Sidecar

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ENTRIES = 10_000
LARGEST_BYTES = 64 * 2**30
LARGEST_GROWTH = 200
"""A profile packs to a tenth or so; what unpacks to more than this many times its size was made to fill disks."""
MIN_FREE_BYTES = 64 * 2**20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BLOCK_BYTES = 2**20
_ENCRYPTED = 0x1
_HINT = "Ask for it again, or make it with `export RUN -o FILE.zip`."


def export(folder: Path, target: str | os.PathLike[str]) -> Path:
    """Write a run as one zip: the profiles of its hosts and its sidecar, nothing else that lies there.

    Raises
    ------
    NotFoundError
        There is no profile in the folder.
    ProfileError
        A file of that name exists, or it cannot be written.
    """
    target = Path(target).expanduser().absolute()
    if target.exists():
        raise ProfileError("exists already", file=target, hint="Choose another name, or remove it first.")
    staged = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        files = [file for file in sorted(folder.iterdir()) if _belongs(file.name) and file.is_file()]
        if not any(file.name.endswith(SUFFIXES) for file in files):
            raise NotFoundError("no profile to export", file=folder, hint="`ls` lists the runs.")
        with zipfile.ZipFile(staged, "x", zipfile.ZIP_DEFLATED, compresslevel=6, strict_timestamps=False) as packed:
            for file in files:
                packed.write(file, f"{folder.name}/{file.name}")
        staged.rename(target)
    except OSError as refused:
        raise ProfileError(
            f"the run cannot be exported ({refused.strerror or refused})",
            file=target,
            hint="Choose another place with -o.",
        ) from refused
    finally:
        staged.unlink(missing_ok=True)
    return target


def take_in(file: str | os.PathLike[str], logdir: Path) -> Path:
    """Put the run of a zip among those of a log dir, ``-2`` … added if its name is taken; return its folder.

    Names inside the zip are never used as paths: profiles and sidecar go, by their last name, into one new folder.

    Raises
    ------
    NotFoundError
        There is no such file.
    NotAProfileError
        It is no zip, or holds no run, or more than one.
    DamagedFileError
        It is cut or corrupt.
    ProfileError
        It would leave its folder or fill the disk, or the log dir cannot be written.
    """
    path = Path(file).expanduser()
    staging = None
    try:
        with zipfile.ZipFile(path) as packed:
            entries, name = _run_in(packed, path)
            staging = new_staging(logdir)
            folder = staging / name
            folder.mkdir()
            _check_size(entries, path, shutil.disk_usage(logdir).free)
            for entry in entries:
                with packed.open(entry) as source, (folder / _last(entry)).open("xb") as sink:
                    _copy(source, sink, entry, path)
        _check_profiles(folder, path)
        if sidecar.read(folder) is None:
            sidecar.write(folder, Sidecar(name=name, origin="opened"))
        return publish(folder, runs_folder(logdir), name)
    except FileNotFoundError as missing:
        raise NotFoundError(f"there is no {missing.filename or path}") from missing
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as broken:
        if not path.is_file() or not zipfile.is_zipfile(path):
            raise NotAProfileError("is no zip archive", file=path, hint=_HINT) from broken
        raise DamagedFileError(f"the zip cannot be read ({broken})", file=path, hint=_HINT) from broken
    except OSError as refused:
        raise ProfileError(
            f"the run cannot be imported ({refused.strerror or refused})",
            file=path,
            hint="See that the file can be read and the log dir written.",
        ) from refused
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)


def _run_in(packed: zipfile.ZipFile, path: Path) -> tuple[list[zipfile.ZipInfo], str]:
    """Return the entries of the one run in a zip, and its name."""
    infos = packed.infolist()
    if len(infos) > MOST_ENTRIES:
        raise NotAProfileError(f"holds {len(infos):,} files, which no run does", file=path, hint=_HINT)
    for info in infos:
        _check_entry(info, path)
    kept = [info for info in infos if not info.is_dir() and _belongs(_last(info))]
    homes = sorted({_home(info) for info in kept if _last(info).endswith(SUFFIXES)})
    if not homes:
        names = listed(repr(info.filename[:60]) for info in infos) or "nothing"
        raise NotAProfileError(f"holds no profile, but {names}", file=path, hint=_HINT)
    if len(homes) > 1:
        raise NotAProfileError(
            f"holds {len(homes)} runs: {listed(home.rpartition('/')[2] or '.' for home in homes)}",
            file=path,
            hint="Unpack it and open the folder, or export one run a file.",
        )
    entries = [info for info in kept if _home(info) == homes[0]]
    if len({_last(info).casefold() for info in entries}) < len(entries):
        raise NotAProfileError("holds two files of one name", file=path, hint=_HINT)
    return entries, _name_of(homes[0], path)


def _check_entry(info: zipfile.ZipInfo, path: Path) -> None:
    """Refuse what an honest archive does not hold, whether or not it would be unpacked."""
    parts = PurePosixPath(info.filename).parts
    mode = info.external_attr >> 16
    odd = any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in info.orig_filename)
    leaves = info.filename.startswith("/") or ".." in parts or "\\" in info.orig_filename or ":" in info.filename
    if leaves or odd or not parts:
        raise NotAProfileError(f"holds {info.orig_filename[:60]!r}, which leaves its folder", file=path, hint=_HINT)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise NotAProfileError(f"holds {info.filename[:60]!r}, a link or device", file=path, hint=_HINT)
    if info.flag_bits & _ENCRYPTED:
        raise NotAProfileError("is locked with a password", file=path, hint="Unpack it, and open the folder.")
    if info.compress_type not in _METHODS:
        raise NotAProfileError("is packed in a way that is not read here", file=path, hint=_HINT)


def _check_size(entries: Sequence[zipfile.ZipInfo], path: Path, free_bytes: int) -> None:
    total = sum(info.file_size for info in entries)
    if total > LARGEST_BYTES or total > LARGEST_GROWTH * path.stat().st_size + _BLOCK_BYTES:
        raise NotAProfileError(
            f"would unpack {size(path.stat().st_size)} to {size(total)}, as no profile does", file=path, hint=_HINT
        )
    if total + MIN_FREE_BYTES > free_bytes:
        raise ProfileError(
            f"needs {size(total)} where {size(free_bytes)} are free",
            file=path,
            hint="Free some space, or import into another --logdir.",
        )


def _copy(source: IO[bytes], sink: IO[bytes], entry: zipfile.ZipInfo, path: Path) -> None:
    """Unpack one entry, and no more than it said: that is what was checked."""
    left = entry.file_size
    while block := source.read(_BLOCK_BYTES):
        left -= len(block)
        if left < 0:
            raise DamagedFileError(f"holds more of {entry.filename!r} than it says", file=path, hint=_HINT)
        sink.write(block)
    if left:
        raise DamagedFileError(f"holds less of {entry.filename!r} than it says", file=path, hint=_HINT)


def _check_profiles(folder: Path, path: Path) -> None:
    broken = [file.name for file in folder.iterdir() if file.name.endswith(SUFFIX) and not is_whole_file(file)]
    if broken:
        raise NotAProfileError(f"holds {listed(sorted(broken))}, which is no whole profile", file=path, hint=_HINT)


def _name_of(home: str, path: Path) -> str:
    """Name a run after its folder in the zip, else after the zip."""
    for name in (home.rpartition("/")[2], path.stem, "imported"):
        try:
            return check_name(name)
        except UsageError:
            continue
    raise AssertionError("unreachable: the last name is one")


def _belongs(name: str) -> bool:
    return (name.endswith(SUFFIXES) and not name.startswith(".")) or name == sidecar.FILE_NAME


def _last(info: zipfile.ZipInfo) -> str:
    return PurePosixPath(info.filename).name


def _home(info: zipfile.ZipInfo) -> str:
    return str(PurePosixPath(info.filename).parent)
