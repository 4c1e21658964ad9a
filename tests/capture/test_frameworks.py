"""Captures of TensorFlow and PyTorch/XLA: the real ones where installed, and modules that behave as they do."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

import xprof_nb as xp
from tests.capture.captured import run_names
from xprof_nb.capture import frameworks
from xprof_nb.errors import CaptureError, ProfilerBusyError
from xprof_nb.runs import sidecar

REPOSITORY = Path(__file__).parents[2]
TENSORFLOW = """\
import sys, tensorflow as tf, xprof_nb as xp
@tf.function(jit_compile=True)
def step(x):
    return tf.tanh(x @ x)
x = tf.ones((200, 200))
step(x)
with xp.capture_tensorflow("fit", sys.argv[1], note="theirs"):
    for _ in range(5):
        step(x)
tf.profiler.experimental.start(sys.argv[1] + "-own")
try:
    with xp.capture_tensorflow("refused", sys.argv[1]):
        raise AssertionError
except xp.ProfileError as busy:
    assert "already profiles this process" in str(busy), busy
tf.profiler.experimental.stop()
with xp.capture_tensorflow("again", sys.argv[1]):
    step(x)
"""
TORCH_XLA = """\
import sys, torch, torch_xla, xprof_nb as xp
x = torch.ones(200, 200, device=torch_xla.device())
def step():
    y = torch.tanh(x @ x)
    torch_xla.sync()
    return y
step()
with xp.capture_torch_xla("fit", sys.argv[1], note="theirs"):
    for _ in range(5):
        step()
@xp.capture_torch_xla("again", sys.argv[1])
def twice():
    step()
    step()
twice()
"""


def space() -> bytes:
    """An XSpace of one plane without events."""
    return b"\x0a\x05\x12\x03cpu"


def run_in_child(code: str, logdir: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PJRT_DEVICE": "CPU", "CUDA_VISIBLE_DEVICES": "-1"}
    made = subprocess.run(
        [sys.executable, "-c", code, str(logdir)], capture_output=True, text=True, timeout=240, check=False, env=env
    )
    assert made.returncode == 0, made.stderr


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="tensorflow is not installed")
def test_what_tensorflow_runs_is_captured(logdir: Path) -> None:
    run_in_child(TENSORFLOW, logdir)
    assert run_names(logdir) == ["again", "fit"]
    _check_fit(logdir, {"tensorflow", "tensorflow-cpu"})


@pytest.mark.skipif(find_spec("torch_xla") is None, reason="torch_xla is not installed")
def test_what_torch_xla_runs_is_captured(logdir: Path) -> None:
    run_in_child(TORCH_XLA, logdir)
    assert run_names(logdir) == ["again", "fit"]
    _check_fit(logdir, {"torch_xla"})


def _check_fit(logdir: Path, packages: set[str]) -> None:
    profile = xp.open(logdir / "plugins" / "profile" / "fit")
    assert profile.origin == "captured"
    frame = profile.ops().frame
    # 2n³ operations a step, five steps.
    assert frame["flops"].sum() >= 5 * 2 * 200**3
    record = sidecar.read(profile.path)
    assert record.note == "theirs"
    assert packages & set(record.versions)


class FakeTensorFlow(types.ModuleType):
    """As much of tensorflow as a capture uses."""

    def __init__(self) -> None:
        super().__init__("tensorflow")
        self.session: str | None = None
        self.waited = 0
        self.writes = space()
        self.fails: Exception | None = None
        profiler = types.SimpleNamespace(ProfilerOptions=dict, start=self.start, stop=self.stop)
        self.profiler = types.SimpleNamespace(experimental=profiler)
        self.test = types.SimpleNamespace(experimental=types.SimpleNamespace(sync_devices=self.sync))

    def sync(self) -> None:
        self.waited += 1

    def start(self, logdir: str, options: dict) -> None:
        if self.fails:
            raise self.fails
        self.session, self.options = logdir, options

    def stop(self, save: bool = True) -> None:
        folder = Path(self.session) / "plugins" / "profile" / "2026_12_01"
        folder.mkdir(parents=True)
        if self.writes:
            (folder / "vm.xplane.pb").write_bytes(self.writes)
        self.session = None


@pytest.fixture
def tensorflow(monkeypatch: pytest.MonkeyPatch) -> FakeTensorFlow:
    fake = FakeTensorFlow()
    monkeypatch.setitem(sys.modules, "tensorflow", fake)
    return fake


def test_a_run_is_taken_from_where_tensorflow_wrote_it(tensorflow: FakeTensorFlow, logdir: Path) -> None:
    with xp.capture_tensorflow("fit", logdir, python_tracer_level=1) as capture:
        scratch = Path(tensorflow.session)
        assert scratch.exists()
    assert tensorflow.options == {"host_tracer_level": 2, "python_tracer_level": 1, "device_tracer_level": 1}
    assert tensorflow.waited == 1
    assert not scratch.exists()
    assert capture.folder == logdir / "plugins" / "profile" / "fit"
    (file,) = capture.folder.glob("*.xplane.pb")
    assert file.read_bytes() == space()
    assert sidecar.read(capture.folder).options["python_tracer_level"] == 1


def test_an_exception_inside_keeps_the_run(tensorflow: FakeTensorFlow, logdir: Path) -> None:
    with pytest.raises(ValueError, match="theirs"), xp.capture_tensorflow("fit", logdir):
        raise ValueError("theirs")
    assert run_names(logdir) == ["fit"]
    assert tensorflow.session is None


def test_a_decorated_function_makes_a_run_each_call(tensorflow: FakeTensorFlow, logdir: Path) -> None:
    @xp.capture_tensorflow("fit", logdir)
    def fit(x: int) -> int:
        return x + 1

    assert [fit(1), fit(2)] == [2, 3]
    assert run_names(logdir) == ["fit", "fit-2"]


def test_a_profiler_that_wrote_nothing_is_told(tensorflow: FakeTensorFlow, logdir: Path) -> None:
    tensorflow.writes = b""
    with pytest.raises(CaptureError, match="the profiler returned nothing"), xp.capture_tensorflow("fit", logdir):
        pass


def test_a_busy_profiler_is_named(tensorflow: FakeTensorFlow, logdir: Path) -> None:
    tensorflow.fails = type("AlreadyExistsError", (Exception,), {})("Another profiler is running.")
    with (
        pytest.raises(ProfilerBusyError, match="already profiles this process"),
        xp.capture_tensorflow("fit", logdir),
    ):
        raise AssertionError
    tensorflow.fails = None
    with xp.capture_tensorflow("fit", logdir):
        pass
    assert run_names(logdir) == ["fit"]


@pytest.mark.parametrize("make", [xp.capture_tensorflow, xp.capture_torch_xla])
def test_a_framework_that_is_not_there_is_named(make, logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("tensorflow", "torch_xla", "torch_xla.debug.profiler"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(CaptureError, match=r"cannot be imported.*pip install"), make("fit", logdir):
        raise AssertionError


def test_torch_xla_is_driven_by_its_own_functions(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def stop_trace() -> None:
        said.append("stop")
        (Path(said[0]) / "vm.xplane.pb").write_bytes(space())

    profiler = types.SimpleNamespace(start_trace=said.append, stop_trace=stop_trace)
    model = types.SimpleNamespace(wait_device_ops=lambda: said.append("wait"))
    for name, module in (("torch_xla.debug.profiler", profiler), ("torch_xla.core.xla_model", model)):
        monkeypatch.setitem(sys.modules, name, module)
    with xp.capture_torch_xla("fit", logdir) as capture:
        pass
    assert said[1:] == ["wait", "stop"]
    assert capture.folder.name == "fit"


def test_entering_twice_is_refused(tensorflow: FakeTensorFlow, logdir: Path) -> None:
    with (
        frameworks.capture_tensorflow("fit", logdir) as capture,
        pytest.raises(ProfilerBusyError, match="is running"),
        capture,
    ):
        raise AssertionError
    assert run_names(logdir) == ["fit"]
