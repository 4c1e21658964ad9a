"""Which runs there are, and what can be said of each without opening it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from xprof_nb.errors import NotFoundError
from xprof_nb.runs.layout import RunFiles, Scan, default_logdir, scan
from xprof_nb.runs.leftovers import leftovers
from xprof_nb.runs.places import is_url, locate
from xprof_nb.runs.sidecar import Sidecar
from xprof_nb.runs.under_way import lost

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


@dataclass(frozen=True)
class Listed:
    """One run, as a list shows it.

    Attributes
    ----------
    started
        UTC; when the files were written if the capture did not say.
    duration_s
        None when nobody recorded it.
    device
        ``"TPU v6 lite × 4"``; None when nobody recorded it.
    """

    run: str
    started: datetime | None
    duration_s: float | None
    host_count: int
    bytes: int
    origin: str
    device: str | None
    note: str
    tags: tuple[str, ...]
    path: str
    logdir: str


def runs(logdir: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return the runs under a log dir, newest first.

    Parameters
    ----------
    logdir
        A log dir or any folder above one; `default_logdir` when None.

    Returns
    -------
    One row a run with the columns of `Listed`, times as ``datetime64[ns, UTC]``. ``frame.attrs["notes"]`` says
    why there are none, or that the search ended before it had seen everything.

    Raises
    ------
    NotFoundError
        The log dir that was asked for does not exist.
    """
    import pandas as pd  # noqa: PLC0415 - the server lists runs without it

    where = default_logdir() if logdir is None else os.fspath(logdir)
    place, folder = locate(where)
    if place.is_folder(folder):
        found = scan(folder)
    elif logdir is None:
        found = Scan((), 0, (), truncated=False)
    else:
        raise NotFoundError(f"there is no log dir {folder}", hint="Give a folder that holds runs.")
    frame = pd.DataFrame([asdict(row) for row in listed(found.runs)], columns=[item.name for item in fields(Listed)])
    frame["started"] = pd.to_datetime(frame["started"], utc=True).astype("datetime64[ns, UTC]")
    frame["duration_s"] = frame["duration_s"].astype("float64")
    frame[["host_count", "bytes"]] = frame[["host_count", "bytes"]].astype("int64")
    frame.attrs["notes"] = remarks(folder, found)
    return frame


def listed(found: Iterable[RunFiles]) -> list[Listed]:
    """Describe runs, newest first."""
    return [_describe(run) for run in sorted(found, key=lambda run: (run.started_ns, run.run), reverse=True)]


def remarks(folder: str, found: Scan) -> list[str]:
    """Say what a list of runs does not show: why it is empty, and where the search could not go."""
    said = []
    if not found.runs:
        exists = is_url(folder) or Path(folder).exists()
        said.append(
            f"No runs in {folder} yet; %xprof capture 3s makes one."
            if exists
            else f"{folder} does not exist yet; %xprof capture 3s makes it."
        )
    if found.truncated:
        said.append(
            f"The search of {folder} was cut after {found.folders:,} folders; "
            "a log dir closer to the runs shows them all."
        )
    said.extend(f"{unreadable} may not be read." for unreadable in found.unreadable)
    if not is_url(folder):
        said.extend(str(gone) for gone in (*leftovers(Path(folder)), *lost(Path(folder))))
    return said


def _describe(run: RunFiles) -> Listed:
    about = run.sidecar or Sidecar(origin="opened")
    return Listed(
        run=run.run,
        started=datetime.fromtimestamp(run.started_ns / 1e9, UTC) if run.started_ns else None,
        duration_s=about.duration_s,
        host_count=len(run.files),
        bytes=run.size_bytes,
        origin=about.origin,
        device=_device(about),
        note=about.note,
        tags=about.tags,
        path=run.folder,
        logdir=run.logdir,
    )


def _device(about: Sidecar) -> str | None:
    kinds = Counter(str(device.get("kind") or device.get("platform") or "") for device in about.devices)
    return ", ".join(f"{kind} × {count}" if count > 1 else kind for kind, count in kinds.items() if kind) or None
