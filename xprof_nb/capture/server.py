"""A profiler server in this process, so that another one can capture it.

It speaks TSL's ``ProfilerService``, as ``jax.profiler.start_server`` does, whose server always listens on every
interface and can be neither asked where it listens nor what it is doing. The service has no authentication.
"""

from __future__ import annotations

import ipaddress
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xprof_nb.capture.forking import in_forked_child
from xprof_nb.capture.options import CaptureOptions
from xprof_nb.capture.session import jax_started, open_session
from xprof_nb.errors import CaptureError, ProfileError, ProfilerBusyError, UsageError
from xprof_nb.formats.profiler_schema import SERVICE, message_class

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = "127.0.0.1"
USUAL_PORT = 9012
LONGEST_S = 3600.0
_LOOK_S = 0.05
_SERVER_OPTIONS = (
    ("grpc.so_reuseport", 0),  # else two processes get the same port, and requests go to either
    ("grpc.max_send_message_length", -1),
)


@dataclass(frozen=True)
class Listening:
    """Where the server of this process listens; as text, what to know of it."""

    host: str
    port: int

    @property
    def address(self) -> str:
        """What ``--from`` takes."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        if _is_loopback(self.host):
            reach = f"Only this machine can reach it; from elsewhere, go through ssh -L {self.port}:{self.address}."
            whom = "any user of this machine"
        else:
            reach, whom = "Other machines can reach it.", "whoever reaches this port"
        return (
            f"The profiler server of this process listens at {self.address}. {reach} The service has no "
            f"authentication and no encryption: {whom} can profile this process and read its programs. "
            f"Capture it with: xprof-nb capture 3s --from {self.address}"
        )


class _Place:
    """Where the one server of this process is."""

    lock = threading.Lock()
    server: Any = None
    listening: Listening | None = None


_place = _Place()


def start(port: int | None = None, host: str | None = None) -> Listening:
    """Start the profiler server of this process; where it runs already, return where.

    Parameters
    ----------
    port
        Port to listen at; by default 9012, or a free one where that is taken.
    host
        Address to listen at; by default ``127.0.0.1``, which other machines cannot reach.

    Raises
    ------
    UsageError
        It listens already, and elsewhere; or the port or address is none.
    CaptureError
        The port is taken.
    """
    with _place.lock:
        running = _place.listening
        if running is not None:
            if port in (None, running.port) and host in (None, running.host):
                return running
            raise UsageError(
                f"the profiler server of this process listens at {running.address}",
                hint="Stop it first: %xprof server stop.",
            )
        if port is not None and not 0 <= port < 2**16:
            raise UsageError(f"there is no port {port}", hint="Give 1 to 65535, or 0 for a free one.")
        where = host or LOOPBACK
        try:
            _place.server, _place.listening = _listen(where, USUAL_PORT if port is None else port)
        except CaptureError:
            if port is not None:
                raise
            _place.server, _place.listening = _listen(where, 0)
        return _place.listening


def stop() -> Listening | None:
    """Stop the server of this process, which drops a recording of its; return where it listened, if it did."""
    with _place.lock:
        server, was = _place.server, _place.listening
        _place.server = _place.listening = None
    if server is not None:
        server.stop(grace=None).wait()
    return was


def listening() -> Listening | None:
    """Return where the server of this process listens, None if there is none."""
    return _place.listening


def others() -> str:
    """Name a profiler server that other code started in this process, ``""`` if none is known."""
    module = sys.modules.get("jax._src.profiler")
    if getattr(module, "_profiler_server", None) is None:
        return ""
    return (
        "jax.profiler.start_server also listens in this process, on every interface of the machine and without "
        "authentication; jax.profiler.stop_server() ends that."
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> tuple[Any, Listening]:
    import grpc  # noqa: PLC0415 - needed only by who serves

    wanted = Listening(host, port)
    server = grpc.server(
        ThreadPoolExecutor(4, "xprof_nb profiler server"), options=_SERVER_OPTIONS, maximum_concurrent_rpcs=4
    )
    service = _Service()
    methods = {
        "Profile": _method(grpc, service.profile, "ProfileRequest"),
        "Terminate": _method(grpc, service.terminate, "TerminateRequest"),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    try:
        bound = server.add_insecure_port(wanted.address)
    except RuntimeError:
        bound = 0
    if not bound:
        server.stop(grace=None)
        raise CaptureError(
            f"the profiler server cannot listen at {wanted.address}: it is taken, or no address of this machine",
            hint=" ".join(filter(None, ("Choose another --port, or leave it out for a free one.", others()))),
        )
    server.start()
    return server, Listening(host, bound)


def _method(grpc: Any, work: Any, request: str) -> Any:
    return grpc.unary_unary_rpc_method_handler(
        work,
        request_deserializer=message_class(request).FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )


class _Service:
    """Answers the calls of clients, each in a thread of its own."""

    def __init__(self) -> None:
        self._ended: dict[str, threading.Event] = {}

    def profile(self, request: Any, context: Any) -> Any:
        """Record for as long as the request says and send the profile; nothing is written to a disk here."""
        import grpc  # noqa: PLC0415

        if not request.emit_xspace:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                "This server sends profiles and writes none to its disk: ask with emit_xspace, or use xprof-nb.",
            )
        if not jax_started():
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION, "JAX has no devices in that process yet, so nothing runs there."
            )
        try:
            return message_class("ProfileResponse")(xspace=self._record(request, context))
        except ProfilerBusyError as busy:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"Another profiling session active: {busy}")
        except UsageError as wrong:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(wrong))
        except ProfileError as failed:
            context.abort(grpc.StatusCode.INTERNAL, str(failed))

    def terminate(self, request: Any, context: Any) -> Any:  # noqa: ARG002 - what gRPC passes
        """End a recording of that name early; its client then gets what there is."""
        ended = self._ended.get(request.session_id)
        if ended is not None:
            ended.set()
        return message_class("TerminateResponse")()

    def _record(self, request: Any, context: Any) -> bytes:
        ended = self._ended.setdefault(request.session_id, threading.Event())
        deadline_s = time.monotonic() + min(request.duration_ms / 1e3, LONGEST_S)
        try:
            session = open_session(_options(request.opts), f"this process for the client {context.peer()}")
            try:
                while (left_s := deadline_s - time.monotonic()) > 0 and threading.main_thread().is_alive():
                    if not context.is_active() or ended.wait(min(left_s, _LOOK_S)):
                        break
            except BaseException:
                session.discard()
                raise
            if context.is_active():
                return session.stop()
            session.discard()
            raise CaptureError("the client is gone")
        finally:
            self._ended.pop(request.session_id, None)


def _options(asked: Any) -> CaptureOptions:
    """Return a client's options; where it says none, ours."""
    if not asked.version:
        return CaptureOptions()
    return CaptureOptions(
        host_tracer_level=asked.host_tracer_level,
        python_tracer_level=asked.python_tracer_level,
        hlo=asked.enable_hlo_proto,
        dataset_ops=asked.include_dataset_ops,
        device_tracing=asked.device_tracer_level > 0,
        advanced=_advanced(asked),
    )


def _advanced(asked: Any) -> Mapping[str, Any]:
    values = {entry.key: entry.value.ListFields() for entry in asked.advanced_configuration}
    return {key: fields[0][1] for key, fields in values.items() if fields}


def _forget_all() -> None:
    """Begin anew in a forked child: the threads that serve are the parent's."""
    _place.lock = threading.Lock()
    _place.server = _place.listening = None


in_forked_child(_forget_all)
