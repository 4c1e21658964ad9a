"""Every file that is no profile is told what it is, and every damaged one where and why."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import random
import tarfile
import zipfile

import pytest

from tests.formats.xspace_messages import MESSAGES
from xprof_nb.errors import DamagedFileError, NotAProfileError, NotFoundError, ProfileError
from xprof_nb.formats import source, xspace


def _profile(events: int = 300) -> bytes:
    space = MESSAGES["Space"](hostnames=["h"])
    plane = space.planes.add(name="/device:TPU:0")
    plane.event_metadata[1].name = "größe"
    plane.stat_metadata[1].name = "size"
    line = plane.lines.add(name="XLA Ops")
    for i in range(events):
        line.events.add(metadata_id=1, offset_ps=i << 20, duration_ps=5).stats.add(metadata_id=1, int64_value=-i)
    return space.SerializeToString()


def _archive(kind) -> bytes:
    out = io.BytesIO()
    if kind is tarfile:
        with tarfile.open(fileobj=out, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("a"))
    else:
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a", "b")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (gzip.compress(_profile()), "gzip"),
        (bz2.compress(_profile()), "bzip2"),
        (lzma.compress(_profile()), "xz"),
        (_archive(zipfile), "zip"),
        (_archive(tarfile), "tar"),
        (b'{"traceEvents": []}', "JSON"),
        (b"\xef\xbb\xbf [1, 2]", "JSON"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "HTML"),
        (b"<?xml version='1.0'?>", "XML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "LFS"),
        ("Grüße\n".encode() * 2000, "text"),
        (b"\n\n\n\nhello world, this is a plain text that begins with empty lines", "text"),
        (b"\0" * 5000, "zero bytes"),
        (b"SQLite format 3\0" + b"\0" * 50, "SQLite"),
        (pickle.dumps({"a": 1}), "not a profile"),
        (random.Random(5).randbytes(5000), "not a profile"),
        (MESSAGES["Space"](hostnames=["only a host"]).SerializeToString(), "no plane"),
        (MESSAGES["Space"](planes=[MESSAGES["Plane"]()]).SerializeToString(), "no plane"),
    ],
)
def test_another_kind_of_file(tmp_path, data, says):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(data)
    with pytest.raises(NotAProfileError, match=says) as error:
        xspace.read(path)
    assert error.value.file == str(path)
    assert error.value.position is not None
    assert error.value.hint


def test_an_empty_file_hints_at_captures_that_were_too_large(tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.touch()
    with pytest.raises(DamagedFileError, match="2 GiB") as error:
        xspace.read(path)
    assert error.value.position == 0


def test_a_cut_file_names_the_plane_and_the_missing_bytes():
    data = _profile()
    with pytest.raises(DamagedFileError, match=r"plane '/device:TPU:0' needs 1,234 more bytes.*cut") as error:
        xspace.read(data[: -1234 - 3], name="copy.xplane.pb")  # 3: the host name after the plane
    assert error.value.file == "copy.xplane.pb"
    assert error.value.position == 1


def test_a_file_that_went_through_a_text_decoder():
    data = _profile().decode("utf-8", "replace").encode()
    with pytest.raises(DamagedFileError, match=r"U\+FFFD.*binary mode") as error:
        xspace.read(data)
    assert data[error.value.position :].startswith(b"\xef\xbf\xbd")


def test_a_profile_may_contain_the_replacement_character():
    space = MESSAGES["Space"]()
    space.planes.add(name="\ufffd" * 10)
    assert xspace.read(space.SerializeToString()).planes[0].name == "\ufffd" * 10


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (b"\x12\x02\xc3\x28", "not UTF-8"),
        (b"\x12\x03\xed\xa0\x80", "not UTF-8"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "longer than 10 bytes"),
        (b"\x08\xff", "past its end"),
        (b"\x12\x05abc", "past its end"),
        (b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a length in a plane is longer than 5 bytes"),
        (b"\x79\x00", "past its end"),
        (b"\x00\x00", "impossible number"),
        (b"\xf8\xff\xff\xff\xff\x01\x00", "impossible number"),
        (b"\x0b\x0c", "wire type"),
        (b"\x0e", "wire type"),
        (b"\x1a\x03\x22\x07\x08", "line of plane '/host:CPU'"),
        (b"\x1a\x04\x22\x02\x22\x01", "event of plane '/host:CPU'"),
        (b"\x22\x04\x12\x02\x22\x03", "event metadata of plane '/host:CPU'"),
        (b"\x22\x04\x12\x00\x12\x00", "two values"),
        (b"\x2a\x04\x12\x02\x12\x03", "stat metadata of plane '/host:CPU'"),
        (b"\x32\x02\x2a\x01", "stat of plane '/host:CPU'"),
    ],
)
def test_a_damaged_place_is_named(broken, says):
    plane = b"\x12\x09/host:CPU" + broken
    before = b"\x22\x01h"
    with pytest.raises(DamagedFileError, match=says) as error:
        xspace.read(before + b"\x0a" + bytes([len(plane)]) + plane)
    assert len(before) + 2 + 11 <= error.value.position


def test_a_later_value_of_the_same_id_does_not_hide_damage_in_an_earlier_one():
    plane = b"\x12\x01p" + b"\x22\x06\x12\x04\x2a\x02\x00\x00" + b"\x22\x02\x12\x00"
    with pytest.raises(DamagedFileError):
        xspace.read(b"\x0a" + bytes([len(plane)]) + plane)


def test_what_is_no_readable_file(tmp_path):
    with pytest.raises(NotFoundError, match="no such file"):
        xspace.read(tmp_path / "missing.xplane.pb")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(NotFoundError):
        xspace.read(tmp_path / "file" / "below")
    with pytest.raises(NotAProfileError, match="folder"):
        xspace.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAProfileError, match="regular"):
        xspace.read(tmp_path / "pipe")
    with pytest.raises(ProfileError, match="cannot be read"):
        xspace.read("a\0b")


def test_a_file_rewritten_under_the_map_is_an_error_not_a_crash(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "SMALL_BYTES", 0)  # a small file is held in memory
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(_profile())
    plane = xspace.read(path).planes[0]
    with path.open("r+b") as file:
        file.write(b"\xff" * path.stat().st_size)
    with pytest.raises(ProfileError):
        plane.event_stat("size")
