from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.capture.captured import names_in
from xprof_nb.capture import store
from xprof_nb.capture.local import Capture
from xprof_nb.errors import CaptureError
from xprof_nb.runs.sidecar import Sidecar

DATA = b"\x0a\x00"  # an XSpace of one empty plane


def kept_file(error: CaptureError) -> Path:
    return Path(str(error).partition("kept as ")[2].partition(". ")[0])


def test_the_run_appears_whole_or_not_at_all(tmp_path, monkeypatch) -> None:
    seen = []
    real = Path.rename

    def watched(self, target):
        seen.append((names_in(self), target.exists()))
        return real(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    folder = store.save(DATA, tmp_path, "a", Sidecar(name="a"))
    assert seen == [(sorted([store.file_name(), "xprof-nb.json"]), False)]
    assert (folder / store.file_name()).read_bytes() == DATA
    assert names_in(tmp_path) == ["plugins"]


def test_a_folder_that_becomes_a_file_meanwhile_costs_nothing(tmp_path) -> None:
    (tmp_path / "plugins").write_text("in the way")
    with pytest.raises(CaptureError, match="could not be saved") as failed:
        store.save(DATA, tmp_path, "a", Sidecar(name="a"))
    assert kept_file(failed.value).read_bytes() == DATA
    assert kept_file(failed.value).is_relative_to(tmp_path)


def test_a_full_disk_sends_the_profile_to_the_temporary_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    real = os.fsync
    full = [True]

    def fsync(number):
        if full.pop() if full else False:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(CaptureError, match="No space left") as failed:
        store.save(DATA, tmp_path / "logs", "a", Sidecar(name="a"))
    assert kept_file(failed.value).read_bytes() == DATA
    assert kept_file(failed.value).is_relative_to(tmp_path / "tmp")
    assert names_in(tmp_path / "logs") == []


def test_with_no_disk_at_all_the_profile_stays_in_memory_and_can_be_saved_later(tmp_path, monkeypatch) -> None:
    real = store._write

    def nowhere(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    cap = Capture("a", tmp_path)
    cap.start()
    monkeypatch.setattr(store, "_write", nowhere)
    with pytest.raises(CaptureError, match="still in memory"):
        cap.stop()
    assert cap.data
    monkeypatch.setattr(store, "_write", real)
    assert cap.save() == tmp_path / "plugins" / "profile" / "a"
    assert cap.data is None


def test_a_name_taken_by_another_process_meanwhile_is_left_alone(tmp_path, monkeypatch) -> None:
    real = Path.rename

    def raced(self, target):
        if target.name == "a":
            target.mkdir()
            (target / "theirs").write_text("")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", raced)
    assert store.save(DATA, tmp_path, "a", Sidecar(name="a")).name == "a-2"
    assert names_in(tmp_path / "plugins" / "profile" / "a") == ["theirs"]


@pytest.mark.parametrize(("data", "why"), [(b"", "2 GiB"), (b"\x0a\x05ab", "not a whole profile")])
def test_an_empty_or_cut_profile_is_not_called_one(data, why) -> None:
    with pytest.raises(CaptureError, match=why):
        store.check_profile(data)
