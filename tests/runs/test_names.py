from __future__ import annotations

from datetime import UTC, datetime

import pytest

from xprof_nb.errors import UsageError
from xprof_nb.runs.names import check_name, host_name, moment_name, numbered


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/b",
        "a\\b",
        "..",
        ".hidden",
        "",
        "  ",
        " a",
        "a ",
        "a.",
        "a\nb",
        "a\x00b",
        "x" * 300,
        "NUL",
        "com1.txt",
        "LPT¹",
        "conin$",
        "aux .log",
        "a:b",
        "a*",
        "\u202eevil",
        "é" * 100,
    ],
)
def test_a_name_that_is_no_plain_folder_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a run"):
        check_name(name)


@pytest.mark.parametrize("name", ["train-1", "batch 8, bf16", "größer", "2026-11-30_14.05.09.123", "a..b"])
def test_what_people_write_is_kept(name: str) -> None:
    assert check_name(name) == name


def test_a_moment_is_named_to_the_millisecond_in_local_time() -> None:
    moment = datetime(2026, 11, 30, 14, 5, 9, 123_999, tzinfo=UTC)
    assert moment_name(moment) == f"{moment.astimezone():%Y-%m-%d_%H.%M.%S}.123"
    check_name(moment_name(moment))


def test_names_in_use_are_numbered_from_two() -> None:
    assert [numbered("train", number) for number in (1, 2, 3)] == ["train", "train-2", "train-3"]


def test_a_host_name_cannot_leave_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "../../etc/x y")
    assert host_name() == "_.._etc_x_y"


@pytest.mark.parametrize("name", [5, b"train", ["train"]])
def test_a_name_is_text(name) -> None:
    with pytest.raises(UsageError, match="no text"):
        check_name(name)
