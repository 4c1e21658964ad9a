"""Runs as a capture saves them, without one."""

from __future__ import annotations

from pathlib import Path

from xprof_nb.runs import sidecar
from xprof_nb.runs.sidecar import Sidecar

DATA = b"\x0a\x00"  # an XSpace of one empty plane


def made_run(logdir: Path, name: str, *, other: dict[str, object] | None = None) -> Path:
    folder = logdir / "plugins" / "profile" / name
    folder.mkdir(parents=True)
    (folder / "host.xplane.pb").write_bytes(DATA)
    sidecar.write(folder, Sidecar(name=name, note="first", other=other or {}))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
