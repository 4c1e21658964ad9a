from __future__ import annotations

import jax
import pytest

from xprof_nb.capture import session, store
from xprof_nb.capture.options import CaptureOptions
from xprof_nb.errors import CaptureError, ProfilerBusyError, UsageError
from xprof_nb.formats.framing import has_events, is_whole

OPTIONS = CaptureOptions()


def test_a_session_gives_the_profile_and_frees_the_profiler(matmul) -> None:
    held = session.open_session(OPTIONS, "run 'a'")
    matmul().block_until_ready()
    data = held.stop()
    assert is_whole(data)
    assert has_events(data)
    session.check_free()


def test_nothing_runs_nothing_is_recorded() -> None:
    assert not has_events(session.open_session(OPTIONS, "run 'idle'").stop())


def test_the_users_own_trace_is_named_and_left_alone(tmp_path, matmul) -> None:
    jax.profiler.start_trace(str(tmp_path / "theirs"))
    with pytest.raises(ProfilerBusyError, match="theirs") as refused:
        session.open_session(OPTIONS, "run 'a'")
    assert "\n" not in str(refused.value)
    matmul().block_until_ready()
    jax.profiler.stop_trace()
    assert list((tmp_path / "theirs").rglob("*.xplane.pb"))


def test_a_session_of_somebody_else_is_noticed_even_if_it_traces_no_host() -> None:
    from jax._src.lib import _profiler

    for level in (2, 0):
        options = jax.profiler.ProfileOptions()
        options.host_tracer_level = level
        theirs = _profiler.ProfilerSession(options)
        with pytest.raises(ProfilerBusyError):
            session.open_session(OPTIONS, "run 'a'")
        theirs.stop()


def test_while_ours_runs_jax_refuses_the_user_and_keeps_ours(tmp_path, matmul) -> None:
    held = session.open_session(OPTIONS, "run 'ours'")
    with pytest.raises(RuntimeError, match="already been started"):
        jax.profiler.start_trace(str(tmp_path))
    with pytest.raises(RuntimeError, match="run 'ours'"):
        jax.profiler.stop_trace()
    with pytest.raises(ProfilerBusyError, match="run 'ours'"):
        session.open_session(OPTIONS, "run 'b'")
    matmul().block_until_ready()
    assert has_events(held.stop())
    jax.profiler.start_trace(str(tmp_path))
    jax.profiler.stop_trace()


def test_a_running_profiler_server_does_not_keep_us_out(matmul) -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    jax.profiler.start_server(port)
    try:
        held = session.open_session(OPTIONS, "run 'a'")
        matmul().block_until_ready()
        assert has_events(held.stop())
    finally:
        jax.profiler.stop_server()


def test_without_jaxs_session_the_public_functions_do(monkeypatch, matmul, tmp_path) -> None:
    monkeypatch.setattr(session, "_jax_state", lambda: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    held = session.open_session(OPTIONS, "run 'a'")
    matmul().block_until_ready()
    data = held.stop()
    assert is_whole(data)
    assert has_events(data)
    assert not list(tmp_path.iterdir())


def test_python_calls_are_recorded_only_when_asked_for(matmul) -> None:
    def profile(options: CaptureOptions) -> bytes:
        held = session.open_session(options, "run 'a'")
        matmul().block_until_ready()
        return held.stop()

    assert b"$conftest.py" not in profile(OPTIONS)
    assert b"$conftest.py" in profile(CaptureOptions(python_tracer_level=1))


def test_options_say_what_jax_is_told() -> None:
    told = CaptureOptions(host_tracer_level=3, python_tracer_level=1, hlo=False).for_jax()
    assert (told.host_tracer_level, told.python_tracer_level, told.enable_hlo_proto) == (3, 1, False)
    none = CaptureOptions(host_tracer_level=0, python_tracer_level=0).for_jax()
    assert (none.host_tracer_level, none.python_tracer_level) == (0, 0)  # jax's own default records Python calls
    assert CaptureOptions().for_jax().python_tracer_level == 0


@pytest.mark.parametrize("wrong", [{"host_tracer_level": 4}, {"python_tracer_level": -1}, {"host_tracer_level": True}])
def test_levels_out_of_bounds_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        CaptureOptions(**wrong)


@pytest.fixture
def public(monkeypatch, tmp_path):
    """Sessions through jax's public functions, whose files go below `tmp_path`."""
    monkeypatch.setattr(session, "_jax_state", lambda: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_that_went_away_is_made_again_and_the_profile_written(public, matmul) -> None:
    held = session.open_session(OPTIONS, "run 'a'")
    matmul().block_until_ready()
    (folder,) = public.iterdir()
    folder.rmdir()
    folder.write_text("")  # a file in its place: jax fails and counts the profiler as running

    real, attempts = jax.profiler.stop_trace, []

    def stop_trace() -> None:
        attempts.append(folder.is_file())
        if len(attempts) == 1:
            folder.unlink()
            raise RuntimeError("not a directory")
        real()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax.profiler, "stop_trace", stop_trace)
        assert has_events(held.stop())
    assert attempts == [True, False]


def test_what_jax_could_write_is_kept_and_named_when_stopping_fails(public, matmul, monkeypatch) -> None:
    held = session.open_session(OPTIONS, "run 'a'")
    (folder,) = public.iterdir()
    (folder / "part").write_text("half a profile")
    real = jax.profiler.stop_trace

    def full() -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(jax.profiler, "stop_trace", full)
    with pytest.raises(CaptureError, match=f"No space left.*{folder}"):
        held.stop()
    assert (folder / "part").exists()
    real()
    session.check_free()


def test_a_profiler_that_gives_nothing_back_names_the_limit() -> None:
    with pytest.raises(CaptureError, match="more than 2 GiB comes back empty"):
        store.check_profile(b"")
