"""How to ask for a capture of other processes, and how to let others capture this one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from xprof_nb.args.capture import CaptureCommand, add_capture, add_levels, add_naming, timed_command
from xprof_nb.args.parser import AddVerb, Parser, add_logdir, seconds
from xprof_nb.errors import UsageError

ServerAction = Literal["start", "stop", "status"]
_OF_THIS_PROCESS = {
    "each_s": "--for",
    "steps": "--steps",
    "every_s": "--every",
    "runs": "-n",
    "when_slower": "--when-slower",
    "overhead": "--overhead",
    "memory": "--memory",
}


@dataclass(frozen=True)
class RemoteCommand:
    """``capture 3s --from host:port``; what is None was not asked for.

    Attributes
    ----------
    servers
        Addresses of profiler servers, with commas.
    patience_s
        How long to keep trying a server that is not there or busy.
    shared
        A folder both sides see.
    """

    servers: str
    duration_s: float
    name: str | None = None
    note: str = ""
    logdir: str | None = None
    preset: str | None = None
    host_tracer_level: int | None = None
    python_tracer_level: int | None = None
    device_tracing: bool | None = None
    max_devices: int | None = None
    patience_s: float | None = None
    shared: str | None = None


@dataclass(frozen=True)
class ServerCommand:
    """``server start``, ``stop`` and ``status``: the profiler server of this process."""

    action: ServerAction
    port: int | None = None
    host: str | None = None


def add_captures(add_verb: AddVerb) -> None:
    """Add ``capture`` of this process and, with ``--from``, of others; and ``server``."""
    verb = add_capture(add_verb)
    _add_from(verb, required=False)
    verb.set_defaults(make=_capture_command)
    verb = add_verb("server", ServerCommand, "let other processes and machines capture this one")
    verb.add_argument(
        "action", choices=("start", "stop", "status"), nargs="?", default="status", help="(default: %(default)s)"
    )
    verb.add_argument("--port", metavar="N", type=int, help="where to listen (default: 9012, or a free one)")
    verb.add_argument("--host", metavar="ADDRESS", help="on which address (default: 127.0.0.1, this machine only)")


def add_capture_of_others(add_verb: AddVerb) -> None:
    """Add ``capture`` as a shell has it: it has nothing of its own to capture."""
    verb = add_verb("capture", RemoteCommand, "profile other processes through their profiler servers")
    verb.add_argument("duration_s", metavar="DURATION", type=seconds, help="how long: 3s, 500ms, 2m")
    add_naming(verb)
    add_levels(verb)
    add_logdir(verb)
    _add_from(verb, required=True)


def _add_from(verb: Parser, *, required: bool) -> None:
    add = partial(_add_to, verb, verb.add_argument_group("other processes"))
    add(
        "--from",
        dest="servers",
        metavar="HOST:PORT[,…]",
        required=required,
        help="profile these processes, all at once: where jax.profiler.start_server, TensorFlow, PyTorch/XLA or "
        "`%%xprof server start` listens; neither encrypted nor authenticated",
    )
    add(
        "--patience",
        dest="patience_s",
        metavar="DURATION",
        type=seconds,
        help="how long to try a server that is not there or busy (default: 1s)",
    )
    add(
        "--shared",
        metavar="DIR",
        help="a folder both sides see, for servers too old to send a profile",
    )


def _add_to(verb: Parser, group: Any, flag: str, **options: Any) -> None:
    verb.flags.add(flag)
    group.add_argument(flag, **options)


def _capture_command(
    servers: str | None, patience_s: float | None, shared: str | None, **values: Any
) -> CaptureCommand | RemoteCommand:
    """Return the command of ``%xprof capture``; raise UsageError where its options do not go together."""
    if servers is None:
        if patience_s is not None or shared is not None:
            raise UsageError("--patience and --shared without --from", hint="Say whom to capture: --from host:port.")
        return timed_command(**values)
    if values["duration_s"] is None:
        raise UsageError("--from without DURATION", hint="Say how long: %xprof capture 3s --from host:port.")
    unfit = [flag for key, flag in _OF_THIS_PROCESS.items() if values.pop(key, None)]
    if unfit:
        raise UsageError(f"{', '.join(unfit)} with --from", hint="Other processes are captured for a time, once.")
    return RemoteCommand(servers, patience_s=patience_s, shared=shared, **values)
