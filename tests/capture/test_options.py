from __future__ import annotations

import jax
import pytest

from xprof_nb.capture.options import PRESETS, CaptureOptions, chosen
from xprof_nb.errors import UsageError


@pytest.mark.parametrize(
    ("preset", "told"),
    [("full", (2, 0, True, True)), ("light", (1, 0, True, False)), ("python", (2, 1, True, True))],
)
def test_a_preset_sets_every_option_of_jax(preset: str, told: tuple[object, ...]) -> None:
    options = PRESETS[preset].for_jax()
    names = ("host_tracer_level", "python_tracer_level", "enable_hlo_proto", "include_dataset_ops")
    assert tuple(getattr(options, name) for name in names) == told
    assert (options.session_id, options.repository_path, options.duration_ms) == ("", "", 0)
    every = {name for name in dir(jax.profiler.ProfileOptions()) if not name.startswith("_")}
    written = set()

    class Recording:
        def __setattr__(self, name: str, value: object) -> None:
            written.add(name)

        def __getattr__(self, name: str) -> None:
            return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax.profiler, "ProfileOptions", Recording)
        PRESETS[preset].for_jax()
    assert every <= written


def test_a_level_of_zero_is_a_level() -> None:
    options = chosen("python", python_tracer_level=0, host_tracer_level=0)
    assert (options.python_tracer_level, options.host_tracer_level) == (0, 0)
    assert options.preset == ""
    assert chosen("python", python_tracer_level=None) == PRESETS["python"]


def test_limits_in_the_words_of_each_backend() -> None:
    one = CaptureOptions(max_devices=1)
    assert one.advanced_for("gpu") == {"gpu_num_chips_to_profile_per_task": 1}
    assert one.advanced_for("tpu") == {
        "tpu_trace_mode": "TRACE_ONLY_XLA",
        "tpu_num_chips_to_profile_per_task": 1,
        "tpu_num_sparse_cores_to_trace": 1,
        "tpu_num_sparse_core_tiles_to_trace": 1,
    }
    assert CaptureOptions(device_tracing=False).advanced_for("tpu") == {"tpu_trace_mode": "TRACE_ONLY_HOST"}
    assert CaptureOptions().advanced_for("cpu") == {}
    own = CaptureOptions(max_devices=2, advanced={"gpu_num_chips_to_profile_per_task": 5, "x": 1})
    assert own.advanced_for("cuda") == {"gpu_num_chips_to_profile_per_task": 5, "x": 1}


def test_a_gpu_that_cannot_be_left_out_is_said_to_be(monkeypatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    if hasattr(jax.profiler.ProfileOptions(), "device_tracer_level"):
        pytest.skip("this jax can")
    with pytest.raises(UsageError, match="--devices 1"):
        CaptureOptions(device_tracing=False).for_jax()


def test_wrong_names_say_which_there_are() -> None:
    with pytest.raises(UsageError, match="full, light, python"):
        chosen("heavy")
    with pytest.raises(UsageError, match="max_devices"):
        chosen(devices=1)


def test_options_in_a_line() -> None:
    assert str(PRESETS["full"]) == "full: host level 2, Python calls off, all devices, HLO on"
    assert str(CaptureOptions(python_tracer_level=1, device_tracing=False, max_devices=3)).startswith(
        "own options: host level 2, Python calls on, no device"
    )
