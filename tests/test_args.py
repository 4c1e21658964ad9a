from __future__ import annotations

import argparse
from dataclasses import replace

import pytest

from xprof_nb import args
from xprof_nb.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"), [("3s", 3), ("500ms", 0.5), ("2m", 120), ("2min", 120), ("1.5", 1.5), (".5s", 0.5), ("3 S", 3)]
)
def test_durations(text: str, seconds: float) -> None:
    assert args.seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "3h", "-1s", "0", "0ms", "nan", "inf", "1e9", "3s3", "100000s", "３s x"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        args.seconds(text)


def test_capture_with_every_option() -> None:
    command = args.parse_magic("capture 3s --name train --note 'batch 8, bf16' --python --logdir /tmp/x")
    assert command == args.CaptureCommand(3.0, "train", "batch 8, bf16", "/tmp/x", python_tracer_level=1)


def test_a_cell_takes_the_same_options_but_lasts_as_long_as_it_does() -> None:
    options = "--name train --note n --python --logdir d"
    assert args.parse_cell_magic(options) == args.CaptureCommand(None, "train", "n", "d", python_tracer_level=1)
    magic = args.parse_magic(f"capture 1s {options}")
    assert isinstance(magic, args.CaptureCommand)
    assert args.parse_cell_magic(options) == replace(magic, duration_s=None)
    with pytest.raises(UsageError, match="3s"):
        args.parse_cell_magic("3s")


@pytest.mark.parametrize(
    "line",
    [
        "op-profile",
        "op-profile RUN --by category --top 5 --format json -o out.json --logdir d",
        "ops 'a run' --format csv",
        "overview --format html -o page.html",
        "ls --format json",
        "open ../elsewhere",
        "doctor",
    ],
)
def test_notebook_and_shell_read_a_question_alike(line: str) -> None:
    import shlex

    assert args.parse_magic(line) == args.parse_shell(shlex.split(line))


def test_a_question_says_what_it_asks() -> None:
    command = args.parse_magic("op-profile RUN --by source --top 7 --format csv")
    assert command == args.QueryCommand("op_profile", "RUN", None, {"by": "source"}, 7, "csv", None)
    assert args.parse_magic("ops") == args.QueryCommand("ops")


@pytest.mark.parametrize("action", ["wait", "status", "cancel"])
def test_only_a_notebook_has_a_capture_to_manage(action: str) -> None:
    assert args.parse_magic(action) == args.JobCommand(action)
    with pytest.raises(UsageError):
        args.parse_shell([action])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("capture", "DURATION"),
        ("capture 3x", "not a duration"),
        ("capture 3s --nam x", "--nam"),
        ("capture 3s --name", "expected one argument"),
        ("capture --steps 0", "whole number"),
        ("capture --steps 1e3", "whole number"),
        ("capture --when-slower 0.9x", "above 1"),
        ("capture --when-slower infx", "above 1"),
        ("capture --every 2s", "--for"),
        ("capture 3s -n 3", "--every"),
        ("capture 3s --for 2s", "two durations"),
        ("capture --every 2s --for 1s --steps 3", "Choose one"),
        ("capture 3s --preset heavy", "light"),
        ("capture 3s --host 4", "0 to 3"),
        ("capture 3s --python 2", "0 to 1"),
        ("capture 3s --devices none", "whole number"),
        ("profile", "op-profile"),
        ("op-profile --by size", "category"),
        ("ops --top 0", "number of rows"),
        ("ops --format xml", "table"),
        ("capture 'a", "quot"),
    ],
)
def test_a_wrong_line_says_what_is_wrong_and_never_ends_the_process(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        args.parse_magic(line)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("line", ["", "-h", "--help", "capture -h", "op-profile --help"])
def test_help_is_text(line: str) -> None:
    with pytest.raises(args.HelpAsked, match=r"usage: %xprof"):
        args.parse_magic(line)


def test_help_names_every_verb_with_what_it_does() -> None:
    with pytest.raises(args.HelpAsked) as asked:
        args.parse_magic("")
    for verb in ("capture", "wait", "status", "cancel", "ls", "open", "overview", "op-profile", "ops", "doctor"):
        assert verb in str(asked.value)


@pytest.mark.parametrize(
    ("line", "alike"),
    [
        ("capture --nme x", "--name"),
        ("op-profile --topp 3 RUN", "--top"),
        ("graph --rad=2", "--radius"),
        ("--hepl", ""),
    ],
)
def test_a_misspelt_option_is_named_and_the_nearest_one_too(line: str, alike: str) -> None:
    wrong = next(word for word in line.split() if word.startswith("--")).partition("=")[0]
    with pytest.raises(UsageError, match=f"no option {wrong}.*{alike}"):
        args.parse_magic(line)


def test_filters_of_every_question() -> None:
    command = args.parse_magic("steps RUN --host a --device TPU:0 --program jit_f --step 3 --compat xprof")
    params = {"host": "a", "device": "TPU:0", "program": "jit_f", "step": 3, "compat": "xprof"}
    assert command == args.QueryCommand("steps", "RUN", params=params)
    assert args.parse_magic("sql 'SELECT 1' RUN") == args.QueryCommand("sql", "RUN", params={"text": "SELECT 1"})
    assert args.parse_magic("graph RUN --op dot.1 --radius 3 --format dot").params == {"op": "dot.1", "radius": 3}


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ("--steps 10", {"steps": 10}),
        ("5m --steps 10", {"steps": 10, "duration_s": 300.0}),
        ("--every 2s --for 0.3s -n 4", {"every_s": 2.0, "duration_s": 0.3, "runs": 4}),
        ("0.3s --every 2s", {"every_s": 2.0, "duration_s": 0.3}),
        ("--when-slower 1.5x", {"when_slower": 1.5}),
        ("10m --when-slower 2 --steps 3", {"when_slower": 2.0, "steps": 3, "duration_s": 600.0}),
        ("3s --preset light", {"duration_s": 3.0, "preset": "light"}),
        ("3s --python 0 --host 0", {"duration_s": 3.0, "python_tracer_level": 0, "host_tracer_level": 0}),
        ("3s --no-device --devices 1", {"duration_s": 3.0, "device_tracing": False, "max_devices": 1}),
        ("--steps 5 --overhead", {"steps": 5, "overhead": True}),
    ],
)
def test_when_to_capture_and_what(options: str, asked: dict[str, object]) -> None:
    assert args.parse_magic(f"capture {options}") == args.CaptureCommand(**asked)
