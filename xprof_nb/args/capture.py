"""How to ask for a capture of this process, and how to speak with the one under way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from xprof_nb.args.parser import AddVerb, Parser, add_logdir, seconds

Action = Literal["wait", "status", "cancel"]


@dataclass(frozen=True)
class CaptureCommand:
    """``capture 3s``; of ``%%xprof``, which lasts as long as its cell, `duration_s` is None."""

    duration_s: float | None = None
    name: str | None = None
    note: str = ""
    python_tracer_level: int = 0
    logdir: str | None = None


@dataclass(frozen=True)
class JobCommand:
    """``wait``, ``status`` and ``cancel``: what to do with the capture under way."""

    action: Action


def add_capture(add_verb: AddVerb) -> None:
    """Add ``capture``, ``wait``, ``status`` and ``cancel``."""
    verb = add_verb("capture", CaptureCommand, "profile this process for a while, without blocking the notebook")
    verb.add_argument("duration_s", metavar="DURATION", type=seconds, help="how long: 3s, 500ms, 2m")
    add_capture_options(verb)
    jobs: tuple[tuple[Action, str], ...] = (
        ("wait", "wait for the capture under way and show it"),
        ("status", "say how the capture under way is doing"),
        ("cancel", "end the capture under way and keep what is there"),
    )
    for action, about in jobs:
        add_verb(action, partial(JobCommand, action), about)


def add_capture_options(parser: Parser) -> None:
    """Add what ``%xprof capture`` and ``%%xprof`` both take."""
    parser.add_argument("--name", help="name of the run (default: the moment it starts)")
    parser.add_argument("--note", default="", help="anything worth remembering of this run")
    parser.add_argument(
        "--python",
        dest="python_tracer_level",
        action="store_const",
        const=1,
        default=0,
        help="record Python calls too; slows code that makes many",
    )
    add_logdir(parser)
