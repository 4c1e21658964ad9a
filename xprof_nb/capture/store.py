"""Putting a collected profile where everybody looks for it, whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xprof_nb.errors import CaptureError
from xprof_nb.formats.framing import is_whole
from xprof_nb.runs import sidecar
from xprof_nb.runs.names import host_name
from xprof_nb.runs.shelf import new_staging, new_staging_elsewhere, publish, runs_folder, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from xprof_nb.runs.sidecar import Sidecar

MIN_FREE_BYTES = 64 * 2**20


def check_writable(logdir: Path) -> None:
    """Raise CaptureError unless a run can be saved below ``logdir``: better before the capture than after it."""
    try:
        with _staged(logdir) as folder:
            (folder / "probe").write_bytes(b"xprof_nb")
            (folder / "probe").unlink()
        runs_folder(logdir).mkdir(parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(logdir).free
    except OSError as refused:
        raise CaptureError(
            f"the log dir cannot be written ({refused.strerror or refused})",
            file=logdir,
            hint="Pass another `logdir`, or set $XPROF_NB_LOGDIR.",
        ) from refused
    if free_bytes < MIN_FREE_BYTES:
        raise CaptureError(
            f"only {free_bytes / 2**20:.0f} MiB are free at the log dir; a capture wants {MIN_FREE_BYTES >> 20}",
            file=logdir,
            hint="Free some space, pass another `logdir`, or set $XPROF_NB_LOGDIR.",
        )


def check_profile(data: bytes) -> None:
    """Raise CaptureError unless ``data`` is a whole XSpace."""
    if not data:
        raise CaptureError(
            "the profiler returned nothing",
            hint="A profile of more than 2 GiB comes back empty: capture a shorter time, or trace less.",
        )
    if not is_whole(data):
        raise CaptureError("the profiler returned bytes that are not a whole profile")


def save(data: bytes, logdir: Path, name: str, record: Sidecar) -> Path:
    """Write a run of this host, see `save_hosts`."""
    return save_hosts({file_name(): data}, logdir, name, record)


def save_hosts(files: Mapping[str, bytes], logdir: Path, name: str, record: Sidecar) -> Path:
    """Write one run and return its folder, ``<logdir>/plugins/profile/<name>``, or ``<name>-2`` … if taken.

    Parameters
    ----------
    files
        The profile of each host, by the name of its file.

    The run is written aside, on the same file system, and renamed: nobody ever sees half of it.

    Raises
    ------
    CaptureError
        It could not be put there. What was collected is kept, and the error says where.
    """
    aside, trouble = _write_aside(files, logdir, name, record)
    if trouble is None:
        try:
            folder = publish(aside, runs_folder(logdir), name)
        except OSError as error:
            trouble = error
        else:
            tidy(aside.parent)
            return folder
    raise CaptureError(
        f"the run could not be saved below {logdir} ({trouble.strerror or trouble}); "
        f"the profile is kept as {aside / next(iter(files)) if len(files) == 1 else aside}",
        hint=f"`restore {name!r}` puts it there when the cause is gone; meanwhile it can be opened where it is.",
    ) from trouble


def file_name() -> str:
    """Return the name of this host's file in a run."""
    return f"{host_name()}.xplane.pb"


def _write_aside(files: Mapping[str, bytes], logdir: Path, name: str, record: Sidecar) -> tuple[Path, OSError | None]:
    """Write the run to the log dir's staging, else to the temporary folder; return where, and why not the first."""
    try:
        return _write(files, new_staging(logdir) / name, record), None
    except OSError as first:
        trouble = first
    try:
        return _write(files, new_staging_elsewhere() / name, record), trouble
    except OSError as second:
        raise CaptureError(
            f"neither the log dir nor {tempfile.gettempdir()} takes the profile ({second.strerror or second})",
            file=logdir,
            hint="It is still in memory: free some space, then call `.save()` of the capture.",
        ) from second


def _write(files: Mapping[str, bytes], folder: Path, record: Sidecar) -> Path:
    folder.mkdir()
    try:
        for name, data in files.items():
            _write_file(folder / name, data)
        sidecar.write(folder, record)
    except OSError:
        shutil.rmtree(folder.parent, ignore_errors=True)
        raise
    return folder


def _write_file(file: Path, data: bytes) -> None:
    with file.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    if file.stat().st_size != len(data):
        raise OSError(errno.EIO, "fewer bytes arrived than were written")


@contextmanager
def _staged(logdir: Path) -> Iterator[Path]:
    """Make a staging folder that is gone again afterwards."""
    folder = new_staging(logdir)
    try:
        yield folder
    finally:
        tidy(folder)
