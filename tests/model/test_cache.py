"""The folder for what can be made again."""

import os
from pathlib import Path

import pytest

from xprof_nb.errors import UsageError
from xprof_nb.model.cache import cache_dir


def test_the_variable_names_the_folder_and_it_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(tmp_path / "a" / "b"))
    assert cache_dir() == tmp_path / "a" / "b"
    assert cache_dir().is_dir()


def test_without_it_the_users_cache_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("XPROF_NB_CACHE_DIR", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "xprof-nb"


def test_a_user_without_a_writable_home_gets_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("XPROF_NB_CACHE_DIR", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    file = tmp_path / "not a folder"
    file.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_dir().parent == tmp_path


def test_a_folder_asked_for_that_cannot_be_written_says_so(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(file))
    with pytest.raises(UsageError, match="XPROF_NB_CACHE_DIR") as caught:
        cache_dir()
    assert str(file) in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_not_trusted(tmp_path, monkeypatch):
    folder = Path(tmp_path / "theirs")
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(folder))
    with pytest.raises(UsageError):
        cache_dir()
