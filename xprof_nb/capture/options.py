"""What the profiler is asked to record; every option is set explicitly and written down with the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

HIGHEST_LEVEL = 3
_GPUS = ("gpu", "cuda", "rocm")


@dataclass(frozen=True)
class CaptureOptions:
    """Options of one capture.

    Attributes
    ----------
    host_tracer_level
        0 to 3: how much the runtime tells about the host. With 0 XLA on a CPU records no ops at all.
    python_tracer_level
        0 or 1: record every Python call. Off unless asked for: it can slow Python-bound code several times.
    hlo
        Keep the programs (HLO) in the profile; op names, costs and source lines need them.
    dataset_ops
        Record the ops of ``tf.data`` pipelines.
    device_tracing
        Record accelerators. A CPU's ops are host events and recorded in any case.
    max_devices
        How many chips of each process to record, None for all of them.
    advanced
        Options of one backend, as ``jax.profiler.ProfileOptions.advanced_configuration`` takes them.
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    hlo: bool = True
    dataset_ops: bool = True
    device_tracing: bool = True
    max_devices: int | None = None
    advanced: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_level("host_tracer_level", self.host_tracer_level, 0, HIGHEST_LEVEL)
        _check_level("python_tracer_level", self.python_tracer_level, 0, 1)
        if self.max_devices is not None:
            _check_level("max_devices", self.max_devices, 1, 2**16)

    @property
    def preset(self) -> str:
        """Name of the preset these are, ``""`` if they are none."""
        return next((name for name, these in PRESETS.items() if these == self), "")

    def for_jax(self) -> Any:
        """Return them as a ``jax.profiler.ProfileOptions`` for the backend JAX uses here.

        Raises
        ------
        UsageError
            This jax cannot leave out the device.
        """
        import jax  # noqa: PLC0415 - jax only where it is used

        options = jax.profiler.ProfileOptions()
        platform = jax.default_backend()
        if platform in _GPUS and not self.device_tracing and not hasattr(options, "device_tracer_level"):
            raise UsageError(
                f"jax {jax.__version__} cannot profile a GPU process without its GPUs",
                hint="Leave out --no-device; --devices 1 records one of them.",
            )
        settings = {
            "host_tracer_level": self.host_tracer_level,
            "python_tracer_level": self.python_tracer_level,
            "device_tracer_level": int(self.device_tracing),
            "enable_hlo_proto": self.hlo,
            "include_dataset_ops": self.dataset_ops,
            "advanced_configuration": self.advanced_for(platform),
            "start_timestamp_ns": 0,
            "duration_ms": 0,
            "raise_error_on_start_failure": False,
            "repository_path": "",
            "session_id": "",
        }
        for name, value in settings.items():
            if hasattr(options, name):  # other versions of jax have some of them
                setattr(options, name, value)
        return options

    def advanced_for(self, platform: str) -> dict[str, Any]:
        """Return the backend's own options: what limits say in its words, and `advanced` over it."""
        settings: dict[str, Any] = {}
        if platform == "tpu":
            settings["tpu_trace_mode"] = "TRACE_ONLY_XLA" if self.device_tracing else "TRACE_ONLY_HOST"
            if self.max_devices is not None:  # SparseCores alone can fill a trace
                settings["tpu_num_chips_to_profile_per_task"] = self.max_devices
                settings["tpu_num_sparse_cores_to_trace"] = 1
                settings["tpu_num_sparse_core_tiles_to_trace"] = 1
        elif platform in _GPUS and self.max_devices is not None:
            settings["gpu_num_chips_to_profile_per_task"] = self.max_devices
        return {**settings, **self.advanced}

    def to_dict(self) -> dict[str, Any]:
        """Return them as the sidecar keeps them."""
        return {**asdict(self), "preset": self.preset}

    def __str__(self) -> str:
        """Return them in a line, for the person who captures."""
        devices = "all devices" if self.max_devices is None else f"{self.max_devices} device(s)"
        return (
            f"{self.preset or 'own options'}: host level {self.host_tracer_level}, "
            f"Python calls {'on' if self.python_tracer_level else 'off'}, "
            f"{devices if self.device_tracing else 'no device'}, HLO {'on' if self.hlo else 'off'}"
        )


def chosen(preset: str | None = None, **changes: Any) -> CaptureOptions:
    """Return a preset with some of its options changed; those given as None are not.

    Raises
    ------
    UsageError
        There is no such preset or option, or a value is out of bounds.
    """
    name = DEFAULT_PRESET if preset is None else preset
    if name not in PRESETS:
        raise UsageError(f"there is no preset {name!r}", hint=f"There are {', '.join(sorted(PRESETS))}.")
    known = {option.name for option in fields(CaptureOptions)}
    if unknown := sorted(set(changes) - known):
        raise UsageError(f"there is no capture option {unknown[0]!r}", hint=f"There are {', '.join(sorted(known))}.")
    return replace(PRESETS[name], **{option: value for option, value in changes.items() if value is not None})


def _check_level(name: str, value: int, lowest: int, highest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise UsageError(f"{name} is {value!r}", hint=f"It is a whole number from {lowest} to {highest}.")


PRESETS = {
    "full": CaptureOptions(),
    "light": CaptureOptions(host_tracer_level=1, dataset_ops=False, max_devices=1),
    "python": CaptureOptions(python_tracer_level=1),
}
DEFAULT_PRESET = "full"
