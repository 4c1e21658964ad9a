from __future__ import annotations

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import xprof_nb as xp
from tests.capture.captured import names_in, op_names
from xprof_nb.capture.upload import upload
from xprof_nb.errors import CaptureError

TARGET = "memory://bucket/logs"


@pytest.fixture(autouse=True)
def bucket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = fsspec.filesystem("memory")
    yield files
    files.rm("/bucket", recursive=True) if files.exists("/bucket") else None


def test_a_run_is_saved_here_and_copied_there(matmul, tmp_path, bucket) -> None:
    for _ in range(2):
        with xp.capture("train", TARGET) as captured:
            matmul().block_until_ready()
    assert captured.folder == tmp_path / "xprof-logs" / "plugins" / "profile" / "train-2"
    there = [name.rpartition("/")[2] for name in bucket.ls("/bucket/logs/plugins/profile", detail=False)]
    assert sorted(there) == ["train", "train-2"]
    (file,) = captured.folder.glob("*.xplane.pb")
    assert bucket.cat_file(f"/bucket/logs/plugins/profile/train-2/{file.name}") == file.read_bytes()
    assert list(xp.runs(TARGET)["run"]) == ["train-2", "train"]


def test_a_copy_that_fails_keeps_the_run_and_says_how_to_try_again(matmul, tmp_path, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no write access")

    with monkeypatch.context() as patch:
        patch.setattr(MemoryFileSystem, "put_file", refuse)
        captured = xp.capture("kept", TARGET)
        with pytest.raises(CaptureError, match=r"no write access.*saved as.*Try again") as failed, captured:
            matmul().block_until_ready()
    assert op_names(captured.folder)
    with xp.capture("next", TARGET):
        pass
    found: dict[str, object] = {}
    exec(failed.value.hint.removeprefix("Try again: "), found)  # the line is one to paste
    assert set(xp.runs(TARGET)["run"]) == {"kept", "next"}


def test_a_copy_that_is_cut_is_noticed(tmp_path, monkeypatch) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.xplane.pb").write_bytes(b"12345")
    monkeypatch.setattr(MemoryFileSystem, "put_file", lambda files, here, there: files.pipe_file(there, b"123"))
    with pytest.raises(CaptureError, match="is shorter than"):
        upload(tmp_path / "run", TARGET)
    assert names_in(tmp_path / "run") == ["a.xplane.pb"]
    assert not fsspec.filesystem("memory").exists("/bucket/logs/plugins/profile/run")


def test_the_address_is_looked_at_before_anything_is_recorded(tmp_path) -> None:
    with pytest.raises(xp.ProfileError, match="nosuch"):
        xp.capture("a", "nosuch://bucket")
    assert names_in(tmp_path) == []
