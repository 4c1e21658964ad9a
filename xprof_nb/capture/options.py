"""What the profiler is asked to record; every option is set explicitly and written down with the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

HIGHEST_LEVEL = 3


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
    advanced
        Options of one backend, as ``jax.profiler.ProfileOptions.advanced_configuration`` takes them.
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    hlo: bool = True
    advanced: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_level("host_tracer_level", self.host_tracer_level, HIGHEST_LEVEL)
        _check_level("python_tracer_level", self.python_tracer_level, 1)

    def for_jax(self) -> Any:
        """Return them as a ``jax.profiler.ProfileOptions``."""
        import jax  # noqa: PLC0415 - jax only where it is used

        options = jax.profiler.ProfileOptions()
        options.host_tracer_level = self.host_tracer_level
        options.python_tracer_level = self.python_tracer_level
        options.enable_hlo_proto = self.hlo
        if self.advanced:
            options.advanced_configuration = dict(self.advanced)
        return options

    def to_dict(self) -> dict[str, Any]:
        """Return them as the sidecar keeps them."""
        return asdict(self)


def _check_level(name: str, value: int, highest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= highest:
        raise UsageError(f"{name} is {value!r}", hint=f"It is a whole number from 0 to {highest}.")
