from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import xprof_nb as xp
from xprof_nb import args, cli


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """A log dir with two real runs, the newest called ``new``."""
    logdir = tmp_path_factory.mktemp("logs")
    square = jax.jit(lambda x: x @ x)
    operand = jnp.ones((500, 500))
    square(operand).block_until_ready()
    for name in ("old", "new"):
        with xp.capture(name, logdir, note=f"the {name} one"):
            square(operand).block_until_ready()
    return logdir


@pytest.fixture
def run(capsys, logdir):
    def run(*arguments: str) -> tuple[int, str, str]:
        status = cli.main([*arguments, "--logdir", str(logdir)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_the_newest_run_is_asked_and_numbers_are_for_people(run) -> None:
    status, out, _ = run("op-profile", "--top", "6")
    assert status == 0
    assert out.startswith("op profile of new")
    assert "FLOP/s" in out
    assert "100.0 %" in out
    assert len(out.splitlines()) <= 3 + 6 + 3


def test_a_run_is_found_by_name_and_by_path(run, logdir) -> None:
    assert run("ops", "old")[1].startswith("ops of old")
    assert run("ops", str(logdir / "plugins" / "profile" / "old"))[1].startswith("ops of old")


def test_json_is_all_of_it_with_units_in_the_names(run) -> None:
    answer = json.loads(run("ops", "--format", "json")[1])
    frame = xp.open(run("ls")[1] and _logdir(run)).ops().frame
    assert [row["op"] for row in answer["rows"]] == list(frame["op"])
    assert answer["rows"][0]["time_ps"] == frame["time_ps"].iloc[0]


def _logdir(run) -> str:
    return json.loads(run("ls", "--format", "json")[1])[0]["logdir"]


def test_csv_is_read_back_as_the_frame(run, logdir) -> None:
    rows = list(csv.DictReader(io.StringIO(run("ops", "--format", "csv")[1])))
    assert len(rows) == len(xp.open(logdir).ops().frame)
    assert float(rows[0]["time_ps"]) == xp.open(logdir).ops().frame["time_ps"].iloc[0]


def test_the_format_follows_the_name_of_the_file(run, tmp_path) -> None:
    for name in ("a.json", "a.csv", "a.txt"):
        status, out, _ = run("op-profile", "-o", str(tmp_path / name))
        assert (status, out) == (0, f"wrote {tmp_path / name}\n")
    assert json.loads((tmp_path / "a.json").read_text())["query"] == "op_profile"
    assert (tmp_path / "a.csv").read_text().startswith("node,")
    assert (tmp_path / "a.txt").read_text().startswith("op profile of new")


def test_a_page_wants_a_file(run) -> None:
    status, _, err = run("op-profile", "--format", "html")
    assert status == 2
    assert "-o" in err


def test_runs_are_listed_newest_first_with_their_notes(run) -> None:
    status, out, _ = run("ls")
    assert status == 0
    assert out.index("the new one") < out.index("the old one")
    assert [*xp.runs(_logdir(run))][:2] == ["run", "started"], "what a narrow output shows first"
    assert [entry["run"] for entry in json.loads(run("ls", "--format", "json")[1])] == ["new", "old"]


def test_a_run_says_what_it_holds(run, logdir) -> None:
    _, out, _ = run("open", "old")
    assert "the old one" in out
    assert "CPU" in out
    assert f"jax {jax.__version__}" in out
    assert f"hosts     {xp.open(logdir).hosts[0]}" in out


def test_a_run_that_is_not_there_is_looked_for_in_the_log_dir(run, logdir) -> None:
    status, _, err = run("open", "odl")
    assert status == 1
    assert "no run 'odl'" in err
    assert str(logdir) in err


def test_one_run_is_one_run(capsys, tmp_path) -> None:
    with xp.capture("only", tmp_path):
        pass
    assert cli.main(["ls", "--logdir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("1 run\n")


def test_it_says_which_version_it_is(capsys) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"xprof-nb {xp.__version__}\n"


def test_a_missing_profile_is_status_1_and_misuse_is_status_2(run, tmp_path) -> None:
    status, out, err = run("ops", "nowhere")
    assert (status, out) == (1, "")
    assert err.startswith("xprof-nb: ")
    assert cli.main(["ops", "--logdir", str(tmp_path)]) == 1
    assert cli.main(["opz"]) == 2
    assert cli.main([]) == 2
    assert cli.main(["--help"]) == 0


def test_a_damaged_file_is_one_line_and_status_1(run, tmp_path) -> None:
    (tmp_path / "cut.xplane.pb").write_bytes(b"\x0a\xff\xff\x01oops")
    status, _, err = run("ops", str(tmp_path / "cut.xplane.pb"))
    assert status == 1
    assert len(err.strip().splitlines()) == 1


def test_doctor_says_what_is_installed(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "logs"))
    status = cli.main(["doctor"])
    out = capsys.readouterr().out
    assert re.search(rf"^ok jax +{re.escape(jax.__version__)}$", out, re.MULTILINE)
    assert re.search(r"^ok profiler +free$", out, re.MULTILINE)
    assert status == int("\nx  " in out)
    assert cli.main(["doctor", "--format", "json"]) == status
    found = json.loads(capsys.readouterr().out)["findings"]
    assert {"what": "profiler", "state": "ok", "found": "free", "cure": ""} in found
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "file" / "logs"))
    assert cli.main(["doctor"]) == 1
    assert "cannot be written" in capsys.readouterr().out


def test_a_reader_that_stops_early_is_no_error(logdir) -> None:
    command = [sys.executable, "-m", "xprof_nb.cli", "ops", "--format", "json", "--logdir", str(logdir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_text_the_terminal_cannot_say_is_escaped(logdir) -> None:
    command = [sys.executable, "-m", "xprof_nb.cli", "ls", "--logdir", str(logdir)]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"the new one" in done.stdout


@pytest.mark.parametrize("chosen", ["json", "table"])
def test_a_folder_whose_name_is_not_utf8_is_listed(tmp_path, logdir, chosen) -> None:
    folder = os.fsencode(tmp_path) + b"/l\xff"
    shutil.copytree(os.fsencode(logdir), folder)
    command = [sys.executable, "-m", "xprof_nb.cli", "ls", "--format", chosen, "--logdir", os.fsdecode(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    if chosen == "json":
        assert [entry["run"] for entry in json.loads(done.stdout)] == ["new", "old"]


QUESTIONS = sorted({name for name, _ in args.QUESTIONS} - {"sql", "compare"})


@pytest.mark.parametrize("verb", QUESTIONS)
def test_every_question_has_a_verb_that_answers(run, verb) -> None:
    status, out, err = run(verb, "--top", "3")
    assert (status, err) == (0, "")
    assert out.startswith(f"{verb.replace('-', ' ')} of new")


def test_the_newest_run_is_compared_with_one_before(run) -> None:
    status, out, _ = run("compare", "old", "--format", "json")
    assert status == 0
    answer = json.loads(out)
    assert (answer["summary"]["before"], answer["summary"]["after"]) == ("old", "new")
    total = sum(row["difference_ps"] for row in answer["rows"])
    assert total == pytest.approx(answer["summary"]["difference_ps"])
    assert run("compare", "new", "old")[1].startswith("compare of new")
    assert run("compare")[0] == 2


def test_sql_and_its_schema(run) -> None:
    status, out, _ = run("sql", "SELECT op, self_time_ps FROM ops ORDER BY 2 DESC LIMIT 1")
    assert status == 0
    assert "self time" in out
    assert "self_time_ps" in run("sql", "--format", "csv")[1]
    assert run("sql", "DROP TABLE ops")[0] == 2


def test_what_other_tools_read_is_whole_whatever_is_shown(run, tmp_path) -> None:
    assert run("graph", "--format", "dot", "--top", "1")[1].startswith("digraph")
    assert run("graph", "--format", "hlo")[1].startswith("HloModule")
    status, _, err = run("trace", "--format", "chrome")
    assert status == 2
    assert "-o run.trace.json.gz" in err
    assert run("trace", "-o", str(tmp_path / "run.pftrace"))[0] == 0
    assert (tmp_path / "run.pftrace").stat().st_size > 1000
    path = tmp_path / "run.trace.json"
    assert run("trace", "--format", "chrome", "-o", str(path))[0] == 0
    assert json.loads(path.read_text())["traceEvents"]
