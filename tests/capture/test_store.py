from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.capture.captured import names_in
from xprof_nb.capture import store
from xprof_nb.capture.local import Capture
from xprof_nb.errors import CaptureError
from xprof_nb.runs.catalog import runs
from xprof_nb.runs.leftovers import leftovers, staged
from xprof_nb.runs.manage import restore
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


SAVE = """
import sys
from pathlib import Path
from xprof_nb.capture import store
from xprof_nb.runs.sidecar import Sidecar

sys.stdin.read()
for _ in range(20):
    store.save(sys.argv[2].encode() * 2, Path(sys.argv[1]), "a", Sidecar(name="a"))
"""


def test_processes_that_save_one_name_at_one_moment_each_get_a_run(tmp_path) -> None:
    command = [sys.executable, "-c", SAVE, str(tmp_path)]
    saving = [subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE) for number in range(4)]
    for process in saving:
        process.stdin.close()
    assert [process.wait(60) for process in saving] == [0] * 4
    found = Counter(file.read_bytes() for file in tmp_path.glob("plugins/profile/*/*.xplane.pb"))
    assert found == {f"{number}{number}".encode(): 20 for number in range(4)}
    assert names_in(tmp_path) == ["plugins"]


KILLED = """
import os, signal, sys
from pathlib import Path
from xprof_nb.capture import store
from xprof_nb.runs import sidecar, shelf

where = {"write": (store.os, "fsync"), "publish": (store, "publish")}[sys.argv[2]]
setattr(*where, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
store.save(b"\\x0a\\x00" * 1000, Path(sys.argv[1]), "train", sidecar.Sidecar(name="train"))
"""


@pytest.mark.parametrize(("moment", "whole"), [("write", False), ("publish", True)])
def test_what_a_killed_process_had_on_disk_is_found_again(tmp_path, moment, whole) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path), moment]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (left,) = staged(tmp_path)
    assert (left.run, left.whole) == ("train", whole)
    assert any("train" in note for note in runs(tmp_path).attrs["notes"])
    if whole:
        assert len((restore("train", tmp_path) / store.file_name()).read_bytes()) == 2000
        assert names_in(tmp_path) == ["plugins"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one mebibyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_is_too_small_is_told_before_a_capture(small_disk) -> None:
    with pytest.raises(CaptureError, match="MiB are free at the log dir"):
        Capture("a", small_disk).check()
    assert not any(small_disk.glob("plugins/profile/*"))


def test_a_disk_that_fills_while_saving_loses_nothing(small_disk, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = DATA * 2**20
    with pytest.raises(CaptureError, match="No space left") as failed:
        store.save(data, small_disk, "a", Sidecar(name="a"))
    assert kept_file(failed.value).read_bytes() == data
    assert names_in(small_disk) == []
    (left,) = leftovers(small_disk)
    assert (left.run, left.whole) == ("a", True)
