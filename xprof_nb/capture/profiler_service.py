"""One profiler server of another process: reached, asked for a profile, and every way in which that can fail.

JAX, TensorFlow and PyTorch/XLA start the same service in their processes: TSL's, over gRPC, without encryption and
without authentication.
"""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import CaptureError, ProfilerBusyError, UnreachableError
from xprof_nb.formats.profiler_schema import SERVICE, message_class
from xprof_nb.runs.names import file_stem

if TYPE_CHECKING:
    from xprof_nb.capture.addresses import Address

COLLECT_LIMIT_S = 900.0
"""How long a server may gather and send its profile after the recording has ended."""
_CONNECT_S = 1.5
_HANDSHAKE_S = 2.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0
_CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", -1),  # profiles are larger than gRPC's 4 MiB
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # else a channel inherits how long an earlier one to there is backing off
)
_NOWHERE = "/dev/null/xprof_nb"
"""No folder anywhere: a server that can only write its profile to a disk fails, and leaves nothing behind."""

_FAULTS: dict[str, tuple[type[CaptureError], str, str]] = {
    "UNIMPLEMENTED": (
        UnreachableError,
        "{address} is a gRPC server, but not a profiler server",
        "Use the port that was given to `jax.profiler.start_server`.",
    ),
    "UNAVAILABLE": (
        UnreachableError,
        "the process behind {address} ended, or the connection broke, while it was profiled",
        "What it had recorded is gone with it. Look whether it crashed, and capture again.",
    ),
    "DEADLINE_EXCEEDED": (
        CaptureError,
        f"{{address}} did not send its profile within {COLLECT_LIMIT_S:.0f} s of the end",
        "Capture a shorter time.",
    ),
    "CANCELLED": (CaptureError, "the capture of {address} was given up", ""),
    "RESOURCE_EXHAUSTED": (
        CaptureError,
        "the profile of {address} is too large to be sent ({said})",
        "One message holds at most 2 GiB: capture a shorter time, or trace less.",
    ),
    "BUSY": (
        ProfilerBusyError,
        "{address} is being profiled by somebody else ({said})",
        "Try again when that has ended, or let the capture try for longer (--patience).",
    ),
}
"""By gRPC's status code: the kind of error, what happened and what to do."""


@dataclass(frozen=True)
class Order:
    """What is asked of a server.

    Attributes
    ----------
    session
        Name of the recording, by which it can be ended early.
    options
        A serialized ``ProfileOptions``.
    folder
        Where a server that cannot send its profile may write it: a folder that both sides see. None for nowhere.
    """

    session: str
    duration_ms: int
    options: bytes
    folder: str | None = None


class ProfilerService:
    """A connection to one profiler server; made by `reach`.

    Attributes
    ----------
    on_this_machine
        Whether it runs here, and sees the same disks.
    """

    def __init__(self, address: Address, channel: Any, *, on_this_machine: bool) -> None:
        self.address = address
        self.on_this_machine = on_this_machine
        self._channel = channel
        self._call: Any = None
        self._ending: Any = None
        self._over = threading.Event()

    def profile(self, order: Order, patience_s: float) -> bytes:
        """Record, and return the serialized XSpace; empty where the server wrote it to the order's folder.

        A server that is recording for somebody else is asked again for ``patience_s`` seconds, less and less often.

        Raises
        ------
        ProfilerBusyError
            It was recording for somebody else all that time.
        UnreachableError
            It is no profiler service, or it ended meanwhile.
        CaptureError
            It failed; says how.
        """
        deadline = time.monotonic() + patience_s
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return self._profile(order)
            except ProfilerBusyError:
                if time.monotonic() + pause_s > deadline or self._over.wait(pause_s):
                    raise
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def end(self, session: str) -> None:
        """End a recording early: the server sends what it has. Returns at once."""
        self._over.set()
        request = message_class("TerminateRequest")(session_id=session)
        # Kept, so that it is not cancelled as its last reference goes.
        self._ending = self._method("Terminate", "TerminateResponse").future(request, timeout=_CONNECT_S)

    def give_up(self) -> None:
        """Stop waiting for a profile, and let the server forget it."""
        self._over.set()
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        """Let the connection go."""
        self._channel.close()

    def _profile(self, order: Order) -> bytes:
        import grpc  # noqa: PLC0415 - needed only for captures of other processes

        request = message_class("ProfileRequest")(
            duration_ms=order.duration_ms,
            opts=message_class("ProfileOptions").FromString(order.options),
            repository_root=order.folder or _NOWHERE,
            session_id=order.session,
            host_name=file_stem(str(self.address)),
            emit_xspace=True,
        )
        limit_s = order.duration_ms / 1e3 + COLLECT_LIMIT_S
        self._call = self._method("Profile", "ProfileResponse").future(request, timeout=limit_s)
        try:
            response = self._call.result()
        except (grpc.RpcError, grpc.FutureCancelledError) as error:
            raise self._failure(error, order) from error
        if not response.xspace and order.folder is None:
            raise self._cannot_send()
        return bytes(response.xspace)

    def _method(self, name: str, answer: str) -> Any:
        return self._channel.unary_unary(
            f"/{SERVICE}/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message_class(answer).FromString,
        )

    def _failure(self, error: Any, order: Order) -> CaptureError:
        """Return what a failed call means."""
        import grpc  # noqa: PLC0415

        code = error.code().name if isinstance(error, grpc.RpcError) else "CANCELLED"
        said = " ".join(str(error.details() if isinstance(error, grpc.RpcError) else error).split())[:300]
        if order.folder is None and _NOWHERE in said:
            return self._cannot_send()
        if _says_busy(said):
            code = "BUSY"
        elif "serializ" in said.lower():
            code = "RESOURCE_EXHAUSTED"
        kind, what, hint = _FAULTS.get(code, (CaptureError, "{address} failed to profile: {said}", ""))
        return kind(what.format(address=self.address, said=said.rstrip(".") or code), hint=hint)

    def _cannot_send(self) -> CaptureError:
        return CaptureError(
            f"{self.address} is of a release that cannot send a profile, but only write it to a disk",
            hint="Name a folder that both machines see (--shared DIR), or upgrade what runs there.",
        )


def reach(address: Address, patience_s: float) -> ProfilerService:
    """Connect to a server, trying for ``patience_s`` seconds, less and less often.

    Raises
    ------
    UnreachableError
        Nobody listens there, no such host, or what listens does not speak gRPC; says which.
    """
    import grpc  # noqa: PLC0415 - needed only for captures of other processes

    target, is_here = _dial(address, time.monotonic() + patience_s)
    channel = grpc.insecure_channel(target, options=_CHANNEL_OPTIONS)
    try:
        grpc.channel_ready_future(channel).result(timeout=_HANDSHAKE_S)
    except grpc.FutureTimeoutError as late:
        channel.close()
        raise UnreachableError(
            f"something listens at {address}, but it does not speak gRPC",
            hint="It is not a profiler server, or it expects TLS, which profiler servers do not offer.",
        ) from late
    return ProfilerService(address, channel, on_this_machine=is_here)


def _dial(address: Address, deadline: float) -> tuple[str, bool]:
    """Return the very address a plain connection reached, as gRPC writes it, and whether that is this machine."""
    pause_s = _FIRST_PAUSE_S
    while True:
        left_s = max(deadline - time.monotonic(), _FIRST_PAUSE_S)
        try:
            with socket.create_connection((address.host, address.port), timeout=min(left_s, _CONNECT_S)) as reached:
                here, there = reached.getsockname(), reached.getpeername()
            if here == there:  # a closed port of this machine, by chance also the one we called from
                raise ConnectionRefusedError
            kind, name = ("ipv6", f"[{there[0]}]") if reached.family == socket.AF_INET6 else ("ipv4", there[0])
            return f"{kind}:{name}:{there[1]}", here[0] == there[0]
        except socket.gaierror as unknown:
            raise UnreachableError(f"there is no host {address.host!r} ({unknown.strerror})") from unknown
        except OSError as refused:
            if time.monotonic() + pause_s > deadline:
                raise _not_there(address, refused) from refused
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _not_there(address: Address, refused: OSError) -> UnreachableError:
    if isinstance(refused, ConnectionRefusedError):
        return UnreachableError(
            f"nobody listens at {address}",
            hint="Start `jax.profiler.start_server(port)` or `%xprof server start` in the process to be profiled.",
        )
    if isinstance(refused, TimeoutError):
        return UnreachableError(
            f"{address} does not answer",
            hint="The machine is off, or a firewall drops the connection: an ssh tunnel (`ssh -L`) gets through.",
        )
    return UnreachableError(f"{address} cannot be reached ({refused.strerror or refused})")


def _says_busy(said: str) -> bool:
    lower = said.lower()
    return "another profil" in lower or "already" in lower or "being captured" in lower
