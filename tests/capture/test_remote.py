"""Captures of other processes: real ones with jax's own profiler server, and whatever else may listen at a port."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

import xprof_nb as xp
from tests.capture.captured import names_in
from tests.capture.processes import free_port, process
from xprof_nb.capture.addresses import Address, addresses
from xprof_nb.errors import CaptureError, ProfilerBusyError, UnreachableError, UsageError
from xprof_nb.formats.profiler_schema import SERVICE, message_class
from xprof_nb.runs import sidecar


@pytest.fixture(scope="module")
def busy() -> Iterator[int]:
    with process("busy") as (_, port):
        yield port


@pytest.fixture(scope="module")
def busy_too() -> Iterator[int]:
    with process("busy") as (_, port):
        yield port


@pytest.fixture(scope="module")
def idle() -> Iterator[int]:
    with process("idle") as (_, port):
        yield port


@contextmanager
def grpc_server(profile: Callable | None = None, at: int = 0) -> Iterator[int]:
    """A gRPC server; its profiler service, if any, answers with what ``profile`` makes of a request."""
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.max_send_message_length", -1)])
    if profile is not None:
        handler = grpc.unary_unary_rpc_method_handler(
            profile,
            request_deserializer=message_class("ProfileRequest").FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Profile": handler}),))
    port = server.add_insecure_port(f"127.0.0.1:{at}")
    server.start()
    try:
        yield port
    finally:
        server.stop(0).wait()


def recorded(busy_port: int, tmp_path: Path) -> bytes:
    """The bytes of a real profile of another process."""
    profile = xp.capture_from(f"localhost:{busy_port}", 0.1, logdir=tmp_path / "source").wait(60)
    (file,) = Path(profile.path).glob("*.xplane.pb")
    return file.read_bytes()


def test_another_process_is_captured_into_our_log_dir(busy: int, logdir: Path) -> None:
    job = xp.capture_from(f"localhost:{busy}", 0.3, "far", logdir, note="theirs")
    profile = job.wait(60)
    assert profile.name == "far"
    assert profile.origin == "captured"
    assert job.notes == ()
    ops = profile.ops().frame
    assert (ops["time_ps"] > 0).all()
    assert set(ops["program"]) == {"jit_step"}
    file = f"{socket.gethostname()}.xplane.pb"
    assert names_in(Path(profile.path)) == [file, "xprof-nb.json"]
    record = sidecar.read(profile.path)
    assert record.note == "theirs"
    assert record.sources == ({"address": f"localhost:{busy}", "file": file},)
    assert record.options["python_tracer_level"] == 0
    assert 0.25 < record.duration_s <= 0.3
    # The profile repeats what its own process was told to record.
    (told,) = {tuple(sorted(host.capture_options.items())) for host in profile.data.hosts}
    assert dict(told)["host_tracer_level"] == 2
    assert "python_tracer_level" not in dict(told)


def test_two_processes_are_captured_at_once_into_one_run(busy: int, busy_too: int, logdir: Path) -> None:
    profile = xp.capture_from([f"localhost:{busy}", f"127.0.0.1:{busy_too}"], 0.3, "both", logdir).wait(60)
    host = socket.gethostname()
    assert sorted(profile.hosts) == sorted([f"{host}_{busy}", f"{host}_{busy_too}"])
    begins, ends = zip(*(trace.window_ps for trace in profile.data.hosts), strict=True)
    assert min(ends) - max(begins) > 0.5 * (max(ends) - min(begins))
    assert profile.ops().frame.groupby("host")["time_ps"].sum().gt(0).all()


def test_a_host_that_fails_does_not_lose_the_others(busy: int, idle: int, logdir: Path) -> None:
    closed = free_port()
    job = xp.capture_from(f"localhost:{busy},localhost:{closed},localhost:{idle}", 0.2, logdir=logdir)
    profile = job.wait(60)
    assert len(profile.hosts) == 1
    assert any(f"nobody listens at localhost:{closed}" in note for note in job.notes)
    assert any(f"localhost:{idle} answered, but nothing ran" in note for note in job.notes)
    # Whoever opens the run later is told too.
    opened = xp.open(profile.path)
    assert any(f"localhost:{closed}" in note for note in opened.notes)
    assert any(f"localhost:{idle}" in note for note in opened.notes)


def test_a_closed_port_is_said_within_two_seconds(logdir: Path) -> None:
    began = time.monotonic()
    with pytest.raises(UnreachableError, match=r"nobody listens at localhost:\d+.*start_server"):
        xp.capture_from(f"localhost:{free_port()}", 3, logdir=logdir)
    assert time.monotonic() - began < 2
    assert not (logdir / "plugins").exists() or list((logdir / "plugins" / "profile").iterdir()) == []


def test_an_unknown_host_is_named(logdir: Path) -> None:
    with pytest.raises(UnreachableError, match=r"there is no host 'no-such-host\.invalid'"):
        xp.capture_from("no-such-host.invalid:9012", 1, logdir=logdir)


def test_a_server_that_comes_up_later_is_waited_for(busy: int, logdir: Path, tmp_path: Path) -> None:
    data = recorded(busy, tmp_path)
    port = free_port()

    def profile(request, context):
        return message_class("ProfileResponse")(xspace=data)

    def later():
        time.sleep(0.8)
        with grpc_server(profile, port):
            enough.wait(30)

    enough = threading.Event()
    threading.Thread(target=later).start()
    try:
        profile_of_it = xp.capture_from(f"127.0.0.1:{port}", 0.1, logdir=logdir, patience_s=20).wait(60)
        assert len(profile_of_it.ops().frame) > 0
    finally:
        enough.set()


def test_a_listener_that_never_answers_is_no_profiler_server(logdir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        with pytest.raises(UnreachableError, match=r"something listens at .* but it does not speak gRPC.*TLS"):
            xp.capture_from(f"127.0.0.1:{mute.getsockname()[1]}", 3, logdir=logdir)
        assert time.monotonic() - began < 5


def test_a_grpc_server_without_the_service_is_no_profiler_server(logdir: Path) -> None:
    with grpc_server() as port:
        job = xp.capture_from(f"localhost:{port}", 30, logdir=logdir)
        with pytest.raises(UnreachableError, match="is a gRPC server, but not a profiler server"):
            job.wait(10)


def test_an_idle_process_is_told_from_one_that_is_not_there(idle: int, logdir: Path) -> None:
    job = xp.capture_from(f"localhost:{idle}", 0.2, logdir=logdir)
    with pytest.raises(CaptureError, match=r"localhost:\d+ answered, but nothing ran there during 0.2 s") as error:
        job.wait(30)
    assert not isinstance(error.value, UnreachableError)


def test_host_events_alone_are_kept_and_said(logdir: Path) -> None:
    with process("host") as (_, port):
        job = xp.capture_from(f"localhost:{port}", 0.3, logdir=logdir)
        profile = job.wait(30)
    assert any("host events only, no XLA op" in note for note in job.notes)
    assert (profile.events(pattern="thinking").frame["name"] == "thinking").any()


def test_a_process_that_is_being_profiled_says_so(busy: int, logdir: Path) -> None:
    first = xp.capture_from(f"localhost:{busy}", 1.5, "first", logdir)
    time.sleep(0.3)
    second = xp.capture_from(f"localhost:{busy}", 0.2, "second", logdir, patience_s=0.2)
    with pytest.raises(ProfilerBusyError, match="is being profiled by somebody else"):
        second.wait(30)
    patient = xp.capture_from(f"localhost:{busy}", 0.2, "third", logdir, patience_s=30)
    assert first.wait(60).name == "first"
    assert patient.wait(60).name == "third"


def test_cancel_keeps_what_came(busy: int, logdir: Path) -> None:
    job = xp.capture_from(f"localhost:{busy}", 60, logdir=logdir)
    time.sleep(0.5)
    job.cancel()
    profile = job.wait(30)
    assert profile.ops().frame["time_ps"].sum() > 0
    assert sidecar.read(profile.path).duration_s < 20


def test_a_process_that_is_killed_meanwhile_ends_the_wait(busy: int, logdir: Path) -> None:
    with process("busy") as (killed, port):
        job = xp.capture_from(f"localhost:{port},localhost:{busy}", 2, "alone", logdir)
        alone = xp.capture_from(f"localhost:{port}", 60, "lost", logdir)
        time.sleep(0.3)
        killed.send_signal(signal.SIGKILL)
        with pytest.raises(CaptureError, match=r"is being profiled|ended, or the connection broke"):
            alone.wait(20)
    profile = job.wait(30)
    assert len(profile.hosts) == 1
    assert any("the process behind" in note and "ended" in note for note in job.notes)


def test_answers_of_more_than_four_mebibytes_come_whole(busy: int, logdir: Path, tmp_path: Path) -> None:
    data = recorded(busy, tmp_path)
    # A field that no reader knows, inside a plane: 24 MiB on the wire that change nothing else.
    padding = b"\xfa\x3f" + _varint(24 << 20) + bytes(24 << 20)
    plane = b"\x12\x03pad" + padding
    large = data + b"\x0a" + _varint(len(plane)) + plane
    with grpc_server(lambda request, context: message_class("ProfileResponse")(xspace=large)) as port:
        profile = xp.capture_from(f"localhost:{port}", 0.1, logdir=logdir).wait(60)
    (file,) = Path(profile.path).glob("*.xplane.pb")
    assert file.read_bytes() == large


def test_a_profile_too_large_to_send_is_named(logdir: Path) -> None:
    def profile(request, context):
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max (2147483648 vs. 2147483647)")

    with grpc_server(profile) as port:
        job = xp.capture_from(f"localhost:{port}", 0.1, logdir=logdir)
        with pytest.raises(CaptureError, match=r"too large to be sent .*at most 2 GiB"):
            job.wait(30)


def test_bytes_that_are_no_profile_are_refused(logdir: Path) -> None:
    with grpc_server(lambda request, context: message_class("ProfileResponse")(xspace=b"<html>")) as port:
        job = xp.capture_from(f"localhost:{port}", 0.1, logdir=logdir)
        with pytest.raises(CaptureError, match="not a whole profile"):
            job.wait(30)


@pytest.mark.parametrize("claimed", ["../../evil", "/etc/passwd", "..", "a" * 5000, "\0\n", ".hidden"])
def test_a_host_that_claims_to_be_a_path_stays_in_the_run(
    busy: int, logdir: Path, tmp_path: Path, claimed: str
) -> None:
    data = recorded(busy, tmp_path)
    name = claimed.encode()
    # The first of the names of a profile's hosts (field 4 of XSpace) is where its file takes its own from.
    lying = b"\x22" + _varint(len(name)) + name + data
    with grpc_server(lambda request, context: message_class("ProfileResponse")(xspace=lying)) as port:
        folder = Path(xp.capture_from(f"localhost:{port}", 0.1, "run", logdir).wait(30).path)
    assert folder.parent == logdir / "plugins" / "profile"
    (file,) = [name for name in names_in(folder) if name != "xprof-nb.json"]
    assert file.endswith(".xplane.pb")
    assert not file.startswith(".")
    assert len(file) < 200


def test_a_server_of_an_old_release_writes_where_both_see_it(busy: int, logdir: Path, tmp_path: Path) -> None:
    data = recorded(busy, tmp_path)
    written: list[Path] = []

    def profile(request, context):
        folder = Path(request.repository_root) / request.session_id
        folder.mkdir(parents=True)
        written.append(folder / f"{request.host_name}.xplane.pb")
        written[-1].write_bytes(data)
        return message_class("ProfileResponse")(empty_trace=False)

    with grpc_server(profile) as port:
        profile_of_it = xp.capture_from(f"localhost:{port}", 0.1, logdir=logdir).wait(30)
    assert len(profile_of_it.ops().frame) > 0
    assert not written[0].exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:1", [Address("a", 1)]),
        ("grpc://10.0.0.2:8466, b-1.c:65535", [Address("10.0.0.2", 8466), Address("b-1.c", 65535)]),
        ("[::1]:9012,[::1]:9012", [Address("::1", 9012)]),
    ],
)
def test_addresses(text: str, expected: list[Address]) -> None:
    assert list(addresses(text)) == expected
    assert [str(each) for each in addresses(",".join(map(str, expected)))] == [str(each) for each in expected]


@pytest.mark.parametrize(
    "text",
    ["", ",", "localhost", "localhost:", "a:0", "a:65536", "a:b", "a b:1", "a/b:1", "http://a:1", "::1:5", "é:1"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"profiler server"):
        addresses(text)


def _varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])
