"""The profiler server of this process, asked by our client in it and by xprof's own in another."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import grpc
import jax
import pytest

import xprof_nb as xp
from xprof_nb.capture import server
from xprof_nb.errors import CaptureError, ProfilerBusyError, UsageError
from xprof_nb.formats.profiler_schema import SERVICE, message_class


@pytest.fixture(autouse=True)
def no_server_is_left() -> Iterator[None]:
    yield
    server.stop()


def accepts(host: str, port: int) -> bool:
    with closing(socket.socket(socket.AF_INET)) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def other_address() -> str:
    """An address of this machine that is no loopback."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # no packet is sent
        except OSError:
            pytest.skip("this machine has only the loopback")
        return probe.getsockname()[0]


def test_starting_twice_gives_the_same_server(at_work: None, logdir: Path) -> None:
    first = server.start()
    assert server.start() == first
    assert server.start(first.port, first.host) == first
    assert server.listening() == first
    profile = xp.capture_from(first.address, 0.2, "own", logdir).wait(60)
    assert len(profile.ops().frame) > 0
    assert server.stop() == first
    assert server.stop() is None
    assert server.listening() is None
    assert not accepts(first.host, first.port)
    assert accepts(server.start(first.port).host, first.port)


def test_it_listens_on_the_loopback_alone_unless_told_otherwise() -> None:
    elsewhere = other_address()
    quiet = server.start()
    assert accepts("127.0.0.1", quiet.port)
    assert not accepts(elsewhere, quiet.port)
    assert "no authentication" in str(quiet)
    assert "any user of this machine" in str(quiet)
    server.stop()
    loud = server.start(host="0.0.0.0")
    assert accepts(elsewhere, loud.port)
    assert "whoever reaches this port" in str(loud)


def test_moving_a_running_server_is_refused() -> None:
    running = server.start()
    with pytest.raises(UsageError, match=f"listens at {running.address}.*server stop"):
        server.start(host="0.0.0.0")
    with pytest.raises(UsageError, match="listens at"):
        server.start(port=running.port + 1)
    assert server.listening() == running


def test_a_taken_port_is_named_and_the_usual_one_replaced() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CaptureError, match=f"cannot listen at 127.0.0.1:{port}"):
            server.start(port)
    assert server.listening() is None
    with socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            usual.bind(("127.0.0.1", server.USUAL_PORT))
        except OSError:
            pass  # somebody else has it: as good
        else:
            usual.listen()
        assert server.start().port != server.USUAL_PORT


def test_a_server_that_jax_started_is_named() -> None:
    assert server.others() == ""
    port = server.start().port
    server.stop()
    jax.profiler.start_server(port)
    try:
        assert "jax.profiler.start_server also listens" in server.others()
        assert "every interface" in server.others()
    finally:
        jax.profiler.stop_server()


def test_a_capture_of_our_own_is_named_to_the_client(at_work: None, logdir: Path) -> None:
    address = server.start().address
    with xp.capture("mine", logdir):
        theirs = xp.capture_from(address, 0.2, "theirs", logdir, patience_s=0.1)
        with pytest.raises(ProfilerBusyError, match=r"somebody else .*run 'mine' is being captured"):
            theirs.wait(30)


def test_a_client_that_ends_early_gets_what_there_is(at_work: None, logdir: Path) -> None:
    job = xp.capture_from(server.start().address, 60, logdir=logdir)
    time.sleep(0.3)
    with pytest.raises(ProfilerBusyError, match=r"the client ipv4:127\.0\.0\.1"):
        xp.capture("mine", logdir).start()
    job.cancel()
    assert len(job.wait(30).ops().frame) > 0


def test_a_client_that_goes_away_frees_the_profiler(matmul: Callable[[], jax.Array], logdir: Path) -> None:
    address = server.start().address
    asks = f"import xprof_nb as xp; job = xp.capture_from({address!r}, 60, logdir={str(logdir)!r})"
    code = f"{asks}; print('on', flush=True); job.wait()"
    client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert client.stdout.readline() == b"on\n"
    client.kill()
    client.communicate()
    deadline = time.monotonic() + 20
    while jax.profiler.TraceAnnotation.is_enabled() and time.monotonic() < deadline:
        time.sleep(0.05)
    with xp.capture("after", logdir) as after:
        matmul().block_until_ready()
    assert len(after.profile.ops().frame) > 0


def test_stopping_the_server_ends_a_recording(at_work: None, logdir: Path) -> None:
    job = xp.capture_from(server.start().address, 60, logdir=logdir)
    time.sleep(0.3)
    server.stop()
    with pytest.raises(CaptureError):
        job.wait(20)
    deadline = time.monotonic() + 20
    while jax.profiler.TraceAnnotation.is_enabled() and time.monotonic() < deadline:
        time.sleep(0.05)


def test_options_of_the_client_are_kept(at_work: None, logdir: Path) -> None:
    profile = xp.capture_from(server.start().address, 0.2, logdir=logdir, python_tracer_level=1).wait(60)
    (host,) = profile.data.hosts
    assert host.capture_options["python_tracer_level"] == 1


def test_a_process_whose_jax_has_not_started_says_so(logdir: Path) -> None:
    code = "from xprof_nb.capture import server; print(server.start(0).address, flush=True); input()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = other.stdout.readline().strip()
        with pytest.raises(CaptureError, match="JAX has no devices in that process yet"):
            xp.capture_from(address, 0.2, logdir=logdir).wait(30)
    finally:
        other.communicate("\n")
    assert other.returncode == 0


def test_a_client_that_wants_files_written_here_is_refused(at_work: None, tmp_path: Path) -> None:
    with grpc.insecure_channel(server.start().address) as channel:
        call = channel.unary_unary(f"/{SERVICE}/Profile")
        request = message_class("ProfileRequest")(duration_ms=10, repository_root=str(tmp_path), session_id="run")
        with pytest.raises(grpc.RpcError) as refused:
            call(request.SerializeToString())
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_forked_child_has_no_server() -> None:
    server.start()
    child = os.fork()
    if child == 0:
        os._exit(0 if server.listening() is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert server.listening() is not None
