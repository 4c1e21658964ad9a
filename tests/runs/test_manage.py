"""Renaming, noting, tagging, throwing away and bringing back."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from tests.runs.made import DATA, contents, made_run
from xprof_nb.errors import NotFoundError, ProfileError, UsageError
from xprof_nb.runs import manage, sidecar
from xprof_nb.runs.catalog import runs
from xprof_nb.runs.leftovers import leftovers


def test_a_run_keeps_its_bytes_under_its_new_name(tmp_path) -> None:
    folder = made_run(tmp_path, "a", other={"later": 1})
    moved = manage.rename(folder, "größer, batch 8")
    assert (folder.exists(), moved.name) == (False, "größer, batch 8")
    assert (moved / "host.xplane.pb").read_bytes() == DATA
    about = sidecar.read(moved)
    assert (about.name, about.note, about.other) == ("größer, batch 8", "first", {"later": 1})
    assert manage.rename(moved, moved.name) == moved


@pytest.mark.parametrize("name", ["../evil", "NUL", "con.txt", "", "x" * 300, "a\0b", "a\nb", ".hidden", "a/b"])
def test_a_name_that_is_none_changes_nothing(tmp_path, name) -> None:
    folder = made_run(tmp_path, "a")
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="cannot name a run"):
        manage.rename(folder, name)
    assert contents(tmp_path) == before


def test_a_name_in_use_gets_a_number(tmp_path) -> None:
    made_run(tmp_path, "a")
    assert manage.rename(made_run(tmp_path, "b"), "a").name == "a-2"
    assert manage.rename(made_run(tmp_path, "c"), "a").name == "a-3"


def test_notes_and_tags_keep_what_a_later_version_wrote(tmp_path) -> None:
    folder = made_run(tmp_path, "a")
    file = folder / "xprof-nb.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99, "new": [1], "peaks": "another kind"}))
    manage.annotate(folder, "batch 8\nsecond line")
    assert manage.retag(folder, ["good", "v6e", "good"]) == ("good", "v6e")
    assert manage.retag(folder, ["slow"], ["good", "never there"]) == ("v6e", "slow")
    kept = json.loads(file.read_text())
    assert (kept["version"], kept["new"], kept["peaks"]) == (99, [1], "another kind")
    (row,) = runs(tmp_path).to_dict("records")
    assert (row["note"], row["tags"]) == ("batch 8\nsecond line", ("v6e", "slow"))


@pytest.mark.parametrize("tag", ["", " a", "a\nb", "x" * 61, "\u202e"])
def test_a_tag_is_one_short_line(tmp_path, tag) -> None:
    with pytest.raises(UsageError, match="is no tag"):
        manage.retag(made_run(tmp_path, "a"), [tag])


def test_nothing_is_written_beside_other_peoples_files(tmp_path) -> None:
    folder = made_run(tmp_path, "a")
    (folder / "xprof-nb.json").unlink()
    with pytest.raises(ProfileError, match="nothing is written beside other files"):
        manage.annotate(folder, "mine")
    assert [file.name for file in folder.iterdir()] == ["host.xplane.pb"]


def test_what_is_thrown_away_comes_back_as_it_was(tmp_path) -> None:
    folder = made_run(tmp_path, "a")
    before = contents(folder)
    gone = manage.discard(folder)
    assert not runs(tmp_path).size
    assert gone.is_relative_to(tmp_path / manage.TRASH)
    assert manage.restore("a", tmp_path) == folder
    assert contents(folder) == before
    assert manage.discarded(tmp_path) == []


def test_the_last_one_thrown_away_comes_back_first_and_never_in_the_place_of_another(tmp_path) -> None:
    for note in ("old", "new"):
        folder = made_run(tmp_path, "a")
        manage.annotate(folder, note)
        manage.discard(folder)
    made_run(tmp_path, "a")
    back = manage.restore("a", tmp_path)
    assert (back.name, sidecar.read(back).note) == ("a-2", "new")
    assert sidecar.read(manage.restore("a", tmp_path)).note == "old"
    with pytest.raises(NotFoundError, match="nothing to restore"):
        manage.restore("a", tmp_path)


def test_only_a_run_of_a_log_dir_is_moved(tmp_path) -> None:
    folder = made_run(tmp_path / "logs", "a")
    assert manage.managed("a", tmp_path / "logs") == folder
    assert manage.managed(folder, "/elsewhere") == folder
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "host.xplane.pb").write_bytes(DATA)
    for path in (tmp_path / "downloads", tmp_path, folder.parent, folder / ".." / ".." / ".."):
        with pytest.raises(UsageError, match="no run of a log dir"):
            manage.managed(path, tmp_path / "logs")
    for run in ("gs://bucket/logs/plugins/profile/a", "", "a\0b"):
        with pytest.raises(UsageError):
            manage.managed(run, tmp_path / "logs")
    with pytest.raises(NotFoundError, match="no run 'b'"):
        manage.managed("b", tmp_path / "logs")


def test_a_log_dir_that_refuses_is_told_and_the_run_stays(tmp_path, monkeypatch) -> None:
    folder = made_run(tmp_path, "a")

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    for act in (lambda: manage.rename(folder, "b"), lambda: manage.discard(folder)):
        with pytest.raises(ProfileError, match=r"Permission denied.*It is as it was"):
            act()
    assert folder.is_dir()


def staged(parent: Path, name: str, data: bytes, *, described: bool = True) -> Path:
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "host.xplane.pb").write_bytes(data)
    if described:
        sidecar.write(folder, sidecar.Sidecar(name=name))
    return folder


def test_a_run_that_was_never_put_among_the_others_is_named_and_restored(tmp_path) -> None:
    staged(tmp_path / ".xprof-nb-x1", "train", DATA)
    (note,) = [note for note in runs(tmp_path).attrs["notes"] if "train" in note]
    assert "`restore 'train'` does it" in note
    assert manage.restore("train", tmp_path) == tmp_path / "plugins" / "profile" / "train"
    assert [entry.name for entry in tmp_path.iterdir()] == ["plugins"]


@pytest.mark.parametrize(("data", "described"), [(b"\x0a\x05ab", True), (b"", True), (DATA, False)])
def test_the_beginning_of_a_profile_is_not_called_a_run(tmp_path, data, described) -> None:
    folder = staged(tmp_path / ".xprof-nb-x1", "train", data, described=described)
    (left,) = leftovers(tmp_path)
    assert str(folder.parent) in str(left)
    with pytest.raises(ProfileError, match="only the beginning"):
        manage.restore("train", tmp_path)


def test_a_run_that_went_to_the_temporary_folder_is_found_there(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    source = staged(tmp_path / "tmp" / "xprof-nb-x1", "train", DATA)
    real = Path.rename

    def across(self, target):
        if self == source:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return real(self, target)

    (tmp_path / "logs").mkdir()
    assert any("`restore 'train'` does it" in note for note in runs(tmp_path / "logs").attrs["notes"])
    monkeypatch.setattr(Path, "rename", across)
    folder = manage.restore("train", tmp_path / "logs")
    assert (folder / "host.xplane.pb").read_bytes() == DATA
    assert not source.exists()
    assert [entry.name for entry in (tmp_path / "logs").iterdir()] == ["plugins"]
