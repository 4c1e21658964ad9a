import os
from pathlib import Path

import pytest

from xprof_nb.errors import NotFoundError
from xprof_nb.runs.identity import CHUNK_BYTES, identity
from xprof_nb.runs.layout import find


def test_equal_bytes_equal_identity_wherever_they_lie(make_run):
    first, second = make_run("a", "h0", "h1"), make_run("b", "h0", "h1")
    assert identity(find(first).files) == identity(find(second).files)
    assert identity(tuple(reversed(find(first).files))) == identity(find(first).files)


@pytest.mark.parametrize("place", [0, 2_500_000, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 9])
def test_a_changed_byte_changes_it_though_size_and_time_stay(make_run, place):
    folder = make_run("a", content=b"x" * (CHUNK_BYTES + 10))
    file = folder / "host0.xplane.pb"
    before, status = identity(find(folder).files), file.stat()
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert identity(find(folder).files) != before


def test_bytes_do_not_move_between_hosts(make_run):
    two = make_run("two", "h0", "h1", content=b"ab")
    one = make_run("one", "h0", content=b"abab")
    assert identity(find(two).files) != identity(find(one).files)


def test_a_file_that_went_away_is_said(make_run):
    files = find(make_run("a")).files
    Path(files[0].path).unlink()
    with pytest.raises(NotFoundError, match="cannot be read"):
        identity(files)
