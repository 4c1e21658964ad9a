import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from xprof_nb.jupyter.server.cache import ProfileCache
from xprof_nb.runs import sidecar
from xprof_nb.runs.layout import find
from xprof_nb.runs.sidecar import Sidecar


class Opener:
    """Counts what it opens; hands out what the file held."""

    def __init__(self):
        self.opened = []

    def __call__(self, run):
        self.opened.append(run.folder)
        file = Path(run.files[0].path)
        return str(file), file.read_bytes()


def get(cache, folder):
    return cache.get(str(folder), find(folder))[1]


def test_a_profile_is_opened_once(tmp_path, write_run):
    folder, opener = write_run(tmp_path, "r"), Opener()
    cache = ProfileCache(1000, opener)
    assert get(cache, folder) == get(cache, folder) == b"profile"
    assert len(opener.opened) == 1


def test_an_overwrite_of_same_size_and_time_is_noticed(tmp_path, write_run):
    folder = write_run(tmp_path, "r")
    cache, file = ProfileCache(1000, Opener()), folder / "host0.xplane.pb"
    get(cache, folder)
    status = file.stat()
    time.sleep(0.02)  # more than the grain of the change time
    file.write_bytes(b"changed")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert get(cache, folder) == b"changed"


def test_a_new_host_or_note_is_noticed(tmp_path, write_run):
    folder, opener = write_run(tmp_path, "r"), Opener()
    cache = ProfileCache(1000, opener)
    get(cache, folder)
    (folder / "host1.xplane.pb").write_bytes(b"profile")
    get(cache, folder)
    sidecar.write(folder, Sidecar(note="new"))
    get(cache, folder)
    assert len(opener.opened) == 3


def test_the_least_recently_used_goes_first(tmp_path, write_run):
    a, b, c = (write_run(tmp_path, name) for name in "abc")
    opener = Opener()
    cache = ProfileCache(2 * len(b"profile"), opener)
    for folder in (a, b, a, c, a, b):
        get(cache, folder)
    assert [path[-1] for path in opener.opened] == ["a", "b", "c", "b"]


def test_what_is_larger_than_the_cache_is_served_and_not_kept(tmp_path, write_run):
    folder, opener = write_run(tmp_path, "r"), Opener()
    cache = ProfileCache(3, opener)
    assert get(cache, folder) == get(cache, folder) == b"profile"
    assert len(opener.opened) == 2


def test_a_failure_is_not_kept(tmp_path, write_run):
    folder, calls = write_run(tmp_path, "r"), []

    def fails_once(path):
        calls.append(path)
        if len(calls) == 1:
            raise RuntimeError("once")
        return "profile", b""

    cache = ProfileCache(1000, fails_once)
    with pytest.raises(RuntimeError, match="once"):
        get(cache, folder)
    assert get(cache, folder) == b""


def test_a_file_written_while_it_is_read_is_not_kept(tmp_path, write_run):
    folder, calls = write_run(tmp_path, "r"), []

    def while_written(path):
        calls.append(path)
        if len(calls) == 1:
            (folder / "host0.xplane.pb").write_bytes(b"still growing")
        return "profile", b""

    cache = ProfileCache(1000, while_written)
    get(cache, folder)
    get(cache, folder)
    get(cache, folder)
    assert len(calls) == 2


def test_many_at_once_open_once(tmp_path, write_run):
    folder, entered, release = write_run(tmp_path, "r"), [], threading.Event()

    def slow(path):
        entered.append(path)
        release.wait(10)
        return "profile", b"one"

    cache = ProfileCache(1000, slow)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(get, cache, folder) for _ in range(4)]
        while not entered:
            time.sleep(0.001)
        release.set()
        assert [answer.result(10) for answer in waiting] == [b"one"] * 4
    assert len(entered) == 1
