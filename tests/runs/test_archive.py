"""A run as one zip: what comes back, and what is refused."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from tests.runs.made import DATA, contents, made_run
from xprof_nb.errors import DamagedFileError, NotAProfileError, NotFoundError, ProfileError
from xprof_nb.runs import archive, sidecar


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for name, data in files.items():
            out.writestr(name, data)
    return path


def test_a_run_comes_back_byte_by_byte_and_never_over_another(tmp_path) -> None:
    folder = made_run(tmp_path / "a", "train", other={"markers": [{"time_ps": 1.0}]})
    (folder / "host2.xplane.pb").write_bytes(DATA * 1000)
    (folder / "ALL_HOSTS.op_stats_v2.pb").write_bytes(b"a cache of another tool")
    file = archive.export(folder, tmp_path / "train.zip")
    wanted = {name: data for name, data in contents(folder).items() if not name.startswith("ALL")}
    assert contents(archive.take_in(file, tmp_path / "b")) == wanted
    assert contents(archive.take_in(file, tmp_path / "a")) == wanted
    assert sorted(entry.name for entry in folder.parent.iterdir()) == ["train", "train-2"]
    assert [entry.name for entry in (tmp_path / "b").iterdir()] == ["plugins"]
    with pytest.raises(ProfileError, match="exists already"):
        archive.export(folder, file)


def test_a_run_of_another_tool_gets_a_sidecar_of_its_own(tmp_path) -> None:
    file = packed(tmp_path / "x.zip", {"plugins/profile/2026/h.xplane.pb": DATA, "events.out": b"-"})
    folder = archive.take_in(file, tmp_path)
    assert folder.name == "2026"
    assert sidecar.read(folder).origin == "opened"


def test_a_zip_without_a_folder_names_the_run(tmp_path) -> None:
    assert archive.take_in(packed(tmp_path / "x.zip", {"h.xplane.pb": DATA}), tmp_path).name == "x"
    assert archive.take_in(packed(tmp_path / "con.zip", {"NUL/h.xplane.pb": DATA}), tmp_path).name == "imported"


@pytest.mark.parametrize(
    "name",
    [
        "../evil.xplane.pb",
        "a/../../evil.xplane.pb",
        "/etc/evil.xplane.pb",
        "C:\\evil.xplane.pb",
        "c:evil.xplane.pb",
        "a\\..\\evil.xplane.pb",
        "a/\x1b[2Jevil.xplane.pb",
    ],
)
def test_a_name_that_leaves_its_folder_is_refused_and_nothing_is_written(tmp_path, name) -> None:
    file = packed(tmp_path / "x.zip", {"a/h.xplane.pb": DATA, name: DATA})
    with pytest.raises(NotAProfileError, match="leaves its folder"):
        archive.take_in(file, tmp_path / "logs")
    assert [entry.name for entry in tmp_path.rglob("*")] == ["x.zip"]


def test_a_link_is_refused(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as out:
        link = zipfile.ZipInfo("a/h.xplane.pb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(link, "/etc/passwd")
    with pytest.raises(NotAProfileError, match="a link or device"):
        archive.take_in(tmp_path / "x.zip", tmp_path)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "holds no profile, but nothing"),
        ({"readme.md": b"hello"}, "holds no profile, but 'readme.md'"),
        ({"a/h.xplane.pb": DATA, "b/h.xplane.pb": DATA}, "holds 2 runs: a, b"),
        ({"a/h.xplane.pb": DATA, "a/H.xplane.pb": DATA}, "two files of one name"),
        ({"a/h.xplane.pb": b"<html>"}, "no whole profile"),
        ({"a/h.xplane.pb": b""}, "no whole profile"),
        ({f"a/{number}": b"" for number in range(archive.MOST_ENTRIES + 1)}, "10,001 files"),
    ],
)
def test_a_foreign_zip_says_what_it_holds(tmp_path, files, why) -> None:
    with pytest.raises(NotAProfileError, match=why):
        archive.take_in(packed(tmp_path / "x.zip", files), tmp_path / "logs")
    assert not list((tmp_path / "logs").rglob("*.pb"))


def test_what_unpacks_to_far_more_than_it_is_is_refused_before_it_is_unpacked(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/h.xplane.pb", bytes(50 * 2**20))
    with pytest.raises(NotAProfileError, match="as no profile does"):
        archive.take_in(tmp_path / "x.zip", tmp_path)


def test_a_zip_that_says_less_than_it_holds_is_not_unpacked_past_that(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/h.xplane.pb", DATA * 500_000)
    data = (tmp_path / "x.zip").read_bytes()
    lied = data.replace(struct.pack("<I", 10**6), struct.pack("<I", 1000))
    assert lied != data
    (tmp_path / "x.zip").write_bytes(lied)
    with pytest.raises(DamagedFileError):
        archive.take_in(tmp_path / "x.zip", tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.zip"]


def test_cut_locked_and_absent_files_are_told_apart(tmp_path) -> None:
    whole = packed(tmp_path / "x.zip", {"a/h.xplane.pb": DATA * 1000}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-100])
    with pytest.raises(NotAProfileError, match="no zip archive"):
        archive.take_in(tmp_path / "cut.zip", tmp_path)
    (tmp_path / "rotten.zip").write_bytes(whole.replace(DATA * 4, b"\x0a\x01" * 4, 1))
    with pytest.raises(DamagedFileError, match="CRC"):
        archive.take_in(tmp_path / "rotten.zip", tmp_path)
    at = whole.index(b"PK\x01\x02") + 8
    (tmp_path / "locked.zip").write_bytes(whole[:at] + b"\x01" + whole[at + 1 :])
    with pytest.raises(NotAProfileError, match="password"):
        archive.take_in(tmp_path / "locked.zip", tmp_path)
    with pytest.raises(NotFoundError, match=r"no\.zip"):
        archive.take_in(tmp_path / "no.zip", tmp_path)


def test_a_disk_without_room_is_told_before_anything_is_unpacked(tmp_path, monkeypatch) -> None:
    file = archive.export(made_run(tmp_path, "a"), tmp_path / "a.zip")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 2**20})())
    with pytest.raises(ProfileError, match=r"1\.0+ MiB are free"):
        archive.take_in(file, tmp_path / "logs")
    assert not list((tmp_path / "logs").iterdir())
