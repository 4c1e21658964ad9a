"""The verbs that change runs, in the shell and in the notebook's grammar."""

from __future__ import annotations

import json

import pytest

from tests.runs.made import made_run
from xprof_nb import args, cli
from xprof_nb.args.runs import ImportCommand, NoteCommand, RenameCommand, TagCommand
from xprof_nb.errors import UsageError


@pytest.fixture
def run(capsys, tmp_path):
    made_run(tmp_path / "logs", "old")

    def run(*arguments: str) -> tuple[int, str]:
        status = cli.main([*arguments, "--logdir", str(tmp_path / "logs")])
        out, err = capsys.readouterr()
        return status, out + err

    return run


def names(run) -> list[str]:
    return [entry["run"] for entry in json.loads(run("ls", "--format", "json")[1])]


def test_a_run_from_its_name_to_the_trash_and_back(run) -> None:
    assert run("rename", "old", "new")[0] == 0
    assert run("note", "new", "batch 8") == (0, "noted of new\n")
    assert run("tag", "new", "+good", "+v6e") == (0, "tags of new: good, v6e\n")
    assert run("tag", "new", "-v6e", "+slow") == (0, "tags of new: good, slow\n")
    listing = run("ls")[1]
    assert "good, slow" in listing
    assert "batch 8" in listing
    assert "`restore 'new'` brings it back" in run("rm", "new")[1]
    assert names(run) == []
    assert run("restore", "new")[0] == 0
    assert names(run) == ["new"]


def test_a_run_is_sent_and_taken_in(run, tmp_path) -> None:
    status, out = run("export", "old", "-o", str(tmp_path / "a.zip"))
    assert (status, out.startswith(f"wrote {tmp_path / 'a.zip'}")) == (0, True)
    assert run("import", str(tmp_path / "a.zip"))[0] == 0
    assert sorted(names(run)) == ["old", "old-2"]
    assert run("import", str(tmp_path / "logs"))[0] == 1


def test_what_cannot_be_done_says_why_with_its_status(run) -> None:
    assert run("rename", "nowhere", "b")[0] == 1
    assert run("rename", "old", "../evil")[0] == 2
    assert run("tag", "old", "good")[0] == 2
    assert run("restore", "old")[1].strip().endswith("There is nothing to restore.")


def test_both_grammars_read_the_verbs_alike() -> None:
    assert args.parse_magic("rename a 'b c' --logdir d") == RenameCommand("a", "b c", "d")
    assert args.parse_magic("note a ''") == NoteCommand("a", "")
    assert args.parse_magic("tag a +x -y --logdir d -z") == TagCommand("a", ("x",), ("y", "z"), "d")
    assert args.parse_magic("tag --logdir d a -y") == TagCommand("a", (), ("y",), "d")
    assert args.parse_shell(["import", "a.zip"]) == ImportCommand("a.zip")
    for words in ("tag a", "tag a x", "tag a --y", "tag a +"):
        with pytest.raises(UsageError, match="tag"):
            args.parse_magic(words)
