import os
from pathlib import Path

import fsspec
import pytest

from xprof_nb.errors import NotFoundError, UsageError
from xprof_nb.runs import default_logdir, sidecar
from xprof_nb.runs.layout import Limits, find, scan
from xprof_nb.runs.places import is_url, locate
from xprof_nb.runs.sidecar import Sidecar


def age(folder: Path, seconds: int) -> None:
    for file in folder.iterdir():
        os.utime(file, (seconds, seconds))


@pytest.mark.parametrize("level", range(6))
def test_every_level_of_the_layout_means_the_run(make_run, tmp_path, level):
    folder = make_run("first", "a", "b")
    levels = [folder, *folder.parents]  # run, profile, plugins, logs, tmp_path, above
    found = find(levels[level]) if level < 5 else find(folder / "a.xplane.pb")
    assert found.run == "first"
    assert found.folder == str(folder)
    assert found.logdir == str(tmp_path / "logs")
    assert [file.host for file in found.files] == (["a"] if level == 5 else ["a", "b"])


def test_a_folder_above_runs_means_the_newest(make_run, tmp_path):
    age(make_run("zebra"), 1000)
    age(make_run("apple"), 2000)
    assert find(tmp_path).run == "apple"


def test_what_the_capture_recorded_counts_before_file_times(make_run, tmp_path):
    copied_later, captured_later = make_run("old"), make_run("new")
    for folder, started in ((copied_later, "2026-01-01T00:00:00Z"), (captured_later, "2026-06-01T00:00:00Z")):
        sidecar.write(folder, Sidecar.from_json({"started": started}))
    age(captured_later, 1000)
    age(copied_later, 2000)
    assert find(tmp_path).run == "new"


def test_a_lone_file_is_named_by_itself(tmp_path):
    file = tmp_path / "worker-3.xplane.pb"
    file.write_bytes(b"x")
    found = find(file)
    assert (found.run, found.folder, found.files[0].host) == ("worker-3", str(tmp_path), "worker-3")


def test_relative_paths_tilde_and_file_urls(make_run, tmp_path, monkeypatch):
    folder = make_run("r")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert find("logs").folder == find("~/logs").folder == find(folder.as_uri()).folder == str(folder)


def test_no_profile_says_what_was_searched_and_what_is_there(tmp_path):
    (tmp_path / "model.ckpt").touch()
    (tmp_path / "inner").mkdir()
    with pytest.raises(NotFoundError) as failure:
        find(tmp_path)
    assert str(tmp_path) in failure.value.what
    assert "*.xplane.pb" in failure.value.hint
    assert "1 folders below" in failure.value.hint
    assert "inner/, model.ckpt" in failure.value.hint


def test_a_missing_path_names_the_nearest_folder(tmp_path):
    (tmp_path / "logs-2").mkdir()
    with pytest.raises(NotFoundError) as failure:
        find(tmp_path / "logs" / "run")
    assert f"The nearest folder, {tmp_path}, holds logs-2/." in str(failure.value)


def test_an_empty_folder_says_so(tmp_path):
    with pytest.raises(NotFoundError, match="is empty"):
        find(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_named(make_run, tmp_path):
    make_run("r")
    secret = tmp_path / "secret"
    secret.mkdir(mode=0)
    try:
        assert scan(tmp_path).unreadable == (str(secret),)
        with pytest.raises(NotFoundError, match="may not be read"):
            find(secret)
    finally:
        secret.chmod(0o700)


def test_a_folder_that_refuses_is_named(make_run, tmp_path, monkeypatch):
    make_run("r")
    (tmp_path / "secret").mkdir()
    real = os.scandir

    def refuse(path):
        if Path(path).name == "secret":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert scan(tmp_path).unreadable == (str(tmp_path / "secret"),)
    assert find(tmp_path).run == "r"
    with pytest.raises(NotFoundError, match=r"may not be read \(Permission denied\)"):
        find(tmp_path / "secret")


def test_links_are_followed_once(make_run, tmp_path):
    make_run("r", logdir="elsewhere/logs")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere" / "logs")
    (tmp_path / "here" / "loop").symlink_to(tmp_path / "here")
    (tmp_path / "here" / "broken").symlink_to(tmp_path / "nothing")
    assert [run.run for run in scan(tmp_path / "here").runs] == ["r"]
    assert len(scan(tmp_path).runs) == 1


def test_staged_captures_are_passed_over(make_run, tmp_path):
    make_run(".staged")
    (make_run("done") / ".half.xplane.pb").touch()
    (run,) = scan(tmp_path).runs
    assert [file.host for file in run.files] == ["host0"]


def test_fifty_thousand_files_are_searched_within_a_bound(make_run, tmp_path):
    junk = tmp_path / "logs" / "junk"
    junk.mkdir(parents=True)
    for number in range(50_000):
        os.close(os.open(junk / str(number), os.O_CREAT | os.O_WRONLY))
    make_run("r")
    whole = scan(tmp_path)
    assert ([run.run for run in whole.runs], whole.truncated) == (["r"], False)
    cut = scan(junk, Limits(entries=1000))
    assert (cut.runs, cut.truncated) == ((), True)
    with pytest.raises(NotFoundError, match="and 992 more"):
        find(junk)


def test_a_search_that_runs_out_of_time_says_so(make_run, tmp_path):
    make_run("r")
    assert scan(tmp_path, Limits(seconds=0)).truncated


def test_a_cut_search_sees_the_last_names_first(make_run, tmp_path):
    for day in range(10, 20):
        make_run(f"2026-01-{day}")
    found = scan(tmp_path / "logs" / "plugins" / "profile", Limits(entries=13))
    assert found.truncated
    assert [run.run for run in found.runs] == ["2026-01-19", "2026-01-18", "2026-01-17"]


@pytest.mark.parametrize("path", [r"C:\logs\run", "C:/logs/run", r"\\server\share\run", "relative/path", "/a:b//c"])
def test_a_windows_drive_is_not_a_scheme(path):
    assert not is_url(path)


@pytest.mark.parametrize("path", ["gs://bucket/x", "s3://b", "memory://x", "GS://bucket"])
def test_urls_are(path):
    assert is_url(path)


@pytest.mark.parametrize("path", ["", "a\0b", "nosuchscheme://x"])
def test_what_is_no_path_is_a_usage_error(path):
    with pytest.raises(UsageError):
        locate(path)


@pytest.fixture
def bucket():
    files = fsspec.filesystem("memory")
    files.pipe("/bucket/logs/plugins/profile/r1/h0.xplane.pb", b"abc")
    files.pipe("/bucket/logs/plugins/profile/r1/h1.xplane.pb", b"abcd")
    files.pipe("/bucket/logs/plugins/profile/r1/xprof-nb.json", b'{"version": 1, "note": "far away"}')
    yield "memory://bucket"
    files.rm("/bucket", recursive=True)


def test_remote_runs_are_found_and_read(bucket):
    found = find(bucket)
    assert (found.run, found.logdir, found.size_bytes) == ("r1", f"{bucket}/logs", 7)
    assert [file.source() for file in found.files] == [b"abc", b"abcd"]
    assert found.sidecar.note == "far away"
    assert find(f"{found.folder}/h1.xplane.pb").files[0].host == "h1"
    with pytest.raises(NotFoundError, match="there is no memory://bucket/nothing"):
        find(f"{bucket}/nothing")


def test_a_remote_place_that_fails_says_how(monkeypatch):
    from fsspec.implementations.memory import MemoryFileSystem

    def refuse(self, path, **options):
        raise RuntimeError("no credentials")

    monkeypatch.setattr(MemoryFileSystem, "info", refuse)
    with pytest.raises(NotFoundError, match="no credentials"):
        find("memory://elsewhere")


def test_default_logdir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XPROF_NB_LOGDIR", raising=False)
    assert default_logdir() == str(tmp_path / "xprof-logs")
    monkeypatch.setenv("XPROF_NB_LOGDIR", "gs://bucket/logs")
    assert default_logdir() == "gs://bucket/logs"
