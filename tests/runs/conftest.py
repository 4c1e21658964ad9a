"""Log dirs made by hand; the files are named like profiles and hold any bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Return a function that writes one run into ``tmp_path/logs`` and returns its folder."""

    def make(name: str, *hosts: str, logdir: str = "logs", content: bytes = b"profile") -> Path:
        folder = tmp_path / logdir / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        for host in hosts or ("host0",):
            (folder / f"{host}.xplane.pb").write_bytes(content)
        return folder

    return make
