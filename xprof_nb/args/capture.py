"""How to ask for a capture of this process, and how to speak with the one under way."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from xprof_nb.args.parser import AddVerb, Parser, add_logdir, seconds
from xprof_nb.errors import UsageError

Action = Literal["wait", "status", "cancel"]
PRESETS = ("full", "light", "python")
DEFAULT_RUNS = 3


@dataclass(frozen=True)
class CaptureCommand:
    """``capture 3s`` and ``%%xprof``; what is None was not asked for.

    Attributes
    ----------
    duration_s
        How long to record; of ``--steps`` and ``--when-slower`` the time limit.
    steps
        Stop after so many whole steps.
    every_s, runs
        So many captures, one at each period.
    when_slower
        Capture a step that takes so many times the median.
    overhead
        Measure first what each kind of tracing costs.
    memory
        Show the device memory that was taken meanwhile, too.
    """

    duration_s: float | None = None
    name: str | None = None
    note: str = ""
    logdir: str | None = None
    steps: int | None = None
    every_s: float | None = None
    runs: int | None = None
    when_slower: float | None = None
    preset: str | None = None
    host_tracer_level: int | None = None
    python_tracer_level: int | None = None
    device_tracing: bool | None = None
    max_devices: int | None = None
    overhead: bool = False
    memory: bool = False


@dataclass(frozen=True)
class JobCommand:
    """``wait``, ``status`` and ``cancel``: what to do with the capture under way."""

    action: Action


@dataclass(frozen=True)
class PanelCommand:
    """``panel``: a Capture button in the output."""


def add_capture(add_verb: AddVerb) -> Parser:
    """Add ``capture``, ``wait``, ``status`` and ``cancel``; return the first."""
    verb = add_verb("capture", timed_command, "profile this process for a while, without blocking the notebook")
    verb.add_argument(
        "duration_s",
        metavar="DURATION",
        nargs="?",
        type=seconds,
        help="how long: 3s, 500ms, 2m; with --steps or --when-slower, at most how long",
    )
    add_capture_options(verb)
    jobs: tuple[tuple[Action, str], ...] = (
        ("wait", "wait for the capture under way and show it"),
        ("status", "say how the capture under way is doing"),
        ("cancel", "end the capture under way and keep what is there"),
    )
    for action, about in jobs:
        add_verb(action, partial(JobCommand, action), about)
    add_verb("panel", PanelCommand, "show a Capture button that works while a cell runs")
    return verb


def add_capture_options(parser: Parser) -> None:
    """Add what ``%xprof capture`` and ``%%xprof`` both take."""
    add_naming(parser)
    add = parser.add_argument_group("when and how long").add_argument
    for flag, options in _PLANS.items():
        parser.flags.update((flag,))
        add(flag, **options)
    add_levels(parser)
    add = parser.add_argument_group("what else is measured").add_argument
    for flag, options in _BESIDES.items():
        parser.flags.update((flag,))
        add(flag, **options)
    add_logdir(parser)


def add_naming(parser: Parser) -> None:
    """Add ``--name`` and ``--note``."""
    parser.add_argument("--name", help="name of the run (default: the moment it starts)")
    parser.add_argument("--note", default="", help="anything worth remembering of this run")


def add_levels(parser: Parser) -> None:
    """Add what says how much is recorded."""
    add = parser.add_argument_group("what is recorded").add_argument
    for flag, options in _LEVELS.items():
        parser.flags.update((flag,))
        add(flag, **options)


def timed_command(**values: Any) -> CaptureCommand:
    """Return the command of ``%xprof capture``; raise UsageError where its options do not go together."""
    command = cell_command(**values)
    if command.duration_s is None and command.steps is None and command.when_slower is None:
        raise UsageError(
            "the following arguments are required: DURATION",
            hint="Say how long: %xprof capture 3s, or until when: --steps 10, --when-slower 1.5x.",
        )
    return command


def cell_command(each_s: float | None, duration_s: float | None = None, **values: Any) -> CaptureCommand:
    """Return the command of ``%%xprof``; raise UsageError where its options do not go together."""
    if each_s is not None and duration_s is not None:
        raise UsageError("two durations", hint="Give DURATION or --for, not both.")
    command = CaptureCommand(each_s if duration_s is None else duration_s, **values)
    if command.every_s is None:
        if command.runs is not None:
            raise UsageError("-n without --every", hint="Say how often: --every 2s --for 0.3s -n 3.")
        return command
    if command.steps is not None or command.when_slower is not None:
        raise UsageError("--every with --steps or --when-slower", hint="Choose one of them.")
    if command.duration_s is None:
        raise UsageError("--every without --for", hint="Say how long each lasts: --every 2s --for 0.3s -n 3.")
    return command


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _level(highest: int, text: str) -> int:
    if not re.fullmatch(r"[0-9]", text) or int(text) > highest:
        raise argparse.ArgumentTypeError(f"{text!r} is not a level; there are 0 to {highest}")
    return int(text)


def _factor(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]+)?)[x×]?", text.strip().lower())
    if match is None or not float(match[1]) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a factor above 1; write 1.5x")
    return float(match[1])


_PLANS: dict[str, dict[str, Any]] = {
    "--for": {"dest": "each_s", "metavar": "DURATION", "type": seconds, "help": "how long, as DURATION"},
    "--steps": {"metavar": "N", "type": _whole, "help": "stop after N whole steps, marked or inferred"},
    "--every": {"dest": "every_s", "metavar": "PERIOD", "type": seconds, "help": "capture again and again, a run each"},
    "-n": {"dest": "runs", "metavar": "N", "type": _whole, "help": f"how many (default: {DEFAULT_RUNS})"},
    "--when-slower": {
        "metavar": "1.5x",
        "type": _factor,
        "help": "record until a step took so many times the median; that step is kept and --steps N after it (1)",
    },
}
_BESIDES: dict[str, dict[str, Any]] = {
    "--overhead": {
        "action": "store_true",
        "help": "measure first what each kind of tracing costs a step; --steps compares with and without in any case",
    },
    "--memory": {"action": "store_true", "help": "show the device memory taken meanwhile, and who holds it"},
}
_LEVELS: dict[str, dict[str, Any]] = {
    "--preset": {
        "choices": PRESETS,
        "help": "full (default); light: less of the host, one device; python: Python calls too",
    },
    "--python": {
        "dest": "python_tracer_level",
        "nargs": "?",
        "metavar": "0|1",
        "const": 1,
        "type": partial(_level, 1),
        "help": "record Python calls too; slows code that makes many",
    },
    "--host": {
        "dest": "host_tracer_level",
        "metavar": "0..3",
        "type": partial(_level, 3),
        "help": "how much of the host to record; at 0 a CPU records no ops",
    },
    "--no-device": {
        "dest": "device_tracing",
        "action": "store_const",
        "const": False,
        "help": "leave out the accelerators",
    },
    "--devices": {"dest": "max_devices", "metavar": "N", "type": _whole, "help": "record N chips of this process"},
}
