"""A Jupyter server with the extension, roots with runs in them, and a question that echoes what it was asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from xprof_nb import queries
from xprof_nb.errors import DamagedFileError, ProfileError
from xprof_nb.jupyter.server.desk import Desk
from xprof_nb.jupyter.server.questions import Answered, Terms
from xprof_nb.jupyter.server.workers import Job, Pool
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.params import EventsParams
from xprof_nb.runs.layout import RunFiles

WriteRun = Callable[..., Path]


def limited(profile: ProfileData, params: EventsParams) -> Answer:
    return Answer(pd.DataFrame({"limit": [params.limit]}))


@dataclass(frozen=True)
class EchoParams:
    text: str = ""
    fail: str = ""


def echo(profile: ProfileData, params: EchoParams) -> Answer:
    if params.fail == "profile":
        raise ProfileError("there is no step in this profile", hint="Annotate steps.")
    if params.fail == "bug":
        raise RuntimeError("secret detail")
    frame = pd.DataFrame({"path": [profile.path], "text": [params.text]})
    return Answer(frame, {"name": profile.name}, ("a note",))


def open_run(run: RunFiles) -> ProfileData:
    (file,) = (Path(file.path) for file in run.files)
    if file.read_bytes() != b"profile":
        raise DamagedFileError("cut short", file=file, position=3, hint="Copy it again.")
    return ProfileData(name=file.parent.name, path=run.folder, origin="opened", hosts=(), programs={})


def build(profile: ProfileData, view: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"version": 1, "view": view, "params": params, "run": {"name": profile.name}}


class InThisProcess(Pool):
    """Answers where the stand-ins are."""

    def __init__(self, count: int, terms: Terms, limit_s: float) -> None:
        super().__init__(count, terms, limit_s)
        self._desk = Desk(terms)

    def answer(self, job: Job) -> Answered:
        job.state = "running"
        return self._desk.answer(job.question)

    def start(self) -> None:
        pass


@pytest.fixture
def write_run() -> WriteRun:
    """Return a function that writes one run into a log dir and returns its folder."""

    def write(logdir: Path, name: str, content: bytes = b"profile") -> Path:
        folder = logdir / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        (folder / "host0.xplane.pb").write_bytes(content)
        return folder

    return write


@pytest.fixture
def jp_server_config(logdir: Path) -> dict[str, Any]:
    return {
        "ServerApp": {"jpserver_extensions": {"xprof_nb": True}},
        "XprofNb": {"logdirs": [str(logdir)], "request_bytes": 8192},
    }


@pytest.fixture
def logdir(tmp_path: Path, write_run: WriteRun) -> Path:
    """Return a log dir outside the server's root folder, with one run, ``train``, in it."""
    return write_run(tmp_path / "elsewhere", "train").parents[2]


@pytest.fixture
def secret(tmp_path: Path, jp_root_dir: Path, write_run: WriteRun) -> Path:
    """Return a log dir outside every root, with a run in it and a link to it from the server's root folder."""
    folder = write_run(tmp_path / "elsewhere-secret", "secret").parents[2]
    (jp_root_dir / "link-out").symlink_to(folder)
    return folder


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace decoding and analysis, for tests that are about the door."""
    opening, snapshot = ModuleType("xprof_nb.runs.opening"), ModuleType("xprof_nb.snapshot")
    opening.open_run, snapshot.build_live = open_run, build
    monkeypatch.setattr("xprof_nb.jupyter.server.service.Pool", InThisProcess)
    for module in (opening, snapshot):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("xprof_nb.snapshot", snapshot, raising=False)
    monkeypatch.setitem(queries.REGISTER, "echo", queries.Query("echo", EchoParams, echo))
    monkeypatch.setitem(queries.REGISTER, "events", queries.Query("events", EventsParams, limited))
