"""Every option of a capture is there in the magic line, above a cell and in Python; of other processes in the shell."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from inspect import signature
from typing import Any

import pytest

import xprof_nb as xp
from xprof_nb import args
from xprof_nb.args.capture import add_capture_options, add_levels, add_naming
from xprof_nb.args.parser import Parser
from xprof_nb.capture import jobs
from xprof_nb.capture.options import CaptureOptions
from xprof_nb.capture.plans import Burst, For, Steps, WhenSlower
from xprof_nb.jupyter.asking import request_of

EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "--name": ("--name train", {"name": "train"}),
    "--note": ("--note 'batch 8'", {"note": "batch 8"}),
    "--logdir": ("--logdir there", {"logdir": "there"}),
    "--for": ("--for 2s", {"plan": 2.0}),
    "--steps": ("--steps 3", {"plan": Steps(3)}),
    "--every": ("--every 2s --for 1s", {"plan": Burst(2.0, 1.0, 3)}),
    "-n": ("--every 2s --for 1s -n 4", {"plan": Burst(2.0, 1.0, 4)}),
    "--when-slower": ("--when-slower 2x", {"plan": WhenSlower(2.0)}),
    "--overhead": ("--overhead", {"overhead": True}),
    "--memory": ("--memory", {"memory": True}),
    "--preset": ("--preset light", {"preset": "light"}),
    "--python": ("--python", {"python_tracer_level": 1}),
    "--host": ("--host 1", {"host_tracer_level": 1}),
    "--no-device": ("--no-device", {"device_tracing": False}),
    "--devices": ("--devices 2", {"max_devices": 2}),
}


def flags_of(*rooms) -> set[str]:
    parser = Parser("any", "")
    for add in rooms:
        add(parser)
    return parser.flags - {"-h", "--help"}


def test_there_is_an_example_of_every_option() -> None:
    assert set(EXAMPLES) == flags_of(add_capture_options)


@pytest.mark.parametrize("flag", EXAMPLES)
def test_line_cell_and_python_ask_for_the_same(flag: str, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "start", lambda request: request)
    words, asked = EXAMPLES[flag]
    python: Any = xp.capture_for(**{"plan": 3.0, **asked})
    line = args.parse_magic(f"capture {words}" if "plan" in asked else f"capture 3s {words}")
    assert isinstance(line, args.CaptureCommand)
    assert request_of(line) == python
    lasts = python.plan if "plan" in asked else For(None)  # as long as the cell
    assert request_of(args.parse_cell_magic(words)) == replace(python, plan=lasts)


@pytest.mark.parametrize("flag", sorted(flags_of(add_naming, add_levels) | {"--logdir"}))
def test_the_shell_asks_others_for_the_same_as_a_notebook_does(flag: str) -> None:
    words, asked = EXAMPLES[flag]
    line = f"capture 3s --from host:9012 {words}"
    command = args.parse_shell(shlex.split(line))
    assert command == args.parse_magic(line)
    assert {key: getattr(command, key) for key in asked} == asked


def test_python_can_ask_others_for_all_that_the_shell_can() -> None:
    levels = {item.name for item in fields(CaptureOptions)}  # capture_from takes them all as **options
    asked = {item.name for item in fields(args.RemoteCommand)} - levels - {"duration_s"}
    assert asked <= set(signature(xp.capture_from).parameters)
