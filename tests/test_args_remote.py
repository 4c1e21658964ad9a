"""The grammar of captures of others, and of the server."""

from __future__ import annotations

import pytest

from xprof_nb import args
from xprof_nb.errors import UsageError


def test_notebook_and_shell_ask_others_alike() -> None:
    line = "capture 3s --from a:1,b:2 --name n --note t --python --preset light --patience 2m --shared /s --logdir d"
    command = args.RemoteCommand("a:1,b:2", 3.0, "n", "t", "d", "light", None, 1, None, None, 120.0, "/s")
    assert args.parse_magic(line) == command
    assert args.parse_shell(line.split()) == command


def test_without_from_a_notebook_captures_itself_and_a_shell_nothing() -> None:
    assert isinstance(args.parse_magic("capture 3s"), args.CaptureCommand)
    with pytest.raises(UsageError, match="--from"):
        args.parse_shell(["capture", "3s"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("capture --from a:1", "DURATION"),
        ("capture 3s --from a:1 --steps 4", "--steps with --from"),
        ("capture 3s --from a:1 --every 2s -n 3", "--every, -n with --from"),
        ("capture 3s --patience 1s", "without --from"),
        ("capture 3s --fro a:1", "did you mean --from"),
        ("server begin", "begin"),
        ("server start --port x", "port"),
    ],
)
def test_what_does_not_go_together_is_said(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        args.parse_magic(line)


def test_server() -> None:
    assert args.parse_magic("server") == args.ServerCommand("status")
    assert args.parse_magic("server start --port 9 --host ::1") == args.ServerCommand("start", 9, "::1")
    with pytest.raises(UsageError):
        args.parse_shell(["server", "start"])


@pytest.mark.parametrize("verb", ["capture", "server"])
def test_help_can_be_read(verb: str) -> None:
    with pytest.raises(args.HelpAsked, match=verb):
        args.parse_magic(f"{verb} --help")
